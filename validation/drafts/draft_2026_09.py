"""The draft 2026-09: tensors that are exported to a `GPUDevice`. Only its IDL is known, that of 28 September 2026."""

from __future__ import annotations

from webnn.validation.drafts.delta import Delta
from webnn.validation.drafts.idl import read_idl

__all__ = ["DRAFT"]

_NAME = "2026-09"

DRAFT = Delta(
    name=_NAME,
    after="2026-06",
    takes=("exportable-tensors",),
    adds={"MLContext": {"createExportableTensor": "", "exportToGPU": ""}},
    idl=lambda _: read_idl(_NAME),
    context_only=True,
    provisional=True,
)
