"""The drafts' IDL, and the Python form of each part of it: the tests of this folder compare the two."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import webnn
from tests.support import FIRST, each_row
from webnn.reference.operations import REFERENCE, REFERENCE_NEWEST
from webnn.validation import descriptor_models, dictionary
from webnn.validation.drafts import DRAFTS as DRAFTS_IN_ORDER
from webnn.validation.drafts import find_revision
from webnn.validation.drafts.idl import Idl, IdlArgument, IdlInterface, IdlMember, IdlOperation, IdlType
from webnn.validation.operation import Operation
from webnn.validation.revision import Revision

ROOT = Path(__file__).resolve().parents[2]
#: The import packages and the folders that hold them, from the ground floor up.
LAYERS = {
    "webnn.validation": ROOT / "validation",
    "webnn.builder": ROOT / "builder",
    "webnn.context": ROOT / "context",
    "webnn": ROOT / "webnn",
    "webnn.wpt_runner": ROOT / "wpt_runner",
}

#: The members of `MLGraphBuilder` beside its operations.
NOT_OPERATIONS = {"input", "constant", "build"}
SYNC = "Sync"

#: The dictionary whose members the options of every operation have; the driver of all operations converts it.
OPERATOR_OPTIONS = "MLOperatorOptions"
#: Dictionaries that the API returns and never takes: they have no conversion.
RETURNED = {"MLComputeResult", "MLContextLostInfo"}


def sources(folder: Path) -> list[Path]:
    """Find the modules below a folder; the links inside `webnn` lead to the other layers and are left out."""
    links = [path for path in folder.iterdir() if path.is_symlink()]
    return [file for file in sorted(folder.rglob("*.py")) if not any(link in file.parents for link in links)]


@functools.cache
def parse(file: str) -> ast.Module:
    """Parse a file of the repository, given by its path below `ROOT`."""
    return ast.parse((ROOT / file).read_text(encoding="utf-8"))


def text(type: IdlType) -> str:
    """Write a type as IDL."""
    match type:
        case str():
            return type
        case {"extendedAttributes": attributes, "type": inner}:
            return f"[{', '.join(attributes)}] {text(inner)}"
        case {"promise": inner}:
            return f"Promise<{text(inner)}>"
        case {"record": [key, inner]}:
            return f"record<{key}, {text(inner)}>"
        case {"union": members}:
            return f"({' or '.join(text(member) for member in members)})"
        case {"nullable": inner}:
            return f"{text(inner)}?"
    ((generic, inner),) = type.items()
    return f"{generic}<{text(inner)}>"


def is_promise(type: IdlType) -> bool:
    return text(type).startswith("Promise<")


def merged(lists: Iterable[Iterable[str]]) -> list[str]:
    """Return what is in any of the lists, once: what the first one has, then what the others have beside it."""
    return list(dict.fromkeys(each for names in lists for each in names))


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Draft:
    """One draft.

    Attributes:
        revision: The tables and flags that validators ask.
        idl: Its IDL.
        models: The converted form of each dictionary that the API takes, by its IDL name.
        reference: The test oracle's operations.
    """

    revision: Revision
    idl: Idl
    models: Mapping[str, type[dictionary.Dictionary]]
    reference: Mapping[str, Callable[..., Any]]

    def __str__(self) -> str:
        return self.revision.name

    def __repr__(self) -> str:
        return f"<Draft {self}>"

    @property
    def operations(self) -> Mapping[str, Operation]:
        """The row of each operation."""
        return self.revision.operations

    @property
    def operation_names(self) -> list[str]:
        """Every operation, in the IDL's order."""
        return [name for name in self.overloads("MLGraphBuilder") if name not in NOT_OPERATIONS]

    @property
    def interfaces(self) -> dict[str, IdlInterface]:
        """Each interface, and the mixins."""
        return {**self.idl["interfaces"], **self.idl["mixins"]}

    @property
    def limits(self) -> set[str]:
        """The dictionaries below ``MLOpSupportLimits``: `MLContext.opSupportLimits` returns plain ones."""
        found: set[str] = set()
        work = [name for name in ["MLOpSupportLimits"] if name in self.idl["dictionaries"]]
        for name in work:
            found.add(name)
            types = {text(member["type"]) for member in self.idl["dictionaries"][name]["members"]}
            work += types & set(self.idl["dictionaries"]) - found - set(work)
        return found

    @property
    def dictionaries(self) -> list[str]:
        """The dictionaries that a program writes or gets as typed ones."""
        return [name for name in self.idl["dictionaries"] if name not in self.limits]

    @property
    def converted(self) -> list[str]:
        """The dictionaries that have a model."""
        return [name for name in self.dictionaries if name not in {*RETURNED, OPERATOR_OPTIONS}]

    def overloads(self, interface: str) -> dict[str, list[IdlOperation]]:
        """Return the operations of an interface by name, with their overloads in order; none if the draft has no such interface."""
        result: dict[str, list[IdlOperation]] = {}
        for operation in self.interfaces.get(interface, {}).get("operations", []):
            result.setdefault(operation["name"], []).append(operation)
        return result

    def attributes(self, interface: str) -> dict[str, IdlType]:
        """Return the attributes of an interface, with their types."""
        return {attribute["name"]: attribute["type"] for attribute in self.interfaces.get(interface, {}).get("attributes", [])}

    def members(self, name: str) -> list[IdlMember]:
        """Return a dictionary's members, inherited ones first. The driver has those of `OPERATOR_OPTIONS`: they are left out."""
        definition = self.idl["dictionaries"].get(name)
        if definition is None or name == OPERATOR_OPTIONS:
            return []
        return [*self.members(definition.get("inherits", OPERATOR_OPTIONS)), *definition["members"]]

    def is_dictionary(self, type: IdlType) -> bool:
        return isinstance(type, str) and type in self.idl["dictionaries"]

    def positional(self, operation: IdlOperation) -> list[IdlArgument]:
        """Return the arguments of an operation but its options dictionary."""
        return [argument for argument in operation["arguments"] if not self.is_dictionary(argument["type"])]

    def options_name(self, operation: IdlOperation) -> str | None:
        """Return the name of the options dictionary that an operation takes, if it takes one."""
        names = [argument["type"] for argument in operation["arguments"] if self.is_dictionary(argument["type"])]
        return str(names[0]) if names else None


