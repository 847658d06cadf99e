"""``webnn fuzz``: a small run without a browser, and with one if there is one."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import webnn
from tests.webnn.fuzz.hosts import emulator
from tests.webnn.javascript.engines import needs_quickjs
from webnn.commands import main as cli
from webnn.fuzz import campaign, command, judges
from webnn.fuzz.programs import SHARED, FuzzProgram

pytestmark = needs_quickjs


def run(*arguments: str | Path) -> tuple[int, str]:
    result = CliRunner().invoke(cli.app, ["fuzz", *map(str, arguments)])
    return result.exit_code, result.output


def test_another_engine_needs_a_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEBNN_ENGINE", "onnxruntime")  # the option sets it
    code, output = run("--engine", "litert")
    assert code == 2
    assert "must be given together" in output


def test_a_small_run(tmp_path: Path) -> None:
    code, output = run("--calls", "120", "--graphs", "30", "--seed", "3", "--json", tmp_path / "found.json")
    assert code == 0, output
    found = json.loads((tmp_path / "found.json").read_text())
    assert (found["programs"], found["classes"]) == (150, [])
    assert found["graphs"] > 90
    assert "150 programs" in output
    assert "0 classes of differences" in output


def test_a_run_goes_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A run that is stopped leaves what it has found, and the next one leaves out its programs."""
    ran: list[str] = []
    examine = campaign.Campaign.examine

    def stop(self: campaign.Campaign, programs: Any) -> Any:
        if len(ran) >= 80:
            raise KeyboardInterrupt
        ran.extend(each.name for each in programs)
        return examine(self, programs)

    monkeypatch.setattr(command, "_OFTEN", 40)
    monkeypatch.setattr(campaign.Campaign, "examine", stop)
    file = tmp_path / "found.json"
    options = ("--calls", "80", "--graphs", "20", "--operations", "neg,abs", "--json", file)
    with suppress(KeyboardInterrupt):
        run(*options)
    done = json.loads(file.read_text())["programs"]
    assert done == len(ran) == 100 - 20
    first, ran[:] = list(ran), []
    code, output = run(*options, "--skip", str(done))
    assert code == 0, output
    assert "20 programs" in output
    assert not set(first) & set(ran)
    assert len({*first, *ran}) == 100


@pytest.mark.parametrize("deviceType", ["cpu", *(pytest.param(each, marks=pytest.mark.simulators(each)) for each in ("gpu", "npu"))])
def test_a_device_computes(monkeypatch: pytest.MonkeyPatch, deviceType: str) -> None:
    """Whichever device a program asks for, or none, it gets that of the command."""
    monkeypatch.setenv("WEBNN_SIMULATORS", "1")
    given: list[dict[str, Any]] = []
    plain = webnn.ML

    def make(**settings: Any) -> webnn.ML:
        given.append(settings)
        return plain(**settings)

    monkeypatch.setattr(webnn, "ML", make)
    assert run("--device", deviceType, "--calls", "0", "--graphs", "0")[0] == 0
    ml = plain(**given[0])
    for asked in ({}, {"deviceType": "cpu"}, {"accelerated": False}):
        assert ml.createContextSync(asked)._state.selection.device == deviceType


def test_a_device_and_a_browser() -> None:
    assert run("--device", "gpu", "--browser", "chromium")[0] == 2


def test_what_a_finding_leaves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def find(operator: Any, *_: object) -> str:
        return "tile is wrong" if operator.operation == "tile" else ""

    monkeypatch.setattr(judges, "find_wrong", find)
    monkeypatch.setattr(campaign, "_TRIALS", 60)  # they find a small program
    out = tmp_path / "out"
    code, output = run("--calls", "40", "--graphs", "0", "--operations", "tile,relu", "--out", out, "--json", tmp_path / "found.json")
    assert code == 1
    rows = [row for row in json.loads((tmp_path / "found.json").read_text())["classes"] if row["judge"] == "reference"]
    assert {(row["operation"], row["known"]) for row in rows} == {("tile", None)}
    assert "numbers" in {row["kind"] for row in rows} <= {"numbers", "special numbers"}
    assert sum(row["count"] for row in rows) > 3
    assert "reference numbers tile" in output
    written = min(out.glob("reference_tile_numbers_*.json"))
    program = FuzzProgram.parse(written.read_text())
    assert program.operations == ["tile"]
    assert len(program.steps) <= 9
    assert "builder.tile(" in written.with_name(f"{written.stem}.https.any.js").read_text()
    # The program again; and it is known.
    assert run(written)[0] == 1
    known = tmp_path / "known.toml"
    known.write_text('[[known]]\njudge = "reference"\noperation = "tile"\nkind = "numbers"\nreason = "Planted by a test."\n')
    rest = '[[known]]\njudge = "draft"\noperation = "*"\nkind = "numbers"\nreason = "The same."\n'
    known.write_text(known.read_text() + rest)
    code, output = run(written, "--known", known)
    assert code == 0
    assert "0 classes of differences, " in output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--operations", "bogus"), "there is no operation bogus"),
        (("--revision", "2024-06"), "must have tensors"),
        (("--revision", "1999-01"), "there is no revision"),
        (("--profile", "bogus"), "bogus"),
        (("--known", "nowhere.toml"), "nowhere.toml"),
        (("nowhere.json",), "nowhere.json"),
        (("--browser", "nowhere"), "nowhere is not a program"),
    ],
)
def test_wrong_calls(arguments: tuple[str, ...], message: str) -> None:
    code, output = run(*arguments)
    assert code == 2
    assert message in output


