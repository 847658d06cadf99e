"""The tool that runs exported modules in a real browser: all of it but the browser."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import webnn
from tests.shared import ROOT
from tests.support import make_context
from tools.evidence.browser.chromium import Modules, Result
from tools.evidence.browser.emulator import build_modules, compute, values_for
from tools.evidence.browser.export import export_examples
from tools.evidence.browser.modules import expect, load_inputs, save_module
from tools.evidence.browser.verdicts import Known, Verdict, faults, judge, load_known
from webnn.browser.chromium import PageError


def describe(dataType: Any = "float32") -> webnn.GraphDescription:
    builder = webnn.MLGraphBuilder(make_context("2026-06"))
    return webnn.describe({"y": builder.identity(builder.input("x", dataType=dataType, shape=[2]))})


VERDICTS: list[tuple[str, Any, Any, str, str]] = [
    ("float32", [1, 2], [1, 2], "ok", ""),
    ("float32", [0, 2], [1e-5, 2], "ok", ""),
    ("float32", [0, 2], [1e-4, 2], "wrong", "y of float32 differs by 5.0e-05 of the largest value"),
    ("float32", [np.nan, np.inf], [np.nan, np.inf], "ok", ""),
    ("float32", [np.nan, 1], [0, 1], "wrong", "differs by inf"),
    ("float32", [0, 1], [np.nan, 1], "wrong", "differs by inf"),
    ("float32", [-np.inf, 1], [np.inf, 1], "wrong", "differs by inf"),
    ("float32", [0, 0], [0, 0], "ok", ""),
    ("float32", [1, 2], [1], "wrong", "y has 4 bytes, not 8"),
    ("float16", [1, 2], [1.002, 2], "ok", ""),
    ("float16", [1, 2], [1.02, 2], "wrong", "y of float16 differs"),
    ("int8", [1, 2], [1, 2], "ok", ""),
    ("int8", [1, 2], [1, 3], "wrong", "y of int8 differs"),
]


@pytest.mark.parametrize(("dataType", "expected", "found", "status", "message"), VERDICTS)
def test_verdicts(dataType: str, expected: Any, found: Any, status: str, message: str) -> None:
    result = Result(built=True, outputs={"y": np.array(found, dataType).tobytes()})
    verdict = judge("module", describe(dataType), {"y": np.array(expected, dataType)}, result)
    assert verdict.status == status
    assert message in verdict.message


def test_modules_with_values(tmp_path: Path) -> None:
    ones = np.ones(2, np.float32)
    save_module(describe(), tmp_path / "new", "given", {"x": ones, "other": ones}, {"y": 2 * ones})
    save_module(describe(), tmp_path / "new", "computed", {"x": ones})
    for name, wanted in (("given", 2), ("computed", 1)):
        inputs = load_inputs(tmp_path / "new", name, describe())
        assert {key: value.tolist() for key, value in inputs.items()} == {"x": [1, 1]}
        assert expect(tmp_path / "new", name, describe(), inputs)["y"].tolist() == [wanted, wanted]
    inputs = load_inputs(tmp_path, "without a file", describe())
    assert np.array_equal(inputs["x"], values_for(describe())["x"])
    assert np.array_equal(expect(tmp_path, "without a file", describe(), inputs)["y"], inputs["x"])


def test_what_is_not_built_or_not_computed() -> None:
    expected: Mapping[str, Any] = {"y": np.zeros(2, np.float32)}
    assert judge("m", describe(), expected, Result(built=False, error="no")) == Verdict(name="m", status="refused", message="no")
    assert judge("m", describe(), expected, Result(built=True, error="no")) == Verdict(name="m", status="failed", message="no")
    assert judge("m", describe(), expected, Result(built=True)).message == "y has 0 bytes, not 8"


def test_expectations_are_strict() -> None:
    known = [
        Known(modules=["conv*"], status="refused", message="groups", reason="it has none"),
        Known(modules=["erf"], status="wrong", message="", reason="it approximates"),
    ]
    refused = Verdict(name="conv_1", status="refused", message="no groups")
    wrong = Verdict(name="erf", status="wrong", message="y differs")
    assert faults([refused, wrong, Verdict(name="add", status="ok")], known, all_modules=True) == []
    assert faults([refused, Verdict(name="erf", status="ok")], known, all_modules=False) == []
    assert faults([refused, Verdict(name="erf", status="ok")], known, all_modules=True) == [
        "the expectation erf (wrong) fits no module any more: it approximates"
    ]
    other = Verdict(name="conv_2", status="refused", message="no dilations")
    assert faults([other], known, all_modules=False) == ["conv_2: refused: no dilations"]
    assert faults([Verdict(name="erf", status="failed", message="it ended")], known, all_modules=False) == ["erf: failed: it ended"]


def test_the_expectations() -> None:
    known = load_known()
    assert len(known) > 10
    for each in known:
        assert each.modules
        assert each.status in ("refused", "wrong")
        assert each.message, each.modules
        assert each.reason.endswith("."), each.modules


def test_modules_beside_the_values_of_inputs(tmp_path: Path) -> None:
    (tmp_path / "a.mjs").write_text("export {};")
    modules = Modules(tmp_path)

    class Browser:
        def evaluate(self, function: str, argument: str) -> Any:
            assert modules.read("/-/=é") == (b"\x01\x02", "application/octet-stream")
            assert modules.read("/-/=other") is None
            if argument == "broken":
                raise PageError("TypeError", "no\nmore")
            return {"outputs": {"y": "AwQ="}, "error": "lost\nmore"}

    inputs = {"é": np.array([1, 2], np.uint8)}
    assert modules.run(Browser(), "a", inputs) == Result(built=True, outputs={"y": b"\x03\x04"}, error="lost")
    assert modules.run(Browser(), "broken", inputs) == Result(built=False, error="TypeError: no")
    assert modules.read("/a.mjs") == (b"export {};", "text/javascript")


@pytest.mark.processes
def test_modules_in_the_emulator(tmp_path: Path) -> None:
    assert export_examples(tmp_path, tmp_path) >= 7
    names = sorted(path.stem for path in tmp_path.glob("*.mjs"))
    assert "example_demo" in names
    (tmp_path / "broken.mjs").write_text("export async function build() { throw new TypeError('it cannot'); }")
    modules = build_modules([*names, "broken"], tmp_path, dialect="browsers-2026")
    assert modules.results["broken"] == {"error": "TypeError: it cannot"}
    assert list(modules.descriptions) == names
    description = modules.descriptions["example_transformer_block"]
    (computed,) = compute(description, values_for(description)).values()
    assert computed.shape == (8, 32)
    assert np.isfinite(computed).all()


@pytest.mark.processes
def test_the_job_is_valid_bash() -> None:
    subprocess.run(["bash", "-n", str(ROOT / ".ci" / "browser")], check=True)
