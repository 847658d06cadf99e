"""Runs of files in processes: their results, and the steps that each one reaches."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.webnn.javascript.engines import needs_quickjs
from tests.wpt_runner.written import written_checkout
from tools.upstream.measuring import measure
from webnn.wpt_runner.levels import find_level

pytestmark = [needs_quickjs, pytest.mark.processes]

REFUSED = """
promise_test(async () => {
  const builder = new MLGraphBuilder(await navigator.ml.createContext());
  assert_throws_js(TypeError, () => builder.%s);
}, 'refused');
"""
FILES = {
    "a.https.any.js": REFUSED % "input('', {dataType: 'float32', shape: [1]})",
    "b.https.any.js": REFUSED % "concat([], 0)",
    "c.https.any.js": "test(() => assert_true(false), 'fails');\n",
}


@pytest.mark.parametrize("jobs", [1, 2])
def test_each_file_reaches_its_steps(jobs: int, tmp_path: Path) -> None:
    paths = [f"webnn/{name}" for name in FILES]
    measured = measure(written_checkout(tmp_path, FILES), paths, find_level("2026-06"), jobs=jobs)
    assert list(measured.results) == paths
    assert [[f"{each.status}" for each in result.subtests] for result in measured.results.values()] == [["PASS"], ["PASS"], ["FAIL"]]
    assert measured.reached["2026-06", "MLGraphBuilder.input(name, descriptor)", "2"] == {paths[0]}
    assert measured.reached["2026-06", "MLGraphBuilder.concat(inputs, axis, options)", "3"] == {paths[1]}
    assert {key[0] for key in measured.reached} == {"2026-06"}
