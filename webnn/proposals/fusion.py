"""Calls of subgraphs that fast numerics compute with one kernel of the engine: attention, and normalization by the root mean square.

The name of a subgraph says what to look for. The operators themselves prove what is computed: each has to be the right one, with the right
operands and options, and no other operator may use what lies between. The rest of the subgraph is translated as usual: rotary embeddings,
updates of caches, masks.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from webnn.builder.graph import Fusion, SubgraphCall, collect_calls
from webnn.builder.onnx_names import scope
from webnn.builder.operand import MLOperand, Operator
from webnn.validation.descriptor import Shape
from webnn.validation.numbers import cast

if TYPE_CHECKING:
    from webnn.builder.graph import ComputationalGraph
    from webnn.builder.onnx.emitter import Emitter

__all__ = ["fuse"]


def fuse(graph: ComputationalGraph) -> dict[SubgraphCall, Fusion]:
    """Say of each call in a graph what fast numerics make of it. A call comes before those inside it."""
    calls = collect_calls(graph)
    users = _Users(graph) if calls else None
    taken: set[int] = set()
    found: dict[SubgraphCall, Fusion] = {}
    for call, operators in calls.items():
        name = "".join([each for each in call.name.casefold() if each.isalnum()])
        if name not in _NAMES or users is None:
            named = f"for the name {call.name[:60]!r}" if call.name else "for a subgraph without a name"
            found[call] = Fusion(reason=f"the engine has no kernel {named}")
            continue
        try:
            _require(all(map(_is_known, operators)), "its shapes are not known before the graph is dispatched")
            together = _NAMES[name](_Body(operators, users, call.config))
        except _OtherBodyError as error:
            found[call] = Fusion(reason=str(error))
            continue
        # The call inside which this one is may have the same operators.
        isFirst = taken.isdisjoint(together.members)
        found[call] = Fusion(kernel=together.kernel, together=together if isFirst else None)
        taken.update(together.members)
    return found


class _OtherBodyError(Exception):
    """A subgraph does not compute what a kernel does; the text says why."""


def _require(holds: object, what: str) -> None:
    if not holds:
        raise _OtherBodyError(what)


class _Users:
    """Which operators of a graph take the results of others."""

    def __init__(self, graph: ComputationalGraph) -> None:
        self._users: defaultdict[tuple[int, int], list[Operator | None]] = defaultdict(list)
        for operator in graph.operators:
            for each in (*operator.inputs, *(member for _, member in operator.members)):
                self._add(each, operator)
        for each in graph.outputs.values():
            self._add(each, None)

    def _add(self, operand: MLOperand, user: Operator | None) -> None:
        if operand._operator is not None:
            self._users[operand._operator.index, operand._position].append(user)

    def only(self, operator: Operator) -> Operator | None:
        """Return the operator that takes the first result of an operator, if no other one does, and the result is not an output."""
        users = self._users[operator.index, 0]
        return users[0] if len(users) == 1 else None


class _Body:
    """The operators of a call."""

    def __init__(self, operators: Sequence[Operator], users: _Users, config: Mapping[str, Any]) -> None:
        self._operators = {operator.index: operator for operator in operators}
        self._users = users
        self._config = config

    def single(self, operation: str) -> Operator:
        """Return the only operator of an operation."""
        found = [each for each in self._operators.values() if each.operation.name == operation]
        _require(len(found) == 1, f"it must have one {operation}, but has {len(found)}")
        return found[0]

    def maker(self, operand: MLOperand, *operations: str) -> Operator | None:
        """Return the operator of the call that makes an operand, if it is of one of these operations, and nothing else takes its result."""
        operator = operand._operator
        if operator is None or operator.index not in self._operators or operator.operation.name not in operations:
            return None
        return operator if self._users.only(operator) is not None else None

    def user(self, operator: Operator, *operations: str) -> Operator | None:
        """Return the only operator that takes the result of an operator, if it is one of the call, and of one of these operations."""
        user = self._users.only(operator)
        return user if user is not None and user.index in self._operators and user.operation.name in operations else None

    def number(self, operand: MLOperand, option: str) -> float | None:
        """Return the number that a constant of one element holds.

        The config has the number before it was rounded to the constant's type, if it has one that becomes this one.
        """
        if operand._value is None or operand._value.size != 1:
            return None
        rounded = float(operand._value.item())
        given: Any = self._config.get(option)
        if type(given) in (int, float) and cast(given, operand.descriptor.dataType) == rounded:
            return float(given)
        return rounded


def _same(one: MLOperand, other: MLOperand) -> bool:
    """Tell whether two operands are one value."""
    if one._operator is None or other._operator is None:
        return one is other
    return (one._operator.index, one._position) == (other._operator.index, other._position)


def _is_known(operator: Operator) -> bool:
    """Tell whether the shapes around an operator are known; the proposal "dynamic-shapes" has others."""
    shapes: list[Any] = [each.dimensions for each in (*operator.outputs, *(operand.descriptor for operand in operator.inputs))]
    return all(shape is not None and all(type(size) is int for size in shape) for shape in shapes)


def _shape(operand: MLOperand) -> Shape:
    return operand.descriptor.dimensions


def _orders(operator: Operator) -> Iterator[tuple[MLOperand, MLOperand]]:
    """Yield the two operands of an operator whose order does not matter, in both orders."""
    one, other = operator.inputs
    yield one, other
    yield other, one


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kernel:
    """A kernel that computes some operators: a `webnn.builder.onnx.together.Together`.

    It computes the result of the last one. ``members`` are the numbers of the operators, the last one first: what it takes is made before.
    ``make`` emits the nodes, for operands and with a result of float32.
    """

    kernel: str
    last: Operator
    members: tuple[int, ...]
    operands: tuple[MLOperand, ...]
    make: Callable[[Emitter, Sequence[str]], str]

    def emit(self, e: Emitter, inputs: Sequence[str]) -> dict[int, Sequence[str]]:
        e.scope(scope(self.last.operation.name, self.last.index))
        dataType = self.last.outputs[0].dataType
        if dataType == "float32":
            return {self.last.index: (self.make(e, inputs),)}
        return {self.last.index: (e.cast(self.make(e, [e.cast(each, "float32") for each in inputs]), dataType),)}


# Attention: softmax(q * transposed k * scale + mask) * v


def _attention(body: _Body) -> _Kernel:
    softmax = body.single("softmax")
    scores = softmax.inputs[0]
    rank = len(_shape(scores))
    _require(rank in (3, 4), f"softmax must have 3 or 4 dimensions, but has {rank}")
    _require(softmax.arguments[0] == rank - 1, f"softmax must be over the last axis, {rank - 1}, but is over {softmax.arguments[0]}")
    product = body.user(softmax, "matmul")
    if product is None or product.inputs[0]._operator is not softmax:
        raise _OtherBodyError("the result of softmax must be the left factor of a matmul, and used nowhere else")
    members = [product, softmax]
    masks: tuple[MLOperand, ...] = ()
    scaled = _scaled_product(body, scores)
    added = body.maker(scores, "add")
    if scaled is None and added is not None:
        for one, other in _orders(added):
            scaled = _scaled_product(body, one)
            if scaled is not None:
                masks = (other,)
                members.append(added)
                _require(_shape(one) == _shape(scores), "the mask must not have more elements than the scores")
                break
    if scaled is None:
        raise _OtherBodyError("softmax must take a matmul, perhaps times or divided by a constant number, perhaps plus a mask")
    queries, keys = scaled.product.inputs
    values = product.inputs[1]
    members += scaled.members
    lead = _shape(scores)[:-2]
    _require(all(_shape(each)[:-2] == lead for each in (queries, keys, values)), "queries, keys and values must not be broadcast")
    turned = body.maker(keys, "transpose")
    order = (*range(rank - 2), rank - 1, rank - 2)
    if turned is not None and tuple(turned.options.permutation or ()) == order:  # type: ignore[union-attr]  # its options have it
        members.append(turned)
        keys = turned.inputs[0]
        order = ()
    repeats = [_repeated(body, each) for each in (keys, values)] if not order else []
    groups = 1
    if len(repeats) == 2 and repeats[0] is not None and repeats[1] is not None and repeats[0].groups == repeats[1].groups:
        groups = repeats[0].groups
        keys, values = (each.source for each in repeats if each is not None)
        members += [member for each in repeats if each is not None for member in each.members]
    operands = (queries, keys, values, *masks)
    _require(all(0 not in _shape(each) for each in operands), "all operands must have elements")

    def make(e: Emitter, inputs: Sequence[str]) -> str:
        *batch, rows, _ = _shape(queries)
        count, columns = math.prod(batch) // groups, _shape(scores)[-1]
        size, width = _shape(queries)[-1], _shape(values)[-1]
        # With four dimensions they are not copied, but must have one shape.
        head = [count, 1, columns] if size == width else [count, columns]
        left = e.reshape(inputs[0], [count, groups * rows, size])
        right = e.reshape(e.transpose(inputs[1], order) if order else inputs[1], [*head, size])
        taken = [left, right, e.reshape(inputs[2], [*head, width])]
        if masks:
            taken += ["", "", _bias(e, inputs[3], _shape(masks[0]), batch, groups, rows, columns)]
        result = e.node("MultiHeadAttention", taken, num_heads=1, scale=scaled.factor)
        return e.reshape(result, product.outputs[0].dimensions)

    numbers = tuple([each.index for each in members])
    return _Kernel(kernel="MultiHeadAttention", last=product, members=numbers, operands=operands, make=make)


def _bias(e: Emitter, mask: str, shape: Shape, batch: Sequence[int], groups: int, rows: int, columns: int) -> str:
    """Return a mask as the kernel adds it to the scores: for one head of each group, or for all."""
    *lead, height, width = (*[1] * (len(batch) + 2 - len(shape)), *shape)
    # Several heads that share their keys are more rows of one head.
    heads, per_head = (1, 1) if lead[-1] == 1 else (batch[-1] // groups, groups)
    split = [*lead[:-1], heads, per_head, height, width]
    whole = [1] * len(batch) if all(size == 1 for size in lead) else [*batch[:-1], batch[-1] // groups]
    target = [*whole, groups, rows, columns]
    value = e.reshape(mask, split)
    if split != target:
        value = e.node("Expand", [value, e.ints(target)])
    return e.reshape(value, [math.prod(whole), 1, groups * rows, columns])


@dataclass(frozen=True, slots=True)
class _Scaled:
    """A matrix product, the factor that it is multiplied with, and the operators that do both."""

    product: Operator
    factor: float
    members: Sequence[Operator]


def _scaled_product(body: _Body, operand: MLOperand) -> _Scaled | None:
    product = body.maker(operand, "matmul")
    if product is not None:
        return _Scaled(product, 1.0, [product])
    scaling = body.maker(operand, "mul", "div")
    if scaling is None:
        return None
    divides = scaling.operation.name == "div"
    for one, other in [scaling.inputs] if divides else _orders(scaling):
        product, number = body.maker(one, "matmul"), body.number(other, "" if divides else "scale")
        if product is None or not number or not math.isfinite(number) or _shape(one) != _shape(operand):
            continue
        factor = 1 / number if divides else number
        # The kernel takes it as a float32; for 0 it has a factor of its own.
        if cast(factor, "float32") != 0 and math.isfinite(cast(factor, "float32")):
            return _Scaled(product, factor, [scaling, product])
    return None


@dataclass(frozen=True, slots=True)
class _Repeated:
    """Keys or values that several heads share, and the operators that repeat them for each head."""

    source: MLOperand
    groups: int
    members: Sequence[Operator]


def _repeated(body: _Body, operand: MLOperand) -> _Repeated | None:
    joined = body.maker(operand, "reshape")
    expanded = None if joined is None else body.maker(joined.inputs[0], "expand")
    split = None if expanded is None else body.maker(expanded.inputs[0], "reshape")
    if joined is None or expanded is None or split is None or len(_shape(split.inputs[0])) != 4:
        return None
    batch, heads, rows, columns = _shape(split.inputs[0])
    groups = _shape(operand)[1] // heads if heads else 0
    shapes = [each.outputs[0].dimensions for each in (split, expanded, joined)]
    wanted = [(batch, heads, 1, rows, columns), (batch, heads, groups, rows, columns), (batch, heads * groups, rows, columns)]
    return _Repeated(split.inputs[0], groups, [joined, expanded, split]) if shapes == wanted else None


# Normalization: x / sqrt(mean of squares + epsilon) * weight


def _root_mean_square(body: _Body) -> _Kernel:
    mean = body.single("reduceMean")
    options: Any = mean.options
    squared = body.maker(mean.inputs[0], "mul", "pow")
    if squared is None or not _is_square(squared):
        raise _OtherBodyError("reduceMean must take a square, x * x or pow(x, 2)")
    x = squared.inputs[0]
    rank = len(_shape(x))
    axes = sorted(range(rank) if options.axes is None else options.axes)
    _require(axes and axes == list(range(axes[0], rank)), f"reduceMean must be over the last axes, but is over {axes}")
    _require(options.keepDimensions, "reduceMean must keep dimensions")
    _require(0 not in _shape(x), "all operands must have elements")
    members = [mean, squared]
    shifted = body.user(mean, "add")
    numbers = [] if shifted is None else [body.number(other, "epsilon") for one, other in _orders(shifted) if one._operator is mean]
    epsilon = numbers[0] if numbers else None
    root = None if shifted is None else body.user(shifted, "sqrt")
    if shifted is None or root is None or epsilon is None or not 0 <= cast(epsilon, "float32") < math.inf:
        raise _OtherBodyError("behind reduceMean must come an add of a constant number that is not negative, and a sqrt")
    last = _divided(body, x, root, members)
    members += [shifted, root]
    _require(last.outputs[0].dimensions == _shape(x), "the result must have the shape of the input")
    features = _shape(x)[axes[0] :]
    weight = None
    weighted = body.user(last, "mul")
    if weighted is not None and weighted.outputs[0].dimensions == _shape(x):
        [factor] = [other for one, other in _orders(weighted) if one._operator is last]
        if _shape(factor)[-len(features) :] == features and math.prod(_shape(factor)) == math.prod(features):
            weight, last = factor, weighted
            members.append(last)

    def make(e: Emitter, inputs: Sequence[str]) -> str:
        scale = e.node("Expand", [e.scalar(1, "float32"), e.ints(features)]) if weight is None else e.reshape(inputs[1], features)
        return e.node("SimplifiedLayerNormalization", [inputs[0], scale], axis=axes[0], epsilon=epsilon)

    return _Kernel(
        kernel="SimplifiedLayerNormalization",
        last=last,
        members=(last.index, *[each.index for each in members if each is not last]),
        operands=(x,) if weight is None else (x, weight),
        make=make,
    )


def _is_square(operator: Operator) -> bool:
    one, other = operator.inputs
    if operator.operation.name == "mul":
        return _same(one, other)
    return (
        other._value is not None
        and other._value.size == 1
        and float(other._value.item()) == 2
        and _shape(one) == operator.outputs[0].dimensions
    )


def _divided(body: _Body, x: MLOperand, root: Operator, members: list[Operator]) -> Operator:
    """Find the quotient of x and a root, which may be a product with the reciprocal."""
    divided = body.user(root, "div", "reciprocal")
    if divided is not None and divided.operation.name == "div" and _same(divided.inputs[0], x):
        members.append(divided)
        return divided
    if divided is not None and (divided.operation.name == "reciprocal" or body.number(divided.inputs[0], "") == 1):
        product = body.user(divided, "mul")
        if product is not None and any(one._operator is divided and _same(other, x) for one, other in _orders(product)):
            members += [divided, product]
            return product
    raise _OtherBodyError("the input of the square must be divided by the root, or multiplied with its reciprocal")


#: The operators to look for in a subgraph, by its name in small letters, without other characters than letters and digits.
_NAMES: Mapping[str, Callable[[_Body], _Kernel]] = {
    **dict.fromkeys(["attention", "scaleddotproductattention", "sdpa", "multiheadattention", "mha"], _attention),
    **dict.fromkeys(["groupqueryattention", "groupedqueryattention", "gqa"], _attention),
    **dict.fromkeys(["rmsnormalization", "rmsnorm", "simplifiedlayernormalization"], _root_mean_square),
}
