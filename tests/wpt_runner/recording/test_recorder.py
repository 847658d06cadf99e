"""Recording: what a test in JavaScript builds, computes and expects becomes cases, and these are what the runner of cases takes."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

from tests.support import each_row, make_context
from tests.webnn.javascript.engines import needs_quickjs
from tests.wpt_runner.clock import PATIENT
from tests.wpt_runner.recorded import UTILS, conformance_checkout
from webnn import OperandDescriptor
from webnn.wpt_runner.checkout import Checkout, CheckoutError
from webnn.wpt_runner.recording.choice import choose_tests
from webnn.wpt_runner.recording.files import encode_file, write_file
from webnn.wpt_runner.recording.numbers import RecordingError, Tensor, decode_number, encode_number
from webnn.wpt_runner.recording.recorder import Recording, record_test
from webnn.wpt_runner.results import FileStatus
from webnn.wpt_runner.settings import Settings
from webnn.wpt_runner.vectors.cases import Status, load_cases
from webnn.wpt_runner.vectors.replay import run_case


def record(root: Path, text: str, utils: str = UTILS) -> Recording:
    checkout = Checkout(conformance_checkout(root, {"one": text}, utils))
    [test] = choose_tests(checkout)
    return record_test(checkout, test, Settings(revision="2024-06", timeout_multiplier=PATIENT))


def tensor(data: object, shape: list[int], dataType: str = "float32", **more: bool) -> dict[str, Any]:
    return {"data": data, "descriptor": {"shape": shape, "dataType": dataType}, **more}


def operator(name: str, arguments: list[Any], outputs: list[str], options: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"name": name, "arguments": arguments, "options": options or {}, "outputs": outputs}


def operand(name: str) -> dict[str, str]:
    return {"operand": name}


def ulp(value: float) -> dict[str, object]:
    return {"metricType": "ULP", "value": value}


X = operand("x")
RELU = operator("relu", [X], ["y"])

#: A test in JavaScript, the tolerance, and the graph: inputs, operators, outputs.
CASES: dict[str, tuple[str, dict[str, object], dict[str, Any], list[Any], dict[str, Any]]] = {
    "an operation": (
        """conform('', b => ({y: b.relu(b.input('x', float32([2])))}), {x: new Float32Array([-1.5, 2])}, {y: new Float32Array(2)},
          ({y}) => doAssert('relu', y, [0, 2], 1, 'float32', 'ULP'));""",
        ulp(1),
        {"x": tensor([-1.5, 2], [2])},
        [RELU],
        {"y": tensor([0, 2], [2])},
    ),
    "an absolute tolerance": (
        """conform('', b => ({y: b.relu(b.input('x', float32([1])))}), {x: new Float32Array([0.1])}, {y: new Float32Array(1)},
          ({y}) => doAssert('relu', y, [0.1], 0.25, 'float32', 'ATOL'));""",
        {"metricType": "ATOL", "value": 0.25},
        # Inputs are rounded to the type; expected values are those of the test.
        {"x": tensor([float(np.float32(0.1))], [1])},
        [RELU],
        {"y": tensor([0.1], [1])},
    ),
    "several outputs, in the order in which they are compared": (
        """conform('', b => { const [p, q, r] = b.split(b.input('x', float32([3])), 3, {axis: 0}); return {r, p}; },
          {x: new Float32Array([1, 2, 3])}, {p: new Float32Array(1), r: new Float32Array(1)},
          ({p, r}) => { doAssert('split', r, [3], 0, 'float32', 'ULP'); doAssert('split', p, [1], 0, 'float32', 'ULP'); });""",
        ulp(0),
        {"x": tensor([1, 2, 3], [3])},
        [operator("split", [X, 3], ["p", "operand0", "r"], {"axis": 0})],
        {"r": tensor([3], [1]), "p": tensor([1], [1])},
    ),
    "only what is needed, in order": (
        """conform('', b => {
            const unused = b.neg(b.input('unused', float32([2])));
            const scale = b.constant(float32([2]), new Float32Array([1, 2])), x = b.input('x', float32([2]));
            const square = b.mul(x, x), scaled = b.mul(square, scale);
            return {y: b.add(scaled, square), z: b.abs(x)};
          }, {x: new Float32Array([3, 4])}, {y: new Float32Array(2), z: new Float32Array(2)},
          ({y}) => doAssert('add', y, [18, 48], 0, 'float32', 'ULP'));""",
        ulp(0),
        {"x": tensor([3, 4], [2]), "const0": tensor([1, 2], [2], constant=True)},
        [
            operator("mul", [X, X], ["operand0"]),
            operator("mul", [operand("operand0"), operand("const0")], ["operand1"]),
            operator("add", [operand("operand1"), operand("operand0")], ["y"]),
        ],
        {"y": tensor([18, 48], [2])},
    ),
    "operands in options and in lists": (
        """conform('', b => {
            const a = b.input('a', float32([1, 1])), c = b.constant(float32([1]), new Float32Array([5]));
            return {y: b.concat([b.gemm(a, a, {c, alpha: 0.5, aTranspose: true}), a], 1)};
          }, {a: new Float32Array([4])}, {y: new Float32Array(2)}, ({y}) => doAssert('concat', y, [13, 4], 0, 'float32', 'ULP'));""",
        ulp(0),
        {"a": tensor([4], [1, 1]), "const0": tensor([5], [1], constant=True)},
        [
            operator("gemm", [operand("a"), operand("a")], ["operand0"], {"alpha": 0.5, "aTranspose": True, "c": operand("const0")}),
            operator("concat", [[operand("operand0"), operand("a")], 1], ["y"]),
        ],
        {"y": tensor([13, 4], [1, 2])},
    ),
    "names that inputs, outputs and constants share": (
        """conform('', b => ({x: b.add(b.add(b.input('x', float32([1])), b.input('const0', float32([1]))), b.constant('float32', 1.5))}),
          {x: new Float32Array([1]), const0: new Float32Array([2])}, {x: new Float32Array(1)},
          ({x}) => doAssert('add', x, [4.5], 0, 'float32', 'ULP'));""",
        ulp(0),
        {"x2": tensor([1], [1]), "const0": tensor([2], [1]), "const1": tensor([1.5], [], constant=True)},
        [
            operator("add", [operand("x2"), operand("const0")], ["operand0"]),
            operator("add", [operand("operand0"), operand("const1")], ["x"]),
        ],
        {"x": tensor([4.5], [1])},
    ),
    "numbers that JSON lacks": (
        """conform('', b => ({y: b.identity(b.input('x', float32([4])))}), {x: new Float32Array([-0, NaN, Infinity, -Infinity])},
          {y: new Float32Array(4)}, ({y}) => doAssert('identity', y, [-0, NaN, Infinity, -Infinity], 0, 'float16', 'ULP'));""",
        ulp(0),
        {"x": tensor(["-0", "NaN", "Infinity", "-Infinity"], [4])},
        [operator("identity", [X], ["y"])],
        {"y": tensor(["-0", "NaN", "Infinity", "-Infinity"], [4])},
    ),
    "64-bit integers": (
        """conform('', b => ({y: b.identity(b.input('x', of('int64', [4])))}),
          {x: new BigInt64Array([1n, -(2n ** 53n), 2n ** 62n + 1n, -5n])}, {y: new BigInt64Array(4)},
          ({y}) => doAssert('identity', y, [1, -(2 ** 53), '4611686018427387905', -5n], 0, 'int64', 'ULP'));""",
        ulp(0),
        {"x": tensor([1, {"$bigint": "-9007199254740992"}, {"$bigint": "4611686018427387905"}, -5], [4], "int64")},
        [operator("identity", [X], ["y"])],
        {"y": tensor([1, {"$bigint": "-9007199254740992"}, {"$bigint": "4611686018427387905"}, -5], [4], "int64")},
    ),
    "float16 as bits": (
        """conform('', b => ({y: b.neg(b.input('x', of('float16', [2])))}), {x: new Uint16Array([0x3c00, 0x3555])}, {y: new Uint16Array(2)},
          ({y}) => doAssert('neg', y, [-1, -1 / 3], 1, 'float16', 'ULP'));""",
        ulp(1),
        {"x": tensor([1, 0.333251953125], [2], "float16")},
        [operator("neg", [X], ["y"])],
        {"y": tensor([-1, -1 / 3], [2], "float16")},
    ),
    "float16 bits that must be equal": (
        """conform('', b => ({y: b.neg(b.input('x', of('float16', [2])))}), {x: new Uint16Array([0x3c00, 0x3555])}, {y: new Uint16Array(2)},
          ({y}) => assert_array_equals(y, [0xbc00, 0xb555]));""",
        ulp(0),
        {"x": tensor([1, 0.333251953125], [2], "float16")},
        [operator("neg", [X], ["y"])],
        {"y": tensor([-1, -0.333251953125], [2], "float16")},
    ),
    "one value for all": (
        """const size = 1200;
        conform('', b => ({y: b.add(b.input('x', float32([size])), b.constant(float32([2, 1]), new Float32Array([7, 7])))}),
          {x: new Float32Array(size).fill(0.5)}, {y: new Float32Array(2 * size)},
          ({y}) => doAssert('add', y.subarray(0, 1000), new Array(1000).fill(7.5), 0, 'float32', 'ULP'));""",
        ulp(0),
        {"x": tensor(0.5, [1200]), "const0": tensor(7, [2, 1], constant=True)},
        [operator("add", [X, operand("const0")], ["y"])],
        {"y": tensor(7.5, [2, 1200])},
    ),
    "a scalar": (
        """conform('', b => ({y: b.reduceSum(b.input('x', float32([2])))}), {x: new Float32Array([1, 2])}, {y: new Float32Array(1)},
          ({y}) => doAssert('reduceSum', y, 3, 2, 'float32', 'ULP'));""",
        ulp(2),
        {"x": tensor([1, 2], [2])},
        [operator("reduceSum", [X], ["y"])],
        {"y": tensor(3, [])},
    ),
    "an integer constant that wraps": (
        """conform('', b => ({y: b.cast(b.add(b.cast(b.constant('uint8', -1.5), 'int32'), b.input('x', of('int32', [1]))), 'int64')}),
          {x: new Int32Array([1])}, {y: new BigInt64Array(1)}, ({y}) => assert_array_equals(y, [256n]));""",
        ulp(0),
        {"x": tensor([1], [1], "int32"), "const0": tensor([255], [], "uint8", constant=True)},
        [
            operator("cast", [operand("const0"), "int32"], ["operand0"]),
            operator("add", [operand("operand0"), X], ["operand1"]),
            operator("cast", [operand("operand1"), "int64"], ["y"]),
        ],
        {"y": tensor([256], [1], "int64")},
    ),
    "results at an offset of their buffer": (
        """conform('', b => ({y: b.relu(b.input('x', float32([1])))}), {x: new Float32Array([1])},
          {y: new Float32Array(new ArrayBuffer(40), 8, 1)}, ({y}) => assert_array_equals(y, [1]));""",
        ulp(0),
        {"x": tensor([1], [1])},
        [RELU],
        {"y": tensor([1], [1])},
    ),
}


@needs_quickjs
@pytest.mark.parametrize("name", CASES)
def test_a_case(tmp_path: Path, name: str) -> None:
    text, tolerance, inputs, operators, outputs = CASES[name]
    recording = record(tmp_path / "wpt", text.replace("conform('',", f"conform('{name}',"))
    assert (recording.result.message, recording.skipped, recording.differing) == ("", [], {})
    graph = {"inputs": inputs, "operators": operators, "expectedOutputs": outputs}
    assert recording.cases == [{"name": name, "tolerance": tolerance, "graph": graph}]
    wanted = [list(inputs), list(outputs)]
    assert [list(case["graph"][part]) for case in recording.cases for part in ("inputs", "expectedOutputs")] == wanted
    write_file(tmp_path / "one.json", encode_file("tests", "2024-06", recording.cases))
    [outcome] = [run_case(case, make_context()) for case in load_cases([tmp_path / "one.json"])]
    assert (outcome.status, outcome.failure) == (Status.PASSED, "")


GRAPH = "b => ({y: b.relu(b.input('x', float32([2])))}), {x: new Float32Array([1, 2])}, {y: new Float32Array(2)}"

#: A test in JavaScript that does not become a case, and why.
SKIPPED = {
    "nothing computed": ("promise_test(async () => {}, 'none');", "it computes nothing"),
    "a failure before": ("promise_test(async () => { null.x; }, 'fails');", "it fails before it computes: TypeError"),
    "a failure after": (f"conform('fails', {GRAPH}, () => {{ null.x; }});", "it fails before it compares: TypeError"),
    "a failure beside": (
        f"conform('fails', {GRAPH}, ({{y}}) => {{ assert_array_equals(y, [1, 2]); null.x; }});",
        "it fails beside its comparisons: TypeError",
    ),
    "copies": (f"conform('copies', {GRAPH}, ({{y}}) => assert_array_equals([...y], [1, 2]));", "only what compute() or readTensor() gave"),
    "a part": (f"conform('part', {GRAPH}, ({{y}}) => assert_array_equals(y.subarray(1), [2]));", "it compares 1 of the 2 elements"),
    "twice": (f"conform('twice', {GRAPH}, ({{y}}) => {{ for (const _ of 'ab') assert_array_equals(y, [1, 2]); }});", "more than once"),
    "no tolerance": (
        f"conform('none', {GRAPH}, ({{y}}) => doAssert('relu', y, [1, 2], undefined, 'float32', 'ULP'));",
        "it has no tolerance",
    ),
    "a negative tolerance": (
        f"conform('negative', {GRAPH}, ({{y}}) => doAssert('relu', y, [1, 2], -1, 'float32', 'ULP'));",
        "its tolerance is -1.0",
    ),
    "no numbers": (f"conform('none', {GRAPH}, ({{y}}) => assert_array_equals(y, ['a', null]));", "it expects None, which is not a number"),
    "two tolerances": (
        """conform('two', b => { const x = b.input('x', float32([1])); return {y: b.relu(x), z: b.neg(x)}; }, {x: new Float32Array([1])},
          {y: new Float32Array(1), z: new Float32Array(1)},
          ({y, z}) => { assert_array_equals(y, [1]); doAssert('neg', z, [-1], 2, 'float32', 'ULP'); });""",
        "different tolerances",
    ),
    "two names": (
        """conform('two', b => { const y = b.relu(b.input('x', float32([1]))); return {y, z: y}; }, {x: new Float32Array([1])},
          {y: new Float32Array(1), z: new Float32Array(1)}, ({y, z}) => { assert_array_equals(y, [1]); assert_array_equals(z, [1]); });""",
        "its outputs 'y' and 'z' are one operand",
    ),
    "an activation": (
        """conform('lstm', b => {
            const zeros = shape => b.constant(float32(shape), new Float32Array(shape.reduce((a, c) => a * c)));
            const x = b.input('x', float32([1, 1, 1])), options = {activations: [b.tanh(), b.relu()]};
            return {y: b.gru(x, zeros([1, 3, 1]), zeros([1, 3, 1]), 1, 1, options)[0]};
          }, {x: new Float32Array([1])}, {y: new Float32Array(1)}, ({y}) => assert_array_equals(y, [0]));""",
        "gru takes the activation function tanh",
    ),
}


@needs_quickjs
@pytest.mark.parametrize("name", SKIPPED)
def test_no_case(tmp_path: Path, name: str) -> None:
    text, reason = SKIPPED[name]
    recording = record(tmp_path, text)
    assert recording.cases == []
    [skipped] = recording.skipped
    assert reason in skipped.reason
    assert (recording.result.status, recording.failed) == (FileStatus.OK, False)


@needs_quickjs
def test_a_difference_is_recorded(tmp_path: Path) -> None:
    """The expectation is the test's, whatever the emulator computes; and all outputs are compared."""
    recording = record(
        tmp_path,
        """conform('wrong', b => { const [y, z] = b.split(b.input('x', float32([2])), 2); return {y, z}; }, {x: new Float32Array([1, 2])},
          {y: new Float32Array(1), z: new Float32Array(1)},
          ({y, z}) => { doAssert('split', y, [7], 0, 'float32', 'ULP'); doAssert('split', z, [2], 0, 'float32', 'ULP'); });""",
    )
    [case] = recording.cases
    assert case["graph"]["expectedOutputs"] == {"y": tensor([7], [1]), "z": tensor([2], [1])}
    assert "[0] is 1" in recording.differing["wrong"]


