"""Members that a dictionary does not have, in JavaScript: a warning on the console of a program, and none in web-platform-tests."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.webnn.javascript.engines import make_realm
from tests.webnn.javascript.node_support import run

pytestmark = pytest.mark.processes

START = {
    "2024-06": "const builder = new MLGraphBuilder(await navigator.ml.createContext());"
    "const x = builder.input('x', {dataType: 'float32', dimensions: [1, 1, 4, 4]});\n",
    "2026-06": "const builder = new MLGraphBuilder(await navigator.ml.createContext());"
    "const x = builder.input('x', {dataType: 'float32', shape: [1, 1, 4, 4]});\n",
}
#: A program in a draft, and what its console gets: a message and the column of the second line.
PROGRAMS: Mapping[str, tuple[str, str, list[tuple[str, int]]]] = {
    "misspelt": (
        "2024-06",
        "builder.reduceSum(x, {keepdims: true});",
        [("reduceSum: options.keepdims is ignored: it is not a member; did you mean 'keepDimensions'?", 9)],
    ),
    "of another draft": (
        "2024-06",
        "builder.input('y', {dataType: 'int8', shape: [2]});",
        [("input: descriptor.shape is ignored: 'shape' is a member since 2026-06; here 'dimensions'", 9)],
    ),
    "an option of another draft": (
        "2026-06",
        "builder.maxPool2d(x, {roundingType: 'ceil'});",
        [("maxPool2d: options.roundingType is ignored: 'roundingType' was a member until 2024-06; here 'outputShapeRounding'", 9)],
    ),
    "an argument in its place": (
        "2026-06",
        "builder.argMin(x, 0, {axes: [1]});",
        [("argMin: options.axes is ignored: 'axes' was a member until 2024-06; here the argument axis", 9)],
    ),
    "options of the page": (
        "2026-06",
        "await navigator.ml.createContext({deviceType: 'cpu'});",
        [("createContext: options.deviceType is ignored: 'deviceType' was a member until 2024-06; here 'accelerated'", 20)],
    ),
    "once for each place": (
        "2024-06",
        "for (let i = 0; i < 3; i++) builder.elu(x, {alfa: 1}); builder.elu(x, {alfa: 1});",
        [(f"elu: options.alfa is ignored: it is not a member; did you mean '{'alpha'}'?", column) for column in (37, 64)],
    ),
    "for both drafts": (
        "2024-06",
        "builder.maxPool2d(x, {roundingType: 'ceil', outputShapeRounding: 'ceil', label: 'pool', padd: undefined});",
        [],
    ),
    "nothing is called": (
        "2024-06",
        "builder.elu(x, {get alfa() { console.log('called'); }});",
        [("elu: options.alfa is ignored: it is not a member; did you mean 'alpha'?", 9)],
    ),
    "a Proxy": (
        "2024-06",
        "const told = (_, key) => { console.log(key); }, handler = new Proxy({}, {get(_, trap) { console.log(trap); }});"
        "builder.elu(x, new Proxy({alfa: 1}, handler));",
        [],
    ),
    "what a person does not write": (
        "2024-06",
        "builder.elu(x, [1]); builder.elu(x, new Uint8Array(2)); builder.elu(x, Object.create({alfa: 1}));",
        [],
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program(name: str, tmp_path: Path) -> None:
    revision, program, expected = PROGRAMS[name]
    outcome = run(tmp_path, START[revision] + program, revision=revision)
    lines = [f"WebNNWarning: {text}\n    at https://app.test/program.mjs:2:{column}\n" for text, column in expected]
    assert (outcome.code, outcome.stderr) == (0, "".join(lines))
    # Web IDL reads the members that the dictionary has, and nothing reads the others.
    assert outcome.stdout == ("get\n" if name == "a Proxy" else "")


def test_web_platform_tests_see_a_browser() -> None:
    written: list[tuple[str, str]] = []
    realm = make_realm(lambda level, text: written.append((level, text)), memory=1 << 26)
    realm.evaluate(
        "navigator.ml.createContext({device: 'cpu'}).then(context => {"
        "  new MLGraphBuilder(context).input('x', {dataType: 'float32', shape: [2]}); console.log('done'); })"
    )
    realm.run(lambda: bool(written), float("inf"))
    assert written == [("log", "done")]


#: A call in the dialect of one browser, and the warnings of it.
STRICT: Mapping[str, tuple[str, list[str]]] = {
    "maxPool2d": (
        "builder.maxPool2d(x, {windowDimensions: [2, 2], roundingType: 'ceil'});",
        ["maxPool2d: options.roundingType is ignored by Chromium 153: use 'outputShapeRounding'"],
    ),
    "both names": ("builder.maxPool2d(x, {roundingType: 'ceil', outputShapeRounding: 'ceil'});", []),
    "createTensor": (
        "await context.createTensor({dataType: 'float32', shape: [1], usage: 2, dimensions: [1]});",
        ["createTensor: descriptor.usage is ignored by Chromium 153: use 'readable' and 'writable'"],
    ),
    "input": (
        "try { builder.input('y', {dataType: 'float32', dimensions: [1]}); } catch (error) { console.log(error.name); }",
        ["input: descriptor.dimensions is ignored by Chromium 153: use 'shape'"],
    ),
    "misspelt": ("builder.elu(x, {alfa: 1});", ["elu: options.alfa is ignored: it is not a member; did you mean 'alpha'?"]),
}


@pytest.mark.parametrize("name", STRICT)
def test_a_strict_dialect(name: str, tmp_path: Path) -> None:
    program, expected = STRICT[name]
    start = (
        "const context = await navigator.ml.createContext(), builder = new MLGraphBuilder(context);"
        "const x = builder.input('x', {dataType: 'float32', shape: [1, 1, 4, 4]});\n"
    )
    outcome = run(tmp_path, start + program, revision="2026-06", dialect="chromium-153")
    assert [line.removeprefix("WebNNWarning: ") for line in outcome.stderr.splitlines() if "Warning" in line] == expected
    assert (outcome.code, outcome.stdout) == (0, "TypeError\n" if name == "input" else "")
