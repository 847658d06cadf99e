"""Cells in JavaScript, in both engines."""

from __future__ import annotations

import io
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.webnn.notebook.engines import choose
from webnn.javascript.node import NodeMissingError
from webnn.notebook import cell
from webnn.notebook.cell import CellError, NoEngineError, Options, run

pytestmark = pytest.mark.processes


@pytest.fixture(params=["node", "quickjs"], autouse=True)
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    choose(request.param, monkeypatch)
    return str(request.param)


def execute(
    source: str, *outputs: str, revision: str = "2026-06", folder: Path = Path(), dialect: str | None = None, **inputs: object
) -> tuple[dict[str, object], str, str]:
    """Run a cell; return the values, the output and the errors."""
    options = Options(inputs=inputs, outputs=outputs, revision=revision, dialect=dialect, folder=folder)
    stdout, stderr = io.StringIO(), io.StringIO()
    values = run(source, options, stdout, stderr)
    return values, stdout.getvalue(), stderr.getvalue()


def fail(source: str, *outputs: str, **inputs: object) -> tuple[str, str]:
    """Run a cell that fails; return its error, and what it says."""
    options = Options(inputs=inputs, outputs=outputs, revision="2026-06", dialect=None, folder=Path())
    stderr = io.StringIO()
    with pytest.raises(CellError) as caught:
        run(source, options, io.StringIO(), stderr)
    assert caught.value._render_traceback_() == [f"CellError: {caught.value}"]
    return str(caught.value), stderr.getvalue()


_GRAPH = """
const context = await navigator.ml.createContext();
const builder = new MLGraphBuilder(context);
const descriptor = {dataType: 'float32', shape: x.shape};
const graph = await builder.build({y: builder.relu(builder.input('x', descriptor))});
const [from, to] = await Promise.all([{writable: true}, {readable: true}].map(use => context.createTensor({...descriptor, ...use})));
context.writeTensor(from, x);
context.dispatch(graph, {x: from}, {y: to});
const y = new Float32Array(await context.readTensor(to));
y.shape = x.shape;
"""


def test_a_graph() -> None:
    x = np.array([[-1, 2, -3], [4, -5, 6]], np.float32)
    values, stdout, stderr = execute(_GRAPH, "y", x=x)
    assert (stdout, stderr) == ("", "")
    assert isinstance(values["y"], np.ndarray)
    assert values["y"].dtype == np.float32
    assert np.array_equal(values["y"], np.maximum(x, 0))


def test_values_there_and_back() -> None:
    given: dict[str, Any] = {
        "a": [1, 2.5, "é", None, True, -0.0, math.inf, 2**70, [], {}],
        "b": {"__proto__": {"x": 1}, "deep": [{"w": np.arange(6, dtype=np.int64).reshape(3, 2)}]},
    }
    values, _, _ = execute("const c = [a, b]; a.push('more'); b.deep[0].w[0] = 7n;", "a", "b", "c", **given)
    assert values["a"] == [*given["a"], "more"]
    assert str(values["a"][5]) == "-0.0"  # type: ignore[index]
    b: Any = values["b"]
    assert b["__proto__"] == {"x": 1}
    assert b["deep"][0]["w"].tolist() == [[7, 1], [2, 3], [4, 5]]
    # The cell has a copy.
    assert given["b"]["deep"][0]["w"][0, 0] == 0


#: Expressions of a cell, and what Python gets.
COMES_BACK: dict[str, object] = {
    "undefined": None,
    "[undefined, , null]": [None, None, None],
    "3.0": 3,
    "2 ** 60": 2**60,
    "Object.assign(Object.create(null), {a: 1})": {"a": 1},
    "new Uint8ClampedArray([300])": np.array([255], np.uint8),
    "new ArrayBuffer(2)": np.zeros(2, np.uint8),
    "new DataView(new ArrayBuffer(4), 1, 2)": np.zeros(2, np.uint8),
    "new Float64Array([1, NaN]).subarray(1)": np.array([np.nan]),
    "new SharedArrayBuffer(2)": np.zeros(2, np.uint8),
    "new Float32Array(0)": np.zeros(0, np.float32),
    "Object.assign(new Float32Array(1), {shape: []})": np.zeros((), np.float32),
}


def test_what_comes_back() -> None:
    """All in one cell: each cell has a process."""
    names = {f"y{index}": expression for index, expression in enumerate(COMES_BACK)}
    values, _, _ = execute("".join(f"const {name} = {expression};\n" for name, expression in names.items()), *names)
    for name, expression in names.items():
        value, expected = values[name], COMES_BACK[expression]
        assert type(value) is type(expected), expression
        if isinstance(value, np.ndarray) and isinstance(expected, np.ndarray):
            assert (value.dtype, value.shape) == (expected.dtype, expected.shape), expression
            assert np.array_equal(value, expected, equal_nan=expected.dtype.kind == "f"), expression
        else:
            assert value == expected, expression


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        (
            "new Map",
            "y must be null, a boolean, a number, a bigint, a string, a typed array, or an array or a plain object of these, got Map",
        ),
        ("[{a: () => 1}]", "y[0].a must be null, .*, got a function"),
        ("Symbol()", "y must be null, .*, got a symbol"),
        ("new (class A {})", "y must be null, .*, got Object"),
        ("Promise.resolve()", "y must be null, .*, got Promise"),
        ("await navigator.ml.createContext()", "y must be null, .*, got MLContext"),
        ("10n ** 5000n", "y must be null, .*, got a bigint of more than 4000 digits"),
        ("{}; y.y = y", "got more than 64 levels of them"),
        ("Object.assign(new Float32Array(2), {shape: [3]})", "one whose property shape, [3], does not fit its 2 elements"),
        ("Object.assign(new Float32Array(2), {shape: 'no'})", 'one whose property shape, "no", does not fit its 2 elements'),
    ],
)
def test_what_does_not_come_back(expression: str, message: str) -> None:
    error, _ = fail(f"const y = {expression};", "y")
    start, _, end = message.partition(".*")
    assert start in error
    assert error.endswith(end)


