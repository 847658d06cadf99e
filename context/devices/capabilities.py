"""The data types that a device computes, as measured, and the operators of a graph that it must not get. Loads no engine.

A provider can have a kernel for a data type that its device does not compute: WebGPU has kernels of float16, and a GPU may lack float16 in
its shaders. Such a graph builds, and its first run fails. A type without a kernel needs no fact: the engine itself leaves the operator.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING

from webnn.validation.descriptor import DATA_TYPES

if TYPE_CHECKING:
    from webnn.builder.graph import ComputationalGraph

__all__ = ["Facts", "Refused", "find_nodes", "find_refused", "read_facts", "write_facts"]

#: For each data type that was tried, why the device does not compute it; empty if nothing speaks against it.
Facts = Mapping[str, str]

#: The longest reason; the engine's are shorter.
_LONGEST = 1000
#: The longest text of facts.
_LARGEST = 2**22


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """An operator that the device does not compute.

    Attributes:
        operation: The operation.
        label: The operator's label.
        dataType: The data type that the device does not compute; empty if it refuses the operator for another reason.
        reason: Why it does not, in a whole sentence.
    """

    operation: str
    label: str
    dataType: str
    reason: str


def find_refused(graph: ComputationalGraph, provider: str, facts: Facts) -> dict[int, Refused]:
    """Find the operators with an operand of a type that the device does not compute, by their numbers.

    Args:
        graph: The graph.
        provider: The device's provider, for the reasons.
        facts: The device's facts.
    """
    failing = {dataType: why for dataType, why in facts.items() if why}
    found: dict[int, Refused] = {}
    for operator in graph.operators if failing else ():
        types = [*(each.descriptor.dataType for each in (*operator.inputs, *(member for _, member in operator.members)))]
        types += [each.dataType for each in operator.outputs]
        dataType = next((each for each in types if each in failing), None)
        if dataType is not None:
            found[operator.index] = Refused(
                operation=operator.operation.name,
                label=operator.label,
                dataType=dataType,
                reason=f"{provider} does not compute {dataType} here: {failing[dataType]}",
            )
    return found


def find_nodes(nodes: Iterable[tuple[str, Sequence[str], Set[int]]], values: Set[str], refused: Set[int]) -> list[str]:
    """Return the names of the nodes that the device must not get.

    Args:
        nodes: For each node its name, the values that it takes and makes, and the numbers of the operators that it belongs to.
        values: The values of types that the device does not compute.
        refused: The numbers of the operators that it does not compute.
    """
    return [name for name, touched, owners in nodes if not refused.isdisjoint(owners) or not values.isdisjoint(touched)]


def write_facts(facts: Facts) -> bytes:
    """Write facts for a file."""
    return json.dumps(dict(facts), sort_keys=True).encode()


def read_facts(content: bytes, is_name: Callable[[str], bool] = frozenset(DATA_TYPES).__contains__) -> dict[str, str]:
    """Read the facts of a file; there are none in one that is not valid, or holds anything else.

    Args:
        content: The file's content.
        is_name: Tells whether something is a name of a fact; by default the data types are.
    """
    if len(content) > _LARGEST:
        return {}
    try:
        data = json.loads(content)
    except (ValueError, RecursionError):
        return {}
    valid = isinstance(data, dict) and all(
        is_name(name) and isinstance(why, str) and len(why) <= _LONGEST and (not why or why.isprintable()) for name, why in data.items()
    )
    return data if valid else {}
