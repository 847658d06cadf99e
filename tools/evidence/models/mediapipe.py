"""MediaPipe's operators in NumPy, as their kernels compute them: element by element, in float64."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from flatbuffers import flexbuffers

__all__ = ["CUSTOM"]

Array = np.ndarray[Any, np.dtype[Any]]


def _transpose_conv(options: bytes, x: Array, filter: Array, bias: Array) -> Array:
    padding, stride_x, stride_y = struct.unpack_from("<3i", options)
    batches, rows, columns, _ = x.shape
    outputs, height, width, _ = filter.shape
    total_y, total_x = (
        max(0, size - (count - 1) % stride - 1) if padding == 1 else 0
        for size, count, stride in ((height, rows, stride_y), (width, columns, stride_x))
    )
    full = np.zeros((batches, stride_y * (rows - 1) + height, stride_x * (columns - 1) + width, outputs))
    for row in range(rows):
        for column in range(columns):
            spread = np.einsum("bi,ohwi->bhwo", x[:, row, column].astype(np.float64), filter.astype(np.float64))
            full[:, row * stride_y : row * stride_y + height, column * stride_x : column * stride_x + width] += spread
    top, left = total_y // 2, total_x // 2
    kept = full[:, top : full.shape[1] - (total_y - top), left : full.shape[2] - (total_x - left)]
    return np.asarray(kept + bias, np.float32)


def _landmarks_to_matrix(options: bytes, landmarks: Array) -> Array:
    fields = flexbuffers.Loads(bytearray(options))
    points = landmarks[0, :, :2].astype(np.float64)
    dx, dy = points[fields["right_rotation_idx"]] - points[fields["left_rotation_idx"]]
    angle = fields.get("target_rotation_radians", 0.0) - np.arctan2(dy, dx)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    turned = points[fields["subset_idxs"]] @ turn.T
    least, most = turned.min(0), turned.max(0)
    result = np.eye(4)
    size = np.array([fields["output_width"], fields["output_height"]])
    scale = np.array([fields["scale_x"], fields["scale_y"]]) * (most - least) / size
    result[:2, :2] = turn.T * scale
    result[:2, 3] = turn.T @ ((least + most) / 2) - result[:2, :2] @ (size / 2)
    return np.asarray(result[None], np.float32)


def _transform_landmarks(options: bytes, landmarks: Array, matrix: Array) -> Array:
    result = landmarks.copy()
    result[..., :2] = landmarks[..., :2] @ matrix[0, :2, :2].T + matrix[0, :2, 3]
    return result


def _transform_tensor(options: bytes, x: Array, matrix: Array) -> Array:
    fields = flexbuffers.Loads(bytearray(options))
    _, height, width, channels = x.shape
    result = np.zeros((1, fields["output_height"], fields["output_width"], channels), np.float32)
    padded = np.pad(x[0].astype(np.float64), ((0, 1), (0, 1), (0, 0)))
    turn, shift = matrix[0, :2, :2].astype(np.float64), matrix[0, :2, 3].astype(np.float64)
    for row in range(result.shape[1]):
        for column in range(result.shape[2]):
            px, py = turn @ (column + 0.5, row + 0.5) + shift - 0.5
            if 0 <= px <= width - 1 and 0 <= py <= height - 1:
                left, top = int(px), int(py)
                right, below = px - left, py - top
                corners = padded[top : top + 2, left : left + 2]
                weights = np.outer((1 - below, below), (1 - right, right))
                result[0, row, column] = np.einsum("yx,yxc->c", weights, corners)
    return result


#: Each operator: its options and inputs to its output.
CUSTOM: Mapping[str, Callable[..., Array]] = {
    "Convolution2DTransposeBias": _transpose_conv,
    "Landmarks2TransformMatrix": _landmarks_to_matrix,
    "TransformLandmarks": _transform_landmarks,
    "TransformTensorBilinear": _transform_tensor,
}
