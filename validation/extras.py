"""Extras: parts of this package, and of other packages, that the core finds by their entry points and never by name.

| group | a value |
|---|---|
| ``webnn.additions`` | a `Delta` (`webnn.validation.drafts`), which revisions have behind a plus sign |
| ``webnn.engines`` | an `Engine` (`webnn.context.engines`), by the name that programs give it |
| ``webnn.commands`` | commands by their names (`webnn.commands.registry`) |
| ``webnn.extras`` | a function that one place of the core calls, by its name |
| ``webnn.gpus`` | a function that makes a `GPUDevice` for a device of the package of that name (`webnn.context.gpu`) |
| ``webnn.interfaces`` | a function that returns interfaces of another specification (`webnn.validation.drafts.idl`) |
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

__all__ = ["find", "load"]


@cache
def find(
    group: Literal["webnn.additions", "webnn.commands", "webnn.engines", "webnn.extras", "webnn.gpus", "webnn.interfaces"],
) -> Mapping[str, EntryPoint]:
    """Return the entry points of a group by their names, sorted. Left out are those whose module was removed."""
    # Imported lazily: most programs use no extra.
    from importlib.metadata import entry_points  # noqa: PLC0415

    found = sorted(entry_points(group=group), key=lambda each: each.name)
    return {each.name: each for each in found if _is_there(each.module)}


def load(name: str, use: str) -> Any:
    """Load a function of an extra. ``use`` is the caller's name, for the error. Raises `ImportError` if no installed package has it."""
    entry = find("webnn.extras").get(name)
    if entry is None:
        raise ImportError(f"{use} needs an extra of webnn that is not installed: no entry point {name!r} in the group 'webnn.extras'")
    return entry.load()


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False
