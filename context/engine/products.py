"""Which kernels of integers are exact on this machine."""

from __future__ import annotations

import functools
from typing import Literal

import numpy as np

from webnn.builder.onnx.overflow_probe import SHAPES, make_probe
from webnn.context.devices.selection import CPU, SessionSettings
from webnn.context.engine import runtime
from webnn.context.engine.session import session_options

__all__ = ["factor_type"]


@functools.cache
def factor_type() -> Literal["int8", "uint8"]:
    """Return the type that the constant factor of a product of integers should have; the other factor is uint8.

    The engine has its fastest kernels for int8. Where these overflow, its kernels for two factors of uint8 do not. Neither the engine nor
    the operating system tells which kernels it takes, so a small model is computed once. Two threads may do so at the same time.
    """
    model, expected = make_probe()
    session = runtime.load().InferenceSession(model, session_options(SessionSettings(threads=1)), providers=[CPU])
    results = session.run(list(expected), {name: np.full(shape, 255, np.uint8) for name, shape in SHAPES.items()})
    isExact = all(np.array_equal(result, each) for result, each in zip(results, expected.values(), strict=True))
    return "int8" if isExact else "uint8"
