"""The tables of an import's families in one table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from types import MappingProxyType
from typing import Any

__all__ = ["collect_families"]


def collect_families(package: str, families: Sequence[str], table: str) -> Mapping[str, Any]:
    """Return the entries of the tables of all families, which are modules of the package.

    Raises:
        RuntimeError: Two families have an entry of one name.
    """
    collected: dict[str, Any] = {}
    for family in families:
        found: Mapping[str, Any] = getattr(import_module(f"{package}.{family}"), table)
        twice = collected.keys() & found.keys()
        if twice:
            raise RuntimeError(f"two families of {package} have {', '.join(sorted(twice))}")
        collected.update(found)
    return MappingProxyType(collected)
