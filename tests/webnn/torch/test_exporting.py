"""PyTorch's exporter: the names of values, and errors in PyTorch's terms."""

from __future__ import annotations

import re
from typing import Any

import pytest

from webnn._extras import pip_command
from webnn.torch import RefusedModelError, TorchMissingError, load

torch: Any = pytest.importorskip("torch", reason="needs PyTorch")
pytest.importorskip("onnxscript", reason="needs the package of PyTorch's exporter")


class Outer(torch.nn.Module):
    def __init__(self, inner: Any) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, x: Any) -> Any:
        return self.inner(x)


class Eigen(torch.nn.Module):
    def forward(self, x: Any) -> Any:
        return torch.linalg.eigvals(x).real


class Branch(torch.nn.Module):
    def forward(self, x: Any) -> Any:
        return x if x.sum() > 0 else -x


class Named(torch.nn.Module):
    def forward(self, image: Any, state: Any) -> Any:
        return {"scores": image * 2, "state": [(state[0] + image, state[1])], "image": image}


def refusal(module: Any) -> Any:
    with pytest.raises(RefusedModelError) as caught:
        load(module, (torch.randn(3, 3),))
    (found,) = caught.value.report.refusals
    assert str(caught.value).startswith(f"{type(module).__name__}: the model cannot be imported, for 1 reason:")
    return found


def test_an_operator_that_the_exporter_does_not_have() -> None:
    found = refusal(Outer(Eigen()).eval())
    assert found.operator == "aten.linalg_eig.default"
    assert re.fullmatch(r"inner/linalg_eig \(test_exporting\.py:\d+\)", found.place)
    assert found.reason == "PyTorch cannot write it as ONNX"


def test_a_branch_by_data(capfd: pytest.CaptureFixture[str]) -> None:
    found = refusal(Outer(Branch()).eval())
    assert re.fullmatch(r"torch\.export \(test_exporting\.py:\d+\)", found.place)
    assert found.reason.startswith("Could not guard on data-dependent expression")
    assert "draft_export" in found.advice
    # Neither the source of the graph nor advice for PyTorch's developers.
    assert capfd.readouterr() == ("", "")


def test_a_module_in_training_mode() -> None:
    assert "training mode" in refusal(Outer(Branch())).reason


def test_the_names_of_values() -> None:
    image, state = torch.randn(2), (torch.randn(2), torch.randn(2))
    imported = load(Named().eval(), (image, state))
    assert list(imported.description.inputs) == ["image", "state_0", "state_1"]
    # The result `image` would have the name of an input.
    assert list(imported.description.outputs) == ["scores", "state.0.0", "state.0.1", "image_out"]


def test_the_names_of_weights_that_the_exporter_transposed() -> None:
    constants = load(torch.nn.Linear(3, 5).eval(), (torch.randn(2, 4, 3),)).description.constants
    assert constants.keys() == {"weight", "bias"}
    assert constants["weight"].descriptor.shape == (3, 5)


def test_arguments() -> None:
    linear = torch.nn.Linear(3, 5).eval()
    assert list(load(linear, torch.randn(4, 3)).inputs) == ["input"]
    with pytest.raises(TypeError, match=r"source must be a torch\.nn\.Module, .* or the path of a file \.pt2, got int"):
        load(3)
    # A slice has other steps in memory, which do not matter.
    sliced = load(linear, (torch.randn(6, 4, 3)[:2, :2],), dynamic_shapes=({0: "a", 1: "b"},), dims={"a": 3, "b": 5})
    assert sliced.inputs["input"].shape == (3, 5, 3)
    with pytest.raises(RefusedModelError, match="must have same reduction dim") as caught:
        load(linear, (torch.randn(4, 2),))
    assert caught.value.report.refusals[0].advice == ""


def test_a_package_that_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "onnxscript" else object())
    with pytest.raises(TorchMissingError, match=re.escape(f"need the packages torch and onnxscript: {pip_command('onnxscript')}")):
        load("model.pt2")
