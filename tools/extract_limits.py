"""Extracts the tables of tensor limits of a draft of the specification into the data that the package carries.

    python -m tools.extract_limits webnn-2026-06.bs 2026-06            writes validation/drafts/2026-06.limits.json
    python -m tools.extract_limits webnn-2026-06.bs 2026-06 --check    fails if that file differs from the result

The source is the draft's own, in Bikeshed. Only the tables' facts are taken, no text. A table, row or cell ends the extraction if its form
is unknown or if it contradicts itself. `webnn.validation.drafts.limits` documents the result's form.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from tools.extract_idl import describe, run

__all__ = ["extract", "main"]

FOLDER = Path(__file__).resolve().parents[1] / "validation" / "drafts"

HEADER = ["operand", "[=/allowed data types=]", "[=/required data types=]", "[=/allowed ranks=]", "[=/required ranks=]"]

_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_TABLE = re.compile(r"<table\b([^>]*)>(.*?)</table>", re.DOTALL)
_ID = re.compile(r"""\bid=["']?(tensor-limits-[\w-]+)""")
_LINKS = re.compile(r"""\blink-for=["']([^"']*)["']""")
_LINK = re.compile(r"MLGraphBuilder/(\w+)\(([^)]*)\)")
_ENUMERATION = re.compile(r"\benum MLOperandDataType\s*\{([^}]*)\}")

_ITEMS = r"(?P<items>'s \[=list/items=\])?"
_INPUT = re.compile(rf"\{{\{{(?:(?P<options>ML\w+Options)/)?(?P<name>\w+)\}}\}}{_ITEMS}")
_OUTPUT = re.compile(r"\*(?P<name>outputs?)(?:\[(?P<index>\d)\])?\*(?: if \{\{ML\w+Options/(?P<condition>\w+)\}\} is true)?")
_TYPE = re.compile(r'\{\{MLOperandDataType/"(\w+)"\}\}')
_SAME = re.compile(rf"\[=/same (?P<what>type|rank) as\|same as=\] \{{\{{(?P<name>\w+)\}}\}}{_ITEMS}")
_RANKS = re.compile(r"(?P<low>\d)(?: to (?P<high>\d|N))?")

Row = dict[str, Any]


