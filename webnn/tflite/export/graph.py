"""From the description of a graph to a model of LiteRT."""

from __future__ import annotations

from collections.abc import Mapping

from webnn.builder.description import GraphDescription
from webnn.builder.operand import MLOperand
from webnn.builder.semantics import DEFAULT_SEMANTICS, Semantics
from webnn.builder.transform import survey
from webnn.hlo.export.emitter import Array, Tensor
from webnn.hlo.export.graph import Exporter
from webnn.hlo.export.rule import ELEMENTS, RuleError
from webnn.hlo.ir import Location
from webnn.tflite.export.emitter import LiteEmitter, slot_of
from webnn.tflite.export.program import TYPES, Program, Slot
from webnn.tflite.export.quantization import settle
from webnn.tflite.export.rules import RULES
from webnn.validation.descriptor import OperandDescriptor

__all__ = ["export"]

#: The types of constants of small types: their elements are a byte each.
_BYTES: Mapping[str, str] = {"int4": "i8", "uint4": "ui8"}


def export(description: GraphDescription, semantics: Semantics = DEFAULT_SEMANTICS, *, carries: bool = False) -> Program:
    """Return a graph as a model of LiteRT, with a signature that has the names of its inputs and outputs.

    Args:
        description: The graph, of any draft.
        semantics: The values of switches that differ from the defaults. With the values of Chromium, its mapping is taken where it differs:
            `averagePool2dPadding`, `l2Pool2dPadding`, `maxPool2dEmptyWindow`, `resample2dTies`, `scatterDuplicates`, `signNaN` and
            `triangularMask`.
        carries: Inputs and outputs of int4 and uint4 have a byte for each element; without it they are refused.

    Raises:
        RuleError: An operator or a data type has no counterpart.
        WebNNTypeError: The draft refuses something.
        DescriptionError: The description contradicts itself.
        TFLiteMissingError: The package tflite is not installed.
    """
    graph, operands = survey(description)
    program = Program(name=description.name or "main")
    emitter = LiteEmitter(program, semantics)
    exporter = _Exporter(emitter, {id(operand): name for name, operand in operands.items() if operand._operator is None})
    for name, descriptor in description.inputs.items():
        element = _element(descriptor, f"the input {name!r}", carries=carries)
        made = emitter.make(descriptor.dimensions, element, name=name)
        exporter.leaves[id(operands[name])] = made
        program.inputs[name] = slot_of(made)
    for operator in graph.operators:
        emitter.uses.update([id(operand) for operand in (*operator.inputs, *[member for _, member in operator.members])])
    emitter.uses.update([id(operand) for operand in graph.outputs.values()])
    for operator in graph.operators:
        exporter.operator(operator)
    taken = {id(each) for each in program.inputs.values()}
    for name in description.outputs:
        emitter.location = Location(name=name)
        _element(graph.outputs[name].descriptor, f"the output {name!r}", carries=carries)
        found = exporter.find(graph.outputs[name])
        if id(found.value) in taken or _is_known(slot_of(found)):
            found = emitter.copy(found)
        taken.add(id(found.value))
        slot_of(found).name = name
        program.outputs[name] = slot_of(found)
    settle(program.needed())
    program.notes = tuple(emitter.notes)
    return program


def _is_known(slot: Slot) -> bool:
    """Tell whether no operator of an inference computes a tensor. XNNPACK does not write converted weights to an output."""
    maker = slot.maker
    return maker is None or (maker.code == "DEQUANTIZE" and all(each is not None and each.data is not None for each in maker.inputs))


def _element(descriptor: OperandDescriptor, place: str, *, carries: bool) -> str:
    """Return the element type of an input or output."""
    carrier = _BYTES.get(descriptor.dataType)
    if carries and carrier:
        return carrier
    element = ELEMENTS[descriptor.dataType]
    if carrier or element not in TYPES:
        raise RuleError(f"{place} is {descriptor.dataType}, which LiteRT does not take")
    return element


class _Exporter(Exporter):
    """The state of an export; ``names`` are those of inputs and constants, by the ids of their operands."""

    def __init__(self, emitter: LiteEmitter, names: Mapping[int, str]) -> None:
        super().__init__(emitter, RULES, "LiteRT")
        self._names = names

    def constant(self, value: Array, operand: MLOperand) -> Tensor:
        made = self.emitter.constant(value)
        slot_of(made).name = self._names.get(id(operand), "constant")
        return made

    def element(self, descriptor: OperandDescriptor) -> str:
        return _BYTES.get(descriptor.dataType) or ELEMENTS[descriptor.dataType]
