"""The console of realms: all of its methods, and what they print."""

from __future__ import annotations

import re

import pytest

from tests.webnn.javascript.engines import make_realm, needs_quickjs

pytestmark = needs_quickjs


def run(script: str) -> list[tuple[str, str]]:
    """Run a script; return the levels and texts on its console."""
    console: list[tuple[str, str]] = []
    realm = make_realm(lambda level, text: console.append((level, text)), pathname="/webnn/test.html", memory=1 << 26)
    realm.evaluate(script)
    return console


#: Scripts, and what they print: levels and texts.
PRINTED: list[tuple[str, list[tuple[str, str]]]] = [
    ("console.log('%s took %d ms, %i, %f, %o %O %% %c!', 'it', 1.5, '7.9', 0.25, [1], {a: 1}, 'color: red')",
     [("log", 'it took 1 ms, 7, 0.25, [1] {"a":1} % !')]),
    ("console.log('100%', 5, '%d'); console.log('%s'); console.log('%d', Symbol('x')); console.log('%x %s', 1)",
     [("log", "100% 5 %d"), ("log", "%s"), ("log", "NaN"), ("log", "%x 1")]),
    ("console.group('a', 1); console.info('in'); console.groupCollapsed(); console.warn('deep\\ndown'); console.groupEnd(); "
     "console.debug('back'); console.groupEnd(); console.groupEnd(); console.log('out')",
     [("log", "a 1"), ("info", "  in"), ("warn", "    deep\n    down"), ("debug", "  back"), ("log", "out")]),
    ("console.group('a'); console.clear(); console.log('out')", [("log", "a"), ("log", "out")]),
    ("console.assert(true, 'no'); console.assert(0); console.assert(false, '%s!', 'yes')",
     [("error", "Assertion failed"), ("error", "Assertion failed: yes!")]),
    ("console.count(); console.count('a'); console.count(); console.countReset(); console.count(); console.countReset('b')",
     [("log", "default: 1"), ("log", "a: 1"), ("log", "default: 2"), ("log", "default: 1"), ("warn", "Count for 'b' does not exist")]),
    ("console.dir([1, {a: 2}], {depth: 0}); console.dirxml('a', 1)", [("log", '[1,{"a":2}]'), ("log", "a 1")]),
    ("console.table([{name: 'relu', n: 1}, {name: 'conv2d'}])", [("log", "(index)  name    n\n0        relu    1\n1        conv2d")]),
    ("console.table({x: [1, 2], y: 3})", [("log", "(index)  0  1  value\nx        1  2\ny              3")]),
    ("console.table([{a: 1, b: 2}], ['b']); console.table(5)", [("log", "(index)  b\n0        2"), ("log", "5")]),
    ("console.table(new Map([['k', {a: 1}]])); console.table(new Set([7]))",
     [("log", "(index)  a\nk        1"), ("log", "(index)  value\n0        7")]),
    ("console.table([{get a() { throw 1; }}])", [("log", "[object Array]")]),
    ("console.timeEnd('t'); console.time(); console.time()",
     [("warn", "Timer 't' does not exist"), ("warn", "Timer 'default' already exists")]),
    ("console.log(new Map([[1, 2]]), new Set(['a']), navigator.ml, {}, [])", [("log", 'Map(1) [[1,2]] Set(1) ["a"] [object ML] {} []')]),
    ("console.log({toJSON() { throw 1; }, toString() { throw 2; }}); console.error()", [("log", "[object Object]"), ("error", "")]),
]  # fmt: skip


@pytest.mark.parametrize(("script", "printed"), PRINTED, ids=range(len(PRINTED)))
def test_console(script: str, printed: list[tuple[str, str]]) -> None:
    assert run(script) == printed


def test_timers() -> None:
    texts = [text for _, text in run("console.time('t'); console.timeLog('t', 'half', 1); console.timeEnd('t'); console.timeLog('t')")]
    assert re.fullmatch(r"t: \d+\.\d{3} ms half 1", texts[0])
    assert re.fullmatch(r"t: \d+\.\d{3} ms", texts[1])
    assert texts[2:] == ["Timer 't' does not exist"]


@pytest.mark.parametrize("call", ["console.trace('here', 1)", "console.error(new Error('here'))"])
def test_stacks(call: str) -> None:
    [(level, text)] = run(f"function inner() {{ {call}; }} inner();")
    first, *frames = text.splitlines()
    assert (level, first) in {("log", "Trace: here 1"), ("error", "Error: here")}
    assert "at inner" in frames[0]
