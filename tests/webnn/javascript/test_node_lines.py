"""The lines of calls that a program in Node makes, where they are recorded."""

from __future__ import annotations

from pathlib import Path

import pytest

import webnn
from tests.support import CURRENT
from tests.webnn.javascript.node_support import Outcome, run
from webnn.inspect import record_waste
from webnn.validation.caller import PLACE

pytestmark = pytest.mark.processes

PROGRAM = """const context = await navigator.ml.createContext();
const make = size => context.createTensor({dataType: 'float32', shape: [size]});
await make(1);
await Promise.all([
  make(2), context.createTensor({dataType: 'float32', shape: [2]})]);
(0, eval)(`context => context.createTensor({dataType: 'float32', shape: [3]})`)(context);
await import(`data:text/javascript,export const f = c => c.createTensor({dataType: 'int8', shape: []}); // ${'long'.repeat(999)}`)
  .then(({f}) => f(context));
await new Promise(resolve => setTimeout(() => resolve(context.createTensor({dataType: 'float32', shape: [4]})), 1));
await import('./other.mjs').then(({other}) => other(context));
console.log('done');
"""
OTHER = """// Another module.
export const other = context => context.createTensor({dataType: 'float32', shape: [5]});
"""


def record(folder: Path, *, lines: bool) -> list[tuple[str, int]]:
    (folder / "other.mjs").write_text(OTHER, encoding="utf-8")
    token = PLACE.set(None)
    with record_waste(warmup=0) as waste:
        assert run(folder, PROGRAM, revision=CURRENT, on_line=PLACE.set if lines else None) == Outcome(0, "done\n", "")
    PLACE.reset(token)
    return [(each.file, each.line) for each in waste.report().lines for _ in range(each.allocations)]


def test_lines_of_scripts(tmp_path: Path) -> None:
    found = record(tmp_path, lines=True)
    (long,) = {each for each in found if each[0].startswith("data:text/javascript,")}
    assert (len(long[0]), long[1]) == (1000, 1)
    # The text of `eval` has no address: the line is that of the call.
    lines = [*[("https://app.test/program.mjs", line) for line in (2, 2, 5, 6, 9)], ("https://app.test/other.mjs", 2), long]
    assert sorted(found) == sorted(lines)


def test_without_a_recorder_nothing_is_told(tmp_path: Path) -> None:
    found = record(tmp_path, lines=False)
    assert len(found) == 7
    assert len({*found}) == 1
    assert webnn.__file__ not in {address for address, _ in found}
