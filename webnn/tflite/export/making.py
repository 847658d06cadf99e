"""The ground of the emitter: makes tensors, operators and constants, and says what integers mean."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from webnn.builder.semantics import DEFAULT_SEMANTICS, Semantics
from webnn.hlo.export.emitter import Emitter, Functions, Tensor
from webnn.hlo.export.rule import RuleError
from webnn.hlo.ir import Location, RegionBuilder
from webnn.hlo.types import DTYPES, ELEMENTS, TensorType
from webnn.tflite.export import builtins
from webnn.tflite.export.program import TYPES, Array, Program, Quantization, Slot
from webnn.tflite.schema import load_schema

__all__ = ["Maker", "slot_of"]

Shape = Sequence[int]
_BYTES = frozenset({"i8", "ui8"})
#: Half of the range of integers of 64 bits.
_HALF = np.iinfo(np.int64).min


def slot_of(tensor: Tensor) -> Slot:
    """Return the tensor of the model that a value is."""
    assert isinstance(tensor.value, Slot)
    return tensor.value


class Maker(Emitter):
    """Makes tensors and appends operators to a program."""

    def __init__(self, program: Program, semantics: Semantics = DEFAULT_SEMANTICS) -> None:
        super().__init__(RegionBuilder(), Functions(), Location())
        self.program = program
        #: The values of switches that differ from the defaults.
        self.semantics = dict(semantics)
        #: In how far the model computes other numbers than the graph, for its description.
        self.notes: list[str] = []
        #: The tensors and permutations of transposes, by the ids of the results, which the program keeps.
        self._transposes: dict[int, tuple[Tensor, tuple[int, ...]]] = {}
        #: The tensors of float16 or integers of which those of float32 were made, likewise.
        self._sources: dict[int, Tensor] = {}
        #: How often operands are used, by their ids.
        self.uses: Counter[int] = Counter()

    def note(self, text: str) -> None:
        """Note in how far the model computes other numbers than the graph."""
        if text not in self.notes:
            self.notes.append(text)

    def make(
        self, shape: Shape, element: str, data: Array | None = None, quantization: Quantization | None = None, name: str = ""
    ) -> Tensor:
        """Make a tensor without an operator that computes it."""
        slot = Slot(TensorType(shape=tuple(shape), element=element), name or self.location.name or "constant", data, quantization)
        return self.tensor(slot)

    def emit(self, code: str, inputs: Sequence[Tensor | None], results: Sequence[tuple[Shape, str]], **fields: Any) -> list[Tensor]:
        """Append an operator as it is; ``fields`` are those of its options."""
        made = [self.make(shape, element) for shape, element in results]
        slots = [None if each is None else slot_of(each) for each in inputs]
        self.program.append(code, slots, [slot_of(each) for each in made], builtins.options_of(code, fields))
        return made

    def act(self, code: str, operands: Sequence[Tensor], shape: Shape, *more: Tensor | None, result: str = "", **fields: Any) -> Tensor:
        """Append an operator whose operands have one element type. If its kernels do not take the type, it is computed in a wider one.

        Args:
            code: The operator.
            operands: The operands of that type.
            shape: The shape of the result.
            more: Further operands.
            result: The element type of the result; by default that of the operands.
            fields: The fields of its options.

        Raises:
            RuleError: The operator does not take the type, nor a wider one.
        """
        element = wide = operands[0].element
        operands, meaning = self._agree(operands)
        if element in _BYTES and meaning is None and any(slot_of(each).quantization for each in operands):
            # The kernels would convert integers that mean different numbers.
            wide = "i32"
        while wide not in builtins.ELEMENTS[code]:
            if wide not in builtins.WIDER:
                raise RuleError(f"needs {code}, which LiteRT does not compute for {operands[0].element}")
            wide = builtins.WIDER[wide]
        converted = [self.widen(each, wide) for each in operands]
        is_shifted = element == "ui64" != wide and code in builtins.ORDERED
        if is_shifted:
            # As numbers with a sign, those with the highest bit are the lesser ones: half of the range makes them the greater ones.
            converted = [each + _HALF for each in converted]
        [made] = self.emit(code, [*converted, *more], [(shape, result or wide)], **fields)
        if result:
            return made
        if wide == element:
            slot_of(made).quantization = meaning
        return self.widen(made + _HALF if is_shifted else made, element)

    def _agree(self, operands: Sequence[Tensor]) -> tuple[Sequence[Tensor], Quantization | None]:
        """Give constants the meaning of the other integers; return what all mean, if it is the same."""
        slots = [slot_of(each) for each in operands]
        if slots[0].element not in _BYTES:
            return operands, None
        found = {each.quantization for each in slots if each.data is None}
        if len(found) != 1:
            return operands, None
        [meaning] = found
        if meaning is None or len(meaning.scales) > 1:
            return operands, None
        return [each if slot_of(each).data is None else self.mean(each, meaning) for each in operands], meaning

    def widen(self, x: Tensor, element: str) -> Tensor:
        """Convert a tensor to a wider type, or back. Unsigned integers of 64 bits keep their bits: LiteRT does not convert them."""
        if "ui64" in (x.element, element) and x.element != element:
            if "i64" not in (x.element, element):
                return self.widen(self.widen(x, "i64"), element)
            known = slot_of(x).data
            if known is not None:
                return self.constant(known.view(DTYPES[element]))
            return self.emit("BITCAST", [x], [(x.shape, element)])[0]
        return self.convert(x, element)

    def ints(self, *values: int, shape: Shape | None = None) -> Tensor:
        """Append a constant of int32: a shape, axes, or positions."""
        array = np.array(values, np.int32)
        return self.constant(array if shape is None else array.reshape(shape))

    def known(self, x: Tensor) -> Array | None:
        """Return the elements of a constant."""
        return slot_of(x).data

    def constant(self, value: Array) -> Tensor:
        """Make a constant of a NumPy array."""
        return self.make(value.shape, ELEMENTS[value.dtype.name], value)

    def full(self, number: float, element: str, shape: Shape = ()) -> Tensor:
        """Make a constant with one number for all elements."""
        with np.errstate(over="ignore"):
            single = np.array(number, DTYPES[element])
        return self.constant(np.broadcast_to(single, tuple(shape)))

    def convert(self, x: Tensor, element: str) -> Tensor:
        """Convert elements to another type."""
        if x.element == element:
            return x
        known = slot_of(x).data
        if known is not None and x.element != "f16":
            with np.errstate(invalid="ignore", over="ignore"):
                return self.constant(known.astype(DTYPES[element]))
        if known is not None and element == "f32":
            # Delegates take the weights as they are.
            [made] = self.emit("DEQUANTIZE", [x], [(x.shape, element)])
            self.came_from(made, x)
            return made
        for unsupported in {x.element, element} & {"ui64"}:
            raise RuleError(f"needs a conversion from {x.element} to {element}, and LiteRT converts no {unsupported}")
        if id(x.value) in self._transposes:
            source, permutation = self._transposes[id(x.value)]
            return self.transpose(self.convert(source, element), permutation)
        return self._cast(x, element)

    def _cast(self, x: Tensor, element: str) -> Tensor:
        kinds = load_schema().TensorType
        types = [getattr(kinds, TYPES[each]) for each in (x.element, element)]
        return self.emit("CAST", [x], [(x.shape, element)], InDataType=types[0], OutDataType=types[1])[0]

    def copy(self, x: Tensor) -> Tensor:
        """Append an operator that changes nothing."""
        return self.act("RESHAPE", [x], x.shape, self.ints(*x.shape), NewShape=x.shape)

    def mean(self, x: Tensor, meaning: Quantization) -> Tensor:
        """Return a tensor of the same integers that says what they mean."""
        slot = slot_of(x)
        if slot.quantization == meaning:
            return x
        if slot.data is not None:
            return self.make(x.shape, x.element, slot.data, meaning, slot.name)
        if slot.quantization is not None:
            x = self._cast(self._cast(x, "i32"), x.element)
        slot_of(x).quantization = meaning
        return x

    def dequantize(self, x: Tensor, meaning: Quantization) -> Tensor:
        """Append the numbers that integers mean."""
        if slot_of(x).data is None and x.element in _BYTES:
            x = self.mean(x, meaning)
            [made] = self.emit("DEQUANTIZE", [x], [(x.shape, "f32")])
            self.came_from(made, x)
            return made
        # Delegates fail on the operator if its input is a constant, and no kernel takes int32.
        known = slot_of(x).data
        plain = x if known is None else self.make(x.shape, x.element, known, name=slot_of(x).name)
        made = self._cast(plain, "f32")
        along = [-1 if axis == meaning.axis else 1 for axis in range(len(x.shape))] if len(meaning.scales) > 1 else []
        zeros, scales = (np.array(each, np.float32).reshape(along) for each in (meaning.zeros, meaning.scales))
        made = (made - self.constant(zeros) if zeros.any() else made) * self.constant(scales)
        if known is not None:
            self.came_from(made, self.mean(x, meaning))
        return made

    def came_from(self, x: Tensor, source: Tensor) -> None:
        """Remember the integers, or the numbers of float16, that a tensor was made of."""
        self._sources[id(x.value)] = source

    def source_of(self, x: Tensor) -> Tensor | None:
        """Return the integers that a tensor was made of."""
        found = self._sources.get(id(x.value))
        return None if found is None or slot_of(found).quantization is None else found

    def put_off(self, x: Tensor) -> tuple[Tensor, tuple[int, ...]] | None:
        """Return the tensor and the permutation of a transpose, if it is one."""
        return self._transposes.get(id(x.value))