@needs_quickjs
def test_several_subtests_and_computations(tmp_path: Path) -> None:
    """Subtests share a builder, and one of them computes twice."""
    recording = record(
        tmp_path,
        f"""conform('first', {GRAPH}, ({{y}}) => assert_array_equals(y, [1, 2]));
        conform('nothing', {GRAPH}, () => {{}});
        promise_test(async () => {{
          const graph = await builder.build({{y: builder.abs(builder.input('x', float32([1])))}});
          const compute = value => context.compute(graph, {{x: new Float32Array([value])}}, {{y: new Float32Array(1)}});
          const [one, two] = await Promise.all([compute(-1), compute(-2)]);
          assert_array_equals(two.outputs.y, [2]);
          assert_array_equals(one.outputs.y, [1]);
        }}, 'twice');""",
    )
    wanted = [("first", [1, 2]), ("twice", [-2]), ("twice (2)", [-1])]
    assert [(case["name"], case["graph"]["inputs"]["x"]["data"]) for case in recording.cases] == wanted
    assert [skipped.name for skipped in recording.skipped] == ["nothing"]


@needs_quickjs
def test_a_rejected_computation(tmp_path: Path) -> None:
    recording = record(tmp_path, f"conform('rejected', {GRAPH.replace('[1, 2]', '[1, 2, 3]')}, () => {{}});")
    [skipped] = recording.skipped
    assert "it fails before it computes: TypeError" in skipped.reason