#: The models of dictionaries that belong to no operation, by the draft of graphs.
_DESCRIPTORS: Mapping[str, Mapping[str, type[dictionary.Dictionary]]] = {
    "2024-06": {"MLOperandDescriptor": descriptor_models.OperandDescriptorWithDimensions},
    "2026-06": {
        "MLOperandDescriptor": descriptor_models.OperandDescriptorWithShape,
        "MLTensorDescriptor": descriptor_models.TensorDescriptor,
    },
}


def _draft(revision: Revision, reference: Mapping[str, Callable[..., Any]]) -> Draft:
    models = {"MLContextOptions": revision.context_options, **_DESCRIPTORS[revision.graph_draft]}
    draft = Draft(revision=revision, idl=revision.idl(), models=models, reference=reference)
    builder = draft.overloads("MLGraphBuilder")
    for name, row in revision.operations.items():
        if row.options is not None:
            # Operations that take one dictionary have one model for it.
            options = draft.options_name(builder[name][0]) or ""
            assert models.setdefault(options, row.options) is row.options, name
    return draft


FORMER = _draft(FIRST, REFERENCE)
LATEST = _draft(find_revision(DRAFTS_IN_ORDER[-1]), REFERENCE_NEWEST)
#: The first draft and the newest one; the newest first, as in signatures and dictionaries that hold what either draft has.
DRAFTS = (LATEST, FORMER)

#: The class of each interface, and of `Navigator`, which includes a mixin.
INTERFACES = merged(draft.interfaces for draft in DRAFTS)
CLASSES: dict[str, type] = {name: webnn.Navigator if name == "NavigatorML" else getattr(webnn, name) for name in INTERFACES}
#: Every operation, dictionary, and anchor of either draft.
OPERATION_NAMES = merged(draft.operation_names for draft in DRAFTS)
DICTIONARIES = merged(draft.dictionaries for draft in DRAFTS)
ANCHORS = {f"#{anchor}" for draft in DRAFTS for anchor in draft.idl["anchors"]}

each_draft = pytest.mark.parametrize("draft", DRAFTS, ids=str)


def of_each_draft(names: Callable[[Draft], Iterable[str | tuple[str, str]]]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return the parameters ``draft`` and ``name`` of one test: each draft with each of its names, or pairs of names."""
    return each_row(("draft", "name"), [(draft, name) for draft in DRAFTS for name in names(draft)])


each_operation = of_each_draft(lambda draft: draft.operation_names)


def other_than(draft: Draft) -> Draft:
    """Return the other draft."""
    return FORMER if draft is LATEST else LATEST