@pytest.mark.processes
@pytest.mark.skipif(not os.environ.get("WEBNN_BROWSER"), reason="WEBNN_BROWSER names no browser")
def test_with_a_browser(tmp_path: Path) -> None:
    # The browser accepts types that another device's profile refuses.
    size = ("--calls", "60", "--graphs", "20", "--profile", "coreml", "--json", tmp_path / "found.json")
    code, output = run("--browser", os.environ["WEBNN_BROWSER"], *size)
    assert code == 1, output
    rows = json.loads((tmp_path / "found.json").read_text())["classes"]
    assert {"browser"} == {row["judge"] for row in rows}


#: Faults of the emulator that comparisons with Chromium have shown: a program, and what must become of its last step.
def _call(name: str, dataType: str, values: list[Any], *rest: Any) -> list[dict[str, Any]]:
    builder = {"$step": 0}
    view = {"$view": dataType, "values": values}
    return [
        {"call": "MLGraphBuilder", "args": [SHARED]},
        {"call": "input", "on": builder, "args": ["x", {"dataType": dataType, "shape": [len(values)]}]},
        {"call": name, "on": builder, "args": [{"$step": 1}, *rest]},
        {"call": "build", "on": builder, "args": [{"y": {"$step": 2}}]},
        {"call": "createTensor", "on": SHARED, "args": [{"$like": {"$step": 1}, "writable": True}]},
        {"call": "writeTensor", "on": SHARED, "args": [{"$step": 4}, view]},
        {"call": "createTensor", "on": SHARED, "args": [{"$like": {"$step": 2}, "readable": True}]},
        {"call": "dispatch", "on": SHARED, "args": [{"$step": 3}, {"x": {"$step": 4}}, {"y": {"$step": 6}}]},
        {"call": "readTensor", "on": SHARED, "args": [{"$step": 6}]},
    ]


TENSOR = {"dataType": "float32", "shape": [1]}
MENDED: list[tuple[str, list[dict[str, Any]], dict[str, Any]]] = [
    ("elu of -0 is 0", _call("elu", "float32", ["-0"]), {"bytes": "00000000"}),
    ("linear of -0 is 0", _call("linear", "float32", ["-0"], {"alpha": 1, "beta": 0}), {"bytes": "00000000"}),
    ("sigmoid below -88", _call("sigmoid", "float32", [-100]), {"bytes": "1b000000"}),
    ("hardSwish near -3", _call("hardSwish", "float32", [-2.9999998]), {"bytes": "ffffffb3"}),
    ("float16 before tile", [*_call("tile", "float16", [1.0009765625], [2])], {"bytes": "013c013c"}),
    (
        "a tensor that cannot be written is a TypeError even when it is destroyed",
        [
            {"call": "createTensor", "on": SHARED, "args": [TENSOR]},
            {"call": "destroy", "on": {"$step": 0}, "args": []},
            {"call": "writeTensor", "on": SHARED, "args": [{"$step": 0}, {"$view": "float32", "values": [1]}]},
        ],
        {"error": "TypeError", "how": "throws"},
    ),
    (
        "a tensor that cannot be read is a TypeError even when it is destroyed",
        [
            {"call": "createTensor", "on": SHARED, "args": [TENSOR]},
            {"call": "destroy", "on": {"$step": 0}, "args": []},
            {"call": "readTensor", "on": SHARED, "args": [{"$step": 0}]},
        ],
        {"error": "TypeError", "how": "rejects"},
    ),
    (
        "a lone surrogate in a name is replaced",
        [
            {"call": "MLGraphBuilder", "args": [SHARED]},
            {"call": "input", "on": {"$step": 0}, "args": ["\ud800", TENSOR]},
            {"call": "input", "on": {"$step": 0}, "args": ["\ufffd", TENSOR]},
        ],
        {"error": "TypeError", "how": "throws"},
    ),
    (
        "a BigInt of thousands of digits is not a number of the type",
        [
            {"call": "MLGraphBuilder", "args": [SHARED]},
            {"call": "constant", "on": {"$step": 0}, "args": ["float32", {"$bigint": "9" * 5000}]},
        ],
        {"type": "MLOperand", "dataType": "float32"},
    ),
]


@pytest.mark.parametrize(("steps", "wanted"), [row[1:] for row in MENDED], ids=[row[0] for row in MENDED])
def test_mended_faults_do_not_come_back(steps: list[dict[str, Any]], wanted: dict[str, Any]) -> None:
    [outcomes] = emulator().run([FuzzProgram("mended", steps)])
    last = outcomes[-1]
    assert wanted.items() <= {**last, **last.get("ok", {})}.items(), last
