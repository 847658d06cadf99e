"""The import: one pass over the nodes, in the order of the file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from onnx import IR_VERSION, AttributeProto, GraphProto, NodeProto, checker, defs

from webnn.builder.description import FormatError
from webnn.builder.operand import MLOperand
from webnn.importing.operands import Operands
from webnn.importing.report import NodeReport, Outcome, Refusal, Report
from webnn.importing.values import Array, Blocked, Refused, Value, carrier
from webnn.onnx.elements import element_type
from webnn.onnx.folding import fold
from webnn.onnx.functions import bind, find_body, find_schema, has_body
from webnn.onnx.inputs import Settings, check_names, input_shape
from webnn.onnx.model import Model
from webnn.onnx.node import Node
from webnn.onnx.rules import RULES, Rule
from webnn.onnx.scope import Scope
from webnn.onnx.shapes import Shapes
from webnn.onnx.source import ONNX_DOMAINS, Source, read_node
from webnn.onnx.types import check_inputs, output_types
from webnn.validation import webidl
from webnn.validation.descriptor import NUMPY_DTYPES
from webnn.validation.errors import OperationError, WebNNTypeError

if TYPE_CHECKING:
    from onnx import FunctionProto, TensorProto, ValueInfoProto

    from webnn.builder.sketch import LabellingBuilder
    from webnn.importing.steps import Result

__all__ = ["Importer"]

#: The most nodes that one import goes through, those of bodies each time that they run.
_MOST_STEPS = 100_000
#: The most refusals; what follows is not looked at.
_MOST_REFUSALS = 1000
#: The most bytes of one element, repeated, that is known at import. It takes no memory itself, but what is computed from it does.
_MOST_REPEATED = 1 << 20


class Importer:
    """The state of one import.

    Attributes:
        operands: The operands.
        inputs: The inputs that are operands, by their names.
        outputs: The values of the outputs, by their names; those that could not be imported are missing.
    """

    def __init__(self, model: Model, builder: LabellingBuilder, settings: Settings) -> None:
        self.operands = Operands(builder, float64=settings.float64, advice="give float64=True")
        self.inputs: dict[str, Value] = {}
        self.outputs: dict[str, Value] = {}
        self._builder = builder
        self._model = model
        self._settings = settings
        self._shapes = Shapes(model)
        self._refusals: list[Refusal] = []
        self._nodes: list[NodeReport] = []
        self._steps = 0
        #: The functions of the model around the current node.
        self._calls: list[tuple[str, str, str]] = []
        self._body_arrays: dict[int, tuple[TensorProto, Array]] = {}
        self._checks = checker.C.CheckerContext()
        self._checks.ir_version = min(max(model.proto.ir_version, 3), IR_VERSION)
        #: The versions that `_checks` has.
        self._checked: Mapping[str, int] = {}
        #: The kinds of nodes without attributes that are valid in these versions.
        self._valid: set[tuple[str, tuple[bool, ...], tuple[bool, ...]]] = set()

    # The graph.

    def run(self) -> Report:
        """Import the graph."""
        graph = self._model.proto.graph
        scope = Scope(self._model.opsets)
        self._builder.label = ""
        self._define_initializers(graph, scope)
        for place, refused in check_names(self._settings, graph):
            self._refuse(place, "", refused)
        initializers = {tensor.name for tensor in graph.initializer}
        for info in graph.input:
            if info.name not in initializers or info.name in self._settings.constants:
                try:
                    scope.define(info.name, self._input(info))
                except Refused as refused:
                    self._refuse(f"inputs[{info.name!r}]", "", refused)
                    scope.define(info.name, None)
        for index, source in enumerate(self._model.nodes):
            self._top(index, source, scope)
        self._builder.label = ""
        for info in graph.output:
            try:
                self.outputs[info.name] = self._output(scope.find(info.name))
            except Refused as refused:
                self._refuse(f"outputs[{info.name!r}]", "", refused)
            except Blocked:
                pass
        if not graph.output:
            self._refuse("outputs", "", Refused("the graph must have outputs"))
        return Report(nodes=tuple(self._nodes), refusals=tuple(self._refusals), notes=tuple(self.operands.notes))

    def _refuse(self, place: str, operator: str, refused: Refused) -> None:
        self._refusals.append(Refusal(place=place, operator=operator, reason=refused.reason, advice=refused.advice))

    def _define_initializers(self, graph: GraphProto, scope: Scope) -> None:
        for tensor in graph.initializer:
            scope.define(tensor.name, self._initializer(tensor, scope))
        for sparse in graph.sparse_initializer:
            self._refuse(f"{scope.path}{sparse.values.name}", "", Refused("sparse initializers are not supported"))
            scope.define(sparse.values.name, None)

    def _initializer(self, tensor: TensorProto, scope: Scope) -> Value | None:
        try:
            return Value.known(self._array(scope, tensor), tensor.name)
        except Refused as refused:
            self._refuse(f"{scope.path}{tensor.name}", "", refused)
            return None

    def _array(self, scope: Scope, tensor: TensorProto) -> Array:
        """Return the elements of a tensor of the model. A body that runs again gets the same array again."""
        if not scope.depth:
            return self._read(tensor)
        found = self._body_arrays.get(id(tensor))
        if found is None:
            # The tensor is kept, so that its id stays its own.
            found = self._body_arrays[id(tensor)] = (tensor, self._read(tensor))
        return found[1]

    def _read(self, tensor: TensorProto) -> Array:
        array = self._model.tensor(tensor, weights=self._settings.weights)
        # Only such zeros are one element, repeated.
        if array.size > 1 and not any(array.strides):
            self.operands.miss(array)
        elif self._calls:
            # Each call has its own.
            self.operands.spend(array.nbytes)
        else:
            self.operands.allow(array.nbytes)
        return array

    def _input(self, info: ValueInfoProto) -> Value:
        """Return an input of the model."""
        if info.type.WhichOneof("value") != "tensor_type":
            raise Refused(f"must be a tensor, got {info.type.WhichOneof('value') or 'no type'}")
        dtype = element_type(info.type.tensor_type.elem_type)
        constant = self._settings.constants.get(info.name)
        shape = input_shape(self._settings, info)
        if constant is not None:
            array = np.asarray(constant)
            if array.dtype != dtype and not np.can_cast(array, dtype, "same_kind") and array.dtype.kind not in "iu":
                raise Refused(f"the constant must be {dtype.name}, got {array.dtype.name}")
            return Value.known(np.asarray(array, dtype), info.name)
        if 0 in shape:
            # There is only one such tensor.
            return Value.known(np.zeros(shape, dtype), info.name)
        operand = self.operands.input(info.name, dtype, shape)
        value = self.inputs[info.name] = Value(info.name, dtype, shape, operand=operand, roots=frozenset({info.name}))
        return value

    def _output(self, value: Value) -> Value:
        """Return the value of an output, with an operand that an operator makes."""
        operand = self.operands.find(value)
        if operand._operator is None:
            operand = self._builder.identity(operand)
        return Value(value.name, value.dtype, value.shape, value.array, operand)

    # Nodes.

    def _top(self, index: int, source: Source, scope: Scope) -> None:
        """Import a node of the model's graph, and report it."""
        begin, refused = self._builder._count, len(self._refusals)
        blocked = self._import(source, scope)
        if blocked and self._stand_in(source.inputs, scope):
            # It was blocked before anything was made of it.
            blocked = self._import(source, scope)
        operators = range(begin + 1, self._builder._count + 1)
        outcome: Outcome = "converted" if operators else "folded"
        if len(self._refusals) > refused:
            outcome = "refused"
        elif blocked:
            outcome = "blocked"
        self._nodes.append(
            NodeReport(
                index=index,
                name=source.name,
                operator=source.key,
                outcome=outcome,
                operators=operators,
                refusals=tuple(self._refusals[refused:]),
            )
        )

    def _stand_in(self, names: Sequence[str], scope: Scope) -> bool:
        """Let inputs stand for what a blocked node takes, where types and shapes are known, so that all refusals are found.

        Returns:
            Whether all of it is known.
        """
        if any(scope.is_blocked(info.name) for info in self._model.proto.graph.input):
            # The shapes of what follows come from those of the inputs.
            return False
        inputs = {key: (value.dtype, value.shape) for key, value in self.inputs.items()}
        for name in [name for name in names if scope.is_blocked(name)]:
            found = self._shapes.find(name, inputs)
            if found is None:
                return False
            dtype, shape = found
            try:
                operand = self._builder.input(f"instead of {name}", dataType=carrier(dtype), shape=list(shape))
            except (Refused, WebNNTypeError):
                return False
            scope.define(name, Value(name, dtype, shape, operand=operand))
        return True

    def _run_body(
        self, outer: Scope, node: str, graph: GraphProto, name: str, arguments: Sequence[Value], *, tentative: bool = False
    ) -> list[Value]:
        """Import the body of a node.

        Args:
            outer: The scope of the node.
            node: The name of the node.
            graph: The body.
            name: The name of the body.
            arguments: The values of the body's inputs.
            tentative: It may be that the body never runs: the node says what is wrong with it.

        Returns:
            The values of the body's outputs.

        Raises:
            Refused: The body has another number of inputs, there are too many steps, or a tentative body cannot be imported.
            Blocked: A result could not be imported. The reasons are noted.
        """
        path = f"{node}/{name}"
        scope = outer.inner(path)
        if len(graph.input) != len(arguments):
            raise Refused(f"{path} must have {len(arguments)} inputs, got {len(graph.input)}")
        refused = len(self._refusals)
        self._define_initializers(graph, scope)
        for info, value in zip(graph.input, arguments, strict=True):
            scope.define(info.name, value)
        # A body without nodes takes a step, too.
        self._take_step(len(graph.initializer) + len(graph.input) + len(graph.output))
        label = self._builder.label
        for proto in graph.node:
            self._import(read_node(proto), scope)
        # What follows belongs to the node again.
        self._builder.label = label
        if len(self._refusals) > refused:
            if tentative:
                first = self._refusals[refused]
                del self._refusals[refused:]
                raise Refused(f"{name} cannot be imported: {first.place.removeprefix(f'{path}/')} ({first.operator}): {first.reason}")
            # The next step of a loop would say the same.
            raise Blocked
        return [scope.find(info.name) for info in graph.output]

    def _take_step(self, names: int) -> None:
        """Count a node, or a body; one with hundreds of names is as much work as several."""
        self._steps += 1 + names // 100
        if self._steps > _MOST_STEPS:
            raise Refused(f"the graph must have at most {_MOST_STEPS} nodes when loops and functions are unrolled")
        if len(self._refusals) > _MOST_REFUSALS:
            # The rest would fill the memory.
            raise Blocked

    def _import(self, source: Source, scope: Scope) -> bool:
        """Import a node; tell whether it takes a value that could not be imported."""
        names = source.outputs
        outputs: Sequence[Value | None] = [None] * len(names)
        blocked = False
        try:
            before = self._steps
            self._take_step(len(source.inputs) + len(names))
            scope.check_new(names)
            outputs = _fit(self._evaluate(source, scope), names)
        except Refused as refused:
            # One sentence is enough where every node would say it.
            if before <= _MOST_STEPS:
                self._refuse(f"{scope.path}{source.name}", source.key, refused)
        except WebNNTypeError as error:
            self._refuse(f"{scope.path}{source.name}", source.key, Refused(f"WebNN refuses it: {error}"))
        except Blocked:
            blocked = True
        roots = scope.find_roots(source.inputs)
        for name, value in zip(names, outputs, strict=True):
            if name:
                if value is not None:
                    value.name = value.name or name
                    if value.array is None:
                        value.roots = value.roots | roots if value.roots else roots
                    self.operands.remember(name, value)
                scope.define(name, value)
        return blocked

    def _evaluate(self, source: Source, scope: Scope) -> Sequence[Value | None]:
        """Return the outputs of a node."""
        proto, operator, domain, attributes = source.proto, source.operator, source.domain, source.attributes
        version = scope.opsets.get(domain)
        function = self._find_function(proto) if self._model.functions else None
        if version is None and function is None:
            raise Refused(f"the model must import the domain {webidl.describe(domain or 'ai.onnx')}")
        version = version or 1
        if operator == "Constant" and not domain and len(attributes) == 1 and attributes[0].type == AttributeProto.TENSOR:
            # Some models have more constants than other nodes; only the attribute `value` is a tensor.
            return [Value.known(self._array(scope, attributes[0].t))]
        rule = RULES.get(source.key)
        schema = find_schema(operator, version, domain)
        if function is None:
            if rule is None and not has_body(schema):
                advice = "" if schema is not None else "the installed onnx does not know it"
                raise Refused(f"there is no rule for the operator {source.key}", advice)
            if schema is None and not domain and defs.has(operator):
                raise Refused(f"the operator must be one of opset {version}")
            if schema is not None:
                self._check(source, scope)
        for attribute in attributes:
            if attribute.ref_attr_name:
                raise Refused(f"the attribute {attribute.name} must have a value: there is no function whose attribute it could take")
        inputs = [scope.find(name) if name else None for name in source.inputs]
        if function is not None:
            call = (function.domain, function.name, function.overload)
            if call in self._calls:
                raise Refused(f"a function must not call itself, got {' in '.join(webidl.describe(name) for _, name, _ in self._calls)}")
            self._calls.append(call)
            try:
                return self._inline(source, scope, inputs, [*bind(function, proto, None)], function)
            finally:
                self._calls.pop()
        if schema is not None:
            check_inputs(operator, version, domain, inputs)
        if rule is None:
            body = find_body(schema, proto, version, inputs)
            return self._inline(source, scope, inputs, [*bind(body, proto, schema)], body)
        if all(value is None or (value.array is not None and not self.operands.is_missing(value)) for value in inputs):
            folded = fold(proto, version, scope.opsets, [None if value is None else value.array for value in inputs])
            if folded is not None:
                return [None if array is None else self._made(array) for array in folded]
        return self._apply(rule, source, scope, version, inputs)

    def _find_function(self, proto: NodeProto) -> FunctionProto | None:
        """Return the function of the model that a node calls."""
        return self._model.functions.get((proto.domain, proto.op_type, proto.overload))

    def _check(self, source: Source, scope: Scope) -> None:
        """Compare a node with its operator's schema."""
        if self._checked is not scope.opsets:
            self._checked = scope.opsets
            self._checks.opset_imports = dict(scope.opsets)
            self._valid.clear()
        # Without attributes, only which inputs and outputs are given makes a difference.
        kind = None if source.attributes else (source.key, tuple(map(bool, source.inputs)), tuple(map(bool, source.outputs)))
        if kind in self._valid:
            return
        try:
            checker.check_node(_without_bodies(source), self._checks)
        except checker.ValidationError as error:
            raise Refused(f"the node is not valid: {_first_line(error)}") from None
        if kind is not None:
            self._valid.add(kind)

    def _apply(self, rule: Rule, source: Source, scope: Scope, version: int, inputs: Sequence[Value | None]) -> Sequence[Value | None]:
        """Return the outputs of a rule, in the types that the operator gives them."""
        if not source.outputs:
            raise Refused("the node must have outputs")
        self._builder.label = f"{scope.path}{source.name}"
        run_body = partial(self._run_body, scope, source.name)
        node = Node(self.operands, source, version, inputs, run_body, partial(self._array, scope))
        try:
            returned = rule(node)
        except (Refused, Blocked, FormatError, WebNNTypeError):
            raise
        except Exception as error:
            # The attributes or the inputs contradict each other; ONNX's own inference says how.
            reason = self._shapes.explain(source.proto, scope.opsets, inputs)
            if reason:
                raise Refused(f"the node is not valid: {reason}") from None
            raise OperationError(f"{scope.path}{source.name} ({source.key}): the import failed: {type(error).__name__}: {error}") from error
        results = list(returned) if isinstance(returned, list | tuple) else [returned]
        types = output_types(source.operator, version, source.domain, inputs, len(source.outputs))
        return [self._result(result, dtype) for result, dtype in zip(results, types, strict=False)]

    def _result(self, result: Result, dtype: np.dtype[Any] | None) -> Value | None:
        """Return a rule's result as a value."""
        if isinstance(result, np.ndarray):
            return self._made(result)
        if isinstance(result, MLOperand):
            descriptor = result.descriptor
            if dtype is None:
                dtype = NUMPY_DTYPES[descriptor.dataType]
            elif self.operands.carrier(dtype) != descriptor.dataType:
                result = self._builder.cast(result, self.operands.carrier(dtype))
            return Value("", dtype, descriptor.dimensions, operand=result)
        if result is not None and result.name:
            # An input that is passed on keeps its own name.
            return replace(result, name="")
        return result

    def _made(self, array: Array) -> Value:
        """Return a value that was computed at import."""
        value = Value.known(array)
        if array.nbytes > _MOST_REPEATED and not any(array.strides):
            # Nobody reads it one by one: it becomes an expanded scalar.
            value.operand, value.array = self.operands.find(value), None
        elif array.base is None:
            self.operands.spend(array.nbytes)
        return value

    def _inline(
        self, source: Source, scope: Scope, inputs: Sequence[Value | None], nodes: Iterable[NodeProto], function: Any
    ) -> Sequence[Value | None]:
        """Import the nodes of a function in place of a call."""
        opsets = {"" if each.domain in ONNX_DOMAINS else each.domain: each.version for each in function.opset_import}
        inner = scope.inner(source.name, opsets)
        if len(inputs) > len(function.input):
            raise Refused(f"takes at most {len(function.input)} inputs, got {len(inputs)}")
        missing = {*function.input[len(inputs) :]}
        for name, value in zip(function.input, inputs, strict=False):
            if value is None:
                missing.add(name)
            else:
                inner.define(name, value)
        for node in nodes:
            if missing.intersection(node.input):
                # An optional input that is not given is an empty name inside.
                node.input[:] = ["" if name in missing else name for name in node.input]
            self._import(read_node(node), inner)
        return [inner.find(name) if wanted else None for name, wanted in zip(function.output, source.outputs, strict=False)]


def _fit(outputs: Sequence[Value | None], names: Sequence[str]) -> Sequence[Value | None]:
    """Return one output for each name; only an empty name may have none."""
    if len(outputs) == len(names):
        return outputs
    if any(names[len(outputs) :]):
        raise Refused(f"has {len(outputs)} outputs, got names for {len(names)}")
    return [*outputs, *[None] * len(names)][: len(names)]


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]


def _without_bodies(source: Source) -> NodeProto:
    """Return a node without the nodes of its bodies, which are checked one by one."""
    if not any(attribute.HasField("g") for attribute in source.attributes):
        return source.proto
    checked = NodeProto()
    checked.CopyFrom(source.proto)
    for attribute in checked.attribute:
        if attribute.HasField("g"):
            attribute.g.CopyFrom(GraphProto(name="body"))
    return checked
