"""The order of a person: a program and a device. It comes from a page, so it is checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from webnn.builder.numerics import convert_numerics
from webnn.context.emulation import Settings
from webnn.context.profiles import PROFILES, load_profile
from webnn.serve.options import parse_faults
from webnn.validation.drafts import DRAFTS

__all__ = ["FILES", "LONGEST", "Order", "read_order"]

#: The languages, with the names that programs in them have in errors.
FILES: Mapping[str, str] = MappingProxyType({"javascript": "program.mjs", "python": "program.py"})
#: The longest program, and the longest text of faults, in characters.
LONGEST, _LONGEST_FAULTS = 50_000, 1000
_CHOICES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"language": tuple(FILES), "profile": ("", *PROFILES), "revision": ("", *DRAFTS), "numerics": ("", "exact", "fast")}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A program, and how it runs. Empty texts are defaults.

    Attributes:
        language: ``"javascript"`` or ``"python"``.
        source: The program, at most `LONGEST` characters.
        profile: The name of a shipped device profile.
        revision: The name of a draft.
        faults: Faults on demand, ``"failBuild=1,delay=0.5"``.
        numerics: ``"exact"`` or ``"fast"``.
    """

    language: str
    source: str
    profile: str = ""
    revision: str = ""
    faults: str = ""
    numerics: str = ""

    @property
    def file(self) -> str:
        """The name of the program's file."""
        return FILES[self.language]

    def settings(self, **others: Any) -> Settings:
        """Return the settings of every context of the program, with others beside them. Raises `ValueError` if the faults are wrong."""
        return Settings(
            profile=load_profile(self.profile) if self.profile else None,
            # The page lists the operators that leave their device.
            fallback="silent",
            faults=parse_faults(self.faults, "faults") if self.faults.strip() else None,
            numerics=convert_numerics(self.numerics, "numerics") if self.numerics else None,
            **others,
        )


def read_order(values: Mapping[str, Any]) -> Order:
    """Read what a page sends. Raises `ValueError` if a value is missing, has the wrong type, is unknown or too long."""
    if unknown := values.keys() - Order.__dataclass_fields__.keys():
        raise ValueError(f"there is no option {min(unknown)!r}")
    for name in ("language", "source"):
        if name not in values:
            raise ValueError(f"{name} is missing")
    for name, value in values.items():
        if not isinstance(value, str):
            raise ValueError(f"{name} must be a text")
        if name in _CHOICES and value not in _CHOICES[name]:
            raise ValueError(f"{name} must be one of {', '.join(map(repr, _CHOICES[name]))}, got {value[:50]!r}")
    order = Order(**values)
    for name, longest in (("source", LONGEST), ("faults", _LONGEST_FAULTS)):
        if (length := len(getattr(order, name))) > longest:
            raise ValueError(f"{name} must have at most {longest:,} characters, got {length:,}")
    if any("\ud800" <= each <= "\udfff" for each in order.source + order.faults):
        raise ValueError("the program must be text, without lone surrogates")
    order.settings()
    return order
