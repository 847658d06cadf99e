"""MediaPipe's operators, compared with loops over the elements."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest
from flatbuffers import flexbuffers

from tests.webnn.tflite.makers import c, f, one
from tests.webnn.tflite.support import compute, refusals
from tools.evidence.models.mediapipe import CUSTOM

RNG = np.random.default_rng(1)


def _ints(*numbers: int) -> bytes:
    return struct.pack(f"<{len(numbers)}i", *numbers)


def _fields(**fields: Any) -> bytes:
    return bytes(flexbuffers.Dumps(fields))


BOX = _fields(
    left_rotation_idx=1,
    right_rotation_idx=3,
    target_rotation_radians=0.3,
    output_height=4,
    output_width=5,
    scale_x=1.5,
    scale_y=1.25,
    subset_idxs=[0, 2, 4, 5],
)


@pytest.mark.parametrize("padding", [1, 2])
def test_transposed_convolution(padding: int) -> None:
    options, filter, bias = _ints(padding, 2, 3), c(2, 4, 3, 3), c(2, seed=4)
    x = RNG.normal(size=(1, 3, 2, 3)).astype(np.float32)
    found = compute(one("Convolution2DTransposeBias", [f(1, 3, 2, 3), filter, bias], [f()], custom=options), {"t0": x})
    wanted = CUSTOM["Convolution2DTransposeBias"](options, x, filter.data, bias.data)
    assert found["t3"].shape == wanted.shape
    np.testing.assert_allclose(found["t3"], wanted, rtol=1e-5, atol=1e-5)


def test_a_matrix_from_landmarks() -> None:
    landmarks = RNG.normal(size=(1, 6, 3)).astype(np.float32)
    found = compute(one("Landmarks2TransformMatrix", [f(1, 6, 3)], [f()], custom=BOX, version=2), {"t0": landmarks})
    np.testing.assert_allclose(found["t1"], CUSTOM["Landmarks2TransformMatrix"](BOX, landmarks), rtol=1e-5, atol=1e-5)


def test_landmarks_in_one_place_give_finite_numbers() -> None:
    found = compute(one("Landmarks2TransformMatrix", [f(1, 6, 3)], [f()], custom=BOX, version=2), {"t0": np.zeros((1, 6, 3))})
    assert np.isfinite(found["t1"]).all()


@pytest.mark.parametrize("size", [2, 3])
def test_transformed_landmarks(size: int) -> None:
    landmarks, matrix = RNG.normal(size=(1, 5, size)).astype(np.float32), RNG.normal(size=(1, 4, 4)).astype(np.float32)
    found = compute(one("TransformLandmarks", [f(1, 5, size), f(1, 4, 4)], [f()], version=2), {"t0": landmarks, "t1": matrix})
    np.testing.assert_allclose(found["t2"], CUSTOM["TransformLandmarks"](b"", landmarks, matrix), rtol=1e-5, atol=1e-5)


def test_a_transformed_tensor() -> None:
    options = _fields(output_height=5, output_width=6)
    x, matrix = RNG.normal(size=(1, 7, 8, 2)).astype(np.float32), np.zeros((1, 4, 4), np.float32)
    matrix[0, :2] = [[1.1, 0.3, 0, -0.4], [-0.2, 1.4, 0, 0.7]]
    found = compute(one("TransformTensorBilinear", [f(1, 7, 8, 2), f(1, 4, 4)], [f()], custom=options, version=2), {"t0": x, "t1": matrix})
    wanted = CUSTOM["TransformTensorBilinear"](options, x, matrix)
    assert (wanted == 0).any()
    np.testing.assert_allclose(found["t2"], wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("padding", [1, 2])
def test_places_of_maxima(padding: int) -> None:
    x = RNG.integers(-3, 3, (1, 5, 6, 2)).astype(np.float32)
    found = compute(one("MaxPoolingWithArgmax2D", [f(1, 5, 6, 2)], [f(), f()], custom=_ints(padding, 2, 2, 3, 2)), {"t0": x})
    rows, columns = found["t1"].shape[1:3]
    low = ((rows - 1) * 2 + 2 - 5) // 2 if padding == 1 else 0, ((columns - 1) * 2 + 3 - 6) // 2 if padding == 1 else 0
    padded = np.pad(x, ((0, 0), (low[0], 2), (low[1], 2), (0, 0)), constant_values=-np.inf)
    for row, column, channel in np.ndindex(rows, columns, 2):
        window = padded[0, 2 * row : 2 * row + 2, 2 * column : 2 * column + 3, channel]
        assert found["t1"][0, row, column, channel] == window.max()
        assert found["t2"][0, row, column, channel] == np.float32(window.argmax() + 0.1)


def test_maxima_go_back_to_their_places() -> None:
    pooled = compute(
        one("MaxPoolingWithArgmax2D", [f(1, 4, 6, 2)], [f(), f()], custom=_ints(2, 3, 2, 3, 2)), {"t0": RNG.normal(size=(1, 4, 6, 2))}
    )
    given = {"t0": pooled["t1"], "t1": pooled["t2"]}
    found = compute(one("MaxUnpooling2D", [f(1, 2, 2, 2), f(1, 2, 2, 2)], [f()], custom=_ints(2, 3, 2, 3, 2)), given)["t2"]
    assert found.shape == (1, 4, 6, 2)
    assert sorted(found[found != 0]) == sorted(pooled["t1"].reshape(-1))


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (
            one("MaxUnpooling2D", [f(1, 2, 2, 2), f(1, 2, 2, 2)], [f()], custom=_ints(2, 1, 2, 3, 2)),
            "the window must be as large as its strides",
        ),
        (one("MaxPoolingWithArgmax2D", [f(1, 2, 2, 2)], [f(), f()], custom=b"1"), "the custom options must have 20 bytes, got 1"),
        (one("MaxPoolingWithArgmax2D", [f(1, 2, 2, 2)], [f(), f()], custom=_ints(9, 1, 1, 1, 1)), "must be SAME or VALID"),
        (one("Landmarks2TransformMatrix", [f(1, 6, 3)], [f()], custom=BOX), "the operator must be of version 2, got 1"),
        (one("Landmarks2TransformMatrix", [f(1, 4, 3)], [f()], custom=BOX, version=2), "with those that the options name"),
        (one("Landmarks2TransformMatrix", [f(1, 6, 3)], [f()], custom=BOX[:9], version=2), "the custom options must be FlexBuffers"),
        (
            one("TransformTensorBilinear", [f(1, 7, 8, 2), f(1, 3, 3)], [f()], custom=_fields(output_height=1, output_width=1), version=2),
            "must be [1, 4, 4]",
        ),
        (
            one("TransformTensorBilinear", [f(1, 7, 8, 2), f(1, 4, 4)], [f()], custom=_fields(output_height=1), version=2),
            "the result not be empty",
        ),
    ],
)
def test_refusals(model: bytes, reason: str) -> None:
    assert reason in refusals(model)[0][1]
