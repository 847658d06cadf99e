"""Results, and which ones are expected."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from tests.support import each_row
from tests.tools.evidence.models.toys import RELU
from tools.evidence.models.catalog import Known
from tools.evidence.models.result import Result, find_fault

REFUSED = Known(status="refused", message="QGemm", reason="it is not ONNX's.")


WRONG_ONE = Known(status="wrong", message="", reason="it rounds.", most=0.01)


FAULTS: list[tuple[Known | None, str, str, str]] = [
    (None, "ok", "", ""),
    (None, "wrong", "y differs", "wrong: y differs"),
    (None, "sensitive", "y differs", ""),
    (WRONG_ONE, "sensitive", "y differs", "Got sensitive: y differs"),
    (REFUSED, "refused", "com.microsoft.QGemm: no", ""),
    (REFUSED, "refused", "Loop: no", "must be refused with 'QGemm'.* Got refused: Loop"),
    (WRONG_ONE, "ok", "", r"must be wrong with '' in the message and an error of at most 0.01, because it rounds\. Got ok"),
    (WRONG_ONE, "wrong", "y differs", ""),
    (replace(WRONG_ONE, status="unsteady"), "ok", "", ""),
    (replace(WRONG_ONE, status="unsteady"), "wrong", "y differs", ""),
    (replace(WRONG_ONE, status="unsteady"), "refused", "Loop: no", "must be unsteady .* Got refused: Loop"),
    (replace(WRONG_ONE, most=1e-4), "wrong", "y differs", r"an error of at most 0.0001, because it rounds\. Got wrong: y differs"),
]


@each_row(("known", "status", "message", "fault"), FAULTS)
def test_expectations_are_strict(known: Known | None, status: Any, message: str, fault: str) -> None:
    difference = 1e-3 if status == "wrong" else None if status == "refused" else 0.0
    found = find_fault(replace(RELU, known=known), Result(name="relu", status=status, message=message, difference=difference, fast=0.0))
    assert bool(found) == bool(fault)
    assert re.search(fault, found)


FAST: list[tuple[Known | None, float | None, str]] = [
    (None, 1e-6, ""),
    (None, 1e-3, "with fast numerics the error must be at most 1e-05, got 1.0e-03"),
    (None, None, "with fast numerics the error must be at most 1e-05, got inf"),
    (replace(WRONG_ONE, fast=0.01), 1e-3, ""),
    (replace(WRONG_ONE, fast=0.01), 1e-1, "with fast numerics the error must be at most 0.01, got 1.0e-01"),
]


@each_row(("known", "fast", "fault"), FAST)
def test_fast_numerics_are_judged(known: Known | None, fast: float | None, fault: str) -> None:
    status: Any = "wrong" if known else "ok"
    assert find_fault(replace(RELU, known=known), Result(name="relu", status=status, difference=1e-3, fast=fast)) == fault


def test_an_error_of_a_kernel_that_fast_numerics_allow() -> None:
    assert find_fault(RELU, Result(name="relu", status="ok", difference=0.0, fast=1.0, is_fast_right=True)) == ""


def test_an_error_that_is_not_a_number_is_never_known() -> None:
    assert find_fault(replace(RELU, known=WRONG_ONE), Result(name="relu", status="wrong", difference=None, fast=0.0))
