"""Random programs with tensors that are lent to devices, beside a small model of the states."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, rule

import webnn
from tests.context.test_exporting import FLOATS, REVISION, read
from webnn.gpu import GPUDevice

NUMBERS = st.integers(-100, 100)


class Model:
    """The expected state of a tensor: its number, and where it is."""

    def __init__(self, number: int, device: int) -> None:
        self.number = number
        self.device = device
        self.buffer: Any = None
        self.destroyed = False


class Machine(RuleBasedStateMachine):
    """Two devices, and a context that exports to both of them. Every element of a tensor is one number."""

    tensors = Bundle("tensors")

    def __init__(self) -> None:
        super().__init__()
        self.devices = [GPUDevice() for _ in range(2)]
        self.lost = [False, False]
        self.context: Any = webnn.ML(revision=REVISION).createContextSync()
        builder = webnn.MLGraphBuilder(self.context)
        x = builder.input("x", FLOATS)
        self.graph = builder.buildSync({"y": builder.add(x, builder.constant(FLOATS, np.ones(4, np.float32)))})
        self.models: list[tuple[Any, Model]] = []

    def usable(self, model: Model) -> type[Exception] | None:
        """Return the error of `readTensor` and `writeTensor`."""
        return webnn.InvalidStateError if model.destroyed else webnn.WebNNTypeError if model.buffer is not None else None

    @rule(target=tensors, device=st.integers(0, 1))
    def create(self, device: int) -> int:
        usage = {**FLOATS, "readable": True, "writable": True}
        if self.lost[device]:
            with pytest.raises(webnn.InvalidStateError):
                self.context.createExportableTensorSync(usage, self.devices[device])
            # A tensor of the other device, or one that was never exportable.
            self.models.append((self.context.createTensorSync(usage), Model(0, -1)))
        else:
            self.models.append((self.context.createExportableTensorSync(usage, self.devices[device]), Model(0, device)))
        return len(self.models) - 1

    @rule(which=tensors, number=NUMBERS)
    def write(self, which: int, number: int) -> None:
        tensor, model = self.models[which]
        values = np.full(4, number, np.float32)
        if (error := self.usable(model)) is not None:
            with pytest.raises(error):
                self.context.writeTensor(tensor, values)
        else:
            self.context.writeTensor(tensor, values)
            model.number = number

    @rule(source=tensors, result=tensors)
    def compute(self, source: int, result: int) -> None:
        (first, one), (second, other) = self.models[source], self.models[result]
        call = self.graph, {"x": first}, {"y": second}
        if source == result or self.usable(one) is not None or self.usable(other) is not None:
            with pytest.raises(webnn.WebNNTypeError):
                self.context.dispatch(*call)
        else:
            self.context.dispatch(*call)
            other.number = one.number + 1

    @rule(which=tensors)
    def export(self, which: int) -> None:
        tensor, model = self.models[which]
        if model.device < 0:
            with pytest.raises(webnn.WebNNTypeError):
                self.context.exportToGPU(tensor)
        elif model.destroyed or self.lost[model.device]:
            with pytest.raises(webnn.InvalidStateError):
                self.context.exportToGPU(tensor)
        else:
            buffer = self.context.exportToGPU(tensor)
            assert model.buffer in {None, buffer}
            model.buffer = buffer

    @rule(which=tensors, number=NUMBERS)
    def write_buffer(self, which: int, number: int) -> None:
        _, model = self.models[which]
        if model.buffer is not None:
            self.devices[model.device].queue.writeBuffer(model.buffer, 0, np.full(4, number, np.float32))
            model.number = number

    @rule(which=tensors)
    def destroy_buffer(self, which: int) -> None:
        _, model = self.models[which]
        if model.buffer is not None:
            model.buffer.destroy()
            model.buffer = None

    @rule(which=tensors)
    def destroy_tensor(self, which: int) -> None:
        tensor, model = self.models[which]
        tensor.destroy()
        model.destroyed = True

    @rule(device=st.integers(0, 1))
    def lose_device(self, device: int) -> None:
        self.devices[device].lose("the driver failed")
        self.lost[device] = True
        for _, model in self.models:
            if model.device == device and model.buffer is not None:
                model.buffer, model.destroyed = None, True

    @invariant()
    def numbers_are_where_the_model_says(self) -> None:
        for tensor, model in self.models:
            if model.buffer is not None:
                assert read(model.buffer).tolist() == [model.number] * 4
            if (error := self.usable(model)) is not None:
                with pytest.raises(error):
                    self.context.readTensorSync(tensor)
            else:
                assert self.context.readTensorSync(tensor).tolist() == [model.number] * 4


TestMachine = Machine.TestCase
TestMachine.settings = settings(deadline=None, max_examples=50, stateful_step_count=30)
