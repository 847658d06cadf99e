"""``webnn convert`` to smaller numbers: the options, and what is reported."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

import webnn
from tests.command_line import call, save_model
from tests.webnn.hlo.test_reader import jaxlib
from webnn.commands.smaller import split_names

MODEL = """
<ir_version: 9, opset_import: ["" : 20]>
m (float[batch, 64] x) => (float[batch, 96] y)
<float mask = {-1e9}>
{
    dense = MatMul(x, w)
    masked = Add(dense, mask)
    y = Softmax(masked)
}
"""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return save_model(tmp_path / "model.onnx", MODEL, w=(64, 96))


def convert(model: Path, *options: str, suffix: str = ".webnn") -> tuple[int, str, Path]:
    output = model.with_name(f"small{suffix}")
    code, _, errors = call("convert", model, "--dim", "batch=2", *options, "-o", output)
    return code, errors, output


@pytest.mark.parametrize("suffix", [".webnn", ".onnx", pytest.param(".mlir", marks=[pytest.mark.processes, jaxlib]), ".webnn.json"])
def test_float16_in_every_format(model: Path, suffix: str) -> None:
    code, errors, output = convert(model, "--float16", suffix=suffix)
    assert code == 0, errors
    lines = errors.splitlines()
    assert lines[0] == "weights: 24.0 KiB -> 12.0 KiB"
    assert lines[1] == "float16: numbers beyond 65504, which are 65504, in 1 constant: mask (1)"
    assert lines[2].startswith("size: 24.2 KiB -> ")
    loaded = webnn.load(output)
    assert loaded.inputs == {"x": webnn.OperandDescriptor("float32", (2, 64))}
    # A scalar may be in float32.
    assert {each.descriptor.dataType for each in loaded.constants.values() if each.descriptor.element_count > 1} == {"float16"}


@pytest.mark.parametrize("options", [["--keep", "softmax,dense"], ["--keep", "Softmax", "--keep", "dense"]])
def test_kept_operators(model: Path, options: list[str]) -> None:
    code, errors, output = convert(model, "--float16", *options)
    assert code == 0, errors
    assert "float32: 2 operators (kept): matmul dense, softmax y" in errors.splitlines()
    types = {each.operation: each.descriptors[0].dataType for each in webnn.load(output).infer().operators}
    assert (types["matmul"], types["add"], types["softmax"]) == ("float32", "float16", "float32")


@pytest.mark.parametrize(("option", "dataType"), [("--int8", "int8"), ("--int4", "int4")])
def test_integers(model: Path, option: str, dataType: str) -> None:
    code, errors, output = convert(model, option, "--float16", "--float16-io")
    assert code == 0, errors
    assert f"{dataType}: 1 constant; the largest error has w: " in errors
    loaded = webnn.load(output)
    types = {name: each.descriptor.dataType for name, each in loaded.constants.items()}
    assert (types[f"w_{dataType}"], types["w_scale"]) == (dataType, "float16")
    assert loaded.inputs["x"].dataType == "float16"


WRONG: list[tuple[list[str], str]] = [
    (["--keep", "softmax"], "--keep needs --float16"),
    (["--float16-io"], "--float16-io needs --float16"),
    (["--int8", "--int4"], "--int8 and --int4 cannot be given together"),
    (["--float16", "--keep", "sofmax"], "got 'sofmax'; did you mean softmax?"),
]


@pytest.mark.parametrize(("options", "message"), WRONG)
def test_wrong_options(model: Path, options: list[str], message: str) -> None:
    code, errors, output = convert(model, *options)
    assert code == 2
    assert message in " ".join(errors.split())
    assert not output.exists()


def test_small_weights_stay(model: Path) -> None:
    small = onnx.load(model)
    small.graph.initializer[-1].CopyFrom(numpy_helper.from_array(np.ones((64, 8), np.float32), "w"))
    small.graph.output[0].type.tensor_type.shape.dim[1].dim_value = 8
    onnx.save(small, model)
    code, errors, _ = convert(model, "--int8")
    assert (code, "int8: no constant is large enough" in errors) == (0, True)


def test_a_label_with_a_comma_is_one_name(model: Path) -> None:
    source = webnn.onnx.load(model, dims={"batch": 1}).description
    named = webnn.GraphDescription(
        draft=source.draft,
        inputs=source.inputs,
        constants=source.constants,
        operators=(
            *source.operators[:-1],
            webnn.OperatorDescription(operation="relu", inputs={"input": "masked"}, label="a,b", outputs=("y",)),
        ),
        outputs=source.outputs,
    )
    assert split_names(["a,b", "dense, c"], named) == ["a,b", "dense", "c"]
