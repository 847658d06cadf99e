"""Causes of differences of the engine LiteRT from a browser, from what LiteRT computes of the browser's model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tools.evidence.litert_causes.__main__ import cause_of

ONE, OTHER = ({"y": np.float32([number, np.nan])} for number in (1, 2))


@pytest.mark.parametrize(
    ("computed", "cause"),
    [(OTHER, "mapping"), (ONE, "kernels"), ({"y": np.float32([3, np.nan])}, "both"), (None, "both")],
)
def test_causes(computed: Any, cause: str) -> None:
    assert cause_of(computed, ours=ONE, theirs=OTHER) == cause
