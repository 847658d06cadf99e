"""Tensors that are exported to a `GPUDevice`, in the draft before the one that took them up: see `tests/context/test_exporting.py`."""

from __future__ import annotations

from typing import Any

import pytest

import webnn
from tests.webnn.proposals.test_proposals import sorted_members
from webnn.gpu import GPUDevice
from webnn.validation.drafts import draft_2026_09, find_revision


def test_it_makes_the_interfaces_of_the_draft_that_took_it_up() -> None:
    proposed, drafted = (find_revision(name) for name in ("2026-06+exportable-tensors", "2026-09"))
    assert sorted_members(proposed.idl()["interfaces"]) == sorted_members(drafted.idl()["interfaces"])
    assert proposed.members == drafted.members
    assert draft_2026_09.DRAFT.takes == ("exportable-tensors",)


def test_it_exports() -> None:
    device = GPUDevice()
    context: Any = webnn.ML(revision="2026-06+exportable-tensors").createContextSync(device)
    tensor = context.createExportableTensorSync({"dataType": "float32", "shape": [4], "readable": True}, device)
    with pytest.raises(webnn.WebNNTypeError, match="must not be exported"):
        [context.exportToGPU(tensor), context.readTensorSync(tensor)]


def test_the_draft_refuses_the_name() -> None:
    with pytest.raises(ValueError, match=r"^'2026-09' has 'exportable-tensors' already: leave \+exportable-tensors out$"):
        find_revision("2026-09+exportable-tensors")