@needs_quickjs
def test_a_missing_comparison_is_named(tmp_path: Path) -> None:
    utils = UTILS.replace("const assert_array_approx_equals_ulp =", "const compareUlp =").replace(
        "assert_array_approx_equals_ulp(", "compareUlp("
    )
    recording = record(tmp_path, f"conform('relu', {GRAPH}, ({{y}}) => doAssert('relu', y, [1, 2], 0, 'float32', 'ULP'));", utils)
    [skipped] = recording.skipped
    assert "assert_array_approx_equals_ulp is missing in /resources/testharness.js and /webnn/resources/utils.js" in skipped.reason


@needs_quickjs
def test_a_comparison_that_cannot_be_watched_is_an_error(tmp_path: Path) -> None:
    utils = UTILS.replace("const assert_array_approx_equals_ulp =", "const other = 1, assert_array_approx_equals_ulp =")
    recording = record(tmp_path, f"conform('relu', {GRAPH}, ({{y}}) => doAssert('relu', y, [1, 2], 0, 'float32', 'ULP'));", utils)
    assert (recording.result.status, recording.failed, recording.cases) == (FileStatus.ERROR, True, [])
    assert "assert_array_approx_equals_ulp" in recording.result.message


# Numbers and tensors


@each_row(
    ("value", "encoded"),
    [
        (0.0, "0"),
        (-0.0, '"-0"'),
        (2.0, "2"),
        (0.5, "0.5"),
        (1e300, "1e+300"),
        (2.0**53, "9007199254740992.0"),
        (math.nan, '"NaN"'),
        (math.inf, '"Infinity"'),
        (-math.inf, '"-Infinity"'),
        (2**53 - 1, "9007199254740991"),
        (2**53, '{"$bigint": "9007199254740992"}'),
        (-(2**63), '{"$bigint": "-9223372036854775808"}'),
        (10**299, f'{{"$bigint": "{10**299}"}}'),
    ],
)
def test_numbers(value: float, encoded: str) -> None:
    assert json.dumps(encode_number(value), allow_nan=False) == encoded
    assert repr(decode_number(json.loads(encoded), "float64")) == repr(float(value))


