"""Small StableHLO programs, made without jaxlib, and their results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import webnn
import webnn.stablehlo
from tests.support import CURRENT
from webnn.context import once
from webnn.hlo import Function, Module, RegionBuilder
from webnn.hlo.attributes import Attribute
from webnn.hlo.ir import Region, Value
from webnn.hlo.types import DTYPES, TensorType

__all__ = ["Array", "body", "check", "compare", "compute", "element_of", "operators", "program", "refusal", "type_of"]

Array = np.ndarray[Any, np.dtype[Any]]
_ELEMENTS = {dtype.rpartition(".")[2]: element for element, dtype in DTYPES.items() if element != "index"}


def element_of(array: Any) -> str:
    """Return the element type of an array."""
    return _ELEMENTS[np.asarray(array).dtype.name]


def type_of(array: Any) -> TensorType:
    """Return the type of an array."""
    return TensorType(shape=np.shape(array), element=element_of(array))


def body(element: str | Sequence[str], *operations: str) -> Region:
    """Return a region on scalars: each operation takes the result of the one before it, and the next argument.

    Args:
        element: The element type of two arguments, or that of each one.
        operations: Their names without the dialect; of none the result is the last argument.
    """
    elements = [element, element] if isinstance(element, str) else element
    region = RegionBuilder([TensorType(shape=(), element=each) for each in elements])
    value: Value = region.arguments[0] if operations else region.arguments[-1]
    for index, name in enumerate(operations, 1):
        (value,) = region.append(f"stablehlo.{name}", [value, region.arguments[index]], [value.type])
    region.append("stablehlo.return", [value])
    return region.build()


def compare(element: str | Sequence[str], direction: str, kind: str = "") -> Region:
    """Return a comparator of the first two arguments; each element type is that of two of them."""
    elements = [element] if isinstance(element, str) else element
    region = RegionBuilder([TensorType(shape=(), element=each) for each in elements for _ in range(2)])
    attributes: dict[str, Attribute] = {"comparison_direction": direction, **({"compare_type": kind} if kind else {})}
    (less,) = region.append("stablehlo.compare", region.arguments[:2], [TensorType(shape=(), element="i1")], attributes)
    region.append("stablehlo.return", [less])
    return region.build()


def program(
    name: str,
    operands: Sequence[Any],
    results: Sequence[TensorType],
    attributes: Mapping[str, Attribute] | None = None,
    regions: Sequence[Region] = (),
) -> Module:
    """Return a program of one operation."""
    main = RegionBuilder([type_of(each) for each in operands])
    main.append("func.return", main.append(f"stablehlo.{name}", main.arguments, results, attributes, regions))
    return Module(functions=(Function(name="main", body=main.build()),))


def compute(module: Module, operands: Sequence[Any], known: Sequence[int] = (), revision: str = CURRENT) -> list[Array]:
    """Import a program and run it; the arguments with some indices are known."""
    context = webnn.ML(revision=revision).createContextSync()
    builder = webnn.MLGraphBuilder(context)
    arrays = {f"arg{index}": np.asarray(each) for index, each in enumerate(operands)}
    imported = webnn.stablehlo.load(module, builder, constants={f"arg{index}": arrays[f"arg{index}"] for index in known})
    graph = builder.buildSync(dict(imported.outputs))
    feeds = {name: np.ascontiguousarray(arrays[name], given.dataType) for name, given in imported.inputs.items()}
    return list(once.compute(context, graph, feeds).values())


def check(
    name: str,
    operands: Sequence[Any],
    wanted: Any,
    attributes: Mapping[str, Attribute] | None = None,
    regions: Sequence[Region] = (),
    *,
    tolerance: float = 0.0,
    known: Sequence[Sequence[int]] | None = None,
    types: Sequence[TensorType] | None = None,
) -> None:
    """Compare the results of an operation with what they must be.

    Args:
        name: Its name without the dialect.
        operands: Arrays and NumPy scalars.
        wanted: The result, or a list of them.
        attributes: Its attributes.
        regions: Its regions.
        tolerance: The largest relative difference. Without one even the signs of zeros are the same.
        known: Which operands are known, for each time that it is computed. Without it: none, and all of them.
        types: The types of the results, if they are not those of what is wanted.
    """
    results = [np.asarray(each) for each in (wanted if isinstance(wanted, list) else [wanted])]
    module = program(name, operands, types or [type_of(each) for each in results], attributes, regions)
    for indices in [(), range(len(operands))] if known is None else known:
        for got, result in zip(compute(module, operands, indices), results, strict=True):
            message = f"{name}, known: {list(indices)}"
            expected = result.astype(np.uint8) if result.dtype == np.bool_ else result
            assert got.dtype == expected.dtype, message
            assert got.shape == expected.shape, message
            if tolerance:
                np.testing.assert_allclose(got, expected, rtol=tolerance, err_msg=message)
            else:
                np.testing.assert_array_equal(got, expected, message)
                if got.dtype.kind == "f":
                    np.testing.assert_array_equal(np.signbit(got) & ~np.isnan(got), np.signbit(expected) & ~np.isnan(expected), message)


def refusal(
    name: str,
    operands: Sequence[Any],
    results: Sequence[TensorType],
    attributes: Mapping[str, Attribute] | None = None,
    regions: Sequence[Region] = (),
    known: Sequence[int] = (),
) -> str:
    """Return the reason why an operation is refused."""
    constants = {f"arg{index}": np.asarray(operands[index]) for index in known}
    _, report = webnn.stablehlo.survey(program(name, operands, results, attributes, regions), webnn.stablehlo.Settings(constants=constants))
    (found,) = report.refusals
    return found.reason


def operators(module: Module, constants: Mapping[str, Any] | None = None) -> list[str]:
    """Return the operations of the graph that a program becomes."""
    description, report = webnn.stablehlo.survey(module, webnn.stablehlo.Settings(constants=constants or {}))
    assert description is not None, report.refusals
    return [operator.operation for operator in description.operators]
