"""The import: one pass over the operators of a subgraph, in the order of the file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from webnn.builder.description import OperatorDescription
from webnn.builder.graph_builder import LabellingBuilder
from webnn.importing import driver
from webnn.importing.driver import Driver, describe_import, enter_body, fit_shape, make_builder
from webnn.importing.steps import Operands, Result, Steps, product, value_of
from webnn.importing.values import Array, Blocked, Refused, Value
from webnn.reference import compute
from webnn.tflite.model import Model, Operator, Signature, Subgraph, Tensor
from webnn.tflite.node import Node, Rule, dequantize, find_quantization, quantize
from webnn.tflite.rules import MOVES, RAW, RULES, UNFOLDED, advise
from webnn.tflite.variables import Variables
from webnn.validation import webidl
from webnn.validation.descriptor import unpack
from webnn.validation.errors import DOMException

__all__ = ["Importer", "Settings"]

#: The most elements of inputs from which results are computed at import. Larger ones are weights, which the graph may compute.
_MOST_FOLDED = 1 << 16
#: The most elements of a result between two operators that are computed at import.
_MOST_BETWEEN = 1 << 20
#: Operations that pad their input, or cut the edges of their result: whatever the sizes of both, there may be much in between.
_WITH_WINDOWS = frozenset({"averagePool2d", "conv2d", "convTranspose2d", "l2Pool2d", "maxPool2d"})
#: The reference takes as long as an operator with this many names.
_FOLDED_NAMES = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings(driver.Settings):
    """Settings of the caller: see `webnn.tflite.load`."""

    signature: str | None = None


@dataclass(slots=True, eq=False)
class Scope:
    """The values of the tensors of a subgraph that is imported.

    Attributes:
        subgraph: The subgraph.
        path: The prefix of the names of operators in messages.
        depth: How many subgraphs are around it.
        values: The values by the indices of their tensors; None is one that could not be imported.
    """

    subgraph: Subgraph
    path: str = ""
    depth: int = 0
    values: dict[int, Value | None] = field(default_factory=dict)

    def tensor(self, index: int) -> Tensor:
        """Return a tensor."""
        return self.subgraph.tensors[index]


class Importer(Driver[tuple[Operator, Scope], Value]):
    """The state of one import. A node is an operator, and the scope that it is in."""

    most_steps = 20_000
    limit = "the model must have at most {} operators"

    def __init__(self, model: Model, builder: LabellingBuilder, settings: Settings, signature: Signature) -> None:
        super().__init__(builder, float64=settings.float64, advice="give float64=True")
        self._model = model
        self._settings = settings
        self._signature = signature
        self._variables = Variables(self, model)
        #: Values of tensors that are known, by the ids of the tensors, and the numbers that quantized values mean, by theirs.
        self._known: dict[int, Value] = {}
        self._buffers: set[int] = set()
        #: The inputs whose shapes are those of the file, which leaves them open.
        self._open: list[str] = []
        self._numbers: dict[int, tuple[Value, Value]] = {}

    # The graph.

    def walk(self) -> None:
        """Import the subgraph of the signature."""
        signature, settings = self._signature, self._settings
        scope = Scope(self._model.subgraphs[signature.subgraph])
        names = scope.subgraph.name_tensors(scope.subgraph.inputs, signature.inputs)
        self.check_names("shapes", settings.shapes, [*names.values()], "an input")
        self.check_names("constants", settings.constants, [*names.values()], "an input")
        for index, name in names.items():
            scope.values[index] = self.attempt(f"inputs[{name!r}]", partial(self._input, name, scope.tensor(index)))
        others = [each.name for each in self._model.signatures if each is not signature]
        if others:
            self.operands.notes[f"the signature is {signature.name!r}; the model has also {', '.join(map(repr, others))}"] = None
        for operator in scope.subgraph.operators:
            self.import_top((operator, scope))
        self._builder.label = ""
        if not scope.subgraph.outputs:
            self.refuse("outputs", "", Refused("the subgraph must have outputs"))
        for index, name in scope.subgraph.name_tensors(scope.subgraph.outputs, signature.outputs).items():
            self.define_output(name, partial(self._find, scope, index), f"outputs[{name!r}]")
        self._variables.define_outputs()
        if any(each.operator in RULES for each in self._refusals):
            for name in self._open:
                text = f"the file leaves sizes of {name!r} open, and has others that may not fit"
                self.refuse(f"inputs[{name!r}]", "", Refused(text, f"give them: shapes={{{name!r}: [...]}}"))

    def _input(self, name: str, tensor: Tensor) -> Value:
        """Return an input of the model."""
        constant = self._settings.constants.get(name)
        given = self._settings.shapes.get(name) if constant is None else np.shape(constant)
        shape = tensor.shape
        if given is not None:
            shape = fit_shape(given, ["?" if axis in tensor.open else size for axis, size in enumerate(shape)])
        elif tensor.open:
            self._open.append(name)
            text = f"the file leaves sizes of {name!r} open, and has {list(shape)}; another shape: shapes={{{name!r}: [...]}}"
            self.operands.notes[text] = None
        return self.define_input(name, tensor.dtype, shape, constant)

    # Values.

    def _find(self, scope: Scope, index: int) -> Value:
        """Return the value of a tensor; block one that could not be imported."""
        if index in scope.values:
            value = scope.values[index]
            if value is None:
                raise Blocked
            return value
        tensor = scope.tensor(index)
        if tensor.is_variable:
            return self._variables.read(self._variables.find(tensor.name), tensor.dtype, tensor.shape)
        found = self._known.get(id(tensor))
        if found is None:
            array = tensor.read()
            if array is None:
                raise Refused(f"there is no value of the tensor {webidl.describe(tensor.name)} before the operator")
            if tensor.data is not None and id(tensor.data) not in self._buffers:
                # Tensors may share a buffer, which counts once.
                self._buffers.add(id(tensor.data))
                self.operands.allow(tensor.data.nbytes)
            if tensor.data is None or not np.may_share_memory(array, tensor.data):
                self.operands.spend(array.nbytes)
            found = self._known[id(tensor)] = Value.known(array, tensor.name)
        return found

    def _meaning(self, operands: Operands, value: Value, tensor: Tensor) -> Value:
        """Return the numbers that a value's integers mean; the value itself if it is not quantized."""
        quantization = find_quantization(tensor)
        if quantization is None or value.dtype.kind not in "iuV":
            return value
        if operands is not self.operands:
            return dequantize(Steps(operands), value, quantization)
        found = self._numbers.get(id(value))
        if found is None:
            # The value is kept, so that its id stays its own.
            found = self._numbers[id(value)] = value, dequantize(Steps(operands), value, quantization)
        return found[1]

    # Operators.

    def locate(self, node: tuple[Operator, Scope]) -> tuple[str, str]:
        """Return the place of an operator, the name of its first output, and its own name."""
        operator, scope = node
        name = scope.tensor(operator.outputs[0]).name if operator.outputs else operator.key
        return f"{scope.path}{name}", operator.key

    def retry(self, node: tuple[Operator, Scope]) -> bool:
        """Let stand-ins replace the refused inputs of an operator, in the shapes of the file."""
        operator, scope = node
        if self._settings.shapes:
            return False
        blocked = [index for index in operator.inputs if index in scope.values and scope.values[index] is None]
        for tensor, index in [(scope.tensor(index), index) for index in blocked]:
            try:
                scope.values[index] = self.stand_in(tensor.name, tensor.dtype, tensor.shape)
            except Refused:
                return False
        return all(scope.values[index] is not None for index in blocked)

    def define(self, node: tuple[Operator, Scope], outputs: Sequence[Value | None] | None) -> None:
        """Define the outputs of an operator in its scope."""
        operator, scope = node
        roots = frozenset[str]().union(*[value.roots for index in operator.inputs if (value := scope.values.get(index)) is not None])
        for place, index in enumerate(operator.outputs):
            value = None if outputs is None else outputs[place]
            if value is not None:
                self.name_output(scope.tensor(index).name, value, roots)
            scope.values[index] = value

    def evaluate(self, node: tuple[Operator, Scope]) -> Sequence[Value | None]:
        """Return the outputs of an operator."""
        operator, scope = node
        self.take_step(len(operator.inputs) + len(operator.outputs))
        for index in operator.outputs:
            if scope.values.get(index) is not None or scope.tensor(index).data is not None:
                raise Refused(f"the tensor {webidl.describe(scope.tensor(index).name)} must be made once")
        if not operator.outputs and operator.key not in ("ASSIGN_VARIABLE", "CALL_ONCE"):
            raise Refused("the operator must have outputs")
        rule = RULES.get(operator.key)
        if rule is None:
            raise Refused(f"there is no rule for the operator {operator.key}", advise(operator.key))
        inputs = [None if index < 0 else self._find(scope, index) for index in operator.inputs]
        if operator.key not in UNFOLDED and inputs and all(value is None or value.array is not None for value in inputs):
            folded = self._fold(rule, operator, scope, inputs)
            if folded is not None:
                return folded
        made = self._node(self.operands, operator, scope, inputs)
        results: list[Result] = self.apply(rule, made, node, self.locate(node)[0])
        found = self._finish(made, results)
        for index, update in made.updates.items():
            tensor = made.tensors[index]
            # The caller keeps the state if it is an input of the model.
            if tensor is not None and tensor.is_variable:
                self._variables.write(self._variables.find(tensor.name), self._result(made, tensor, update))
        return found

    def _node(self, operands: Operands, operator: Operator, scope: Scope, inputs: Sequence[Value | None]) -> Node:
        """Return an operator for its rule: with the numbers that integers mean, but where a rule only moves them."""
        tensors = [None if index < 0 else scope.tensor(index) for index in operator.inputs]
        outputs = [scope.tensor(index) for index in operator.outputs]
        quantizations = [each.quantization for each in (*tensors, *outputs) if each is not None and each.quantization is not None]
        moves = operator.key in RAW or (operator.key in MOVES and all(each.same(quantizations[0]) for each in quantizations))
        given = [
            value if value is None or tensor is None or moves else self._meaning(operands, value, tensor)
            for value, tensor in zip(inputs, tensors, strict=True)
        ]
        run = partial(self._run, scope, self.locate((operator, scope))[0])
        return Node(operands, operator, given, tensors, outputs, run, self._variables)

    def _finish(self, node: Node, results: Sequence[Result]) -> list[Value | None]:
        """Return the results of a rule in the types of their tensors."""
        if len(results) != len(node.outputs):
            raise Refused(f"the operator must have {len(results)} outputs, got {len(node.outputs)}")
        return [self._result(node, tensor, result) for tensor, result in zip(node.outputs, results, strict=True)]

    def _result(self, node: Node, tensor: Tensor, result: Result) -> Value:
        if isinstance(result, np.ndarray):
            if result.base is None:
                self.operands.spend(result.nbytes)
            is_number = result.dtype.kind == "f" and tensor.quantization is not None
            result = Value.known(result if is_number else result.astype(tensor.dtype, copy=False))
        if isinstance(result, Value):
            if result.dtype == tensor.dtype and (result.array is not None or result.numbers is None):
                # An input that is passed on keeps its own name.
                return replace(result, name="") if result.name else result
            result = node.operand_of(result)
        assert result is not None
        quantization = find_quantization(tensor)
        if quantization is not None and node.is_float(result):
            result = quantize(node, result, quantization, tensor)
        self.operands.carrier(tensor.dtype)
        return node.typed(result, tensor.dtype)

    def _fold(self, rule: Rule, operator: Operator, scope: Scope, inputs: Sequence[Value | None]) -> list[Value | None] | None:
        """Compute an operator whose inputs are known by its rule, in a graph of its own; None if that is too large, or fails."""
        if sum([0 if value is None else value.size for value in inputs]) > _MOST_FOLDED:
            return None
        builder = make_builder(has_small_integers=True)
        builder.label = ""
        operands = Operands(builder, float64=self._settings.float64, advice="")
        given = [None if value is None or value.array is None else Value.known(value.array, value.name) for value in inputs]
        try:
            node = self._node(operands, operator, scope, given)
            results = rule(node)
            values = self._finish(node, results if isinstance(results, list) else [results])
            computed = {str(index): value for index, value in enumerate(values) if value is not None and value.array is None}
            if sum([value.size for value in computed.values()]) > _MOST_FOLDED:
                return None
            outputs = {name: value_of(builder.identity(node.operand_of(value))) for name, value in computed.items()}
            arrays: Mapping[str, Array] = {}
            if outputs:
                known = describe_import(operands, outputs, "known")
                if any(map(_is_large, known.operators)):
                    return None
                self.take_step(_FOLDED_NAMES)
                arrays = compute(known, {})
        except (Refused, Blocked, DOMException, TypeError, ValueError, KeyError, IndexError, AttributeError):
            # The rule fails again where its error is shown.
            return None
        for index, array in arrays.items():
            value = computed[index]
            numbers = unpack(array, value.dtype.name, value.shape)
            values[int(index)] = Value.known(numbers.astype(value.dtype).reshape(value.shape))
            self.operands.spend(array.nbytes)
        return values

    def _run(
        self, outer: Scope, place: str, subgraph: int, name: str, arguments: Sequence[Value], *, tentative: bool = False
    ) -> list[Value]:
        """Import a subgraph, and return the values of its outputs.

        Raises:
            Refused: There is no such subgraph, it has another number of inputs, or a tentative one cannot be imported.
            Blocked: A result could not be imported. The reasons are noted.
        """
        if not 0 <= subgraph < len(self._model.subgraphs):
            raise Refused(f"{name} must be one of {len(self._model.subgraphs)} subgraphs, got {subgraph}")
        path, inner = enter_body(f"{place}/", name, outer.depth + 1), self._model.subgraphs[subgraph]
        wanted = inner.inputs
        if len(wanted) != len(arguments):
            raise Refused(f"{name} must have {len(arguments)} inputs, got {len(wanted)}")
        scope = Scope(inner, path, outer.depth + 1, dict(zip(wanted, arguments, strict=True)))
        self.import_body([(each, scope) for each in inner.operators], name, path, tentative=tentative)
        return [self._find(scope, index) for index in inner.outputs]


def _is_large(operator: OperatorDescription) -> bool:
    """Tell whether the reference may make large arrays for an operator, although the inputs and the outputs of its graph are small."""
    sizes = [product(each.dimensions) for each in operator.descriptors]
    return operator.operation in _WITH_WINDOWS or not sizes or sum(sizes) > _MOST_BETWEEN