@pytest.mark.parametrize("sign", [1, -1])
def test_numbers_of_many_digits(sign: int) -> None:
    """A number that is larger than those of all types is written as a number that is larger, too."""
    assert encode_number(sign * 10**5000) == encode_number(sign * 10**299)


@pytest.mark.parametrize(
    ("value", "dataType"),
    [
        (None, "float32"),
        (True, "float32"),
        ("1", "float32"),
        ([1], "float32"),
        ("NaN", "int32"),
        (0.5, "int32"),
        (256, "uint8"),
        (-1, "uint64"),
        ({"$bigint": "1" * 5000}, "float32"),
    ],
)
def test_what_is_no_number_of_a_type(value: object, dataType: str) -> None:
    with pytest.raises(RecordingError, match="it expects"):
        decode_number(value, dataType)


@pytest.mark.parametrize(
    ("data", "encoded"),
    [
        (np.zeros((2, 0), np.float32), []),
        (np.float32([3]), [3]),
        (np.float32([3, 3]), 3),
        (np.float32([0, -0.0]), [0, "-0"]),
        (np.float32([np.nan, np.nan]), "NaN"),
        (np.array(5, np.int8), [5]),
        (np.array([2**64 - 1] * 3, np.uint64), {"$bigint": "18446744073709551615"}),
    ],
    ids=["empty", "one", "filled", "zeros", "NaN", "scalar", "uint64"],
)
def test_tensors(data: np.ndarray[Any, np.dtype[Any]], encoded: object) -> None:
    made = Tensor.of(OperandDescriptor(data.dtype.name, data.shape), data)  # type: ignore[arg-type]  # one of the types
    data[...] = 1
    assert made.encode() == tensor(encoded, list(data.shape), data.dtype.name)


