from __future__ import annotations

import pytest

from tests.webnn.tflite.cases import FAMILIES
from tests.webnn.tflite.support import check


@pytest.mark.parametrize("name", [*FAMILIES["reduction"], *FAMILIES["normalization"]])
def test_results(name: str) -> None:
    check(name)
