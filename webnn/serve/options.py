"""The options of `navigator.ml` in pages."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import webnn
from webnn.javascript.idl import BindingIdl, dialect_revision, load_idl
from webnn.serve.memory import MEMORY
from webnn.validation.drafts import NEWEST

if TYPE_CHECKING:
    from webnn.builder.numerics import Numerics
    from webnn.context.devices.selection import FallbackPolicy
    from webnn.context.profiles import Profile

__all__ = ["FAULTS", "Options", "facts_of", "parse_faults", "set_fault"]

#: The parameters of `webnn.Faults`.
FAULTS = ("refuse", "failBuild", "failCompute", "memoryLimit", "loseAfter", "delay")
_NUMBER = re.compile(r"[0-9]{1,18}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options of an emulator for pages.

    Attributes:
        revision: The draft; ``None`` for that of the dialect, or else the newest one.
        timeline: Whether the status page shows when contexts are called, and when they work.
        lines: Whether pages tell the line of the program that makes an operator.
        memory: The most bytes that each session may hold.
    """

    revision: str | None = None
    dialect: str | None = None
    profile: str | os.PathLike[str] | Profile | None = None
    fallback: FallbackPolicy | None = None
    faults: webnn.Faults | None = None
    numerics: Numerics | None = None
    isolate: bool = False
    timeline: bool = False
    lines: bool = False
    memory: int = MEMORY

    def idl(self) -> BindingIdl:
        """Return the IDL that pages see. Raises `ValueError` if there is no such draft or dialect, or they do not fit."""
        stated = self.revision or (dialect_revision(self.dialect) if self.dialect is not None else None)
        return load_idl(stated or NEWEST, self.dialect)

    def make_ml(self, document: webnn.Document | None = None) -> webnn.ML:
        """Make the object behind `navigator.ml` of a document.

        Raises `TypeError` if an option has the wrong type, and `ValueError` if an option has an invalid value.
        """
        return webnn.ML(
            revision=self.idl().revision,
            document=document,
            profile=self.profile,
            fallback=self.fallback,
            faults=self.faults,
            numerics=self.numerics,
        )


def facts_of(made: object) -> Mapping[str, object] | None:
    """Return the facts of a context, a tensor or a graph that foresight.js names; ``None`` for other objects.

    Contexts without a device profile share a draft in a session.
    """
    if isinstance(made, webnn.MLTensor):
        return None if made.constant else {name: getattr(made, name) for name in ("dataType", "shape", "readable", "writable")}
    if isinstance(made, webnn.MLGraph):
        named = {"inputs": made._inputDescriptors, "outputs": made._outputDescriptors}
        return {
            kind: {name: {"dataType": each.dataType, "shape": each.shape} for name, each in given.items()} for kind, given in named.items()
        }
    if not isinstance(made, webnn.MLContext):
        return None
    revision = made._state.revision
    acceptance = revision.acceptance
    ruled = () if acceptance is None else acceptance.ruled
    return {"largest": revision.max_byte_length, "rank": revision.max_rank, "ruled": sorted(ruled), "shared": acceptance is None}


def set_fault(faults: webnn.Faults, name: str, value: Any) -> None:
    """Set one of the `FAULTS`; ``None`` disarms it. Raises `TypeError` or `ValueError` if the value is invalid."""
    match name:
        case "refuse":
            faults.refuse = value
        case "failBuild":
            faults.failBuild = value
        case "failCompute":
            faults.failCompute = value
        case "memoryLimit":
            faults.memoryLimit = value
        case "loseAfter":
            faults.loseAfter = value
        case "delay":
            faults.delay = value


def parse_faults(text: str, where: str = "--faults") -> webnn.Faults:
    """Read ``failBuild=1,delay=0.5``: parameters of `webnn.Faults`. Several values of one are separated by ``+``.

    ``where`` names the text in errors. Raises `ValueError` if it is no such text, or a value is invalid.
    """
    values: dict[str, Any] = {}
    for part in text.split(","):
        name, separator, value = (each.strip() for each in part.partition("="))
        if not separator or not value:
            raise ValueError(f"{where} takes NAME=VALUE, separated by commas, got {part!r}")
        if name not in FAULTS:
            raise ValueError(f"{where}: there is no {name!r}; there are {', '.join(FAULTS)}")
        if name in values:
            raise ValueError(f"{where}: {name} is given twice")
        values[name] = _parse_fault(name, value, where)
    try:
        return webnn.Faults(**values)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{where}: {error}") from None


def _parse_fault(name: str, value: str, where: str) -> object:
    if name == "refuse":
        return value.split("+")
    if name == "delay":
        try:
            return float(value)
        except ValueError:
            raise ValueError(f"{where}: delay must be a number of seconds, got {value!r}") from None
    several = name in {"failBuild", "failCompute"}
    if several and value == "all":
        return value
    numbers = value.split("+") if several else [value]
    if not all(map(_NUMBER.fullmatch, numbers)):
        expected = "a number, several such as 1+3, or all" if several else "a number"
        raise ValueError(f"{where}: {name} must be {expected}, got {value!r}")
    return [int(number) for number in numbers] if several else int(value)
