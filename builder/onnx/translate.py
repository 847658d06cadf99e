"""From a computational graph to an ONNX model."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from types import MappingProxyType

from onnx import ModelProto
from onnx.shape_inference import infer_shapes

from webnn.builder.collection import without_collection
from webnn.builder.graph import ComputationalGraph
from webnn.builder.numerics import DEFAULT_NUMERICS, Numerics
from webnn.builder.onnx.devices import change_rows
from webnn.builder.onnx.emitter import Emitter, Op, Translation
from webnn.builder.onnx.loops import emit_loop, find_loops
from webnn.builder.onnx.normalization import find_added
from webnn.builder.onnx.quantization import dequantize_constants
from webnn.builder.onnx.searches import find_together
from webnn.builder.onnx.together import FactorType, Setting, Together, find_needed
from webnn.builder.onnx.values import Weight
from webnn.builder.onnx.variants import vary
from webnn.builder.onnx_names import ELEMENT_TYPES, find_scopes, scope
from webnn.builder.operand import MLOperand, Operator
from webnn.builder.semantics import DEFAULT_SEMANTICS, Semantics, semantics_of
from webnn.validation.descriptor import MAX_BYTE_LENGTH, ML_DTYPES, SMALL_TYPES, DataType, OperandDescriptor
from webnn.validation.families import FAMILIES
from webnn.validation.named_descriptor import has_sizes
from webnn.validation.operation import Operation

__all__ = ["TRANSLATIONS", "OnnxModel", "translate"]

#: Every operation's translation by its name.
TRANSLATIONS: Mapping[str, Translation] = MappingProxyType(
    {name: each for family in FAMILIES for name, each in import_module(f"webnn.builder.onnx.{family}").TRANSLATIONS.items()}
)
_NOTHING: Mapping[str, DataType] = MappingProxyType({})
_QUANTIZATIONS = frozenset({"dequantizeLinear", "quantizeLinear"})
#: The names of ONNX element types.
_TYPE_NAMES: Mapping[int, str] = MappingProxyType({number: name for name, number in ELEMENT_TYPES.items()})


@dataclass(frozen=True, slots=True, kw_only=True)
class OnnxModel:
    """A translated graph.

    Attributes:
        proto: The model, without the large constants.
        weights: The large constants, by reference.
        inputs: The ONNX name and the descriptor of each graph input, by its name.
        outputs: The same for each output.
        operators: The operation, the number and the label of each operator, in order.
        largest: The number of elements of the largest value.
        leaves: The ONNX values of the graph's inputs and constants, by the ids of their operands.
        results: The ONNX values of each operator's results, by the operator's number.
        numerics: The policy whose entries its session has: the one under which it was translated, or "exact".
    """

    proto: ModelProto
    weights: tuple[Weight, ...]
    inputs: Mapping[str, tuple[str, OperandDescriptor]]
    outputs: Mapping[str, tuple[str, OperandDescriptor]]
    operators: tuple[tuple[str, int, str], ...]
    largest: int
    leaves: Mapping[int, str]
    results: Mapping[int, Sequence[str]]
    numerics: Numerics

    def find_value(self, operand: MLOperand) -> str | None:
        """Return the ONNX value of an operand of the graph, which must still be alive; ``None`` if nothing needs it."""
        operator = operand._operator
        if operator is None:
            return self.leaves.get(id(operand))
        results = self.results.get(operator.index)
        return None if results is None else results[operand._position]

    def serialize(self) -> bytes:
        """Return the model without the large constants, as bytes."""
        return self.proto.SerializeToString()

    def node_types(self) -> list[tuple[str, str]]:
        """Return the domain and the ONNX operator of each node."""
        return [(node.domain, node.op_type) for node in self.proto.graph.node]

    def op_types(self) -> dict[str, str]:
        """Return the ONNX operator of each node by the node's name."""
        return {node.name: node.op_type for node in self.proto.graph.node}

    def kernels(self) -> dict[str, str]:
        """Return the ONNX operator of each node with the types of its inputs by the node's name: ``"Equal (uint8)"``.

        An engine has a kernel for an operator and its types. A cast has both its types: ``"Cast (int64 to float32)"``.
        """
        graph = infer_shapes(self.proto).graph
        declared = [*graph.value_info, *graph.input, *graph.output]
        types = {each.name: _TYPE_NAMES.get(each.type.tensor_type.elem_type, "") for each in declared}
        types |= {each.name: _TYPE_NAMES.get(each.data_type, "") for each in graph.initializer}
        kernels: dict[str, str] = {}
        for node in graph.node:
            names = ", ".join(filter(None, dict.fromkeys(types.get(value, "") for value in node.input)))
            if node.op_type == "Cast":
                names += f" to {types.get(node.output[0], '')}"
            kernels[node.name] = f"{node.op_type} ({names})" if names else node.op_type
        return kernels

    def find_operator(self, message: str) -> tuple[str, str]:
        """Find the operation and the label that a message of the engine is about, by the name of a node; empty if it names none."""
        found = next(find_scopes(message), ("", 0))
        return found[0], next((label for operation, index, label in self.operators if (operation, index) == found), "")


