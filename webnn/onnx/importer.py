"""The import: one pass over the nodes, in the order of the file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any

import numpy as np
from onnx import IR_VERSION, AttributeProto, GraphProto, NodeProto, TensorProto, ValueInfoProto, checker, defs

from webnn.builder.graph_builder import LabellingBuilder
from webnn.builder.operand import MLOperand
from webnn.importing.driver import Driver, enter_body
from webnn.importing.named import Naming, find_names
from webnn.importing.packed import Step, follow
from webnn.importing.steps import Result
from webnn.importing.values import Array, Blocked, Refused, Value
from webnn.onnx.folding import fold
from webnn.onnx.functions import bind, find_body, find_schema, has_body
from webnn.onnx.missing import explain_missing
from webnn.onnx.model import ONNX_DOMAINS, PLAIN_ATTRIBUTES, Model, Settings, Source, element_type, input_shape, read_node
from webnn.onnx.names import name_shape, named_sizes, place_names, settle_values
from webnn.onnx.node import Node, output_types, refuse_types, without_bodies
from webnn.onnx.origins import find_origin
from webnn.onnx.rules import RULES, Rule
from webnn.onnx.shapes import Shapes
from webnn.validation import webidl

__all__ = ["Importer"]

#: How often the nodes of a file may run on average, and how many may run in any case: below the limit for all files.
_STEPS_OF_A_NODE, _LEAST_STEPS = 1000, 10_000
#: The most bytes of one element, repeated, that is known at import. It takes no memory itself, but what is computed from it does.
_MOST_REPEATED = 1 << 20
_NO_ROOTS: frozenset[str] = frozenset()
#: Operators after which weights may stay integers.
_PACKING: Mapping[str, Step] = {"Cast": "cast", "Mul": "multiply", "Sub": "subtract", "Transpose": "transpose"}


class Scope:
    """The values that nodes see: those of a graph or a function, and, for the body of a node, those around it.

    Attributes:
        opsets: The versions of the domains.
        path: The prefix of the names of nodes in messages.
    """

    def __init__(self, opsets: Mapping[str, int], outer: Scope | None = None, path: str = "", depth: int = 0) -> None:
        self.opsets = opsets
        self.path = path
        self.depth = depth
        self._outer = outer
        #: None is a value that could not be imported.
        self._values: dict[str, Value | None] = {}

    def define(self, name: str, value: Value | None) -> None:
        """Define a value; None if it could not be imported."""
        self._values[name] = value

    def find(self, name: str) -> Value:
        """Return a value; refuse a name without one, and block one that could not be imported."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope._values:
                value = scope._values[name]
                if value is None:
                    raise Blocked
                return value
            scope = scope._outer
        raise Refused(f"there is no value {webidl.describe(name)} before the node")

    def check_new(self, names: Sequence[str]) -> None:
        """Refuse a node that makes a value that there is already in its graph."""
        seen = set()
        for name in names:
            if name and (name in seen or self._values.get(name) is not None):
                raise Refused(f"the value {webidl.describe(name)} must be made once")
            seen.add(name)

    def is_known(self, name: str) -> bool:
        """Tell whether there is a value of this graph."""
        return name in self._values

    def is_blocked(self, name: str) -> bool:
        """Tell whether a value of this graph could not be imported."""
        return name in self._values and self._values[name] is None

    def find_roots(self, names: Iterable[str]) -> frozenset[str]:
        """Return the inputs of the model that some values come from."""
        found = _NO_ROOTS
        for name in names:
            value = self._values.get(name)
            if value is None:
                scope: Scope | None = self
                while scope is not None and name not in scope._values:
                    scope = scope._outer
                value = None if scope is None else scope._values[name]
            # Most values come from the same inputs.
            if value is not None and value.roots is not found:
                found = found | value.roots if found else value.roots
        return found

    def inner(self, path: str, opsets: Mapping[str, int] | None = None) -> Scope:
        """Return the scope of a body, which sees these values; of a function, with its own versions, which does not."""
        depth = self.depth + 1
        path = enter_body(self.path, path, depth)
        return Scope(self.opsets, self, path, depth) if opsets is None else Scope({**self.opsets, **opsets}, None, path, depth)


