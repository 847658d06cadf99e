"""`Extension`: a key for what an addition to a draft gives to one place of the package."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

__all__ = ["Extension"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Extension(Generic[T]):
    """A key of `Revision.extensions`, and the type of its value. It is defined beside the code that reads it."""

    name: str