class _Translator:
    """The state of one translation: the ONNX value of each operand."""

    def __init__(
        self,
        graph: ComputationalGraph,
        numerics: Numerics,
        *,
        provider: str,
        contributed: bool,
        factors: FactorType | None,
        semantics: Semantics,
        rolls: bool,
    ) -> None:
        self.graph = graph
        values = [*graph.inputs.values(), *graph.outputs.values(), *[each for operator in graph.operators for each in operator.inputs]]
        semantics = semantics_of(semantics, {each.descriptor.dataType for each in values}) if semantics else semantics
        self.semantics = semantics
        self.provider = provider
        #: On another provider, the operators that the engine computes at the build: their operands are constants, or results of such ones.
        self.folded: set[int] = set()
        rows = change_rows(TRANSLATIONS, provider) if provider else TRANSLATIONS
        #: The translations that the semantics change.
        self.changed = vary(rows, semantics) if semantics else {}
        self.translations: Mapping[str, Translation] = {**rows, **self.changed} if semantics else rows
        #: Steps that repeat become loops.
        self.rolls = rolls and not provider and not semantics
        self.together: Mapping[int, Together] = {}
        self.needed: set[int] | None = None
        self.factors = factors
        self.emitter = Emitter(numerics, contributed=contributed)
        # By id: the graph keeps the operands alive.
        self.values: dict[int, str] = {}
        self.results: dict[int, Sequence[str]] = {}
        self.constants = 0
        # An exact session computes dequantized constants once, when it starts. Other sessions leave them to each run, since integer kernels
        # may take them beside quantized numbers.
        quantizes = any(operator.operation.name == "quantizeLinear" for operator in graph.operators)
        self.dequantizes = numerics != "exact" and not provider and not quantizes
        #: Some operand has a type that the engine has few kernels for.
        self.has_ml_dtypes = any(each.descriptor.dataType in ML_DTYPES for each in values)

    def value(self, operand: MLOperand) -> str:
        """Return the ONNX value of an operand, adding a constant when it is met first."""
        operator = operand._operator
        if operator is not None:
            return self.results[operator.index][operand._position]
        name = self.values.get(id(operand))
        if name is None:
            assert operand._value is not None  # inputs were declared before
            name = self.values[id(operand)] = f"constant.{self.constants}"
            self.constants += 1
            self.emitter.weight(name, operand._value, operand.descriptor)
        return name

    def own_translation(self, operation: Operation) -> Translation:
        """Return the translation that an addition to the draft brings."""
        assert operation.translation is not None
        translation: Translation = operation.translation()
        changed = vary({operation.name: translation}, self.semantics) if operation.name in self.changed else {}
        return changed.get(operation.name, translation)

    def is_folded(self, operator: Operator) -> bool:
        """Tell whether the CPU provider computes an operator at the build."""
        # The engine leaves dequantized constants to the device, which may take them as integers.
        if not self.provider or operator.operation.name in _QUANTIZATIONS:
            return False
        operands = [*operator.inputs, *(member for _, member in operator.members)]
        if not all(each._value is not None or (each._operator and each._operator.index in self.folded) for each in operands):
            return False
        self.folded.add(operator.index)
        return True

    def operator(self, operator: Operator) -> None:
        """Translate one operator: cast to the carrier, emit, cast back."""
        operation, emitter = operator.operation, self.emitter
        emitter.scope(scope(operation.name, operator.index))
        if self.dequantizes and operation.name == "dequantizeLinear" and (array := dequantize_constants(operator)) is not None:
            self.results[operator.index] = (emitter.weight(f"dequantized.{operator.index}", array),)
            return
        isFolded = self.is_folded(operator)
        if operation.translation is not None:
            translation = self.own_translation(operation)
        elif isFolded and operation.name not in self.changed:
            translation = TRANSLATIONS[operation.name]
        else:
            translation = self.translations[operation.name]
        values: list[str] = []
        for operand in operator.inputs:
            maker = operand._operator
            # Most operands are results: this saves a call for each.
            values.append(self.value(operand) if maker is None else self.results[maker.index][operand._position])
        if translation.kernel and not emitter.has_views and operator.inputs[0].descriptor.dataType == "float32":
            self.results[operator.index] = (emitter.node(translation.kernel, values),)
            return
        names: Sequence[str] = operation.operands
        if operation.variadic:
            names = [f"{names[0]}[{index}]" for index in range(len(operator.inputs))]
        operands: dict[str, MLOperand] = {}
        inputs: dict[str, str] = {}
        for name, operand, value in zip(names, operator.inputs, values, strict=True):
            operands[name] = operand
            inputs[name] = value
        emit = translation.choose("exact" if isFolded else emitter.numerics)
        primary = operator.inputs[translation.primary]
        for name, operand in operator.members:
            operands[name] = operand
            inputs[name] = self.value(operand)
        order: tuple[int, ...] = ()
        if translation.elementwise and emitter.has_views:
            inputs, order = emitter.align(inputs, operands)
        outputs = operator.outputs
        original = primary.descriptor.dataType
        carriers = {original: translation.carry[original]} if original in translation.carry else {}
        if self.has_ml_dtypes:
            carriers |= dict.fromkeys([each for each in ML_DTYPES if each not in translation.native], "float32")
        if not carriers:
            emitted = emit(emitter, Op(operator, operands, inputs, outputs, _NOTHING))
            results = (emitted,) if isinstance(emitted, str) else emitted
        else:
            carried: dict[str, DataType] = {}
            casts: dict[str, str] = {}
            for name, operand in operands.items():
                carrier = carriers.get(operand.descriptor.dataType)
                if carrier is not None and name not in translation.fixed:
                    source = inputs[name]
                    if source not in casts:
                        casts[source] = emitter.cast(source, carrier)
                    inputs[name] = casts[source]
                    carried[name] = carrier
            outputs = tuple([OperandDescriptor(carriers.get(each.dataType, each.dataType), each.dimensions) for each in outputs])
            emitted = emit(emitter, Op(operator, operands, inputs, outputs, carried))
            results = [
                emitter.cast(result, output.dataType) if output.dataType in carriers else result
                for result, output in zip((emitted,) if isinstance(emitted, str) else emitted, operator.outputs, strict=True)
            ]
        if order:
            results = [emitter.transpose(result, order) for result in results]
        self.results[operator.index] = results

    def operators(self) -> None:
        """Translate all operators, some of them together."""
        graph, emitter = self.graph, self.emitter
        emitter.added = find_added(graph)
        setting = Setting(emitter.numerics, emitter.contributed, self.factors)
        together = self.together = find_together(graph, setting, self.changed.keys())
        needed = self.needed = find_needed(graph, together) if together else None
        loops = find_loops(graph, together, needed) if self.rolls and not emitter.names else {}
        end = 0
        for operator in graph.operators:
            loop = loops.get(operator.index)
            if loop is not None:
                emit_loop(emitter, loop, self.results, self.values, self.value, self.translate)
                end = loop.steps[-1][-1].index
            elif operator.index > end:
                self.translate(operator)

    def translate(self, operator: Operator) -> None:
        """Translate an operator, or the nodes of several in place of the first one."""
        index = operator.index
        if self.needed is not None and index not in self.needed:
            return
        one = self.together.get(index)
        if one is None:
            self.operator(operator)
        else:
            self.results |= one.emit(self.emitter, [self.value(operand) for operand in one.operands])

    def run(self) -> OnnxModel:
        """Translate the whole graph."""
        emitter = self.emitter
        inputs: dict[str, tuple[str, OperandDescriptor]] = {}
        for name, operand in self.graph.inputs.items():
            value = emitter.declare_input(f"input.{len(inputs)}", operand.descriptor)
            self.values[id(operand)] = value
            inputs[name] = value, operand.descriptor
        self.operators()
        outputs: dict[str, tuple[str, OperandDescriptor]] = {}
        taken = {value for value, _ in inputs.values()} | set(self.values.values())
        for name, operand in self.graph.outputs.items():
            value, maker = self.value(operand), operand._operator
            if value in taken:
                # The engine wants a value of its own for each output: an operand may be listed twice. (`Identity` has no kernel for small
                # integers.)
                emitter.scope(f"outputs.{len(outputs)}")
                dataType = operand.descriptor.dataType
                value = emitter.cast(value, dataType) if dataType in SMALL_TYPES else emitter.node("Identity", [value])
            elif maker is not None:
                # A deferred transpose is a part of the operator whose output it is.
                emitter.scope(scope(maker.operation.name, maker.index))
            taken.add(value)
            emitter.declare_output(value, operand.descriptor)
            outputs[name] = value, operand.descriptor
        operators = tuple([(each.operation.name, each.index, each.label) for each in self.graph.operators])
        # Most values have the shape of another one.
        descriptors = [each for operator in self.graph.operators for each in operator.outputs] + [each for _, each in inputs.values()]
        shapes = {weight.data.shape for weight in emitter.weights}
        if emitter.names:
            # Some value may be as large as they get.
            shapes.add((MAX_BYTE_LENGTH,))
            descriptors = [each for each in descriptors if not has_sizes(each)]
        shapes.update([each.dimensions for each in descriptors])
        return OnnxModel(
            proto=emitter.finish(),
            weights=tuple(emitter.weights),
            inputs=inputs,
            outputs=outputs,
            operators=operators,
            largest=max(map(math.prod, shapes), default=0),
            leaves=self.values,
            results=self.results,
            numerics=emitter.numerics,
        )


def translate(
    graph: ComputationalGraph,
    numerics: Numerics = DEFAULT_NUMERICS,
    *,
    provider: str = "",
    contributed: bool = False,
    factors: FactorType | None = None,
    semantics: Semantics = DEFAULT_SEMANTICS,
    rolls: bool = False,
) -> OnnxModel:
    """Translate a computational graph to an ONNX model, under a numerics policy.

    Values get names of their own: an operand's name may be any string, an ONNX name may not.

    Args:
        graph: The graph.
        numerics: The policy.
        provider: The engine's provider that gets the nodes; by default its CPU provider. Others have rows in `webnn.builder.onnx.devices`.
        contributed: Whether operators of ONNX Runtime's own may be in the model: those of the domain "com.microsoft". Its CPU provider
            has them, other providers may not.
        factors: Returns the type that constant factors of quantized products get; called if there are any. With it, such products are
            computed by kernels of integers, some of which are operators of ONNX Runtime itself.
        semantics: The values of switches other than the defaults.
        rolls: Whether equal steps become loops, on the CPU provider. Then the results of their operators are not values of the model.
    """
    with without_collection():
        return _Translator(
            graph, numerics, provider=provider, contributed=contributed, factors=factors, semantics=semantics, rolls=rolls
        ).run()