def test_a_buffer_that_was_transferred() -> None:
    source = "const y = new Float32Array(2); structuredClone(y.buffer, {transfer: [y.buffer]});"
    assert fail(source, "y")[0].endswith("got Float32Array whose buffer is detached")


def test_a_variable_that_is_not_there() -> None:
    assert fail("let y = 1;", "y", "z")[0] == "TypeError: z: the program has no variable of this name"


def test_a_name_that_is_taken() -> None:
    assert fail("", navigator=1)[0] == "TypeError: navigator: a program has another global variable of this name"


def test_names_in_the_cell() -> None:
    """The cell may declare what it gets, and set what it did not declare on the global object."""
    values, _, _ = execute("const y = globalThis.x + 1; { const x = 2; globalThis.z = x; }  // the end", "y", "z", x=1)
    assert values == {"y": 2, "z": 2}


def test_cells_are_strict_and_apart() -> None:
    execute("globalThis.left = 1;")
    values, _, _ = execute("const kinds = [typeof left, (function () { return this; })() === undefined];", "kinds")
    assert values == {"kinds": ["undefined", True]}


def test_the_console() -> None:
    _, stdout, stderr = execute("console.log('é', 1, [2]); console.table([{a: 1, b: 'x'}]); console.warn('careful');")
    assert stdout.splitlines()[0].split() in (["é", "1", "[", "2", "]"], ["é", "1", "[2]"])
    assert [word for word in ("(index)", "a", "b", "x") if word not in stdout] == []
    assert stderr == "careful\n"


@pytest.mark.parametrize(
    ("source", "error", "line"),
    [
        ("// first\nlet y = 1;\nthrow new TypeError('bad');", "TypeError: bad", 3),
        ("throw new RangeError('at once')", "RangeError: at once", 1),
        ("\n\nconst y = ;", "SyntaxError: ", 3),
        (
            "\nconst builder = new MLGraphBuilder(await navigator.ml.createContext());\nbuilder.relu(3);",
            "TypeError: relu: input must be",
            3,
        ),
        ("\nfunction f() {\n  missing();\n}\nf();", "ReferenceError: ", 3),
    ],
)
def test_errors_have_lines_of_the_cell(source: str, error: str, line: int) -> None:
    message, report = fail(source)
    assert message.startswith(error)
    assert f"cell.mjs:{line}" in report
    assert [word for word in ("<input>", "webnn:", "node:", "file:") if word in report] == []


def test_an_error_that_is_none() -> None:
    message, report = fail("throw 'a text'")
    assert "a text" in report
    assert message


def test_what_never_happens() -> None:
    assert "awaits something that will not happen" in fail("await new Promise(() => {});")[0]


def test_drafts_and_dialects() -> None:
    source = "const found = [typeof MLTensor, typeof MLTensorUsage];"
    for options, found in [
        ({"revision": "2024-06"}, ["undefined", "undefined"]),
        ({"revision": "2026-06"}, ["function", "undefined"]),
        ({"revision": "2026-06", "dialect": "browsers-2026"}, ["function", "object"]),
    ]:
        assert execute(source, "found", **options)[0] == {"found": found}  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="1999-01"):
        execute("", revision="1999-01")
    with pytest.raises(ValueError, match="the dialect for the revision 2026-06 must be one of"):
        execute("", dialect="none")


def test_files_and_modules(tmp_path: Path, engine: str) -> None:
    if engine == "quickjs":
        assert "SyntaxError" in fail("import a from './a.mjs';")[0]
        return
    (tmp_path / "a.mjs").write_text("export default 4;")
    source = "import a from './a.mjs'; const b = (await import('./a.mjs')).default + (await (await fetch('a.mjs')).text()).length;"
    assert execute(source, "a", "b", folder=tmp_path)[0] == {"a": 4, "b": 21}


def test_an_end_before_the_end(engine: str) -> None:
    if engine == "quickjs":
        assert "process" in fail("process.exit(0);", "y")[0]
        return
    assert fail("let y = 1; process.exit(0);", "y")[0] == "the cell ended before y could be read"
    assert fail("process.exit(3);")[0] == "the cell ended with the exit code 3"


def test_no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_node(_: object = None) -> None:
        raise NodeMissingError("Node is needed: install the extra js")

    monkeypatch.setattr(cell, "find_node", no_node)
    monkeypatch.setitem(sys.modules, "quickjs", None)
    with pytest.raises(NoEngineError, match="install the extra js"):
        execute("")
