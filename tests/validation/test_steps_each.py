"""Each operation of each draft fails at the step that its error names: the steps of the driver, and since 2026-06 those of the validators.

The other tests of this folder are about what the validators demand; most of them follow the draft of June 2024.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from tests.support import each_row, make_context, refused, shared_context
from webnn import ML, Document, MLGraphBuilder
from webnn.validation.drafts import DRAFTS, find_revision
from webnn.validation.errors import DOMException, InvalidStateError, SecurityError, WebNNTypeError
from webnn.validation.operation import Argument
from webnn.validation.steps import algorithms_of
from webnn.validation.webidl import ConversionError

DRAFT = "2026-06"


@dataclass(frozen=True)
class Spec:
    """An operand to be made."""

    dataType: str
    shape: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.dataType}{list(self.shape)}"


def f(*shape: int) -> Spec:
    return Spec("float32", shape)


def h(*shape: int) -> Spec:
    return Spec("float16", shape)


def i(*shape: int) -> Spec:
    return Spec("int8", shape)


#: Values for arguments other than operands.
VALUES = (1, [1], "float32")


def other_arguments(arguments: Iterable[Argument]) -> list[object]:
    """Return values for arguments, which their conversion takes."""
    return [next(value for value in VALUES if converts(argument, value)) for argument in arguments]


def converts(argument: Argument, value: object) -> bool:
    try:
        argument.convert(value)
    except ConversionError:
        return False
    return True


def call(builder: MLGraphBuilder, name: str, *operands: Any) -> None:
    """Call an operation with operands, and other arguments that convert."""
    operation = builder._revision.operations[name]
    getattr(builder, name)(*([list(operands)] if operation.variadic else operands), *other_arguments(operation.arguments))


def make_input(builder: MLGraphBuilder, name: str, spec: Spec) -> Any:
    return builder.input(name, **{"dataType": spec.dataType, builder._revision.shape: list(spec.shape)})  # type: ignore[misc]


def step_of(name: str, draft: str, kind: str, operand: str = "") -> str:
    """Return the number of an operation's step of a kind; empty if the draft has none."""
    found = [step for each in algorithms_of(name, draft) for step in each.steps.values() if step.kind == kind]
    return next((step.number for step in found if not operand or operand in step.operands), "")


OPERATIONS = [(draft, name) for draft in DRAFTS for name in find_revision(draft).operations]


@each_row(("draft", "name"), OPERATIONS)
def test_operands_of_another_builder(draft: str, name: str) -> None:
    context = shared_context(draft)
    builder, other = MLGraphBuilder(context), MLGraphBuilder(context)
    operands = find_revision(draft).operations[name].operands
    for position, wrong in enumerate(operands):
        given = [make_input(other if each == wrong else builder, f"{wrong}, {each}", f(1)) for each in operands]
        with refused(rule="owner") as raised:
            call(builder, name, *given)
        assert raised.value.step == step_of(name, draft, "operands", wrong), position


@each_row("name", find_revision(DRAFT).operations)
def test_a_builder_that_has_built(name: str) -> None:
    builder = MLGraphBuilder(shared_context(DRAFT))
    x = make_input(builder, "x", f(1))
    builder.buildSync({"y": builder.identity(x)})
    with pytest.raises(InvalidStateError) as raised:
        call(builder, name, *[x for _ in find_revision(DRAFT).operations[name].operands])
    assert raised.value.step == step_of(name, DRAFT, "can build") != ""


X4, W4 = f(1, 4, 5, 5), f(6, 2, 3, 3)
TX, TW = f(1, 4, 3, 3), f(4, 2, 3, 3)
BN = (f(2, 3, 4, 4), f(3), f(3))
IN, LN, POOL = f(2, 3, 4, 4), f(2, 3, 4), f(1, 2, 5, 5)
GRU = (f(3, 2, 4), f(1, 15, 4), f(1, 15, 5), 3, 5)
GRU_CELL = (f(2, 4), f(15, 4), f(15, 5), f(2, 5), 5)
LSTM = (f(3, 2, 4), f(1, 20, 4), f(1, 20, 5), 3, 5)
LSTM_CELL = (f(2, 4), f(20, 4), f(20, 5), f(2, 5), f(2, 5), 5)
LARGE = 2**30


def put(arguments: tuple[Any, ...], position: int, value: object) -> tuple[Any, ...]:
    """Replace one of some arguments."""
    return (*arguments[:position], value, *arguments[position + 1 :])


