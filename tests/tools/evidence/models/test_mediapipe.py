from __future__ import annotations

import struct

import numpy as np
from flatbuffers import flexbuffers

from tools.evidence.models.mediapipe import CUSTOM


def test_a_transform_that_changes_nothing() -> None:
    landmarks, matrix = np.arange(6, dtype=np.float32).reshape(1, 2, 3), np.eye(4, dtype=np.float32)[None]
    np.testing.assert_array_equal(CUSTOM["TransformLandmarks"](b"", landmarks, matrix), landmarks)
    x = np.arange(12, dtype=np.float32).reshape(1, 3, 2, 2)
    options = bytes(flexbuffers.Dumps({"output_height": 3, "output_width": 2}))
    np.testing.assert_array_equal(CUSTOM["TransformTensorBilinear"](options, x, matrix), x)


def test_a_box() -> None:
    """The box of a square from 0 to 4, in an image of 4, is the image itself."""
    fields = {"left_rotation_idx": 0, "right_rotation_idx": 1, "output_width": 4, "output_height": 4, "scale_x": 1.0, "scale_y": 1.0}
    landmarks = np.array([[[0, 0, 0], [4, 0, 0], [4, 4, 0], [0, 4, 0]]], np.float32)
    found = CUSTOM["Landmarks2TransformMatrix"](bytes(flexbuffers.Dumps({**fields, "subset_idxs": [0, 1, 2, 3]})), landmarks)
    np.testing.assert_allclose(found[0], np.eye(4), atol=1e-6)


def test_a_transposed_convolution_of_one_element() -> None:
    filter = np.arange(4, dtype=np.float32).reshape(1, 2, 2, 1)
    found = CUSTOM["Convolution2DTransposeBias"](
        struct.pack("<3i", 2, 2, 2), np.full((1, 1, 1, 1), 3, np.float32), filter, np.ones(1, np.float32)
    )
    np.testing.assert_array_equal(found[0, :, :, 0], [[1, 4], [7, 10]])
