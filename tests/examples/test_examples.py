"""Each example runs as it is, and prints the right numbers."""

from __future__ import annotations

import importlib.util
import re
import runpy
import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import webnn.onnx
from tests.shared import ROOT
from tests.support import PATIENCE

pytestmark = pytest.mark.processes

#: For each example lines that it prints.
EXPECTED = {
    "add_and_multiply": ["Output value: [2.25 2.25 2.25 2.25 2.25 2.25 2.25 2.25]"],
    "add_and_multiply_async": [
        "Output value for inputs of 1.0: [2.25 2.25 2.25 2.25 2.25 2.25 2.25 2.25]",
        "Output value for inputs of 2.0: [6.25 6.25 6.25 6.25 6.25 6.25 6.25 6.25]",
        "Output value for inputs of 3.0: [12.25 12.25 12.25 12.25 12.25 12.25 12.25 12.25]",
    ],
    "buffers": [
        "C = [1. 1. 1. 1.]",
        "a new array: True",
        "the same memory: True",
        "TypeError: compute: outputs['C'] must not be detached: an earlier compute() transferred its memory; use the arrays of that result",
        "after three more steps: C = [1.6 1.6 1.6 1.6]",
    ],
    "several_outputs": [
        "C = [[4.0, 5.0], [10.0, 11.0]]",
        "D = [[14.0, 25.0], [20.0, 31.0]]",
        "D alone: [[14.0, 25.0], [20.0, 31.0]]",
        "TypeError: compute: outputs['D'] must have 16 bytes for float32 [2, 2], got 24 (a NumPy array of float32 [2, 3])",
    ],
    "gather_pad_triangular": [
        "gather rows 3, 1: [[30, 31, 32], [10, 11, 12]]",
        "gather columns 2, 1, 1: [[2, 1, 1], [12, 11, 11], [22, 21, 21], [32, 31, 31]]",
        "gather pairs of columns: [[[0, 1], [1, 2]], [[10, 11], [11, 12]], [[20, 21], [21, 22]], [[30, 31], [31, 32]]]",
        "pad constant: [[0, 0, 0, 0, 0, 0, 0], [0, 0, 1, 2, 3, 0, 0], [0, 0, 4, 5, 6, 0, 0], [0, 0, 0, 0, 0, 0, 0]]",
        "pad edge: [[1, 1, 1, 2, 3, 3, 3], [1, 1, 1, 2, 3, 3, 3], [4, 4, 4, 5, 6, 6, 6], [4, 4, 4, 5, 6, 6, 6]]",
        "pad reflection: [[6, 5, 4, 5, 6, 5, 4], [3, 2, 1, 2, 3, 2, 1], [6, 5, 4, 5, 6, 5, 4], [3, 2, 1, 2, 3, 2, 1]]",
        "pad symmetric: [[2, 1, 1, 2, 3, 3, 2], [2, 1, 1, 2, 3, 3, 2], [5, 4, 4, 5, 6, 6, 5], [5, 4, 4, 5, 6, 6, 5]]",
        "triangular upper: [[7, 1, 2], [0, 4, 8], [0, 0, 3]]",
        "triangular upper, diagonal 1: [[0, 1, 2], [0, 0, 8], [0, 0, 0]]",
        "triangular upper, diagonal -1: [[7, 1, 2], [9, 4, 8], [0, 6, 3]]",
        "triangular lower: [[7, 0, 0], [9, 4, 0], [2, 6, 3]]",
        "triangular lower, diagonal 1: [[7, 1, 0], [9, 4, 8], [2, 6, 3]]",
        "triangular lower, diagonal -1: [[0, 0, 0], [9, 0, 0], [2, 6, 0]]",
    ],
    "activations_and_gru": [
        "last: shape [1, 2, 4]",
        "sequence: shape [5, 1, 2, 4]",
        "unrolled: shape [2, 4]",
        "cheap: shape [1, 2, 4]",
        "last hidden state: [-0.6304  0.7288  0.3961  0.6274]",
        "with hardSigmoid and relu: [0.     1.0689 0.3863 1.2738]",
        "the sequence ends with the last state: True",
    ],
    "xla_program": [
        "sums: [[4.0, 8.0, 12.0], [16.0, 20.0, 24.0]]",
        "greatest: [[8.0, 11.0], [20.0, 23.0]]",
        f"after 1000 iterations: {[250.0] * 10}",
    ],
    "fallback_chain": [
        "every device: npu -> [1.0, 4.0, 9.0]",
        "the CPU alone: npu: NotSupportedError, gpu: NotSupportedError, cpu -> [1.0, 4.0, 9.0]",
        "no NPU: npu: NotSupportedError, gpu -> [1.0, 4.0, 9.0]",
        "a driver that refuses the graph: npu: OperationError, gpu -> [1.0, 4.0, 9.0]",
        "little memory: npu: OperationError, gpu: OperationError, cpu: OperationError: no device takes the model",
        "a device that is reset: npu, lost (an injected fault (loseAfter=2)), npu -> [1.0, 4.0, 9.0]",
    ],
    "int8_graph": [
        "      .######.",
        "   .############.",
        "  .*#*        *#*.",
        " .**            **.",
        " ##              ##",
        " ##              ##",
        " .**            **.",
        "  .*#*        *#*.",
        "   .############.",
        "      .######.",
        "at most one step from float32: True",
    ],
    "transformer_block": [
        "the last token is now: [-1.6798  0.4237 -1.2703  1.8871]",
        "another last token changes the rows: [7]",
        "as NumPy computes it, within 1e-05: True",
    ],
}
EMULATED = ["clamp", "elu", "gelu", "hardSwish", "sigmoid", "softmax", "softsign", "prelu", "layerNormalization", "gemm", "where", "split"]
#: Examples that run in processes of their own, one without and one with an event loop; the others run in this one.
PROGRAMS = {"add_and_multiply", "add_and_multiply_async"}
#: Examples with a test of their own below, and one that needs packages and time that tests do not have.
OTHERS = {"decode_loop", "digits_onnx", "digits_torch", "emulation", "jax_models", "squeezenet", "train_digits"}


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., list[str]]:
    """Return a function that runs an example in this process, in another directory and with warnings as errors; it returns the lines."""

    def run_here(example: str, *arguments: str) -> list[str]:
        file = str(ROOT / "examples" / f"{example}.py")
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", [file, *arguments])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            runpy.run_path(file, run_name="__main__")
        output, errors = capsys.readouterr()
        assert errors == ""
        return output.splitlines()

    return run_here


