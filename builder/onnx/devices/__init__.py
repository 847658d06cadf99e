"""Translations for providers other than the engine's CPU provider.

A row of the CPU provider prevents what was measured on its kernels. Another provider has other kernels: a module here changes rows for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType

from webnn.builder.onnx.emitter import Translation

__all__ = ["MODULES", "change_rows"]

#: The module of each provider that has rows of its own. It has a function ``change_rows``, which returns the rows that differ.
MODULES: Mapping[str, str] = MappingProxyType({"QNNExecutionProvider": "qnn", "WebGpuExecutionProvider": "webgpu"})


def change_rows(rows: Mapping[str, Translation], provider: str) -> Mapping[str, Translation]:
    """Return the translations for a provider, made from those of the CPU provider. A provider without a module gets these."""
    module = MODULES.get(provider)
    # Imported lazily; most programs use no such device.
    return rows if module is None else {**rows, **import_module(f"{__name__}.{module}").change_rows(rows)}
