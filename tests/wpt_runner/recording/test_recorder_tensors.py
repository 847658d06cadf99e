"""Recording of tests that compute over tensors: what is read is known by the tensor's last computation, and copies by their numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.webnn.javascript.engines import needs_quickjs
from tests.wpt_runner.clock import PATIENT
from tests.wpt_runner.recorded import META, UTILS
from tests.wpt_runner.written import written_checkout
from webnn.wpt_runner.checkout import Checkout
from webnn.wpt_runner.levels import LEVELS
from webnn.wpt_runner.recording.choice import choose_tests
from webnn.wpt_runner.recording.recorder import Recording, record_test
from webnn.wpt_runner.settings import Settings

pytestmark = [needs_quickjs]
LEVEL = LEVELS[-1]

#: Each test has a context and a builder of its own. `half` makes numbers of bits, as web-platform-tests' own helper does.
HELPERS = (
    UTILS.partition("let context, builder;")[0]
    + """
const descriptor = (dataType, shape) => ({dataType, shape});
const conform = (name, body) => promise_test(async () => {
  const context = await navigator.ml.createContext({deviceType: 'cpu'}), builder = new MLGraphBuilder(context);
  const input = (dataType, shape) => context.createTensor({dataType, shape, writable: true});
  const output = (dataType, shape) => context.createTensor({dataType, shape, readable: true, writable: true});
  await body({context, builder, input, output});
}, name);
const half = bits => {
  const e = bits >> 10 & 31, f = bits & 1023;
  return (bits >> 15 ? -1 : 1) * (e ? 2 ** (e - 15) * (1 + f / 1024) : f * 2 ** -24);
};
"""
)
RELU = """
  const graph = await builder.build({y: builder.relu(builder.input('x', descriptor('float32', [2])))});
  const x = await input('float32', [2]), y = await output('float32', [2]);
"""


def record(root: Path, text: str) -> Recording:
    checkout = Checkout(written_checkout(root, {"conformance_tests/one.https.any.js": META + text}, HELPERS))
    [test] = choose_tests(checkout)
    return record_test(checkout, test, Settings(revision=LEVEL.revision, dialect=LEVEL.dialect, timeout_multiplier=PATIENT))


def graph(body: str, root: Path) -> tuple[list[dict[str, Any]], Recording]:
    recording = record(root, f"conform('case', async ({{context, builder, input, output}}) => {{{body}}});")
    return [case["graph"] for case in recording.cases], recording


def test_a_dispatch(tmp_path: Path) -> None:
    [recorded], recording = graph(
        RELU
        + """
  context.writeTensor(x, new Float32Array([-1, 2]));
  context.dispatch(graph, {x}, {y});
  context.writeTensor(x, new Float32Array([7, 7]));
  doAssert('relu', new Float32Array(await context.readTensor(y)), [0, 2], 1, 'float32', 'ULP');
""",
        tmp_path,
    )
    float32 = {"shape": [2], "dataType": "float32"}
    assert recorded == {
        "inputs": {"x": {"data": [-1, 2], "descriptor": float32}},
        "operators": [{"name": "relu", "arguments": [{"operand": "x"}], "options": {}, "outputs": ["y"]}],
        "expectedOutputs": {"y": {"data": [0, 2], "descriptor": float32}},
    }
    assert recording.cases[0]["tolerance"] == {"metricType": "ULP", "value": 1}


def test_the_last_computation_and_a_buffer_of_ones_own(tmp_path: Path) -> None:
    """A tensor is written twice, and read into a view; the second computation takes what the first one made."""
    found, _ = graph(
        RELU
        + """
  context.writeTensor(x, new Float32Array([-1, 2]));
  context.dispatch(graph, {x}, {y});
  const memory = new ArrayBuffer(16), view = new Float32Array(memory, 8, 2);
  await context.readTensor(y, view);
  assert_array_equals(view, [0, 2]);
  const z = await output('float32', [2]);
  context.dispatch(graph, {x: y}, {y: z});
  assert_array_equals(new Float32Array(await context.readTensor(z)), [0, 2]);
  context.dispatch(graph, {x: z}, {y});
  assert_array_equals(new Float32Array(await context.readTensor(y)), [0, 2]);
