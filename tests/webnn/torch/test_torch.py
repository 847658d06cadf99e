"""Modules and exported programs of PyTorch as graphs that compute the same."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import webnn
import webnn.torch
from tools.evidence.compute import compute
from webnn.validation.errors import OperationError

DATA = Path(__file__).parent / "data"
#: The largest difference, as a part of the largest value.
BAR = 1e-5


@pytest.mark.processes
def test_pytorch_is_imported_when_it_is_needed() -> None:
    code = "import sys, webnn, webnn.torch; assert not {'torch', 'onnxscript'} & sys.modules.keys()"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.fixture(scope="module")
def torch() -> Any:
    pytest.importorskip("onnxscript", reason="needs the package of PyTorch's exporter")
    return pytest.importorskip("torch", reason="needs PyTorch")


@pytest.fixture(scope="module")
def block(torch: Any) -> Any:
    torch.manual_seed(0)
    return torch.nn.TransformerEncoderLayer(16, 4, 32, batch_first=True).eval()


def near(got: Any, wanted: Any) -> bool:
    assert got.shape == wanted.shape
    return float(np.abs(got - wanted).max()) <= BAR * float(np.abs(wanted).max())


def test_a_module_of_any_size(torch: Any, block: Any) -> None:
    x = torch.randn(3, 7, 16)
    imported = webnn.torch.load(block, (x[:2, :5],), dynamic_shapes=({0: "batch", 1: "length"},), dims={"batch": 3, "length": 7})
    assert imported.description.name == "TransformerEncoderLayer"
    assert imported.inputs == {"src": webnn.OperandDescriptor("float32", (3, 7, 16))}
    assert "linear1/node_linear_2" in {each.label for each in imported.description.operators}
    assert "linear1.bias" in imported.description.constants
    (got,) = compute(imported.description, {"src": x.numpy()}).values()
    assert near(got, block(x).detach().numpy())


def test_a_size_that_is_open(torch: Any, block: Any) -> None:
    with pytest.raises(webnn.torch.RefusedModelError, match=r"inputs\['src'\]: the dimensions batch of \[batch, 5, 16\] must be fixed"):
        webnn.torch.load(block, (torch.randn(2, 5, 16),), dynamic_shapes={"src": {0: "batch"}})


def test_a_builder_and_a_constant(torch: Any) -> None:
    class Scale(torch.nn.Module):  # type: ignore[misc]  # the class is of any type without PyTorch
        def forward(self, x: Any, *, gain: Any) -> Any:
            return x * gain

    builder = webnn.MLGraphBuilder(webnn.ML(revision="2026-06").createContextSync())
    args, kwargs = (torch.zeros(2),), {"gain": torch.zeros(1)}
    imported = webnn.torch.load(Scale().eval(), args, builder, kwargs=kwargs, constants={"gain": [3]})
    graph = builder.buildSync(dict(imported.outputs))
    assert next(iter(graph.run(x=np.float32([1, -2])).values())).tolist() == [3, -6]


def test_an_exported_program_and_its_file(torch: Any, block: Any, tmp_path: Path) -> None:
    x = torch.randn(2, 5, 16)
    exported = torch.export.export(block, (x,))
    file = tmp_path / "block.pt2"
    torch.export.save(exported, file)
    one, other = webnn.torch.load(exported).description, webnn.load(file)
    assert [each.operation for each in one.operators] == [each.operation for each in other.operators]
    assert other.name == "block"
    for description in (one, other):
        (got,) = compute(description, {"src": x.numpy()}).values()
        assert near(got, block(x).detach().numpy())


@pytest.mark.usefixtures("torch")
def test_a_recorded_program_runs_in_pytorch() -> None:
    program = webnn.torch.read_program(DATA / "mlp-dynamic.pt2")
    x = np.random.default_rng(0).standard_normal((4, 8)).astype(np.float32)
    imported = webnn.torch.load(DATA / "mlp-dynamic.pt2", shapes={"input": [4, 8]})
    (got,), (wanted,) = compute(imported.description, {"input": x}).values(), program.run({"input": x}).values()
    assert near(got, wanted)
    with pytest.raises(OperationError, match="there are no elements for the input 'input'"):
        program.run({})
    with pytest.raises(OperationError, match="PyTorch cannot run the program"):
        program.run({"input": x[:, :3]})


def test_a_recorded_program_and_its_recorded_export(torch: Any) -> None:
    options: dict[str, Callable[[], Any]] = {
        "program": lambda: webnn.torch.load(DATA / "mlp-dynamic.pt2", dims={"s31": 2}),
        "export": lambda: webnn.onnx.load(DATA / "mlp-dynamic.onnx", dims={"s31": 2}),
    }
    assert len({load().description.lift().digest() for load in options.values()}) == 1, torch.__version__
