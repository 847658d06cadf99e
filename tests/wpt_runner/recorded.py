"""A small checkout to record: what scripts of conformance tests define, written here, and tests that use it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tests.wpt_runner.checkouts import make_checkout

__all__ = ["META", "UTILS", "conformance_checkout"]

META = "// META: script=../resources/utils.js\n"

#: The names are those of web-platform-tests, and so is the way in which a result gets to its comparison.
UTILS = """'use strict';
const assert_array_approx_equals_ulp = (actual, expected, nulp, dataType) => {
  assert_true(actual.length === expected.length, 'lengths');
  // Good enough here: every expectation is exact, or wrong on purpose.
  for (let i = 0; i < actual.length && dataType === 'float32'; i++) assert_true(actual[i] == expected[i], `[${i}] is ${actual[i]}`);
};
globalThis.assert_array_approx_equals = (actual, expected, epsilon) => {
  for (let i = 0; i < actual.length; i++) assert_true(Math.abs(actual[i] - expected[i]) <= epsilon, `[${i}] is ${actual[i]}`);
};

const doAssert = (operationName, actual, expected, tolerance, operandType, metricType) => {
  if (typeof expected === 'number') {
    expected = [expected];
    actual = [actual];
  }
  if (metricType === 'ULP') assert_array_approx_equals_ulp(actual, expected, tolerance, operandType);
  else assert_array_approx_equals(actual, expected, tolerance);
};

const float32 = dimensions => ({dataType: 'float32', dimensions}), of = (dataType, dimensions) => ({dataType, dimensions});
let context, builder;

// All subtests of a file share a builder.
const conform = (name, build, inputs, outputs, check) => promise_test(async () => {
  context ??= await navigator.ml.createContext({deviceType: 'cpu'});
  builder ??= new MLGraphBuilder(context);
  const graph = await builder.build(build(builder));
  const result = await context.compute(graph, inputs, outputs);
  check(result.outputs);
}, name);
"""


def conformance_checkout(root: Path, tests: Mapping[str, str], utils: str = UTILS) -> Path:
    """Make a checkout with conformance tests, by their names: ``"relu"`` is in ``relu.https.any.js``."""
    files = {f"conformance_tests/{name}.https.any.js": text if text.startswith("// META") else META + text for name, text in tests.items()}
    return make_checkout(root, {"resources/utils.js": utils, **files})


class EveryAdapter(str):
    """The name of a device that has every text in it: for all faults of a provider, whichever device has them."""

    __slots__ = ()

    def __contains__(self, _: object) -> bool:
        return True