def bad(name: str, type_step: str, shape_step: str, wrong_type: Spec, wrong_shape: Spec) -> list[tuple[str, dict[str, Any]]]:
    """Return the two failures of an operand among the options."""
    return [(type_step, {name: wrong_type}), (shape_step, {name: wrong_shape})]


#: The operation, the step that fails, the arguments, the options.
Row = tuple[str, str, tuple[Any, ...], dict[str, Any]]

WINDOW: list[tuple[str, dict[str, Any]]] = [
    ("8", {"padding": [1]}),
    ("10", {"strides": [1]}),
    ("11", {"strides": [0, 1]}),
    ("13", {"dilations": [1]}),
    ("14", {"dilations": [0, 1]}),
]

ROWS: list[Row] = [
    ("add", "4", (f(2), i(2)), {}),
    ("add", "5.1", (f(2), f(3)), {}),
    ("softmax", "3", (i(2, 3), 1), {}),
    ("softmax", "4", (f(2, 3), 2), {}),
    ("conv2d", "3", (i(1, 4, 5, 5), W4), {}),
    ("conv2d", "4", (f(4, 5, 5), W4), {}),
    ("conv2d", "5", (X4, f(6, 2, 3)), {}),
    ("conv2d", "6", (X4, i(6, 2, 3, 3)), {}),
    *(("conv2d", step, (X4, W4), {"groups": 2, **options}) for step, options in WINDOW),
    ("conv2d", "15", (X4, W4), {"groups": 0}),
    ("conv2d", "16.5", (X4, W4), {"groups": 3}),
    ("conv2d", "16.6", (X4, W4), {"groups": 4}),
    ("conv2d", "16.7", (X4, f(5, 2, 3, 3)), {"groups": 2}),
    ("conv2d", "16.8.1", (X4, W4), {"groups": 2, "bias": f(5)}),
    ("conv2d", "16.8.2", (X4, W4), {"groups": 2, "bias": i(6)}),
    ("conv2d", "16.8.2", (X4, W4), {"groups": 2, "bias": h(6)}),
    ("conv2d", "16.12", (X4, f(6, 2, 9, 9)), {"groups": 2}),
    ("convTranspose2d", "3", (f(4, 3, 3), TW), {}),
    ("convTranspose2d", "4", (i(1, 4, 3, 3), TW), {}),
    ("convTranspose2d", "5", (TX, f(4, 2, 3)), {}),
    ("convTranspose2d", "6", (TX, h(4, 2, 3, 3)), {}),
    *(("convTranspose2d", step, (TX, TW), options) for step, options in WINDOW),
    ("convTranspose2d", "16", (TX, TW), {"outputPadding": [1]}),
    ("convTranspose2d", "17.1", (TX, TW), {"outputSizes": [5]}),
    ("convTranspose2d", "18.1", (TX, TW), {"outputPadding": [1, 1]}),
    ("convTranspose2d", "19", (TX, TW), {"groups": 0}),
    ("convTranspose2d", "20.5", (TX, f(3, 2, 3, 3)), {}),
    ("convTranspose2d", "20.8.1", (TX, TW), {"bias": f(3)}),
    ("convTranspose2d", "20.8.2", (TX, TW), {"bias": h(2)}),
    ("convTranspose2d", "20.11.2", (TX, TW), {"outputSizes": [9, 5]}),
    ("convTranspose2d", "20.11.2", (TX, TW), {"outputSizes": [5, 9]}),
    ("convTranspose2d", "20.13", (TX, TW), {"padding": [9, 9, 9, 9]}),
    # Too many output channels, step 20.7: all dimensions of the output are checked together.
    ("convTranspose2d", "20.13", (TX, f(4, 1, 3, 3)), {"groups": 2**31}),
    ("matmul", "3", (i(2, 3), i(3, 2)), {}),
    ("matmul", "3", (f(2, 3), h(3, 2)), {}),
    ("matmul", "4.5", (f(3), f(3, 4)), {}),
    ("matmul", "4.10", (f(2, 3), f(4, 5)), {}),
    ("matmul", "4.13", (f(2, 2, 3), f(3, 3, 4)), {}),
    ("gemm", "3", (i(2, 3), i(3, 4)), {}),
    ("gemm", "3", (f(2, 3), h(3, 4)), {}),
    ("gemm", "4", (f(2, 3, 4), f(3, 4)), {}),
    ("gemm", "11", (f(2, 3), f(4, 5)), {}),
    ("gemm", "12.1", (f(2, 3), f(3, 5)), {"c": f(3, 5)}),
    ("gemm", "12.2", (f(2, 3), f(3, 5)), {"c": h(5)}),
    ("batchNormalization", "3", put(BN, 0, i(2, 3, 4, 4)), {}),
    ("batchNormalization", "4", BN, {"axis": 4}),
    ("batchNormalization", "5", put(BN, 1, h(3)), {}),
    ("batchNormalization", "6", put(BN, 1, f(4)), {}),
    ("batchNormalization", "7", put(BN, 2, h(3)), {}),
    ("batchNormalization", "8", put(BN, 2, f(4)), {}),
    *(("batchNormalization", step, BN, options) for step, options in bad("scale", "10.1", "10.2", h(3), f(4))),
    *(("batchNormalization", step, BN, options) for step, options in bad("bias", "11.1", "11.2", h(3), f(4))),
    ("instanceNormalization", "3", (i(2, 3, 4, 4),), {}),
    ("instanceNormalization", "4", (f(3, 4, 4),), {}),
    *(("instanceNormalization", step, (IN,), options) for step, options in bad("scale", "7.1", "7.2", h(3), f(4))),
    *(("instanceNormalization", step, (IN,), options) for step, options in bad("bias", "8.1", "8.2", h(3), f(4))),
    ("layerNormalization", "3", (i(2, 3),), {}),
    ("layerNormalization", "5", (LN,), {"axes": [2, 2]}),
    ("layerNormalization", "5", (LN,), {"axes": [3]}),
    *(("layerNormalization", step, (LN,), {"axes": [2], **options}) for step, options in bad("scale", "7.1", "7.2", h(4), f(4, 4))),
    *(("layerNormalization", step, (LN,), {"axes": [2], **options}) for step, options in bad("bias", "8.1", "8.2", h(4), f(4, 4))),
    ("layerNormalization", "9.4.1", (LN,), {"axes": [2], "scale": f(3)}),
    ("layerNormalization", "9.5.1", (LN,), {"axes": [2], "bias": f(3)}),
    ("averagePool2d", "4", (i(1, 2, 5, 5),), {}),
    ("maxPool2d", "5", (f(2, 5, 5),), {}),
    ("l2Pool2d", "8", (POOL,), {"windowDimensions": [2]}),
    ("maxPool2d", "9", (POOL,), {"windowDimensions": [0, 2]}),
    ("maxPool2d", "11", (POOL,), {"padding": [1]}),
    ("maxPool2d", "13", (POOL,), {"strides": [1]}),
    ("maxPool2d", "14", (POOL,), {"strides": [0, 1]}),
    ("maxPool2d", "15.1", (POOL,), {"outputSizes": [1]}),
    ("maxPool2d", "17", (POOL,), {"dilations": [1]}),
    ("maxPool2d", "18", (POOL,), {"dilations": [0, 1]}),
    ("maxPool2d", "20.3.2", (POOL,), {"windowDimensions": [2, 2], "outputSizes": [9, 9]}),
    ("maxPool2d", "20.5", (POOL,), {"windowDimensions": [9, 9]}),
    ("gru", "3", put(GRU, 0, i(3, 2, 4)), {}),
    ("gru", "3", put(GRU, 1, h(1, 15, 4)), {}),
    ("gru", "4", put(GRU, 0, f(2, 4)), {}),
    ("gru", "5", put(GRU, 3, 4), {}),
    ("gru", "9", put(GRU, 1, f(1, 14, 4)), {}),
    ("gru", "10", put(GRU, 2, f(1, 15, 4)), {}),
    ("gru", "11", put(GRU, 4, LARGE), {}),
    *(("gru", step, GRU, options) for step, options in bad("bias", "12.1", "12.2", h(1, 15), f(1, 14))),
    *(("gru", step, GRU, options) for step, options in bad("recurrentBias", "13.1", "13.2", h(1, 15), f(1, 14))),
    *(("gru", step, GRU, options) for step, options in bad("initialHiddenState", "14.1", "14.2", h(1, 2, 5), f(1, 2, 4))),
    ("gru", "15.1", GRU, {"activations": ["relu"]}),
    ("gruCell", "3", put(GRU_CELL, 0, i(2, 4)), {}),
    ("gruCell", "3", put(GRU_CELL, 3, h(2, 5)), {}),
    ("gruCell", "4", put(GRU_CELL, 0, f(1, 2, 4)), {}),
    ("gruCell", "7", put(GRU_CELL, 1, f(14, 4)), {}),
    ("gruCell", "8", put(GRU_CELL, 2, f(15, 4)), {}),
    ("gruCell", "9", put(GRU_CELL, 3, f(2, 4)), {}),
    ("gruCell", "10", put(GRU_CELL, 4, LARGE), {}),
    *(("gruCell", step, GRU_CELL, options) for step, options in bad("bias", "11.1", "11.2", h(15), f(14))),
    *(("gruCell", step, GRU_CELL, options) for step, options in bad("recurrentBias", "12.1", "12.2", h(15), f(14))),
    ("gruCell", "13.1", GRU_CELL, {"activations": ["relu"]}),
    ("lstm", "4", put(LSTM, 0, i(3, 2, 4)), {}),
    ("lstm", "4", put(LSTM, 2, h(1, 20, 5)), {}),
    ("lstm", "5", put(LSTM, 0, f(2, 4)), {}),
    ("lstm", "7", put(LSTM, 3, 4), {}),
    # Step 6 as well: no input has 0 steps.
    ("lstm", "7", put(LSTM, 3, 0), {}),
    ("lstm", "10", put(LSTM, 1, f(1, 19, 4)), {}),
    ("lstm", "11", put(LSTM, 2, f(1, 20, 4)), {}),
    ("lstm", "12", put(LSTM, 4, LARGE), {}),
    *(("lstm", step, LSTM, options) for step, options in bad("bias", "13.1", "13.2", h(1, 20), f(1, 19))),
    *(("lstm", step, LSTM, options) for step, options in bad("recurrentBias", "14.1", "14.2", h(1, 20), f(1, 19))),
    *(("lstm", step, LSTM, options) for step, options in bad("peepholeWeight", "15.1", "15.2", h(1, 15), f(1, 14))),
    *(("lstm", step, LSTM, options) for step, options in bad("initialHiddenState", "16.1", "16.2", h(1, 2, 5), f(1, 2, 4))),
    *(("lstm", step, LSTM, options) for step, options in bad("initialCellState", "17.1", "17.2", h(1, 2, 5), f(1, 2, 4))),
    ("lstm", "18.1", LSTM, {"activations": ["relu"]}),
    ("lstmCell", "3", put(LSTM_CELL, 0, i(2, 4)), {}),
    ("lstmCell", "3", put(LSTM_CELL, 4, h(2, 5)), {}),
    ("lstmCell", "4", put(LSTM_CELL, 0, f(1, 2, 4)), {}),
    ("lstmCell", "7", put(LSTM_CELL, 1, f(19, 4)), {}),
    ("lstmCell", "8", put(LSTM_CELL, 2, f(20, 4)), {}),
    ("lstmCell", "9", put(LSTM_CELL, 3, f(2, 4)), {}),
    ("lstmCell", "10", put(LSTM_CELL, 4, f(2, 4)), {}),
    ("lstmCell", "11", put(LSTM_CELL, 5, LARGE), {}),
    *(("lstmCell", step, LSTM_CELL, options) for step, options in bad("bias", "12.1", "12.2", h(20), f(19))),
    *(("lstmCell", step, LSTM_CELL, options) for step, options in bad("recurrentBias", "13.1", "13.2", h(20), f(19))),
    *(("lstmCell", step, LSTM_CELL, options) for step, options in bad("peepholeWeight", "14.1", "14.2", h(15), f(14))),
    ("lstmCell", "15.1", LSTM_CELL, {"activations": ["relu"]}),
    ("reduceSum", "5", (f(2, 3),), {"axes": [2]}),
    ("reduceSum", "5", (f(2, 3),), {"axes": [1, 1]}),
    ("resample2d", "6", (POOL,), {"scales": [1]}),
    ("resample2d", "6", (POOL,), {"scales": [0, 1]}),
    ("resample2d", "7", (POOL,), {"sizes": [1]}),
    ("resample2d", "9", (POOL,), {"axes": [1, 1]}),
    ("resample2d", "9", (POOL,), {"axes": [1, 4]}),
    ("resample2d", "10.3.3", (POOL,), {"scales": [0.1, 0.1]}),
    ("concat", "3", ([], 0), {}),
    ("concat", "5", ([f(2, 3)], 2), {}),
    ("concat", "8.2", ([f(2, 3), h(2, 3)], 0), {}),
    ("concat", "8.3", ([f(2, 3), f(3)], 0), {}),
    ("concat", "8.4.1", ([f(2, 3), f(2, 4)], 0), {}),
    ("concat", "8.4.2.2", ([i(2**31 - 1), i(1)], 0), {}),
    ("expand", "3.1", (f(2), [3]), {}),
    ("expand", "4", (f(1), [1] * 9), {}),
    ("reshape", "3", (f(1), [1] * 9), {}),
    ("reshape", "6", (f(2), [0]), {}),
    ("reshape", "8", (f(2), [3]), {}),
    ("slice", "3", (f(4), [0], [0]), {}),
    ("slice", "4", (f(4), [0, 0], [1]), {}),
    ("slice", "4", (f(4), [0], [1, 1]), {}),
    ("slice", "6.2", (f(4), [0], [4]), {"strides": [1, 1]}),
    ("slice", "9.5", (f(4), [0], [4]), {"strides": [0]}),
    ("slice", "9.6", (f(4), [4], [1]), {}),
    ("slice", "9.7", (f(4), [0], [5]), {}),
    ("split", "4", (f(4), 2), {"axis": 1}),
    ("split", "5.1", (f(8193), 8193), {}),
    ("split", "5.2", (f(4), 3), {}),
    ("split", "6.1", (f(8193), [1] * 8193), {}),
    ("split", "6.2", (f(4), [0, 4]), {}),
    ("split", "6.3", (f(4), [1, 1]), {}),
    ("transpose", "4.1", (f(2, 3),), {"permutation": [0]}),
    ("transpose", "4.2", (f(2, 3),), {"permutation": [0, 2]}),
    ("transpose", "4.3", (f(2, 3),), {"permutation": [1, 1]}),
    ("argMin", "4", (f(2, 3), 2), {}),
    ("argMin", "5", (f(2, 3), 1), {"outputDataType": "float32"}),
]


