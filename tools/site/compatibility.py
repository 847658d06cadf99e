"""The table of compatibility: each operation with the data types of each device profile, and the first browser that has it."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from html import escape
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from tools.site.text import code, table
from webnn.context.profiles import PROFILES, load_profile
from webnn.context.profiles.profile import Profile
from webnn.validation.drafts import DRAFTS_OF_GRAPHS, find_revision

__all__ = ["PAGE", "Versions", "browsers_table", "page", "supported", "versions"]

PAGE = "api/compatibility.md"
_FILE = Path(__file__).parent / "browsers.toml"
#: How a cell writes a data type.
_SHORT: Mapping[str, str] = MappingProxyType(
    {
        "float32": "f32",
        "float16": "f16",
        "int64": "i64",
        "uint64": "u64",
        "int32": "i32",
        "uint32": "u32",
        "int8": "i8",
        "uint8": "u8",
        "int4": "i4",
        "uint4": "u4",
    }
)


class Versions(NamedTuple):
    """The first version of Chrome that has each operation.

    Attributes:
        source: The address of the data.
        date: The date of the data, as text.
        systems: The operating systems.
        devices: The devices that compute on each of them.
        operations: For each operation the version on each system.
        tried: The browser that ran the examples of all operations.
        refused: The text of its error for those that it refused.
    """

    source: str
    date: str
    systems: tuple[str, ...]
    devices: tuple[str, ...]
    operations: Mapping[str, tuple[int, ...]]
    tried: str
    refused: Mapping[str, str]


@cache
def versions() -> Versions:
    """Return the versions.

    Raises:
        ValueError: An operation does not have a version for each system.
    """
    data = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    operations = {name: tuple(found) for name, found in data["operations"].items()}
    for name, found in operations.items():
        if len(found) != len(data["systems"]):
            raise ValueError(f"{_FILE.name}: {name} must have {len(data['systems'])} versions, got {len(found)}")
    tried = data["tried"]
    return Versions(
        source=data["source"],
        date=data["date"],
        systems=tuple(data["systems"]),
        devices=tuple(data["devices"]),
        operations=MappingProxyType(operations),
        tried=tried["browser"],
        refused=MappingProxyType(tried["refused"]),
    )


def browsers_table(operation: str) -> list[str]:
    """Return a table of the first browsers with an operation; nothing if the data does not have it."""
    known = versions()
    if operation not in known.operations:
        return []
    columns = zip(known.operations[operation], known.systems, known.devices, strict=True)
    rows = [[f"{first} or newer", system, devices] for first, system, devices in columns]
    refusal = known.refused.get(operation)
    outcome = "runs the example on its CPU." if refusal is None else f"refuses the example: {code(refusal)}"
    return [
        *table(["Chrome, Edge", "on", "computes on the"], rows),
        f"These versions need the flag `#web-machine-learning-neural-network`. No version of Firefox or Safari has the operation. "
        f"The data is [MDN's]({known.source}), of {known.date}.",
        "",
        f"{known.tried} {outcome} [All operations, data types and browsers](../compatibility.md)",
        "",
    ]


@cache
def supported() -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    """Return the data types of the first operand with which each profile's device runs an operation, by profile, then by operation.

    Types that a device leaves to the CPU do not count.
    """
    limits = find_revision(DRAFTS_OF_GRAPHS[-1]).limits
    assert limits is not None
    first = {operation: next(iter(operands)) for operation, operands in limits.operations.items()}
    profiles = {name: load_profile(name) for name in PROFILES}
    return MappingProxyType(
        {name: {operation: _types(profile, operation, row) for operation, row in first.items()} for name, profile in profiles.items()}
    )


def _types(profile: Profile, operation: str, row: str) -> tuple[str, ...]:
    if operation not in profile.operations or (profile.native is not None and operation not in profile.native):
        return ()
    limits = profile.operations[operation][row]
    if profile.native is not None:
        limits = profile.native[operation].get(row, limits)
    return tuple(type for type in _SHORT if type in limits.data_types)


def page() -> str:
    """Return the page."""
    return "\n".join(_page())


def _page() -> Iterator[str]:
    known = versions()
    # The table has the whole width.
    yield from ("---", "hide:", "  - toc", "---", "", "# Compatibility", "")
    yield (
        "The data types that each device computes for the first operand of each operation. The columns are the "
        "[device profiles](../profiles.md): the backends of browsers. Profiles with the same cells share a column. "
        "The page of an operation has the other operands, ranks and rules."
    )
    yield ""
    types = "".join(f'<option value="{short}">{name}</option>' for name, short in _SHORT.items())
    yield (
        '<p><label for="data-type">Mark the devices that take</label> '
        f'<select id="data-type"><option value="">any type</option>{types}</select></p>'
    )
    yield ""
    yield from ['<div class="compatibility" tabindex="0" role="region" aria-label="Operations and devices" markdown="0">', "<table>"]
    columns = _columns()
    heads = "".join(f'<th scope="col">{"<br>".join(map(escape, names))}</th>' for names in columns.values())
    yield f'<thead><tr><th scope="col">operation</th><th scope="col">Chrome</th>{heads}</tr></thead>'
    yield "<tbody>"
    for index, operation in enumerate(next(iter(supported().values()))):
        first = min(known.operations.get(operation, (0,)))
        cells = "".join(_cell(types[index]) for types in columns)
        yield f'<tr><th scope="row"><a href="operations/{operation}.html">{operation}</a></th><td>{first or "-"}</td>{cells}</tr>'
    yield from ("</tbody>", "</table>", "</div>", "")
    yield (
        "A dash: the backend refuses the operation or leaves it to the CPU, or the browser does not have it. *All*: every data type of "
        "the draft. "
        f"The column Chrome has the first version of Chrome and Edge on any system, with a flag; [the data is MDN's]({known.source}). "
        "Short names: " + ", ".join(f"{code(short)} {name}" for name, short in _SHORT.items()) + "."
    )
    yield ""


def _columns() -> dict[tuple[tuple[str, ...], ...], list[str]]:
    """Return the profiles with the same types in all operations, by these types."""
    columns: dict[tuple[tuple[str, ...], ...], list[str]] = {}
    for profile, operations in supported().items():
        columns.setdefault(tuple(operations.values()), []).append(profile)
    return columns


def _cell(types: tuple[str, ...]) -> str:
    if not types:
        return '<td class="none">-</td>'
    shorts = " ".join(_SHORT[each] for each in types)
    return f'<td data-types="{shorts}">{"all" if len(types) == len(_SHORT) else shorts}</td>'