# Files


def test_a_file_is_written_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "one.json"
    write_file(file, "first\n")
    write_file(file, "é\n")
    assert file.read_bytes() == "é\n".encode()
    monkeypatch.setattr(Path, "replace", Mock(side_effect=KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        write_file(file, "third\n")
    assert [each.name for each in tmp_path.iterdir()] == ["one.json"]
    assert file.read_text(encoding="utf-8") == "é\n"


def test_the_text_of_a_file() -> None:
    graph = {"inputs": {"x": tensor([1, 2], [2])}, "operators": [RELU], "expectedOutputs": {"y": tensor([1, 2], [2])}}
    text = encode_file("here", "2024-06", [{"name": "\ud800 é", "tolerance": ulp(0), "graph": graph}])
    assert json.loads(text)["tests"][0] == {"name": "\ud800 é", "tolerance": ulp(0), "graph": graph}
    assert '     "x": {"data": [1, 2], "descriptor": {"shape": [2], "dataType": "float32"}}\n' in text
    assert text.count("\n") == 21
    assert text.isascii()
    assert json.loads(encode_file("here", "2024-06", [])) == {"source": "here", "level": "2024-06", "tests": []}


# Which tests


def test_the_variant(tmp_path: Path) -> None:
    variants = "// META: variant=?{}\n// META: variant=?{}\n"
    tests = {"both": variants.format("gpu", "cpu"), "other": variants.format("npu", "gpu"), "none": "// META: title=none\n"}
    checkout = Checkout(conformance_checkout(tmp_path, tests))
    folder = "webnn/conformance_tests"
    names = [f"{folder}/both.https.any.js?cpu", f"{folder}/none.https.any.js", f"{folder}/other.https.any.js?npu"]
    assert [test.name for test in choose_tests(checkout)] == names
    assert [test.name for test in choose_tests(checkout, ["both"], "gpu")] == [f"{folder}/both.https.any.js?gpu"]
    with pytest.raises(CheckoutError, match="has the variant"):
        choose_tests(checkout, [], "tpu")


def test_two_tests_for_one_file(tmp_path: Path) -> None:
    checkout = Checkout(conformance_checkout(tmp_path, {"relu": "", "more/relu": "", "neg": ""}))
    with pytest.raises(CheckoutError, match=r"would both be recorded in relu\.json"):
        choose_tests(checkout)
    assert len(choose_tests(checkout, ["neg", "more/relu"])) == 2


def test_only_conformance_tests(tmp_path: Path) -> None:
    root = conformance_checkout(tmp_path, {"relu": "", "../validation_tests/relu": "", "../validation_tests/neg": ""})
    checkout = Checkout(root)
    assert [test.file.path for test in choose_tests(checkout, ["relu"])] == ["webnn/conformance_tests/relu.https.any.js"]
    with pytest.raises(CheckoutError, match=r"no conformance test of .* matches 'neg'"):
        choose_tests(checkout, ["relu", "neg"])
    (root / "webnn" / "conformance_tests" / "relu.https.any.js").unlink()
    with pytest.raises(CheckoutError, match="has no conformance tests"):
        choose_tests(checkout)
