"""A request of the binding as a call that can be carried out."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import webnn
from webnn.javascript.channel import Bytes

__all__ = ["HostCall", "RequestError"]

#: The most characters of an error that the reason of a `RequestError` shows.
_LONGEST_REASON = 200


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
