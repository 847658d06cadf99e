"""Operations that run other programs: functions, branches, loops, composites; and those that only order or group values."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

from webnn.hlo.attributes import Symbol
from webnn.hlo.types import TensorType
from webnn.importing.steps import Result
from webnn.importing.values import Refused, Value
from webnn.stablehlo.elements import shape_of
from webnn.stablehlo.node import Item, Node, Token
from webnn.stablehlo.rules import Rule
from webnn.stablehlo.rules.composites import COMPOSITES, CUSTOM_CALLS

__all__ = ["RULES"]

#: The most times that the body of a loop runs.
_MOST_ITERATIONS = 10_000
#: Custom calls that return what they take.
_PASSING = frozenset({"Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape", "annotate_device_placement", "LayoutConstraint"})


def _call(node: Node) -> list[Item]:
    """Lower the function in place of the call. An operation of MLIR's dialect func."""
    return node.call(node.attribute("callee", Symbol).name, node.items)


def _composite(node: Node) -> list[Item]:
    """Lower the function that says what the operation is made of, unless the name has a rule. `stablehlo#composite`."""
    rule = COMPOSITES.get(node.text("name"))
    # The function computes known values.
    is_known = all(isinstance(item, Value) and item.array is not None for item in node.items)
    found = None if rule is None or is_known else rule(node)
    if found is None:
        return node.call(node.attribute("decomposition", Symbol).name, node.items)
    return found if isinstance(found, list) else [found]  # type: ignore[list-item, return-value]


def _while(node: Node) -> list[Item]:
    """Unroll the loop while its condition is known; refuse one that depends on an input. `stablehlo#while`."""
    condition, body = node.regions
    items = list(node.items)
    for _ in range(_MOST_ITERATIONS):
        wanted = node.run(condition, items)
        if len(wanted) != 1:
            raise Refused(f"the condition of a loop must return 1 result, got {len(wanted)}")
        if not _scalar(node, wanted[0], "the condition of a loop"):
            return items
        items = node.run(body, items)
    raise Refused(f"a loop must end after at most {_MOST_ITERATIONS} iterations")


def _scalar(node: Node, item: Item, what: str) -> bool:
    if not isinstance(item, Value) or item.dtype != np.bool_:
        raise Refused(f"{what} must be a scalar of type i1, got {item.dtype.name if isinstance(item, Value) else 'no tensor'}")
    array = node.known(item, what)
    if array.ndim:
        raise Refused(f"{what} must be a scalar, got {list(array.shape)}")
    return bool(array)


def _selector(node: Node, element: str) -> Value:
    """Return the selector of a branch: a scalar, or several for a program on scalars that is applied to tensors."""
    type = node.operation.operands[0].type
    if shape_of(type):
        raise Refused(f"what chooses a branch must be a scalar, got {type}")
    if type != TensorType(shape=(), element=element):
        raise Refused(f"what chooses a branch must have the element type {element}, got {type}")
    if not node.regions:
        raise Refused("there must be at least 1 branch, got none")
    return node.value(0)


def _if(node: Node) -> list[Item] | list[Result]:
    """Lower the branch of a known predicate; otherwise both, and choose by where. `stablehlo#if`."""
    value = _selector(node, "i1")
    if value.array is not None and not value.shape:
        return node.run(node.regions[0 if value.array else 1], ())
    return _choose(node, node.operand(0), node.run(node.regions[0], ()), node.run(node.regions[1], ()))


def _case(node: Node) -> list[Item] | list[Result]:
    """Lower the branch of a known index; otherwise all, and choose by where. Any other index means the last one. `stablehlo#case`."""
    value = _selector(node, "i32")
    last = len(node.regions) - 1
    if value.array is not None and not value.shape:
        index = int(value.array)
        return node.run(node.regions[index if 0 <= index <= last else last], ())
    results: list[Item] | list[Result] = node.run(node.regions[last], ())
    for index in reversed(range(last)):
        is_this = node.builder.equal(node.operand(0), node.scalar(index, "int32"))
        results = _choose(node, is_this, node.run(node.regions[index], ()), results)
    return results