class _Table(HTMLParser):
    """Reads a table's cells: the head's row, and the others. An end tag may be missing, as HTML allows."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name
        self.rows: list[list[str]] = []
        self._open = ""
        self._in_row = False

    def error(self, message: str) -> ValueError:
        return ValueError(f"{self.name}: {message}")

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        if tag not in {"caption", "thead", "tbody", "tr", "th", "td"}:
            raise self.error(f"the tag {tag!r} is not known")
        if attrs:
            raise self.error(f"attributes of the tag {tag!r} are not known: {sorted(name for name, _ in attrs)}")
        self._open = tag
        if tag == "tr":
            self.rows.append([])
            self._in_row = True
        elif tag in {"th", "td"}:
            if not self._in_row:
                raise self.error("a cell stands outside of a row")
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        self._open = ""
        self._in_row = self._in_row and tag in {"th", "td"}

    def handle_data(self, data: str) -> None:
        if self._open in {"th", "td"}:
            self.rows[-1][-1] += data
        elif self._open != "caption" and data.strip():
            raise self.error(f"text stands outside of a cell: {data.strip()!r}")


def extract(source: str, revision: str) -> dict[str, Any]:
    """Extract the tables of a draft.

    Args:
        source: The draft in Bikeshed.
        revision: The name to give it, its year and month.

    Returns:
        The data, see `webnn.validation.drafts.limits`.

    Raises:
        ValueError: The source has no tables, or one that is not known here.
    """
    enumeration = _ENUMERATION.search(source)
    if enumeration is None:
        raise ValueError("the source has no enumeration of data types")
    types = re.findall(r'"(\w+)"', enumeration[1])
    tables: dict[str, Any] = {}
    known: dict[str, str] = {}
    for attributes, content in _TABLE.findall(_COMMENT.sub("", source)):
        anchor = _ID.search(attributes)
        if anchor is None:
            if HEADER[1] in content:
                raise ValueError(f"a table of limits has no anchor that says so: <table{attributes}>")
            continue
        name = anchor[1]
        if name in tables:
            raise ValueError(f"there are two tables {name}")
        arguments = _operations(name, attributes)
        for operation in arguments:
            if operation in known:
                raise ValueError(f"{operation} is in two tables, {known[operation]} and {name}")
            known[operation] = name
        tables[name] = {"operations": list(arguments), "operands": _operands(name, content, arguments, types)}
    if not tables:
        raise ValueError("the source has no tables of limits")
    return {"source": describe(source, revision), "dataTypes": types, "tables": tables}


def _operations(name: str, attributes: str) -> dict[str, list[str]]:
    """Return the operations of a table, with the names of their arguments."""
    links = _LINKS.search(attributes)
    text = links[1] if links else ""
    found = {operation: arguments.split(", ") for operation, arguments in _LINK.findall(text)}
    if not found or _LINK.sub("", text).strip(", "):
        raise ValueError(f"{name}: the operations that it is for are not known: {text!r}")
    return found


def _operands(name: str, content: str, arguments: Mapping[str, Sequence[str]], types: Sequence[str]) -> dict[str, Row]:
    """Read the rows of a table."""
    parser = _Table(name)
    parser.feed(content)
    parser.close()
    rows = [[" ".join(cell.split()) for cell in row] for row in parser.rows]
    if rows[:1] != [HEADER]:
        raise parser.error(f"the head is not known: {rows[:1]}")
    operands: dict[str, Row] = {}
    for cells in rows[1:]:
        if len(cells) != len(HEADER):
            raise parser.error(f"a row has {len(cells)} cells: {cells}")
        try:
            operand, row = _operand(cells[0])
            if not {"option", "output"} & row.keys() and not all(operand in names for names in arguments.values()):
                raise ValueError("is not an argument of each operation")
            if operand in operands:
                raise ValueError("has two rows")
            row["dataTypes"] = "any" if cells[1] == "[=/any data type|any=]" else _same("type", cells[1]) or _types(cells[1], types)
            row["requiredDataTypes"] = _types(cells[2], types)
            row["ranks"] = _same("rank", cells[3]) or _ranks(cells[3])
            row["requiredRanks"] = _ranks(cells[4])
        except ValueError as error:
            raise parser.error(f"{cells[0]}: {error}") from None
        operands[operand] = row
    for problem in _contradictions(operands):
        raise parser.error(problem)
    return operands


def _operand(text: str) -> tuple[str, Row]:
    """Read the cell that names an operand."""
    if match := _INPUT.fullmatch(text):
        flags = {"option": match["options"], "sequence": match["items"]}
        return match["name"], {key: True for key, value in flags.items() if value}
    if match := _OUTPUT.fullmatch(text):
        condition = {"condition": match["condition"]} if match["condition"] else {}
        # MLGruSupportLimits and its like write the index without brackets.
        name = "output" + match["index"] if match["index"] else match["name"]
        return name, {"output": True, **condition}
    raise ValueError("the operand is not known")


def _same(what: str, text: str) -> Row | None:
    """Read a cell that refers to another operand; return ``None`` for one that does not."""
    match = _SAME.fullmatch(text)
    return {"sameAs": match["name"]} if match and match["what"] == what else None


def _types(text: str, types: Sequence[str]) -> list[str]:
    """Read a list of data types; return them in the order of the enumeration."""
    found = _TYPE.findall(text)
    if text != ", ".join(f'{{{{MLOperandDataType/"{each}"}}}}' for each in found) or not found:
        raise ValueError(f"the data types are not known: {text}")
    if len(set(found)) != len(found) or not set(found) <= set(types):
        raise ValueError(f"the data types are not each one of the enumeration, once: {found}")
    return [each for each in types if each in found]


def _ranks(text: str) -> list[int | None]:
    """Read a range of ranks; return its bounds, ``None`` for no upper bound."""
    plain = text.replace("[=/any rank|N=]", "N")
    match = _RANKS.fullmatch("0 to N" if plain == "N" else plain)
    if match is None:
        raise ValueError(f"the ranks are not known: {text}")
    low = int(match["low"])
    high = low if match["high"] is None else None if match["high"] == "N" else int(match["high"])
    if high is not None and high < low:
        raise ValueError(f"the ranks are not a range: {text}")
    return [low, high]


def _contradictions(operands: Mapping[str, Row]) -> Iterator[str]:
    """Find rows whose references lead to no value, and rows that require more than they allow."""
    for name, row in operands.items():
        allowed: dict[str, Any] = {}
        for key in ("dataTypes", "ranks"):
            value = row[key]
            allowed[key] = operands.get(value["sameAs"], {}).get(key) if isinstance(value, dict) else value
            if not isinstance(allowed[key], list | str):
                yield f"{name} refers for its {key} to {value['sameAs']}, which does not give them"
                return
        if allowed["dataTypes"] != "any" and not set(row["requiredDataTypes"]) <= set(allowed["dataTypes"]):
            yield f"{name} requires data types that it does not allow"
        (low, high), (least, most) = allowed["ranks"], row["requiredRanks"]
        if least < low or most is None or (high is not None and most > high):
            yield f"{name} requires ranks that it does not allow"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return the exit status."""
    return run(
        arguments, "Extract the tables of tensor limits of a draft into the data that the package carries.", extract, FOLDER, "limits"
    )


if __name__ == "__main__":
    sys.exit(main())
