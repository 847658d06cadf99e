from __future__ import annotations

import numpy as np
import pytest
from onnx import numpy_helper, parser

from tools.evidence import judge
from webnn.builder.onnx.overflow_probe import make_probe

#: The largest products with either sign.
SIGNS = np.tile(np.where(np.arange(32) % 2, -128, 127).astype(np.int8), (64, 1))
MODEL = """
<ir_version: 10, opset_import: ["" : 21]>
products (uint8[5, 64] x) => (int32[5, 32] y) { y = MatMulInteger (x, signs) }
"""


def make_products() -> bytes:
    model = parser.parse_model(MODEL)
    model.graph.initializer.append(numpy_helper.from_array(SIGNS, "signs"))
    return bytes(model.SerializeToString())


@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize("isAsked", [False, True])
def test_products_of_integers_are_exact(monkeypatch: pytest.MonkeyPatch, plain: bool, isAsked: bool) -> None:
    """On any processor: the sums overflow in the fastest kernels of some."""
    if not isAsked:
        monkeypatch.setattr(judge, "overflows", lambda: True)
    x = np.full((5, 64), 255, np.uint8)
    [found] = judge.start(make_products(), plain=plain, threads=1).run(["y"], {"x": x})
    np.testing.assert_array_equal(found, x.astype(np.int32) @ SIGNS.astype(np.int32))


def test_a_model_that_does_not_start_with_other_factors(monkeypatch: pytest.MonkeyPatch) -> None:
    """The optimization fails for constants that two products share."""
    monkeypatch.setattr(judge, "overflows", lambda: True)
    model, expected = make_probe()
    assert [each.name for each in judge.start(model).get_outputs()] == [*expected]