def run_as_a_program(example: str, directory: Path) -> list[str]:
    result = subprocess.run(
        [sys.executable, "-W", "error", ROOT / "examples" / f"{example}.py"],
        capture_output=True,
        check=False,
        cwd=directory,
        encoding="utf-8",
        timeout=PATIENCE,
    )
    assert (result.returncode, result.stderr) == (0, ""), result.stdout + result.stderr
    return result.stdout.splitlines()


def test_every_example_is_here() -> None:
    assert {path.stem for path in (ROOT / "examples").glob("*.py")} == set(EXPECTED) | OTHERS


@pytest.mark.parametrize("example", EXPECTED)
def test_output(example: str, tmp_path: Path, run: Callable[..., list[str]]) -> None:
    lines = run_as_a_program(example, tmp_path) if example in PROGRAMS else run(example)
    assert lines[: len(EXPECTED[example])] == EXPECTED[example]
    if example == "activations_and_gru":
        assert float(lines.pop().removeprefix("largest difference between gru and gruCell: ")) <= 1e-6
    assert len(lines) == len(EXPECTED[example])


def test_emulation(run: Callable[..., list[str]]) -> None:
    differences = dict(line.split() for line in run("emulation"))
    assert list(differences) == EMULATED
    assert all(float(difference) <= 1e-6 for difference in differences.values()), differences


