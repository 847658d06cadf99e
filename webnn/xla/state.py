"""`State`: the parts that a builder has so far."""

from __future__ import annotations

from webnn.hlo.ir import RegionBuilder, Value
from webnn.validation import webidl
from webnn.xla.call import ComputationDataHandle, XlaCall
from webnn.xla.shapes import AnyShape

__all__ = ["State"]

#: The most operations of a computation, those of the computations that it uses counted each time. The import goes through no more.
_MOST_OPERATIONS = 200_000
#: The deepest nesting of computations that operations run.
_DEEPEST = 60


class State:
    """The parts that a builder has so far.

    Attributes:
        name: The name of the computation.
        body: The operations.
        parameters: Name, shape and arrays of the parameters, by their numbers.
        handles: The number of handles so far.
        last: The last handle.
        built: Whether the computation is built.
        size: The number of operations, those inside of others too.
        depth: How deep computations are nested in operations.
    """

    __slots__ = ("body", "built", "depth", "handles", "last", "name", "parameters", "size")

    def __init__(self, name: str) -> None:
        self.name = name
        self.body = RegionBuilder()
        self.parameters: dict[int, tuple[str, AnyShape, tuple[Value, ...]]] = {}
        self.handles = 0
        self.last: ComputationDataHandle | None = None
        self.built = False
        self.size = 0
        self.depth = 0

    def __str__(self) -> str:
        return webidl.describe(self.name) if self.name else "which has no name"

    def spend(self, count: int, call: XlaCall) -> None:
        """Count operations that a call appends."""
        if self.size + count > _MOST_OPERATIONS:
            raise call.error(
                "", f"a computation must have at most {_MOST_OPERATIONS} operations, those of computations that it uses counted each time"
            )
        self.size += count

    def nest(self, depth: int, call: XlaCall) -> None:
        """Note how deep a call nests computations."""
        if depth > _DEEPEST:
            raise call.error("", f"computations must not be nested deeper than {_DEEPEST} levels")
        self.depth = max(self.depth, depth)
