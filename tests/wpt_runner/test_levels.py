"""Levels of web-platform-tests: which draft the tests of a checkout are for."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.wpt_runner.checkouts import make_checkout
from webnn.javascript.idl import load_idl
from webnn.wpt_runner.checkout import Checkout
from webnn.wpt_runner.expectations import load_expectations
from webnn.wpt_runner.levels import LEVELS, Level, detect_level, find_level, level_of

#: The IDL of a checkout, and the level.
DETECTED = [
    (None, "2024-06"),
    ("", "2024-06"),
    ("interface MLContext { Promise<MLComputeResult> compute(MLGraph graph); };", "2024-06"),
    ("interface MLTensor {}; interface MLContext { undefined dispatch(); };", "2025-03"),
    ("interface MLTensor {}; interface MLContext { Promise<MLComputeResult> compute (MLGraph graph); };", "2024-06"),
    ("dictionary MLTensorDescriptor {};", "2024-06"),
    ("[Exposed=Window]\ninterface\n  MLTensor {};", "2025-03"),
]


@pytest.mark.parametrize(("idl", "name"), DETECTED, ids=range(len(DETECTED)))
def test_detection(tmp_path: Path, idl: str | None, name: str) -> None:
    root = make_checkout(tmp_path, {"x.any.js": ""})
    if idl is not None:
        (root / "interfaces").mkdir()
        (root / "interfaces" / "webnn.idl").write_text(idl, encoding="utf-8")
    assert detect_level(Checkout(root)).name == name


@pytest.mark.parametrize("level", LEVELS, ids=[level.name for level in LEVELS])
def test_what_belongs_to_a_level(level: Level) -> None:
    assert find_level(level.revision) is level
    assert load_idl(level.revision, level.dialect).revision.name.startswith(level.revision)
    assert load_expectations(level.name).path is not None


def test_an_unknown_revision() -> None:
    with pytest.raises(ValueError, match="the revision must be one of 2024-06, 2026-06, got '1999'"):
        find_level("1999")


@pytest.mark.parametrize(
    ("name", "level"), [("", "2024-06"), ("2024-06", "2024-06"), ("2024-09", "2024-06"), ("2025-03", "2025-03"), ("2026-01", "2025-03")]
)
def test_levels_of_recorded_cases(name: str, level: str) -> None:
    assert level_of(name).name == level
