from __future__ import annotations

import numpy as np
import pytest

from webnn.builder.onnx.values import View


@pytest.mark.parametrize("permutation", [(0, 1, 2, 3), (0, 2, 3, 1), (3, 1, 0, 2)])
def test_numbers_for_the_dimensions_of_the_source(permutation: tuple[int, ...]) -> None:
    source = np.empty((2, 3, 4, 5))
    assert View("x", permutation).for_source(source.transpose(permutation).shape) == list(source.shape)
