"""The drafts of the specification: a chain, in which each one says what it changes in the one before it.

A draft is a module; its IDL and its tables of limits are data files beside it. An addition is a module too, for example what browsers have
beyond a draft: ``"2026-06+browsers"`` is a draft with an addition. docs/adding-an-op.md says how to write drafts and additions, in this
package or in another one.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING

from webnn.validation import extras
from webnn.validation.dictionary import find_replacements
from webnn.validation.drafts import draft_2024_06, draft_2026_06, draft_2026_09
from webnn.validation.drafts.browsers import BROWSERS
from webnn.validation.drafts.chromium import CHROMIUM
from webnn.validation.drafts.compute import COMPUTE
from webnn.validation.drafts.delta import Delta, compose
from webnn.validation.revision import Revision
from webnn.validation.switch import explain_switch

if TYPE_CHECKING:
    from webnn.validation.operation import Acceptance

__all__ = [
    "DEFAULT",
    "DELTAS",
    "DRAFTS",
    "DRAFTS_OF_GRAPHS",
    "DRAFTS_WITH_TEXT",
    "NEWEST",
    "Delta",
    "compose",
    "explain_absence",
    "explain_switch",
    "extra_additions",
    "find_addition",
    "find_revision",
    "for_devices",
    "with_acceptance",
]

_FIRST = draft_2024_06.DRAFT
#: The drafts after the first one, and the additions.
DELTAS: tuple[Delta, ...] = (draft_2026_06.DRAFT, draft_2026_09.DRAFT)
_ADDITIONS: Mapping[str, Delta] = MappingProxyType({delta.name: delta for delta in (BROWSERS, CHROMIUM, COMPUTE)})
#: The names of the drafts, the oldest first.
DRAFTS: tuple[str, ...] = (_FIRST.name, *(delta.name for delta in DELTAS))
#: The drafts that descriptions of graphs and files name. The others change contexts only.
DRAFTS_OF_GRAPHS: tuple[str, ...] = (_FIRST.name, *(delta.name for delta in DELTAS if not delta.context_only))
#: The drafts whose text is known, with its steps.
DRAFTS_WITH_TEXT: tuple[str, ...] = (_FIRST.name, *(delta.name for delta in DELTAS if not delta.provisional))
#: The newest draft whose text is known, the default of programs in JavaScript and of commands.
NEWEST = DRAFTS_WITH_TEXT[-1]
#: The default of programs in Python: the newest draft with `MLContext.compute`.
DEFAULT = f"{NEWEST}+{COMPUTE.name}"


@cache
def find_revision(name: str, *, imports: bool = True) -> Revision:
    """Return a draft by its name, with additions behind plus signs: ``"2026-06+browsers"``.

    Packages have additions as entry points of the group ``webnn.additions``.

    A part of the name with a colon refers to another package: ``"2026-06+mine.rope:ROPE"`` imports the module ``mine.rope`` and adds its
    `Delta` ``ROPE``.

    Args:
        name: The name.
        imports: Modules may be imported. True only for a name from the user of this process, not from a file: an import runs code. A
            module that is already imported is found without.

    Raises:
        ValueError: There is no such draft or addition, or the addition does not fit the draft.
    """
    first, *additions = str(name).split("+")
    modules = [each.partition(":")[0] for each in additions if ":" in each]
    if first not in DRAFTS or not (imports or all(module in sys.modules for module in modules)):
        raise ValueError(f"there is no revision {name!r} of the specification here; known are {[*DRAFTS, DEFAULT, for_devices().name]}")
    last = DRAFTS.index(first)
    revision = compose(_FIRST, *DELTAS[:last])
    operations = dict(revision.operations)
    for delta in DELTAS[last:]:
        for operation in operations.keys() & delta.changed.keys():
            row, later = operations[operation], delta.changed[operation].get("options")
            if later is not None:
                operations[operation] = replace(row, elsewhere={**find_replacements(row.options, later), **row.elsewhere})
    return compose(replace(revision, operations=MappingProxyType(operations)), *map(find_addition, additions))


def find_addition(name: str) -> Delta:
    """Return an addition by its name, as it stands behind a plus sign in the name of a revision.

    Raises `ValueError` if there is no such addition.
    """
    if name in _ADDITIONS:
        return _ADDITIONS[name]
    module, _, attribute = name.partition(":")
    extra = None if attribute else extras.find("webnn.additions").get(name)
    if not attribute and extra is None:
        raise ValueError(f"there is no addition {name!r} to a revision here; known are {[*_ADDITIONS, *extra_additions()]}")
    try:
        found = getattr(_import(module), attribute) if extra is None else extra.load()
    except (ImportError, AttributeError) as error:
        raise ValueError(f"there is no addition {name!r} to a revision: {error}") from error
    if not isinstance(found, Delta):
        raise ValueError(f"the addition {name!r} to a revision must be a Delta, got {found!r}")
    # So that the name of the revision leads to it again.
    return found if found.after or extra is not None else replace(found, name=name)


def extra_additions() -> tuple[str, ...]:
    """Return the names of the additions that extras have."""
    return tuple(extras.find("webnn.additions"))


def _import(name: str) -> ModuleType:
    """Import a module, also from the current folder: ``python -m webnn`` looks there, the script ``webnn`` does not."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name.partition(".")[0]:
            raise
    # Last, so that nothing there takes the place of an installed package.
    folder = os.getcwd()
    sys.path.append(folder)
    try:
        return importlib.import_module(name)
    finally:
        sys.path[:] = [each for each in sys.path if each is not folder]


def explain_absence(revision: Revision, member: str) -> str:
    """Return a draft's replacement for a member that it lacks, such as ``"MLContext.compute"``; empty for none."""
    if member in revision.removed:
        return revision.removed[member]
    interface, _, name = member.partition(".")
    return next((delta.adds[interface][name] for delta in DELTAS if name in delta.adds.get(interface, {})), "")


def for_devices(revision: Revision | None = None) -> Revision:
    """Return a draft (by default the newest one) with the addition for devices, if that addition fits the draft."""
    revision = find_revision(NEWEST) if revision is None else revision
    if BROWSERS.since in revision.history and BROWSERS.name not in revision.history:
        return find_revision(f"{revision.name}+{BROWSERS.name}") if revision.name in DRAFTS else compose(revision, BROWSERS)
    return revision


def with_acceptance(revision: Revision, acceptance: Acceptance) -> Revision:
    """Return a revision with the limits of a device, and with the addition for devices."""
    return replace(for_devices(revision), acceptance=acceptance, max_byte_length=acceptance.max_byte_length)
