"""The values of a graph, and where NaN comes from."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

from tests.support import compute_directly
from tests.webnn.inspect.graphs import build, constant, float_input, network, network_inputs
from webnn import MLGraphBuilder, MLOperand
from webnn.context.inspections import Statistics
from webnn.inspect.statistics import describe_elements, unpack
from webnn.inspect.subject import Subject, group
from webnn.inspect.trace import find_nan, trace_subject
from webnn.validation.descriptor import OperandDescriptor

Array = np.ndarray[Any, np.dtype[Any]]


def test_all_values_in_order() -> None:
    graph = build(network)
    trace = graph.trace(network_inputs(), labels=["act", "y"])
    names = ["x", *[name for operator in graph.description.operators for name in operator.outputs]]
    assert [each.name for each in trace.values] == names
    assert [each.name for each in trace.values if each.value is not None] == ["act", "y"]
    known = graph.description.descriptors()
    assert [(each.dataType, each.shape) for each in trace.values] == [(known[name].dataType, known[name].shape) for name in names]
    assert (trace["x"].operation, trace["x"].index) == ("input", 0)
    act, y = trace["act"].value, trace["y"].value
    assert act is not None
    assert y is not None
    assert act.min() >= 0
    # The engine adds to a convolution in another order if nothing else takes the convolution's result.
    np.testing.assert_allclose(y, compute_directly(graph, network_inputs())[0], rtol=1e-5)
    assert trace["act"].statistics == describe_elements(act)
    assert trace.groups == 1
    assert trace.overhead == trace.seconds / trace.plain
    with pytest.raises(KeyError):
        trace["nothing"]


def test_groups_give_the_same_values() -> None:
    graph = build(network)
    names = [name for operator in graph.description.operators for name in operator.outputs]
    whole = graph.trace(network_inputs(), labels=names)
    parts = trace_subject(Subject.of(graph, "trace"), network_inputs(), names, limit=5000)
    assert parts.groups > 2
    for one, other in zip(whole.values, parts.values, strict=True):
        assert one.name == other.name
        if one.value is not None and other.value is not None:
            np.testing.assert_allclose(one.value, other.value, rtol=1e-5)


@pytest.mark.parametrize("limit", [1, 100, 3000, 6500, 1 << 30])
@pytest.mark.parametrize("operands", [False, True])
def test_groups_keep_the_limit(limit: int, operands: bool) -> None:
    description = build(network).description
    known = description.descriptors()
    groups = group(description, limit, operands=operands)
    assert [position for positions, _ in groups for position in positions] == list(range(len(description.operators)))
    for positions, values in groups:
        assert len(positions) == 1 or sum(known[name].byte_length for name in values) <= limit
        for position in positions:
            operator = description.operators[position]
            assert {*operator.outputs} <= {*values}
            needed = {value for _, _, value in operator.named_values()} - {*description.inputs, *description.constants}
            assert not operands or needed <= {*values}


def test_several_results_and_unused_ones() -> None:
    def make(builder: MLGraphBuilder) -> dict[str, MLOperand]:
        parts = builder.split(float_input(builder, "x", 6), 3, {"label": "parts"})
        return {"y": builder.neg(parts[1])}

    trace = build(make).trace({"x": np.arange(6, dtype=np.float32)}, labels="parts")
    assert [each.value.tolist() for each in trace.values if each.value is not None] == [[0, 1], [2, 3], [4, 5]]


@pytest.mark.parametrize(("labels", "kind"), [("nothing", ValueError), ([""], ValueError), ([3], TypeError)])
def test_labels_that_nothing_has(labels: Any, kind: type[Exception]) -> None:
    with pytest.raises(kind, match="trace: labels must be"):
        build(network).trace(network_inputs(), labels=labels)


def test_what_is_printed_and_written() -> None:
    trace = build(network).trace(network_inputs(), labels=["y"])
    text = str(trace)
    assert text.startswith("Values\n8 values in one part")
    assert "probabilities" in text or "softmax" in text
    values = json.loads(trace.to_json())["values"]
    assert len(values[-1]["value"][0]) == 784


# Statistics

STATISTICS: list[tuple[Any, str, Statistics]] = [
    (
        [1, -1, 0, -0.0, math.nan, math.inf, -math.inf, 4],
        "float32",
        Statistics(count=8, minimum=-1.0, maximum=4.0, mean=0.8, deviation=pytest.approx(math.sqrt(2.96)), zeros=2, nans=1, infinities=2),
    ),
    ([math.nan], "float16", Statistics(count=1, minimum=None, maximum=None, mean=None, deviation=None, zeros=0, nans=1, infinities=0)),
    # A sum in float16 would overflow.
    ([60000.0] * 4, "float16", Statistics(count=4, minimum=60000, maximum=60000, mean=60000, deviation=0, zeros=0, nans=0, infinities=0)),
    (
        [2**62, 2**62 + 2**11],
        "uint64",
        Statistics(count=2, minimum=2**62, maximum=2**62 + 2**11, mean=2**62 + 2**10, deviation=2**10, zeros=0, nans=0, infinities=0),
    ),
    ([-128, 127], "int8", Statistics(count=2, minimum=-128, maximum=127, mean=-0.5, deviation=127.5, zeros=0, nans=0, infinities=0)),
]


@pytest.mark.parametrize(("values", "dataType", "expected"), STATISTICS)
def test_statistics(values: Any, dataType: str, expected: Statistics) -> None:
    assert describe_elements(np.array(values, dataType)) == expected


def test_statistics_of_many_elements() -> None:
    """More than are converted at once."""
    array = np.arange((1 << 20) + 5, dtype=np.float32)
    found = describe_elements(array)
    assert (found.minimum, found.maximum, found.mean) == (0, array.size - 1, (array.size - 1) / 2)
    assert found.deviation == pytest.approx(float(array.std(dtype=np.float64)))


@pytest.mark.parametrize(("dataType", "expected"), [("int4", [1, -8, -1]), ("uint4", [1, 8, 15])])
def test_small_types(dataType: Any, expected: list[int]) -> None:
    packed = np.array([0x81, 0x0F], np.uint8)
    assert unpack(packed, OperandDescriptor(dataType, (3,))).tolist() == expected


# NaN and infinities


def nan_network(builder: MLGraphBuilder) -> dict[str, MLOperand]:
    """The logarithm of a difference: NaN where it is negative, -inf where it is zero."""
    x, y = (float_input(builder, name, 2, 3) for name in "xy")
    difference = builder.sub(x, y, {"label": "difference"})
    return {"z": builder.relu(builder.log(difference, {"label": "logarithm"}))}


ONES = np.ones((2, 3), np.float32)


@pytest.mark.parametrize("limit", [1, 1 << 30])
def test_the_first_nan(limit: int) -> None:
    y = ONES.copy()
    y[1, 2] = 3
    found = find_nan(Subject.of(build(nan_network), "firstNaN"), {"x": ONES + 1, "y": y}, limit)
    assert found is not None
    assert (found.kind, found.operation, found.label, found.index) == ("NaN", "log", "logarithm", 2)
    assert found.value.statistics.nans == 1
    assert found.operands["input"].statistics.minimum == -1
    (offender,) = found.offenders
    assert offender.position == (1, 2)
    assert math.isnan(offender.value)
    assert offender.operands == {"input": -1}
    text = str(found)
    assert "log#2 'logarithm' makes NaN: 1 of 6 elements" in text
    assert "at [1, 2]: nan from input -1" in text
    assert json.loads(found.to_json())["offenders"][0]["value"] == "nan"


def test_the_first_infinity() -> None:
    found = build(nan_network).firstNaN({"x": ONES, "y": ONES})
    assert found is not None
    assert (found.kind, found.label, len(found.offenders)) == ("infinity", "logarithm", 6)


def test_no_nan() -> None:
    assert build(nan_network).firstNaN({"x": ONES + 1, "y": ONES}) is None


def test_a_mask_is_not_to_blame() -> None:
    """An infinite operand passes its infinities on."""

    def make(builder: MLGraphBuilder) -> dict[str, MLOperand]:
        mask = constant(builder, np.array([0, -math.inf], np.float32))
        return {"y": builder.softmax(builder.add(float_input(builder, "x", 2), mask), 0)}

    graph = build(make)
    assert graph.firstNaN({"x": np.zeros(2, np.float32)}) is None
    # Their results do not matter here.
    found = build(lambda builder: {"y": builder.mul(next(iter(make(builder).values())), builder.constant("float32", math.inf))}).firstNaN(
        {"x": np.zeros(2, np.float32)}
    )
    assert found is not None
    assert (found.kind, found.operation) == ("NaN", "mul")


def test_an_input_with_nan() -> None:
    x = ONES.copy()
    x[0, 1] = math.nan
    found = build(nan_network).firstNaN({"x": x, "y": ONES})
    assert found is not None
    assert (found.operation, found.value.name, found.offenders[0].position) == ("input", "x", (0, 1))
    assert "input 'x' holds NaN: 1 of 6 elements" in str(found)


def test_float16_overflow() -> None:
    def make(builder: MLGraphBuilder) -> dict[str, MLOperand]:
        x = float_input(builder, "x", 2, dataType="float16")
        return {"y": builder.cast(builder.mul(x, x, {"label": "square"}), "int32")}

    found = build(make).firstNaN({"x": np.array([2, 300], np.float16)})
    assert found is not None
    assert (found.label, found.offenders[0].operands) == ("square", {"a": 300, "b": 300})
