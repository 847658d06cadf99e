"""The values of options that several commands have."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["Device", "Fallback"]


class Device(StrEnum):
    """The values of ``deviceType``."""

    cpu = "cpu"
    gpu = "gpu"
    npu = "npu"


class Fallback(StrEnum):
    """The fallback policies of `webnn.ML`."""

    allow = "allow"
    silent = "silent"
    deny = "deny"