""",
        tmp_path,
    )
    assert [each["inputs"]["x"]["data"] for each in found] == [[-1, 2], [0, 2], [0, 2]]


def test_copies_are_known_by_their_numbers(tmp_path: Path) -> None:
    """Numbers of float16, and four-bit integers, as the tests' own scripts make them."""
    found, recording = graph(
        """
  const x = builder.input('x', descriptor('float16', [3]));
  const scale = builder.constant(descriptor('float32', [3]), new Float32Array([1, 1, 1]));
  const zero = builder.constant(descriptor('int4', [3]), new Uint8Array(2));
  const graph = await builder.build({y: builder.sin(x), z: builder.quantizeLinear(builder.cast(x, 'float32'), scale, zero)});
  const given = await input('float16', [3]), y = await output('float16', [3]), z = await output('int4', [3]);
  context.writeTensor(given, new Uint16Array([0, 0xbc00, 0x4200]));
  context.dispatch(graph, {x: given}, {y, z});
  const bits = new Uint16Array(await context.readTensor(y)), bytes = new Uint8Array(await context.readTensor(z));
  assert_array_approx_equals([...bits].map(half), [0, -0.84, 0.14], 0.01);
  assert_array_equals(Int8Array.from([0, 1, 2], index => bytes[index >> 1] >> 4 * (index & 1) << 28 >> 28), [0, -1, 3]);
""",
        tmp_path,
    )
    # The tolerances differ, and a case has one.
    assert found == []
    [skipped] = recording.skipped
    assert skipped.reason == "its outputs have different tolerances, and a case has only one"
    [alone], _ = graph(
        """
  const x = builder.input('x', descriptor('float32', [3]));
  const scale = builder.constant(descriptor('float32', [3]), new Float32Array([1, 1, 1]));
  const zero = builder.constant(descriptor('int4', [3]), new Uint8Array([0xf1, 0]));
  const graph = await builder.build({z: builder.quantizeLinear(x, scale, zero)});
  const given = await input('float32', [3]), z = await output('int4', [3]);
  context.writeTensor(given, new Float32Array([0, -1, 3]));
  context.dispatch(graph, {x: given}, {z});
  const bytes = new Uint8Array(await context.readTensor(z));
  assert_array_equals(Int8Array.from([0, 1, 2], index => bytes[index >> 1] >> 4 * (index & 1) << 28 >> 28), [1, -2, 3]);
""",
        tmp_path / "alone",
    )
    assert alone["inputs"]["const1"]["data"] == [1, -1, 0]
    assert alone["expectedOutputs"] == {"z": {"data": [1, -2, 3], "descriptor": {"shape": [3], "dataType": "int4"}}}


def test_a_float16_copy(tmp_path: Path) -> None:
    [recorded], recording = graph(
        """
  const graph = await builder.build({y: builder.sin(builder.input('x', descriptor('float16', [2])))});
  const x = await input('float16', [2]), y = await output('float16', [2]);
  context.writeTensor(x, new Uint16Array([0, 0xbc00]));
  context.dispatch(graph, {x}, {y});
  assert_array_approx_equals([...new Uint16Array(await context.readTensor(y))].map(half), [0, -0.84], 0.01);
""",
        tmp_path,
    )
    assert recorded["expectedOutputs"]["y"]["data"] == [0, -0.84]
    assert recording.cases[0]["tolerance"] == {"metricType": "ATOL", "value": 0.01}


def test_other_numbers_are_no_result(tmp_path: Path) -> None:
    found, recording = graph(
        RELU
        + """
  context.writeTensor(x, new Float32Array([-1, 2]));
  context.dispatch(graph, {x}, {y});
  const read = new Float32Array(await context.readTensor(y));
  assert_array_equals([...read], [0, 2]);
  assert_array_equals(new Float32Array(await context.readTensor(await output('float32', [2]))), [0, 0]);
""",
        tmp_path,
    )
    assert found == []
    [skipped] = recording.skipped
    assert "only what compute() or readTensor() gave is known" in skipped.reason


def test_what_a_program_writes_is_no_result(tmp_path: Path) -> None:
    found, recording = graph(
        RELU
        + """
  context.writeTensor(x, new Float32Array([-1, 2]));
  context.dispatch(graph, {x}, {y});
  context.writeTensor(y, new Float32Array([5, 6]));
  assert_array_equals(new Float32Array(await context.readTensor(y)), [5, 6]);
""",
        tmp_path,
    )
    assert (found, len(recording.skipped)) == ([], 1)


def test_a_refused_dispatch_counts_for_nothing(tmp_path: Path) -> None:
    [recorded], _ = graph(
        RELU
        + """
  context.writeTensor(x, new Float32Array([-1, 2]));
  assert_throws_js(TypeError, () => context.dispatch(graph, {}, {y}));
  context.dispatch(graph, {x}, {y});
  assert_array_equals(new Float32Array(await context.readTensor(y)), [0, 2]);
""",
        tmp_path,
    )
    assert recorded["inputs"]["x"]["data"] == [-1, 2]


def test_options_have_the_names_of_the_tests(tmp_path: Path) -> None:
    [recorded], _ = graph(
        """
  const pooled = builder.maxPool2d(builder.input('x', descriptor('float32', [1, 1, 1, 1])), {roundingType: 'ceil'});
  const graph = await builder.build({y: pooled});
  const x = await input('float32', [1, 1, 1, 1]), y = await output('float32', [1, 1, 1, 1]);
  context.writeTensor(x, new Float32Array([3]));
  context.dispatch(graph, {x}, {y});
  assert_array_equals(new Float32Array(await context.readTensor(y)), [3]);
""",
        tmp_path,
    )
    assert recorded["operators"][0]["options"] == {"roundingType": "ceil"}
