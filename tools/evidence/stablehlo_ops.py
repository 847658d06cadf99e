"""Writes docs/stablehlo-ops.md: which operations of the StableHLO specification the import takes, in which element types.

python -m tools.evidence.stablehlo_ops            imports and computes a small program for each, and writes the page
python -m tools.evidence.stablehlo_ops --check    fails if the page differs
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

import webnn
from tools.evidence.compute import compute
from tools.evidence.stablehlo_programs import COLUMNS, EXAMPLES, Column, make_program
from tools.written import fill, keep_pages
from webnn.hlo.ir import Module
from webnn.hlo.types import TensorType
from webnn.importing.values import carrier
from webnn.stablehlo import Report, Settings, survey
from webnn.stablehlo.elements import dtype_of
from webnn.stablehlo.rules import RULES
from webnn.validation.descriptor import NUMPY_DTYPES, pack

__all__ = ["PAGE", "REFUSED", "Cell", "judge", "main", "page", "run"]

#: The types that hold integers of 4 bits when they are read.
_SMALL: Mapping[str, str] = MappingProxyType({"int4": "int8", "uint4": "uint8"})

#: The result of an operation in an element type.
Cell = Literal["yes", "known", "-", ""]

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "stablehlo-ops.md"

_DEVICES = "Refused: it is about several devices, and a graph runs on one."
_HOST = "Refused: a graph has no other way to the host than its inputs and outputs."
_RANDOM = "Refused: WebNN has no random numbers."
#: Why operations are refused in all element types.
REFUSED: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("all_gather", "all_reduce", "all_to_all", "collective_permute", "reduce_scatter"), _DEVICES),
        **dict.fromkeys(("partition_id", "replica_id"), _DEVICES),
        **dict.fromkeys(("infeed", "outfeed", "recv", "send"), _HOST),
        "fft": "Refused: WebNN has no complex numbers.",
        "rng": "Refused: which numbers it returns is left to the device, and WebNN has no random numbers.",
        "rng_bit_generator": "Refused: there is no rule for its algorithms, which multiply integers of 64 bits.",
    }
)
#: How operations without a rule are imported.
_FOLDED: Mapping[str, str] = MappingProxyType(
    {
        "complex": "Folded: WebNN has no complex numbers.",
        "constant": "Folded: it becomes a constant where an operator takes it.",
        "iota": "Folded: it becomes a constant where an operator takes it.",
    }
)


def run() -> dict[str, dict[str, Cell]]:
    """Judge all operations: by name, and by the title of the column."""
    return {name: {column.title: judge(name, column) for column in COLUMNS} for name in EXAMPLES}


def judge(name: str, column: Column) -> Cell:
    """Import the program of an operation, and compute it.

    Args:
        name: The operation, one of `EXAMPLES`.
        column: The element type.

    Raises:
        ValueError: The results do not have the shapes and types that the program declares.
    """
    if not EXAMPLES[name].has(column):
        return ""
    module = make_program(name, column.element)
    settings = Settings(precision=column.precision)
    description, report = survey(module, settings)
    if column.element == "token":
        # There is nothing to compute.
        return "yes" if _is_taken(name, report) else "-"
    if description is not None and module.functions[0].type.inputs:
        _check(name, column, module, description)
        return "yes"
    tensors = {
        key: np.ones([size or 0 for size in type.shape], dtype_of(type.element))
        for key, type in zip(module.functions[0].argument_names, module.functions[0].type.inputs, strict=True)
        if isinstance(type, TensorType)
    }
    _, report = survey(module, Settings(constants=tensors, precision=column.precision))
    return "known" if _is_taken(name, report) else "-"


def _is_taken(name: str, report: Report) -> bool:
    """Tell whether an operation is not refused. Its results may be, if they are known and of a type that WebNN does not have."""
    (outcome,) = [node.outcome for node in report.nodes if node.operator == f"stablehlo.{name}"]
    return outcome in ("folded", "converted")


def _check(name: str, column: Column, module: Module, description: webnn.GraphDescription) -> None:
    """Compute a graph, and compare the types and shapes of its outputs with those of the program."""
    wanted = [
        (carrier(dtype_of(type.element)), type.shape)
        for result in module.functions[0].type.results
        for type in getattr(result, "types", (result,))
        if isinstance(type, TensorType)
    ]
    feeds: dict[str, np.ndarray[Any, np.dtype[Any]]] = {}
    for key, each in description.inputs.items():
        feeds[key] = (
            pack(np.ones(each.dimensions, np.int8)) if each.dataType in _SMALL else np.ones(each.dimensions, NUMPY_DTYPES[each.dataType])
        )
    computed = list(compute(description, feeds).values())
    found = [(array.dtype, array.shape) for array in computed]
    if found != [(np.dtype(_SMALL.get(data_type) or NUMPY_DTYPES[data_type]), shape) for data_type, shape in wanted]:
        raise ValueError(f"{name} of {column.title} must return {wanted}, got {found}")


def page(cells: Mapping[str, Mapping[str, Cell]]) -> str:
    """Return the page, with the text that is written by hand."""
    return fill(PAGE, "tools.evidence.stablehlo_ops", "".join(f"{line}\n" for line in _table(cells)))


def _table(cells: Mapping[str, Mapping[str, Cell]]) -> Iterator[str]:
    ways = [set(row.values()) for row in cells.values()]
    computed, known = sum("yes" in way for way in ways), sum("yes" not in way and "known" in way for way in ways)
    yield ""
    yield f"{len(cells)} operations: {computed} are computed, {known} folded, {len(cells) - computed - known} refused."
    yield ""
    yield f"| operation | {' | '.join(column.title for column in COLUMNS)} | how |"
    yield f"|---|{'---|' * len(COLUMNS)}---|"
    for name, row in cells.items():
        yield f"| {name} | {' | '.join(row.values())} | {_way(name, row)} |"
    others = [name.removeprefix("stablehlo.") for name in RULES if name.startswith("stablehlo.")]
    yield ""
    yield f"Operations beside them: {', '.join(sorted(set(others) - set(cells)))}."


def _way(name: str, row: Mapping[str, Cell]) -> str:
    """Say how an operation is imported, or why it is refused.

    Raises:
        ValueError: The note in the tool disagrees with the result.
    """
    is_refused = not {"yes", "known"} & set(row.values())
    if is_refused != (name in REFUSED):
        raise ValueError(f"{name} must be in REFUSED if it is refused in all element types, and only then; found {row}")
    if name in REFUSED:
        return REFUSED[name]
    if name in _FOLDED:
        return _FOLDED[name]
    # The section ends the docstring; a rule may say more than one sentence.
    text = " ".join((RULES[f"stablehlo.{name}"].__doc__ or "").split())
    return re.split(r"(?<=\.) ", re.sub(r" ?`[^`]*`\.$", "", text))[0]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; fail if the page differs")
    check = parser.parse_args(arguments).check
    return keep_pages({PAGE: page(run())}, "tools.evidence.stablehlo_ops", check=check)


if __name__ == "__main__":
    sys.exit(main())