class Importer(Driver["tuple[Source, Scope]", Value]):
    """The state of one import. A node is its source, and the scope that it is in."""

    most_steps = 100_000
    limit = "the graph must have at most {} nodes"

    def __init__(self, model: Model, builder: LabellingBuilder, settings: Settings, naming: Naming | None = None) -> None:
        super().__init__(builder, float64=settings.float64, advice="give float64=True", naming=naming)
        self._model = model
        # A short file must not take long.
        self.most_steps = min(self.most_steps, max(_LEAST_STEPS, _STEPS_OF_A_NODE * model.count_nodes()))
        self._settings = settings
        #: The inputs that are operands, by their names.
        self._inputs: dict[str, Value] = {}
        #: The functions of the model around the current node.
        self._calls: list[tuple[str, str, str]] = []
        self._bodies: dict[int, tuple[GraphProto, Sequence[Source]]] = {}
        self._body_arrays: dict[int, tuple[TensorProto, Array]] = {}
        self._checks = checker.C.CheckerContext()
        self._checks.ir_version = min(max(model.proto.ir_version, 3), IR_VERSION)
        #: The versions that `_checks` has.
        self._checked: Mapping[str, int] = {}
        #: The kinds of nodes with plain attributes, and the other nodes of bodies, that are valid in these versions.
        self._valid: set[object] = set()

    @cached_property
    def _shapes(self) -> Shapes:
        """ONNX's own inference."""
        return Shapes(self._model)

    # The graph.

    def walk(self) -> None:
        """Import the graph."""
        graph = self._model.proto.graph
        scope = Scope(self._model.opsets)
        self._define_initializers(graph, scope, self._model.apart)
        settings = self._settings
        names = [info.name for info in graph.input]
        dims = [dim.dim_param for info in graph.input for dim in info.type.tensor_type.shape.dim if dim.dim_param]
        if any(name not in dims for name in settings.dims):
            dims += [name for text in dict.fromkeys(dims) for name in find_names(text)]
        self.check_names("shapes", settings.shapes, names, "an input")
        self.check_names("constants", settings.constants, names, "an input")
        self.check_names("dims", settings.dims, dims, "a dimension of an input")
        initializers = {tensor.name for tensor in graph.initializer}
        for info in graph.input:
            if info.name not in initializers or info.name in settings.constants:
                scope.define(info.name, self.attempt(f"inputs[{info.name!r}]", partial(self._input, info)))
        if self.operands.naming is not None:
            for name, value in place_names(self.operands.naming, self._inputs, self.operands).items():
                scope.define(name, value)
        for source in self._model.nodes:
            if source.operator != "Constant" or not self._import_constant(source, _constant_tensor(source), scope):
                self.import_top((source, scope))
        self._builder.label = ""
        for info in graph.output:
            self.define_output(info.name, partial(scope.find, info.name), f"outputs[{info.name!r}]")
        if not graph.output:
            self.refuse("outputs", "", Refused("the graph must have outputs"))

    def _import_constant(self, source: Source, tensor: TensorProto | None, scope: Scope) -> bool:
        """Import a constant in the usual form, of which many models have more than other nodes; tell whether it is one.

        Anything wrong with it is found by the ordinary way.
        """
        if tensor is None or len(source.outputs) != 1 or self._model.functions or "" not in scope.opsets or self._refusals:
            return False
        (name,) = source.outputs
        if not name or name in scope._values or self._steps >= self.most_steps:
            return False
        try:
            scope._values[name] = Value.known(self._read(tensor), name)
        except (Refused, MemoryError):
            return False
        self._steps += 1
        self.report(source.name, source.key, "folded", self._builder._count)
        return True

    def _define_initializers(self, graph: GraphProto, scope: Scope, apart: Mapping[int, bytes] = MappingProxyType({})) -> None:
        for index, tensor in enumerate(graph.initializer):
            name = tensor.name
            value = self.attempt(f"{scope.path}{name}", partial(self._initializer, tensor, scope, apart.get(index, b"")))
            scope.define(name, value)
        for sparse in graph.sparse_initializer:
            self.refuse(f"{scope.path}{sparse.values.name}", "", Refused("sparse initializers are not supported"))
            scope.define(sparse.values.name, None)

    def _initializer(self, tensor: TensorProto, scope: Scope, raw: bytes) -> Value:
        return Value.known(self._array(scope, tensor, raw), tensor.name)

    def _array(self, scope: Scope, tensor: TensorProto, raw: bytes = b"") -> Array:
        """Return the elements of a tensor of the model. A body that runs again gets the same array again."""
        if not scope.depth:
            return self._read(tensor, raw)
        found = self._body_arrays.get(id(tensor))
        if found is None:
            # The tensor is kept, so that its id stays its own.
            found = self._body_arrays[id(tensor)] = (tensor, self._read(tensor))
        return found[1]

    def _read(self, tensor: TensorProto, raw: bytes = b"") -> Array:
        array = self._model.tensor(tensor, raw, weights=self._settings.weights)
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
        shape: Any = input_shape(self._settings, info)
        if any(type(size) is not int for size in shape):
            shape = name_shape(self.operands.naming, shape)
        value = self.define_input(info.name, dtype, shape, self._settings.constants.get(info.name))
        if value.operand is not None:
            self._inputs[info.name] = value
        return value

    # Nodes.

    def locate(self, node: tuple[Source, Scope]) -> tuple[str, str]:
        """Return the place of a node, and its operator."""
        source, scope = node
        return f"{scope.path}{source.name}", source.key

    def origin(self, node: tuple[Source, Scope]) -> str:
        """Return the line of PyTorch's source."""
        return find_origin(node[0].proto)

    def explain(self, node: tuple[Source, Scope]) -> str:
        """Return why ONNX's own inference refuses a node."""
        source, scope = node
        inputs = _inputs(source, scope)
        if self.operands.naming is not None and (sizes := named_sizes(inputs)):
            raise self.operands.naming.refuse(sizes) from None
        return self._shapes.explain(source.proto, scope.opsets, inputs)

    def retry(self, node: tuple[Source, Scope]) -> bool:
        """Let stand-ins replace the refused inputs of a node, if their types and shapes are known."""
        source, scope = node
        if self.operands.naming is not None or any(scope.is_blocked(info.name) for info in self._model.proto.graph.input):
            # The shapes of the values behind come from those of the inputs.
            return False
        inputs = {key: (value.dtype, value.shape) for key, value in self._inputs.items()}
        for name in [name for name in source.inputs if scope.is_blocked(name)]:
            found = self._shapes.find(name, inputs)
            value = None if found is None else self.stand_in(name, *found)
            if value is None:
                return False
            scope.define(name, value)
        return True

    def _run_body(
        self, outer: Scope, node: str, graph: GraphProto, name: str, arguments: Sequence[Value], *, tentative: bool = False
    ) -> list[Value]:
        """Import the body of a node, and return the values of its outputs.

        A tentative body may never run: the node says what is wrong with it.

        Raises:
            Refused: The body has another number of inputs, there are too many steps, or a tentative body cannot be imported.
            Blocked: A result could not be imported. The reasons are noted.
        """
        path = f"{node}/{name}"
        scope = outer.inner(path)
        if len(graph.input) != len(arguments):
            raise Refused(f"{path} must have {len(arguments)} inputs, got {len(graph.input)}")

        def nodes() -> Iterator[tuple[Source, Scope]]:
            self._define_initializers(graph, scope)
            for info, value in zip(graph.input, arguments, strict=True):
                scope.define(info.name, value)
            for source in self._read_body(graph):
                yield source, scope

        names = len(graph.initializer) + len(graph.input) + len(graph.output)
        self.import_body(nodes(), name, f"{path}/", names, tentative=tentative)
        return [scope.find(info.name) for info in graph.output]

    def _read_body(self, graph: GraphProto) -> Sequence[Source]:
        """Return the nodes of a body, which may run again."""
        found = self._bodies.get(id(graph))
        if found is None:
            # The graph is kept, so that its id stays its own.
            found = self._bodies[id(graph)] = (graph, [read_node(each) for each in graph.node])
        return found[1]

    def define(self, node: tuple[Source, Scope], outputs: Sequence[Value | None] | None) -> None:
        """Define the outputs of a node in its scope."""
        source, scope = node
        roots: frozenset[str] | None = None
        for index, name in enumerate(source.outputs):
            if name:
                value = None if outputs is None else outputs[index]
                if value is not None:
                    if value.array is None and roots is None:
                        roots = scope.find_roots(source.inputs)
                    self.name_output(name, value, roots or _NO_ROOTS)
                scope._values[name] = value

    def evaluate(self, node: tuple[Source, Scope]) -> Sequence[Value | None]:
        """Return the outputs of a node, one for each name."""
        source, scope = node
        names = source.outputs
        self.take_step(len(source.inputs) + len(names))
        # Most nodes make one value.
        if len(names) != 1 or scope.is_known(names[0]):
            scope.check_new(names)
        outputs = self._evaluate(source, scope)
        return outputs if len(outputs) == len(names) else _fit(outputs, names)

    def _evaluate(self, source: Source, scope: Scope) -> Sequence[Value | None]:
        """Return the outputs of a node."""
        proto, operator, domain, attributes = source.proto, source.operator, source.domain, source.attributes
        version = scope.opsets.get(domain)
        function = self._model.functions.get((proto.domain, proto.op_type, proto.overload)) if self._model.functions else None
        if version is None and function is None:
            raise Refused(f"the model must import the domain {webidl.describe(domain or 'ai.onnx')}")
        version = version or 1
        if operator == "Constant" and (tensor := _constant_tensor(source)) is not None:
            return [Value.known(self._array(scope, tensor))]
        rule = RULES.get(source.key)
        schema = find_schema(operator, version, domain)
        if function is None:
            if rule is None and not has_body(schema):
                raise explain_missing(source, isKnown=schema is not None)
            if schema is None and not domain and defs.has(operator):
                raise Refused(f"the operator must be one of opset {version}")
            if schema is not None:
                self._check(source, scope)
        if source.references:
            name = next(each.name for each in attributes if each.ref_attr_name)
            raise Refused(f"the attribute {name} must have a value: there is no function whose attribute it could take")
        inputs = _inputs(source, scope)
        isKnown = True
        dtypes: list[np.dtype[Any] | None] = []
        for value in inputs:
            if value is None:
                dtypes.append(None)
            else:
                dtypes.append(value.dtype)
                isKnown = isKnown and value.array is not None and not self.operands.is_missing(value)
        if function is not None:
            call = (function.domain, function.name, function.overload)
            if call in self._calls:
                raise Refused(f"a function must not call itself, got {' in '.join(webidl.describe(name) for _, name, _ in self._calls)}")
            self._calls.append(call)
            try:
                return self._inline(source, scope, inputs, [*bind(function, proto, None)], function)
            finally:
                self._calls.pop()
        types = tuple(dtypes)
        if schema is not None and (refusal := refuse_types(operator, version, domain, types)):
            raise Refused(refusal)
        if rule is None:
            body = find_body(schema, proto, version, inputs)
            return self._inline(source, scope, inputs, [*bind(body, proto, schema)], body)
        if isKnown:
            folded = fold(proto, version, scope.opsets, [None if value is None else value.array for value in inputs])
            if folded is not None:
                found = [None if array is None else self._made(array) for array in folded]
                if self.operands.naming is not None:
                    settle_values(found, output_types(operator, version, domain, types, len(source.outputs)))
                if (step := _PACKING.get(operator)) is not None and found[0] is not None and found[0].array is not None:
                    permutation = next((list(each.ints) for each in attributes if each.name == "perm"), None)
                    found[0].packed = follow(step, [value for value in inputs if value is not None], found[0].array, permutation)
                return found
        return self._apply_rule(rule, source, scope, version, inputs, types)

    def _check(self, source: Source, scope: Scope) -> None:
        """Compare a node with its operator's schema."""
        if self._checked is not scope.opsets:
            self._checked = scope.opsets
            self._checks.opset_imports = dict(scope.opsets)
            self._valid.clear()
        # Without attributes, only which inputs and outputs are given makes a difference.
        attributes = source.attributes
        # Attributes differ less often than nodes. Tensors and bodies are large.
        if not attributes or all(each.type in PLAIN_ATTRIBUTES for each in attributes):
            values = [each.SerializeToString() for each in attributes]
            kind: object = (source.key, tuple(map(bool, source.inputs)), tuple(map(bool, source.outputs)), *values)
        else:
            kind = source if scope.depth else None
        if kind in self._valid:
            return
        try:
            checker.check_node(without_bodies(source), self._checks)
        except checker.ValidationError as error:
            first_line = str(error).strip().partition("\n")[0]
            raise Refused(f"the node is not valid: {first_line}") from None
        if kind is not None:
            self._valid.add(kind)

    def _apply_rule(
        self,
        rule: Rule,
        source: Source,
        scope: Scope,
        version: int,
        inputs: Sequence[Value | None],
        dtypes: Sequence[np.dtype[Any] | None],
    ) -> Sequence[Value | None]:
        """Return the outputs of a rule, in the types that the operator gives them."""
        if not source.outputs:
            raise Refused("the node must have outputs")
        run_body = partial(self._run_body, scope, source.name)
        node = Node(self.operands, source, version, inputs, run_body, partial(self._array, scope))
        results: list[Result] = self.apply(rule, node, (source, scope), f"{scope.path}{source.name}")
        types = output_types(source.operator, version, source.domain, dtypes, len(source.outputs))
        found: list[Value | None] = []
        for result, dtype in zip(results, types, strict=False):
            found.append(self.typed(result, dtype) if type(result) is MLOperand else self._result(result, dtype))
        return found

    def _result(self, result: Result, dtype: np.dtype[Any] | None) -> Value | None:
        """Return a rule's result as a value."""
        if isinstance(result, np.ndarray):
            settle_values([made := self._made(result)], [dtype])
            return made
        if isinstance(result, MLOperand):
            return self.typed(result, dtype)
        # An input that is passed on keeps its own name.
        return replace(result, name="") if result is not None and result.name else result

    def _made(self, array: Array) -> Value:
        """Return a value that was computed at import."""
        value = Value.known(array)
        if array.nbytes > _MOST_REPEATED and not any(array.strides):
            # Its elements are not read one by one: it becomes an expanded scalar.
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
            self.import_node((read_node(node), inner))
        return [inner.find(name) if wanted else None for name, wanted in zip(function.output, source.outputs, strict=False)]


def _constant_tensor(source: Source) -> TensorProto | None:
    """Return the tensor of a constant; None for other nodes, and for constants without one."""
    attributes = source.attributes
    # Only the attribute `value` is a tensor.
    isTensor = source.key == "Constant" and len(attributes) == 1 and attributes[0].type == AttributeProto.TENSOR
    return attributes[0].t if isTensor else None


def _inputs(source: Source, scope: Scope) -> list[Value | None]:
    found: list[Value | None] = []
    values = scope._values
    for name in source.inputs:
        value = values.get(name) if name else None
        found.append(scope.find(name) if value is None and name else value)
    return found


def _fit(outputs: Sequence[Value | None], names: Sequence[str]) -> Sequence[Value | None]:
    """Return one output for each name; only an empty name may have none."""
    if any(names[len(outputs) :]):
        raise Refused(f"has {len(outputs)} outputs, got names for {len(names)}")
    return [*outputs, *[None] * len(names)][: len(names)]
