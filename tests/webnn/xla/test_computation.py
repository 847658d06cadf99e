"""Computations: what `Build` returns, how it runs, and how others use it."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest

from tests.webnn.xla.programs import DRAFTS, context, counting_loop, scalars
from webnn import ML, MLGraphBuilder, MLOperand, NotSupportedError
from webnn.hlo import print_module
from webnn.importing.report import RefusedModelError
from webnn.reference import compute
from webnn.xla import F32, PRED, S32, S64, Computation, ComputationBuilder, MakeShape, TupleShape, XlaError, running

STATE = TupleShape((MakeShape(S32), TupleShape((MakeShape(F32, [2]), MakeShape(PRED)))))


def swap() -> Computation:
    """Return a computation of a tuple with a tuple: the vector times the number, or the vector; and the number, negated."""
    builder = ComputationBuilder("swap")
    state = builder.Parameter(0, STATE, "state")
    number, inner = (builder.GetTupleElement(state, index) for index in (0, 1))
    vector, pred = (builder.GetTupleElement(inner, index) for index in (0, 1))
    scaled = builder.Mul(vector, builder.ConvertElementType(number, F32))
    difference = builder.Sub(builder.ConstantLiteral(0), number)
    builder.Tuple(builder.Tuple(builder.Select(pred, scaled, vector)), difference)
    return builder.Build()


def loop() -> Computation:
    """Return a computation that doubles a vector, as often as its first parameter says."""
    state = TupleShape((MakeShape(S32), MakeShape(S32), MakeShape(F32, [2])))
    condition, body, builder = ComputationBuilder("condition"), ComputationBuilder("body"), ComputationBuilder("loop")
    now = condition.Parameter(0, state)
    condition.Lt(condition.GetTupleElement(now, 0), condition.GetTupleElement(now, 1))
    now = body.Parameter(0, state)
    count, limit, vector = (body.GetTupleElement(now, index) for index in range(3))
    body.Tuple(body.Add(count, body.ConstantLiteral(1)), limit, body.Add(vector, vector))
    limit, vector = builder.Parameter(0, MakeShape(S32), "limit"), builder.Parameter(1, MakeShape(F32, [2]), "vector")
    last = builder.While(condition.Build(), body.Build(), builder.Tuple(builder.ConstantLiteral(0), limit, vector))
    builder.GetTupleElement(last, 2)
    return builder.Build()


def test_what_a_computation_says() -> None:
    built = swap()
    assert built.name == "swap"
    assert built.parameter_names == ("state",)
    assert built.parameter_shapes == (STATE,)
    assert built.argument_names == ("state.0", "state.1.0", "state.1.1")
    assert [str(each) for each in built.array_shapes] == ["s32", "f32[2]", "pred"]
    assert repr(built) == "<Computation 'swap': ((s32, (f32[2], pred))) -> ((f32[2]), s32)>"
    assert built.result_names == ("result0", "result1")


def test_its_module() -> None:
    builder = ComputationBuilder("total")
    x = builder.Parameter(0, MakeShape(F32, [2, 3]), "x")
    builder.Reduce(builder.Add(x, builder.ConstantLiteral([1.0, 2.0, 3.0]), [1]), builder.ConstantLiteral(0.0), scalars("Add", F32), [0])
    assert print_module(builder.Build().module) == (
        "module @total {\n"
        "  func public @main(%0: tensor<2x3xf32>) -> tensor<3xf32> {\n"
        "    %1 = stablehlo.constant {value = dense<[1.0, 2.0, 3.0]>} : tensor<3xf32>\n"
        "    %2 = stablehlo.broadcast_in_dim %1 {broadcast_dimensions = [1]} : (tensor<3xf32>) -> tensor<2x3xf32>\n"
        "    %3 = stablehlo.add %0, %2 : tensor<2x3xf32>\n"
        "    %4 = stablehlo.constant {value = dense<0.0>} : tensor<f32>\n"
        "    %5 = stablehlo.reduce %3, %4 {dimensions = [0]} {\n"
        "      (%6: tensor<f32>, %7: tensor<f32>):\n"
        "      %8 = stablehlo.add %6, %7 : tensor<f32>\n"
        "      stablehlo.return %8 : tensor<f32>\n"
        "    } : (tensor<2x3xf32>, tensor<f32>) -> tensor<3xf32>\n"
        "    func.return %5 : tensor<3xf32>\n"
        "  }\n"
        "}"
    )


def test_its_description() -> None:
    built = swap()
    description = built.description
    assert description is built.description
    assert (description.name, description.draft) == ("swap", "2026-06")
    assert {name: str(each) for name, each in description.inputs.items()} == {
        "state.0": "int32 []",
        "state.1.0": "float32 [2]",
        "state.1.1": "uint8 []",
    }
    assert {operator.label.partition(".")[0] for operator in description.operators} >= {"swap/Mul", "swap/Select", "swap/Sub"}
    inputs = {"state.0": np.array(3, np.int32), "state.1.0": np.float32([1, 2]), "state.1.1": np.array(1, np.uint8)}
    found = compute(description, inputs)
    assert [found[name].tolist() for name in built.result_names] == [[3, 6], -3]


@pytest.mark.parametrize("draft", DRAFTS)
def test_tuples(draft: str) -> None:
    built = swap()
    for pred, wanted in ((True, [3, 6]), (False, [1, 2])):
        (vector,), number = built.execute(context(draft), (3, ([1.0, 2.0], pred)))
        assert vector.tolist() == wanted
        assert (vector.dtype, number.dtype) == (np.float32, np.int32)
        assert number == -3


def test_parameters_in_any_order_and_unused() -> None:
    builder = ComputationBuilder()
    last = builder.Parameter(2, MakeShape(F32, [2]))
    builder.Parameter(0, MakeShape(S32))
    builder.Sub(builder.Parameter(1, MakeShape(F32, [2])), last)
    built = builder.Build()
    assert built.argument_names == ("parameter0", "parameter1", "parameter2")
    assert built.execute(context(DRAFTS[0]), 7, [5, 7], [1, 2]).tolist() == [4, 5]


@pytest.mark.parametrize("draft", DRAFTS)
def test_results_that_are_parameters_and_constants(draft: str) -> None:
    builder = ComputationBuilder()
    x = builder.Parameter(0, MakeShape(PRED, [2]))
    builder.Tuple(x, builder.ConstantLiteral([[1, 2]]), x)
    one, number, other = builder.Build().execute(context(draft), [True, False])
    assert one.dtype == np.bool_
    assert one.tolist() == other.tolist() == [True, False]
    assert number.tolist() == [[1, 2]]


def test_the_root() -> None:
    builder = ComputationBuilder()
    x = builder.Parameter(0, MakeShape(F32))
    two = builder.Add(x, x)
    builder.Add(two, two)
    assert builder.Build(two).execute(context(DRAFTS[0]), 3) == 6


def test_it_is_built_once_for_each_context(monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[Any] = []
    plain = running.BuiltComputation

    class Counted(plain):  # type: ignore[valid-type, misc]
        def __init__(self, *arguments: Any, **options: Any) -> None:
            built.append(arguments[3])
            super().__init__(*arguments, **options)

    monkeypatch.setattr(running, "BuiltComputation", Counted)
    program = scalars("Add", F32)
    for _ in range(3):
        assert program.execute(context(DRAFTS[0]), 1, 2) == 3
    assert built == [context(DRAFTS[0])]
    assert program.execute(context(DRAFTS[1]), 1, 2) == 3
    assert program.execute(context(DRAFTS[1]), 3, constants={"x": 4.0}) == 7
    assert program.execute(context(DRAFTS[1]), 3, constants={"x": 5.0}) == 8
    assert program.execute(context(DRAFTS[1]), 5, constants={"x": 4.0}) == 9
    assert len(built) == 4


def test_it_keeps_no_context_alive() -> None:
    program = scalars("Add", F32)
    own = ML(revision="2024-06").createContextSync()
    assert program.execute(own, 1, 2) == 3
    gone = weakref.ref(own)
    del own
    gc.collect()
    assert gone() is None


def test_arrays_stay_as_they_are() -> None:
    array = np.array([1, 2], np.float32)
    builder = ComputationBuilder()
    builder.Add(builder.Parameter(0, MakeShape(F32, [2])), builder.ConstantLiteral(array))
    built = builder.Build()
    array[0] = 5
    for draft in DRAFTS:
        assert built.execute(context(draft), array).tolist() == [6, 4]
        assert array.tolist() == [5, 2]


@pytest.mark.parametrize("draft", DRAFTS)
def test_lower(draft: str) -> None:
    shape = "shape" if draft == DRAFTS[1] else "dimensions"
    builder = MLGraphBuilder(context(draft))
    number = builder.input("number", {"dataType": "int32", shape: []})
    vector = builder.input("vector", {"dataType": "float32", shape: [2]})
    found = swap().lower(builder, [(number, [builder.exp(vector), True])])
    assert isinstance(found, tuple)
    (inner,), negated = found
    assert isinstance(inner, MLOperand)
    assert isinstance(negated, MLOperand)
    graph = builder.buildSync({"result": builder.add(inner, inner), "negated": negated})
    operations = [operator.operation for operator in graph.description.operators]
    assert [operations.count(name) for name in ("exp", "mul", "add", "sub")] == [1, 1, 1, 1]
    assert {name: str(each) for name, each in graph.description.inputs.items()} == {"number": "int32 []", "vector": "float32 [2]"}


def test_lower_with_known_arrays() -> None:
    builder = MLGraphBuilder(context(DRAFTS[1]))
    vector = builder.input("v", {"dataType": "float32", "shape": [2]})
    doubled = loop().lower(builder, [3, vector])
    assert isinstance(doubled, MLOperand)
    graph = builder.buildSync({"doubled": doubled})
    assert [operator.operation for operator in graph.description.operators] == ["add"] * 3


def test_a_number_of_iterations() -> None:
    built = loop()
    with pytest.raises(RefusedModelError, match=r"loop/While\.\d+ .*must follow from constants.* constants=\{'limit': \.\.\.\}"):
        built.execute(context(DRAFTS[1]), 3, [1, 2])
    assert built.execute(context(DRAFTS[1]), [1, 2], constants={"limit": 3}).tolist() == [8, 16]
    assert built.execute(context(DRAFTS[1]), [1, 2], constants={"limit": 0}).tolist() == [1, 2]


def test_an_element_of_a_tuple_is_known() -> None:
    built = swap()
    (vector,), number = built.execute(context(DRAFTS[1]), (None, ([1.0, 2.0], True)), constants={"state.0": 4})
    assert vector.tolist() == [4, 8]
    assert number == -4


def test_loops_in_loops() -> None:
    """The page does not allow them; here they are unrolled as others."""
    shape = MakeShape(F32, [2])
    inner = counting_loop(shape, lambda b, x: b.Add(x, b.ConstantLiteral(1.0)), 3)
    outer = counting_loop(shape, lambda b, x: b.GetTupleElement(b.While(*inner, b.Tuple(b.ConstantLiteral(0), x)), 1), 4)
    builder = ComputationBuilder()
    builder.While(*outer, builder.Tuple(builder.ConstantLiteral(0), builder.Parameter(0, shape)))
    count, found = builder.Build().execute(context(DRAFTS[1]), [0, 1])
    assert count == 4
    assert found.tolist() == [12, 13]


def test_s64_in_int32() -> None:
    builder = ComputationBuilder()
    x = builder.Parameter(0, MakeShape(S64, [2]), "x")
    builder.Add(x, x)
    built = builder.Build()
    for int32 in (False, True):
        found = built.execute(context(DRAFTS[1]), np.array([1, -2]), int32=int32)
        assert found.dtype == np.int64
        assert found.tolist() == [2, -4]
    assert built.execute(context(DRAFTS[1]), np.array([1 << 40, 0])).tolist() == [1 << 41, 0]
    with pytest.raises(XlaError, match="execute: arrays must fit into int32, which the graph computes in, for the parameter 'x'"):
        built.execute(context(DRAFTS[1]), np.array([1 << 40, 0]), int32=True)


def test_a_computation_calls_itself_no_end() -> None:
    """Operations of computations that are used count each time."""
    built = scalars("Add", F32)
    for _ in range(15):
        builder = ComputationBuilder()
        x, y = (builder.Parameter(number, MakeShape(F32)) for number in (0, 1))
        builder.Call(built, builder.Call(built, x, y), y)
        built = builder.Build()
    assert len(built.module.functions[0].body.operations) == (1 << 15) + 1
    builder = ComputationBuilder()
    x = builder.Parameter(0, MakeShape(F32))
    for _ in range(6):
        x = builder.Call(built, x, x)
    with pytest.raises(XlaError, match="Call: a computation must have at most 200000 operations"):
        builder.Call(built, x, x)


def test_computations_are_nested_no_deeper() -> None:
    built = scalars("Add", F32)
    for _ in range(60):
        builder = ComputationBuilder()
        x, y = (builder.Parameter(number, MakeShape(F32)) for number in (0, 1))
        builder.Reduce(builder.Broadcast(x, [1]), y, built, [0])
        built = builder.Build()
    builder = ComputationBuilder()
    operands = [builder.Parameter(number, MakeShape(F32, [1])) for number in (0, 1)]
    with pytest.raises(XlaError, match="Map: computations must not be nested deeper than 60 levels"):
        builder.Map(operands, built)


def test_many_operations() -> None:
    builder = ComputationBuilder()
    x = builder.Parameter(0, MakeShape(F32, [2]), "x")
    for _ in range(9_000):
        x = builder.Add(x, x)
    assert len(builder.Build().description.operators) == 9_000


def test_arrays_without_elements() -> None:
    builder = ComputationBuilder("nothing")
    builder.Add(builder.Parameter(0, MakeShape(F32, [0]), "x"), builder.ConstantLiteral(1.0))
    with pytest.raises(
        NotSupportedError, match=r"nothing: the model cannot be imported, for 1 reason:\n.*tensors without elements are not"
    ):
        builder.Build().execute(context(DRAFTS[0]), np.zeros(0, np.float32))
