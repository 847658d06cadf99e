"""An operation accepts any value of an argument, or raises the one error; nothing else happens."""

from __future__ import annotations

import datetime
import decimal
import fractions
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from tests.meta import claims
from tests.property.calls import Call, Operands, Raw, connect
from tests.property.hostile import Pairs, Raising, hostile
from tests.property.profiles import hold
from tests.property.strategies import CALLS, OPERATIONS
from tests.support import CURRENT, FIRST, NEWEST, make_context, shared_context
from webnn import MLContext, MLGraphBuilder, MLOperand, WebNNTypeError
from webnn.validation import webidl

#: For each operation, in continuous integration and at night.
EXAMPLES, NIGHTLY_EXAMPLES = 1, 25
#: In continuous integration each argument of an operation is replaced by every so-manieth thing, at night by everything.
EVERY = 4

# Members that no dictionary has are drawn, too.
pytestmark = pytest.mark.filterwarnings("ignore::webnn.WebNNWarning")


class Endless:
    """Has a length, and elements that are not numbers."""

    def __len__(self) -> int:
        return 2

    def __iter__(self) -> Iterator[object]:
        return iter((self, self))


class Index:
    """Stands for an index, as NumPy's integers do."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __index__(self) -> int:
        return self.value


def things(builder: MLGraphBuilder) -> Sequence[Any]:
    """Make values of all kinds."""
    operand = make_operand(builder)
    activations = [builder.tanh(), [builder.tanh(), builder.relu()]] if builder._revision.activations else ["tanh", ["tanh", "relu"]]
    plain: list[Any] = [
        *(None, True, 0, -1, 2**31, 2**32, 10**400, -0.0, 0.5, math.nan, math.inf, 1 + 2j, "", "1", " 0x10 ", "Infinity", "nchw"),
        *(b"", bytearray(4), memoryview(b"1234"), [], [[]], (1, 2), {1, 2}, {}, {"label": 3}, range(3), (value for value in (1, 2))),
        *(Endless(), Index(1), Index(-(10**30)), object(), int, len, decimal.Decimal("NaN"), fractions.Fraction(1, 3)),
        *(datetime.date(2024, 6, 1), np.int8(-1), np.float16("nan"), np.datetime64("2024-06-01"), np.str_("nhwc")),
        *(operand, [operand], [operand, None], *activations),
    ]
    arrays = [np.array(2), np.array([1, 2]), np.array([0.5, 2.0]), np.array([[1, 2]]), np.array(["1", "2"]), np.array([None, 1])]
    return [*plain, *arrays, *(make() for make in hostile(operand)), *([make()] for make in hostile(operand))]


def make_operand(builder: MLGraphBuilder, name: str = "operand") -> MLOperand:
    descriptor: Any = {"dataType": "float32", builder._revision.shape: [2, 2]}
    return builder.input(name, descriptor)


def check(context: MLContext, call: Call, every: int = 1) -> None:
    """Replace each argument, each member, and the options by each thing.

    Args:
        context: The context.
        call: A valid call.
        every: Every so-manieth thing only, others for each of them.
    """
    builder, operands = MLGraphBuilder(context), Operands()
    operation = context._revision.operations[call.name]
    members = [*(operation.options.model_fields if operation.options else ()), "label", "unknown"]
    things_here = [Raw(thing) for thing in things(builder)]
    places: list[Callable[[Raw], Call]] = [
        *(lambda raw, name=name: replace(call, arguments={**call.arguments, name: raw}) for name in call.arguments),  # type: ignore[misc]
        *(lambda raw, member=member: replace(call, options={**call.options, member: raw}) for member in members),  # type: ignore[misc]
        lambda raw: replace(call, arguments={**call.arguments, "options": raw}, options={}),
    ]
    first = list(context._revision.operations).index(call.name)
    for start, place in enumerate(places, first):
        for raw in things_here[start % every :: every]:
            assert blamed(call.name, partial(connect, builder, place(raw), operands)) == call.name


def blamed(operation: str, call: Callable[[], object]) -> str:
    """Return the operation that the error of a call blames, or the call's own if there is none.

    The error must be one that can be printed: its text has no control characters and no surrogates, and is not endless.
    """
    try:
        call()
    except WebNNTypeError as error:
        text = str(error)
        return error.operation if text.isprintable() and len(text) < 1_000 else f"a text that nobody can read: {text!r}"
    return operation


@pytest.mark.parametrize("name", FIRST.operations)
def test_operation(context: MLContext, name: str) -> None:
    hold("ci", EXAMPLES, CALLS[FIRST.name][name], lambda call: check(context, call, EVERY))


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize(("draft", "name"), OPERATIONS)
def test_operation_at_length(draft: str, name: str) -> None:
    hold("nightly", NIGHTLY_EXAMPLES, CALLS[draft][name], lambda call: check(shared_context(draft), call))


def call_of_the_newest_draft(current: MLContext, name: str) -> Call:
    limits = current.opSupportLimits()[name]
    case = claims.case(next(claims.claims(name, limits)), limits)
    operation = NEWEST.operations[name]
    given: dict[str, Any] = {each: np.zeros(shape, dataType) for each, dataType, shape in case.operands}
    arguments = {each: [given[each]] * 2 if operation.variadic else given[each] for each in operation.operands}
    arguments |= {argument.name: value for argument, value in zip(operation.arguments, case.arguments, strict=True)}
    options = {**dict(case.options), **{each: given[each] for each in operation.members}}
    return Call(name=name, arguments=arguments, options=options, constants=(True,))


@pytest.mark.parametrize("name", NEWEST.operations)
def test_operation_of_the_newest_draft(current: MLContext, name: str) -> None:
    check(current, call_of_the_newest_draft(current, name), EVERY)


@pytest.mark.slow
@pytest.mark.parametrize("name", NEWEST.operations)
def test_operation_of_the_newest_draft_at_length(current: MLContext, name: str) -> None:
    check(current, call_of_the_newest_draft(current, name))


@pytest.mark.parametrize("revision", ["2024-06", CURRENT])
def test_everything_else(context: MLContext, current: MLContext, revision: str) -> None:
    """Check the arguments of the other methods."""
    chosen = current if revision == CURRENT else context
    builder = MLGraphBuilder(chosen)
    shape = chosen._revision.shape
    descriptor = {"dataType": "float32", shape: [2]}
    data = np.zeros(2, np.float32)
    names = map(str, itertools.count())
    result = builder.neg(make_operand(builder, "x"))
    graph = MLGraphBuilder(chosen)
    compiled = graph.buildSync({"y": graph.neg(make_operand(graph, "x"))})
    calls: dict[str, list[Callable[[Any], object]]] = {
        "input": [
            lambda thing: builder.input(thing, descriptor),  # type: ignore[call-overload]
            lambda thing: builder.input(next(names), thing),
            lambda thing: builder.input(next(names), {**descriptor, "dataType": thing}),  # type: ignore[call-overload]
            lambda thing: builder.input(next(names), {**descriptor, shape: thing}),  # type: ignore[call-overload]
        ],
        "constant": [
            lambda thing: builder.constant(thing, data),
            lambda thing: builder.constant(descriptor, thing),  # type: ignore[call-overload]
            lambda thing: builder.constant("int32", thing),
        ],
        "build": [builder.buildSync, lambda thing: builder.buildSync(Pairs([(thing, result), ("", result)]))],
        "MLGraphBuilder": [MLGraphBuilder],
    }
    if revision == CURRENT:
        tensor = chosen.createTensorSync(dataType="float32", shape=[2], readable=True, writable=True)
        calls |= {
            "createTensor": [chosen.createTensorSync],
            "createConstantTensor": [lambda thing: chosen.createConstantTensorSync(descriptor, thing)],  # type: ignore[arg-type]
            "writeTensor": [lambda thing: chosen.writeTensor(tensor, thing), lambda thing: chosen.writeTensor(thing, data)],
            "readTensor": [chosen.readTensorSync, lambda thing: chosen.readTensorSync(tensor, thing)],
            "dispatch": [
                lambda thing: chosen.dispatch(thing, {}, {}),
                lambda thing: chosen.dispatch(compiled, thing, {}),
                lambda thing: chosen.dispatch(compiled, {"x": thing}, {"y": tensor}),
            ],
        }
    else:
        calls["compute"] = [
            lambda thing: chosen.computeSync(thing, {}, {}),
            lambda thing: chosen.computeSync(compiled, thing, {}),
            lambda thing: chosen.computeSync(compiled, {"x": thing}, {}),
            lambda thing: chosen.computeSync(compiled, {"x": np.zeros((2, 2), np.float32)}, {"y": thing}),
        ]
    for thing in things(builder):
        for name, methods in calls.items():
            for method in methods:
                assert blamed(name, partial(method, thing)) == name


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_what_ends_a_program_passes_through(context: MLContext, error: type[BaseException]) -> None:
    builder = MLGraphBuilder(context)
    x = make_operand(builder)
    calls: list[Callable[[Any], object]] = [
        lambda thing: builder.input("x", {"dataType": "float32", "dimensions": thing}),
        lambda thing: builder.input("x", {"dataType": "float32", "dimensions": [thing]}),
        lambda thing: builder.reduceSum(x, axes=thing),
        lambda thing: builder.linear(x, alpha=thing),
        lambda thing: builder.concat(thing, 0),
        lambda thing: builder.constant("float32", thing),
        lambda thing: builder.softmax(x, thing),
    ]
    for call in calls:
        with pytest.raises(error):
            call(Raising(error()))


@pytest.fixture(scope="module")
def context() -> MLContext:
    return make_context()


@pytest.fixture(scope="module")
def current() -> MLContext:
    return make_context(CURRENT)


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stop endless iterators early, because there are many."""
    monkeypatch.setattr(webidl, "_LONGEST", 100)