def _choose(node: Node, condition: object, one: list[Item], other: list[Item] | list[Result]) -> list[Result]:
    """Choose between the results of two branches."""
    results: list[Result] = []
    if not len(one) == len(other) == len(node.types):
        raise Refused(f"the branches must return {len(node.types)} results, got {len(one)} and {len(other)}")
    for index, (left, right) in enumerate(zip(one, other, strict=True)):
        if isinstance(left, Token):
            results.append(left)  # type: ignore[arg-type]
        elif isinstance(left, tuple) or isinstance(right, tuple):
            raise Refused(f"a branch that depends on an input must not return tuples, got {node.types[index]}")
        elif not isinstance(left, Value) or (isinstance(right, Value) and not _is_alike(left, right)):
            raise Refused(f"the branches must return results of one type, {node.types[index]}")
        else:
            a, b = (each if not isinstance(each, Value) else node.operand_of(each) for each in (left, right))
            results.append(node.builder.where(condition, a, b))  # type: ignore[arg-type]
    return results


def _is_alike(one: Value, other: Value) -> bool:
    """Tell whether two values have one type; a scalar may be many."""
    return one.dtype == other.dtype and (one.shape == other.shape or not one.rank or not other.rank)


def _pass(node: Node) -> list[Item]:
    """Return the operands. `stablehlo#optimization_barrier`."""
    return list(node.items)


def _tuple(node: Node) -> list[Item]:
    """Group the operands. `stablehlo#tuple`."""
    return [tuple(node.items)]


def _get_tuple_element(node: Node) -> list[Item]:
    """Return an element of a tuple. `stablehlo#get_tuple_element`."""
    item, index = node.items[0], node.integer("index")
    if not isinstance(item, tuple) or not 0 <= index < len(item):
        raise Refused(f"index must name an element of {node.operation.operands[0].type}, got {index}")
    return [item[index]]


def _after_all(node: Node) -> list[Item]:
    """Return a token: there are no effects. `stablehlo#after_all`."""
    del node
    return [Token()]


def _get_dimension_size(node: Node) -> Result:
    """Return the size, which is known. `stablehlo#get_dimension_size`."""
    shape, dimension = node.value(0).shape, node.integer("dimension")
    if not 0 <= dimension < len(shape):
        raise Refused(f"dimension must be from 0 to {len(shape) - 1}, got {dimension}")
    return np.array(shape[dimension], np.int32)


def _check_sizes(node: Node) -> list[Item]:
    """Refuse sizes that JAX's program does not allow. The operands are the condition, and what the message quotes."""
    if not node.items or not _scalar(node, node.items[0], "an assertion of sizes"):
        sizes = [str(size) for index in range(1, len(node.items)) for size in node.known_integers(index, "a size")]
        message = re.sub(r"\{(\d)\}", lambda found: "".join(sizes[int(found[1]) :][:1]), node.text("error_message"))
        raise Refused(f"the sizes must be those that the program allows: {message}")
    return []


def _custom_call(node: Node) -> list[Item] | Result:
    """Return the operands if the target only says where or how they lie; functions of CHLO are computed, and others refused by name.

    `stablehlo#custom_call`.
    """
    target = node.text("call_target_name")
    if target in CUSTOM_CALLS:
        return CUSTOM_CALLS[target](node)  # type: ignore[return-value]
    if target == "shape_assertion":
        return _check_sizes(node)
    if target not in _PASSING or len(node.items) != len(node.types):
        raise Refused(f"a custom call must have a known meaning, got {target}")
    return list(node.items)


RULES: Mapping[str, Rule] = {
    "func.call": _call,
    "stablehlo.after_all": _after_all,
    "stablehlo.case": _case,
    "stablehlo.composite": _composite,
    "stablehlo.create_token": _after_all,
    "stablehlo.custom_call": _custom_call,
    "stablehlo.get_dimension_size": _get_dimension_size,
    "stablehlo.get_tuple_element": _get_tuple_element,
    "stablehlo.if": _if,
    "stablehlo.optimization_barrier": _pass,
    "stablehlo.tuple": _tuple,
    "stablehlo.while": _while,
}
