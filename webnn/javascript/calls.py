"""A request of the binding as a call that can be carried out."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Self

import webnn
from webnn.javascript.channel import Bytes

__all__ = ["HostCall", "RequestError", "implements", "name_of", "parse"]

#: The most characters of an error that the reason of a `RequestError` shows.
_LONGEST_REASON = 200
_decode = json.JSONDecoder().raw_decode


class RequestError(Exception):
    """A text and byte arrays that are not a request of the binding."""

    @classmethod
    def of(cls, error: Exception) -> Self:
        """Return the error of a request that could not be read, because of another error."""
        return cls(ascii(error)[:_LONGEST_REASON])


@dataclass(slots=True)
class HostCall:
    """A request that can be carried out: what is called, with which values.

    Attributes:
        handle: The handle of the object that it belongs to.
        target: The object; ``None`` for an attribute and a constructor.
        results: The handles of the objects that it makes, if the request chose them.
        memory: The memory of the views whose bytes were sent, if the call may be repeated with other bytes.
    """

    interface: str
    member: str
    handle: Any
    target: Any
    function: Callable[..., Any]
    values: list[Any] = field(default_factory=list)
    results: Sequence[int] = ()
    memory: list[memoryview] | None = None

    def refill(self, buffers: Sequence[Bytes]) -> None:
        """Put other bytes into the views; a `ValueError` if they do not fit."""
        for memory, content in zip(self.memory or (), buffers, strict=True):
            memory[:] = content

    def run(self, *, strict: bool) -> Any:
        """Carry it out, and return what it returns.

        If ``strict``, raise a `RequestError` if the function does not take this number of arguments: the binding has counted them.
        """
        try:
            return self.function(*self.values)
        except TypeError as error:
            if strict and not isinstance(error, webnn.WebNNTypeError) and not self._fits():
                raise RequestError.of(error) from None
            raise

    def _fits(self) -> bool:
        try:
            inspect.signature(self.function).bind(*self.values)
        except TypeError:
            return False
        return True


def parse(text: str) -> Any:
    """Return the value of a text of JSON, which begins at once."""
    value, end = _decode(text)
    if end != len(text) and text[end:].strip():
        raise ValueError(f"the request must be one value, got more from character {end} on")
    return value


@cache
def implements(kind: type[Any], interface: str) -> bool:
    """Tell whether a class is that of an interface. It need not be a public name: that of a result of a proposal is not."""
    return any(each.__name__ == interface for each in kind.__mro__)


@cache
def name_of(owner: type, member: str) -> str:
    """Return the name of the method that does a member's work."""
    sync = f"{member.removesuffix('Async')}Sync"
    return sync if hasattr(owner, sync) else member
