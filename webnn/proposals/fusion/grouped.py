"""Calls that the import of ONNX's GroupQueryAttention made, for caches whose number of valid rows each run tells.

Their operators find the places of new rows, which takes copies of the cache and a mask. The proof is that they are those that the import
makes of such a node; then the kernel is the node's own. It fails where `seqlens_k` says that new rows do not fit into the cache. So
`seqlens_k` is clamped first, and the rows are then others than the operators' own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from webnn.builder.description import given_options
from webnn.builder.graph_builder import Sketch, make_sketch
from webnn.builder.operand import MLOperand, Operator
from webnn.builder.transform import Rebuilder
from webnn.proposals.fusion.attention import match_attention
from webnn.proposals.fusion.body import Body, Kernel, same, shape_of
from webnn.validation.errors import NotSupportedError, WebNNTypeError

if TYPE_CHECKING:
    from webnn.builder.onnx.emitter import Emitter

__all__ = ["match_grouped"]

_KERNEL = "GroupQueryAttention"
#: The inputs and outputs of the node.
_INPUTS = ("query", "key", "value", "past_key", "past_value", "seqlens_k", "total_sequence_length", "cos_cache", "sin_cache")
_OUTPUTS = ("output", "present_key", "present_value")
#: The attributes of the node, which a call has as its config.
_INTEGERS = frozenset({"num_heads", "kv_num_heads", "do_rotary", "rotary_interleaved", "local_window_size"})
_ATTRIBUTES = _INTEGERS | {"scale", "softcap"}
#: The largest number that an attribute may be.
_LARGEST = 1e9
#: With rotary embeddings, the kernel takes heads whose size is a multiple of this.
_SIZES = 16


def match_grouped(body: Body) -> list[Kernel]:
    """Return the kernel of an imported node, or the kernels of attention."""
    kernel = _match_import(body)
    return match_attention(body) if kernel is None else [kernel]


def _match_import(body: Body) -> Kernel | None:
    attributes = _read_attributes(body.call.config)
    given = {name: body.call.operands[name] for name in _INPUTS if name in body.call.operands}
    results = {name: operator for name in _OUTPUTS if (operator := body.result(name)) is not None}
    if not given.keys() >= {"query", "past_key", "past_value", "seqlens_k"} or "output" not in results or attributes is None:
        return None
    sizes: list[Any] = [size for each in given.values() for size in shape_of(each)]
    queries, cache = shape_of(given["query"]), shape_of(given["past_key"])
    isKnown = all(isinstance(size, int) and size > 0 for size in sizes) and len(queries) == 3 and len(cache) == 4
    if not isKnown or given["query"].descriptor.dataType != "float32":
        return None
    if queries[0] > 1 and queries[1] > 1:
        # The kernel takes several rows of one element of the batch only.
        return None
    # The kernel wants tables for all features and all rows of the cache, and such sizes.
    tables = shape_of(given["cos_cache"]) if "cos_cache" in given else ()
    if tables and (len(tables) != 2 or cache[3] % _SIZES or 2 * tables[1] != cache[3] or tables[0] < cache[2]):
        return None
    found = _Comparison(body, given)
    again = _import_again(given, attributes)
    if not all(name in again and found.compare(operator, again[name]) for name, operator in results.items()):
        return None
    operators = tuple(results.values())
    inner = found.find_inner(operators)
    leaves = {name: found.leaves[name] for name in _INPUTS if name in found.leaves}
    if not body.allows(operators, inner):
        return None

    def make(e: Emitter, inputs: Sequence[str]) -> list[str]:
        values = dict(zip(leaves, inputs, strict=True))
        for name, each in leaves.items():
            if shape_of(each) != shape_of(given[name]):
                values[name] = e.reshape(values[name], shape_of(given[name]))
        limits = [e.scalar(number, "int32") for number in (queries[1] - 1, cache[2] - 1)]
        values["seqlens_k"] = e.node("Clip", [e.reshape(values["seqlens_k"], [queries[0]]), *limits])
        values["total_sequence_length"] = e.scalar(cache[2], "int32")
        made = dict(zip(_OUTPUTS, e.nodes(_KERNEL, [values.get(name) for name in _INPUTS], 3, **attributes), strict=True))
        return [made[name] for name in results]

    return Kernel(kernel=_KERNEL, results=operators, inner=tuple(inner), operands=tuple(leaves.values()), make=make)


def _read_attributes(config: Mapping[str, Any]) -> dict[str, float] | None:
    """Return the attributes of a node; ``None`` if a config has others, or what is not such a number."""
    found: dict[str, float] = {}
    for name, each in config.items():
        if name not in _ATTRIBUTES or isinstance(each, str) or not abs(each) <= _LARGEST or (name in _INTEGERS and each != int(each)):
            return None
        found[name] = int(each) if name in _INTEGERS else float(each)
    return found


def _import_again(given: Mapping[str, MLOperand], attributes: Mapping[str, float]) -> dict[str, Operator]:
    """Return the operators that make the results of an imported node; none if the import refuses it."""
    # Imported lazily: most graphs have no such call.
    from webnn.onnx.again import import_again  # noqa: PLC0415

    operands = [(name, given[name].descriptor.dataType, shape_of(given[name])) if name in given else ("", "", ()) for name in _INPUTS]
    operands[6] = ("total_sequence_length", "int32", ())
    revision = given["query"]._builder._revision
    try:
        description = import_again(_KERNEL, tuple(operands), tuple(attributes.items()), _OUTPUTS)
        made = Rebuilder(make_sketch(Sketch, revision)).build(description)
    except (NotSupportedError, WebNNTypeError):
        return {}
    return {name: operand._operator for name, operand in made.items() if operand._operator is not None}


class _Comparison:
    """Compares operators of a call with others, whose inputs are the call's operands.

    Attributes:
        leaves: The operands that are these inputs, by their names. One may have another shape, before a reshape.
    """

    def __init__(self, body: Body, given: Mapping[str, MLOperand]) -> None:
        self._body = body
        self._given = given
        self._matched: dict[int, Operator] = {}
        self._pairs: set[tuple[int, int]] = set()
        self.leaves: dict[str, MLOperand] = {}

    def compare(self, ours: Operator, theirs: Operator) -> bool:
        """Tell whether two operators compute the same of the same inputs."""
        work = [(ours, theirs)]
        # The work list grows while it is read.
        for one, other in work:
            if (one.index, other.index) in self._pairs:
                continue
            self._pairs.add((one.index, other.index))
            self._matched[one.index] = one
            isAlike = one.operation.name == other.operation.name and one.arguments == other.arguments and one.outputs == other.outputs
            names = [[name for name, _ in each.members] for each in (one, other)]
            if not isAlike or given_options(one) != given_options(other) or names[0] != names[1] or len(one.inputs) != len(other.inputs):
                return False
            isReshape = one.operation.name == "reshape"
            left, right = ([*each.inputs, *(member for _, member in each.members)] for each in (one, other))
            for mine, wanted in zip(left, right, strict=True):
                if mine._operator is not None and wanted._operator is not None and mine._position == wanted._position:
                    work.append((mine._operator, wanted._operator))
                elif not (self._is_leaf(mine, wanted, isReshape=isReshape) if wanted._name is not None else _is_constant(mine, wanted)):
                    return False
        return True

    def _is_leaf(self, mine: MLOperand, wanted: MLOperand, *, isReshape: bool) -> bool:
        given = self._given.get(wanted._name or "")
        if given is None or not (same(mine, given) or (isReshape and same(_flat(mine), _flat(given)))):
            return False
        return same(self.leaves.setdefault(wanted._name or "", mine), mine)

    def find_inner(self, results: Sequence[Operator]) -> list[Operator]:
        """Return the operators that were compared, other than the results, without those that others need."""
        inside = {each.index for each in results}
        kept: list[Operator] = []
        for operator in sorted(self._matched.values(), key=lambda each: -each.index):
            users = [user for position in range(len(operator.outputs)) for user in self._body.users.of(operator, position)]
            if operator.index not in inside and operator in self._body and all(user is not None and user.index in inside for user in users):
                inside.add(operator.index)
                kept.append(operator)
        return kept


def _flat(operand: MLOperand) -> MLOperand:
    """Return what an operand is a reshape of."""
    while operand._operator is not None and operand._operator.operation.name == "reshape":
        operand = operand._operator.inputs[0]
    return operand


def _is_constant(mine: MLOperand, wanted: MLOperand) -> bool:
    one, other = mine._value, wanted._value
    return one is not None and other is not None and mine.descriptor == wanted.descriptor and np.array_equal(one, other)