@each_row(("name", "step", "arguments", "options"), ROWS)
def test_the_step_that_fails_since_2026_06(name: str, step: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> None:
    builder = MLGraphBuilder(shared_context(DRAFT))
    count = 0

    def made(value: object) -> object:
        nonlocal count
        if isinstance(value, list):
            return [made(each) for each in value]
        count += 1
        return make_input(builder, str(count), value) if isinstance(value, Spec) else value

    given = [made(argument) for argument in arguments]
    members = {member: made(value) for member, value in options.items()}
    with pytest.raises(WebNNTypeError) as raised:
        getattr(builder, name)(*given, **members)
    assert raised.value.step == step, raised.value


@pytest.mark.parametrize(("draft", "first", "second"), [("2024-06", "2", ""), (DRAFT, "2", "3")])
def test_constants(draft: str, first: str, second: str) -> None:
    builder = MLGraphBuilder(make_context(draft))
    shape = builder._revision.shape
    with pytest.raises(WebNNTypeError) as raised:
        builder.constant({"dataType": "float32", shape: [2]}, np.zeros(3, np.float32))  # type: ignore[misc]
    assert raised.value.step == (second or first)
    with pytest.raises(WebNNTypeError) as raised:
        builder.constant({"dataType": "float32", shape: [0]}, np.zeros(0, np.float32))  # type: ignore[misc]
    assert raised.value.step == (first if second else "1")


def test_methods_of_a_builder_since_2026_06() -> None:
    context = make_context(DRAFT)
    builder, other = MLGraphBuilder(context), MLGraphBuilder(context)
    x = make_input(builder, "x", f(1))
    y = builder.identity(x)
    for step, outputs in {"3": {}, "4.1": {"": y}, "4.2": {"y": other.identity(make_input(other, "x", f(1)))}, "4.3": {"x": x}}.items():
        with pytest.raises(WebNNTypeError) as raised:
            builder.buildSync(outputs)
        assert raised.value.step == step
    with pytest.raises(WebNNTypeError) as raised:
        make_input(builder, "", f(1))
    assert raised.value.step == "2"
    tensor = context.createConstantTensorSync({"dataType": "float32", "shape": [1]}, np.zeros(1, np.float32))
    builder.buildSync({"y": y})
    constants: list[tuple[str, tuple[Any, ...]]] = [
        ("4", (tensor,)),
        ("1", ({"dataType": "float32", "shape": [1]}, np.zeros(1, np.float32))),
        ("1", ("float32", 1)),
    ]
    for step, given in constants:
        with pytest.raises(InvalidStateError) as state:
            builder.constant(*given)
        assert state.value.step == step


def test_a_tensor_that_is_too_short() -> None:
    context = make_context(DRAFT)
    tensor = context.createTensorSync(dataType="float32", shape=[2], writable=True)
    with pytest.raises(WebNNTypeError) as raised:
        context.writeTensor(tensor, np.zeros(3, np.float32))
    assert raised.value.step == "4"


@pytest.mark.parametrize(("draft", "step"), [("2024-06", "2"), (DRAFT, "3")])
def test_a_document_that_may_not_use_the_feature(draft: str, step: str) -> None:
    with pytest.raises(DOMException) as raised:
        ML(revision=draft, document=Document({"webnn": False})).createContextSync()
    assert isinstance(raised.value, SecurityError)
    assert raised.value.step == step
