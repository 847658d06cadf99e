"""The numerics policy: who sets it, which setting wins, and that it reaches the translation and the session of every graph."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support import CURRENT
from webnn import ML, MLContext, MLGraph, MLGraphBuilder, emulate
from webnn.builder.numerics import Numerics, convert_numerics
from webnn.builder.onnx_names import SESSION_ENTRIES, session_entries
from webnn.context.engine import session

#: Where the engine's sigmoid is 0, and the exact one is 2e-9.
FAR = np.array([-20], np.float32)


@pytest.fixture(autouse=True)
def outside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WEBNN_NUMERICS", raising=False)


def numerics_of(context: MLContext) -> str:
    """Tell the policy of a context by what its graphs compute."""
    return "fast" if compute(context)[1] == 0 else "exact"


def compute(context: MLContext) -> tuple[MLGraph, float]:
    builder = MLGraphBuilder(context)
    graph = builder.buildSync({"y": builder.sigmoid(builder.input("x", {"dataType": "float32", "shape": [1]}))})
    x = context.createTensorSync({"dataType": "float32", "shape": [1], "writable": True})
    y = context.createTensorSync({"dataType": "float32", "shape": [1], "readable": True})
    context.writeTensor(x, FAR)
    context.dispatch(graph, {"x": x}, {"y": y})
    return graph, float(np.asarray(context.readTensorSync(y)).view(np.float32)[0])


def profile(folder: Path, numerics: str | None, name: str = "own.json", base: str = "ort") -> Path:
    path = folder / name
    path.write_text(json.dumps({"_extends": base} | ({} if numerics is None else {"_numerics": numerics})), encoding="utf-8")
    return path


def make(**settings: Any) -> MLContext:
    return ML(revision=CURRENT, **settings).createContextSync()


def test_the_default_is_exact() -> None:
    assert numerics_of(make()) == "exact"


@pytest.mark.parametrize(
    ("own", "block", "variable", "named", "wanted"),
    [
        ("fast", None, None, None, "fast"),
        ("exact", None, None, None, "exact"),
        (None, "fast", None, None, "fast"),
        (None, None, "fast", None, "fast"),
        (None, None, None, "fast", "fast"),
        (None, None, None, "exact", "exact"),
        # The setting further left wins.
        ("exact", "fast", "fast", "fast", "exact"),
        (None, "exact", "fast", "fast", "exact"),
        (None, None, "exact", "fast", "exact"),
        ("fast", "exact", "exact", "exact", "fast"),
        (None, None, "", "fast", "fast"),
    ],
)
def test_what_sets_it(
    own: Numerics | None,
    block: Numerics | None,
    variable: str | None,
    named: str | None,
    wanted: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if variable is not None:
        monkeypatch.setenv("WEBNN_NUMERICS", variable)
    with emulate(numerics=block):
        context = make(numerics=own, profile=None if named is None else profile(tmp_path, named))
    # A context keeps what it was made with.
    monkeypatch.setenv("WEBNN_NUMERICS", "exact" if wanted == "fast" else "fast")
    assert numerics_of(context) == wanted


def test_a_profile_inherits_it(tmp_path: Path) -> None:
    profile(tmp_path, "fast", "first.json")
    assert numerics_of(make(profile=profile(tmp_path, None, base="first.json"))) == "fast"
    assert numerics_of(make(profile=profile(tmp_path, "exact", "third.json", base="first.json"))) == "exact"


@pytest.mark.parametrize("value", ["", "Fast", "quick", True, 1, ["fast"]])
def test_wrong_values(value: Any) -> None:
    message = re.escape(f"must be one of ['exact', 'fast'], got {value!r}")
    with pytest.raises(ValueError, match=f"^ML: numerics {message}$"):
        ML(revision="2024-06", numerics=value)
    with pytest.raises(ValueError, match=f"^emulate: numerics {message}$"):
        emulate(numerics=value)
    with pytest.raises(ValueError, match=f"^here {message}$"):
        convert_numerics(value, "here")


@pytest.mark.parametrize("numerics", ["exact", "fast"])
def test_it_reaches_the_session(numerics: Numerics, monkeypatch: pytest.MonkeyPatch) -> None:
    start, seen = session.start, list[dict[str, str]]()

    def recording(model: bytes, options: Any, *rest: Any) -> Any:
        entries: dict[str, str] = {}
        for key in SESSION_ENTRIES:
            with contextlib.suppress(RuntimeError):  # it is not set
                entries[key] = options.get_session_config_entry(key)
        seen.append(entries)
        return start(model, options, *rest)

    monkeypatch.setattr(session, "start", recording)
    compute(make(numerics=numerics))
    assert seen == [dict(session_entries(numerics))]
    assert (seen == [dict(SESSION_ENTRIES)]) == (numerics == "exact")


def test_looking_inside_keeps_it() -> None:
    context = make(numerics="fast")
    graph, value = compute(context)
    assert value == 0
    trace = graph.trace({"x": FAR})
    assert [each.statistics.zeros for each in trace.values if each.operation == "sigmoid"] == [1]
    assert graph.profile({"x": FAR}, runs=1).operators


@pytest.mark.processes
@pytest.mark.parametrize(
    ("arguments", "environment", "printed"),
    [([], {}, "exact"), (["--numerics", "fast"], {}, "fast"), ([], {"WEBNN_NUMERICS": "fast"}, "fast")],
)
def test_the_command(arguments: list[str], environment: dict[str, str], printed: str, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import numpy as np\nfrom webnn import MLGraphBuilder, navigator\n"
        "context = navigator.ml.createContextSync()\nbuilder = MLGraphBuilder(context)\n"
        "graph = builder.buildSync({'y': builder.sigmoid(builder.input('x', dataType='float32', dimensions=[1]))})\n"
        "y = context.computeSync(graph, {'x': np.array([-20], np.float32)}, {'y': np.empty(1, np.float32)})['outputs']['y']\n"
        "print('exact' if y[0] else 'fast')\n",
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "webnn", "run", *arguments, str(program)]
    result = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment}, check=False)
    assert (result.returncode, result.stdout.split(), result.stderr) == (0, [printed], "")
