"""Faults of the WebGPU plug-in 0.4.0, on Mesa's lavapipe 25.0.7."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from tools.evidence.provider_faults.plain import Both, compare, node

__all__ = ["FAULTS"]

_compare = partial(compare, "WebGpuExecutionProvider")


def clip_drops_nan() -> Both:
    """`Clip` makes the lower bound of a NaN."""
    bounds = {"low": np.float32(-2), "high": np.float32(3)}
    return _compare([node("Clip", ["x", "low", "high"], ["y"])], {"x": np.array([np.nan, 1], np.float32)}, bounds)


def blocks_of_one_dimension() -> Both:
    """`DequantizeLinear` with blocks computes wrong values for one dimension."""
    scale = {"s": np.array([1, 2], np.float32)}
    return _compare([node("DequantizeLinear", ["x", "s"], ["y"], axis=0, block_size=2)], {"x": np.array([1, 2, 3, 4], np.uint8)}, scale)


def linear_resize_between() -> Both:
    """The linear mode of `Resize` takes the last two dimensions, whichever are to be resized."""
    x = np.arange(12, dtype=np.float32).reshape(1, 2, 2, 3)
    sizes = {"sizes": np.array([1, 4, 4, 3], np.int64)}
    return _compare([node("Resize", ["x", "", "", "sizes"], ["y"], mode="linear")], {"x": x}, sizes)


def filter_as_large_as_the_input() -> Both:
    """`Conv` forgets padding at the ends of an input that is as large as the filter."""
    x, filter = (np.arange(1, 10, dtype=np.float32).reshape(1, 1, 3, 3) for _ in range(2))
    return _compare([node("Conv", ["x", "w"], ["y"], pads=[0, 0, 1, 0])], {"x": x}, {"w": filter})


def batch_normalization() -> Both:
    """`BatchNormalization` loses digits where the mean is much larger than the deviation."""
    constants = {
        "one": np.array([1], np.float32),
        "zero": np.array([0], np.float32),
        "m": np.array([1000], np.float32),
        "v": np.array([1e-2], np.float32),
    }
    return _compare(
        [node("BatchNormalization", ["x", "one", "zero", "m", "v"], ["y"])], {"x": np.array([[1000.125]], np.float32)}, constants
    )


def softplus_below_zero() -> Both:
    """`Softplus` is the logarithm of a sum: below 0 the sum loses the digits of the result."""
    got, expected = _compare([node("Softplus", ["x"], ["y"])], {"x": np.array([-7, -10, -20], np.float32)}, {})
    return got * 2**10, expected * 2**10


def logarithm_outside_its_domain() -> Both:
    """`Log` of 0 and of a negative number is finite on SwiftShader: WGSL leaves it open."""
    return _compare([node("Log", ["x"], ["y"])], {"x": np.array([0, -2, -0.5, 3], np.float32)}, {})


def layer_normalization() -> Both:
    """`LayerNormalization` and `InstanceNormalization` lose digits where the mean is larger than the deviation."""
    x = {"x": np.array([[1000, 1000.25, 1000.5, 1001]], np.float32)}
    return _compare([node("LayerNormalization", ["x", "s"], ["y"])], x, {"s": np.ones(4, np.float32)})


FAULTS: Sequence[Callable[[], Both]] = (
    clip_drops_nan,
    blocks_of_one_dimension,
    linear_resize_between,
    batch_normalization,
    filter_as_large_as_the_input,
    softplus_below_zero,
    logarithm_outside_its_domain,
    layer_normalization,
)