def test_decode_loop(run: Callable[..., list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    """The page shows the report of a leak, line for line; tests/webnn/inspect/test_waste.py has the numbers."""
    monkeypatch.setenv("COLUMNS", "80")
    tokens, exact, *report = run("decode_loop", "--leak")
    assert re.fullmatch("200 tokens, [0-9]+ different ones", tokens)
    assert exact == "each has the best score in NumPy, within 1e-04: True"
    assert "\n".join(report) in (ROOT / "docs" / "inspect.md").read_text(encoding="utf-8")
    assert not any("leak" in line for line in run("decode_loop"))


@pytest.mark.shared
def test_squeezenet(run: Callable[..., list[str]]) -> None:
    *labels, difference, _ = run("squeezenet")
    assert labels == ["0.797  lesser panda", "0.068  teddy", "0.054  giant panda"]
    figure = re.match(r"largest difference from a browser's answer: (\S+) \(at most 1e-05\)", difference)
    assert figure is not None, difference
    assert float(figure[1]) <= 1e-5


def test_squeezenet_without_its_data(tmp_path: Path, run: Callable[..., list[str]]) -> None:
    [message] = run("squeezenet", "--models", str(tmp_path))
    assert message.startswith("nothing to do: no weights.npz in ")
    assert message.endswith("name the folder of the models with --models")


def test_digits_onnx(tmp_path: Path, run: Callable[..., list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    # Everywhere the same images: those of the package.
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    file = tmp_path / "small.onnx"
    written, read = run("digits_onnx", "--output", str(file))
    assert written == f"{file}: {file.stat().st_size} bytes, trained with 225 images"
    share = re.fullmatch(r"read correctly: (\S+)% of 75 images that the training has not seen", read)
    assert share is not None, read
    assert float(share[1]) >= 90
    assert run("digits_onnx", "--output", str(file)) == [written, read]


@pytest.mark.skipif(importlib.util.find_spec("onnxscript") is None, reason="needs PyTorch")
def test_digits_torch(tmp_path: Path, run: Callable[..., list[str]]) -> None:
    nodes, difference, read = run("digits_torch", "--output", str(tmp_path))
    assert nodes == "6 nodes are 6 operators"
    assert float(difference.removeprefix("largest difference from PyTorch: ")) <= 1e-5
    assert re.fullmatch(r"read correctly: (8[5-9]|9\d|100)\.\d% of 75 images that the training has not seen", read), read
    assert [*webnn.load(tmp_path / "digits.pt2").outputs] == ["probabilities"]
    assert (tmp_path / "digits.mjs").exists()


@pytest.mark.processes
def test_a_page_reads_a_digit(tmp_path: Path, run: Callable[..., list[str]]) -> None:
    run("digits_onnx", "--output", str(tmp_path / "digits.onnx"))
    webnn.onnx.load(tmp_path / "digits.onnx", dims={"batch": 1}).description.save(tmp_path / "digits.mjs")
    page = shutil.copy(ROOT / "examples" / "js" / "digits.html", tmp_path)
    command = [sys.executable, "-m", "webnn", "run", "--revision", "2026-06", page]
    printed = subprocess.run(command, check=True, capture_output=True, text=True, timeout=PATIENCE).stdout
    assert re.fullmatch(r"3, with a probability of [01]\.\d\d\n", printed), printed


@pytest.mark.skipif(importlib.util.find_spec("jaxlib") is None, reason="needs jaxlib, the extra `stablehlo`")
def test_jax_models(tmp_path: Path, run: Callable[..., list[str]]) -> None:
    *models, told = run("jax_models", "--output", str(tmp_path))
    pattern = r"(\S+): \d+ operations, \d+ of them computed at import, are \d+ operators; largest difference from JAX: (\S+) of the .*"
    found = [(match[1], float(match[2])) for match in map(re.compile(pattern).fullmatch, models) if match is not None]
    assert [name for name, _ in found] == ["mlp", "cnn", "gpt-fables"], models
    assert all(difference <= 5e-6 for _, difference in found), models
    # The text that it has learned, word for word.
    fables = " ".join((ROOT / "examples" / "jax" / "fables.txt").read_text(encoding="ascii").split())
    begin = fables.index("A fox saw")
    assert told == fables[begin : fables.index("cannot have.") + len("cannot have.")]
    page = shutil.copy(ROOT / "examples" / "js" / "gpt.html", tmp_path)
    command = [sys.executable, "-m", "webnn", "run", "--revision", "2026-06", page]
    printed = subprocess.run(command, check=True, capture_output=True, text=True, timeout=PATIENCE).stdout
    assert printed == f"{told}\n"


def test_gradients_of_digits_onnx() -> None:
    """Against differences of the loss, in float64."""
    example = runpy.run_path(str(ROOT / "examples" / "digits_onnx.py"))
    rng = np.random.default_rng(0)
    images, labels = rng.random((3, 8, 8)), np.array([4, 0, 9])
    sizes = {"filter": (9, 16), "hidden": (256, 32), "dense": (32, 10)}
    weights = {name: rng.standard_normal(size) / 4 for name, size in sizes.items()}
    weights |= {f"{name}_bias": rng.standard_normal(size[1]) for name, size in sizes.items()}

    def loss() -> float:
        padded = np.pad(images, ((0, 0), (1, 1), (1, 1)))
        shifted = [padded[:, row : row + 8, column : column + 8, np.newaxis] for row in range(3) for column in range(3)]
        sums = sum(each * factor for each, factor in zip(shifted, weights["filter"], strict=True))
        pooled = np.maximum(sums + weights["filter_bias"], 0).reshape(3, 4, 2, 4, 2, 16).max(axis=(2, 4))
        hidden = np.maximum(pooled.reshape(3, -1) @ weights["hidden"] + weights["hidden_bias"], 0)
        scores = hidden @ weights["dense"] + weights["dense_bias"]
        return float(np.mean(np.log(np.exp(scores).sum(axis=1)) - scores[range(3), labels]))

    for name, gradient in example["gradients"](weights, images, labels).items():
        assert gradient.shape == weights[name].shape
        for place in rng.choice(gradient.size, min(10, gradient.size), replace=False):
            flat, kept = weights[name].reshape(-1), float(weights[name].flat[place])
            flat[place] = kept + 1e-6
            above = loss()
            flat[place] = kept - 1e-6
            below = loss()
            flat[place] = kept
            assert gradient.flat[place] == pytest.approx((above - below) / 2e-6, rel=1e-5, abs=1e-8), (name, place)
