"""The tables of families are joined."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from webnn.importing.families import collect_families


def test_families_are_joined_and_have_different_names(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, rules in (("one", {"a": 1, "b": 2}), ("two", {"c": 3}), ("three", {"b": 4})):
        module = ModuleType(f"families.{name}")
        vars(module)["RULES"] = rules
        monkeypatch.setitem(sys.modules, f"families.{name}", module)
    assert collect_families("families", ["one", "two"], "RULES") == {"a": 1, "b": 2, "c": 3}
    with pytest.raises(RuntimeError, match="two families of families have b"):
        collect_families("families", ["one", "two", "three"], "RULES")
