"""The values that nodes see."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from webnn.importing.values import Blocked, Refused, Value
from webnn.validation import webidl

__all__ = ["Scope"]

#: The deepest nesting of bodies and functions.
_DEEPEST = 64
#: The longest path, in characters; a longer one is shown without its beginning. Each operator has a copy.
_LONGEST_PATH = 1000


class Scope:
    """The values that nodes see: those of a graph or a function, and, for the body of a node, those around it.

    Attributes:
        opsets: The versions of the domains.
        path: What stands before the names of nodes in messages.
    """

    def __init__(self, opsets: Mapping[str, int], outer: Scope | None = None, path: str = "", depth: int = 0) -> None:
        self.opsets = opsets
        self.path = path
        self.depth = depth
        self._outer = outer
        #: None stands for a value that could not be imported.
        self._values: dict[str, Value | None] = {}

    def define(self, name: str, value: Value | None) -> None:
        """Define a value; None if it could not be imported."""
        self._values[name] = value

    def find(self, name: str) -> Value:
        """Return a value.

        Raises:
            Refused: There is no such value.
            Blocked: It could not be imported.
        """
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
        """Refuse a node that makes a value that there is already in its graph.

        Raises:
            Refused: There is one.
        """
        seen = set()
        for name in names:
            if name and (name in seen or self._values.get(name) is not None):
                raise Refused(f"the value {webidl.describe(name)} must be made once")
            seen.add(name)

    def is_blocked(self, name: str) -> bool:
        """Tell whether a value of this graph could not be imported."""
        return name in self._values and self._values[name] is None

    def find_roots(self, names: Iterable[str]) -> frozenset[str]:
        """Return the inputs of the model that some values come from."""
        found: frozenset[str] = frozenset()
        for name in names:
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
        if self.depth == _DEEPEST:
            raise Refused(f"bodies and functions must not be nested deeper than {_DEEPEST} levels")
        depth, path = self.depth + 1, f"{self.path}{path}/"
        if len(path) > _LONGEST_PATH:
            path = f"...{path[-_LONGEST_PATH:]}"
        return Scope(self.opsets, self, path, depth) if opsets is None else Scope({**self.opsets, **opsets}, None, path, depth)
