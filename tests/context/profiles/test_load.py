"""Device profiles: the shipped data, and what a profile says of the operands of a call."""

from __future__ import annotations

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.shared import SHARED
from tests.support import BROWSERS, CURRENT, FIRST, NEWEST, PATIENCE, limits_of
from webnn import ML, GraphDescription, MLGraphBuilder, describe
from webnn.context.placement.assign import simulate
from webnn.context.profiles import ALIASES, PROFILES, Profile, TensorLimits, Violation, load, load_profile, schema
from webnn.context.profiles.profile import operand_names
from webnn.validation.descriptor import DATA_TYPES, MAX_RANK, SMALL_TYPES, DataType, OperandDescriptor
from webnn.validation.device_type import DEVICE_TYPES
from webnn.validation.drafts import find_revision, with_acceptance
from webnn.validation.operation import Call, find_unsupported

FOLDER = Path(__file__).resolve().parents[3] / "context" / "profiles"
each_profile = pytest.mark.parametrize("name", PROFILES)


# The shipped profiles


def test_every_file_is_a_profile() -> None:
    assert sorted(PROFILES) == sorted(file.stem for file in FOLDER.glob("*.json"))
    assert set(ALIASES.values()) <= set(PROFILES)
    assert set(ALIASES).isdisjoint(PROFILES)
    assert all(load_profile(alias) is load_profile(name) for alias, name in ALIASES.items())


#: Where the data of a profile is, if not in `device_limits`.
ELSEWHERE = {"tflite-chromium153": "browser/chromium153_tflite_live.json"}
#: The files that profiles were made from. A profile of somebody else need not have one.
DATA = {file.stem: file for file in sorted((SHARED / "device_limits").glob("*.json"))} | {
    name: SHARED / path for name, path in ELSEWHERE.items()
}


@pytest.mark.shared
@pytest.mark.parametrize("name", DATA)
def test_the_data_is_the_shared_data(name: str) -> None:
    expected = {member: value for member, value in json.loads(DATA[name].read_text(encoding="utf-8")).items() if not member.startswith("_")}
    limits = load_profile(name).limits()
    assert set(limits) == set(expected)
    for member, value in expected.items():
        assert limits[member] == value, member


@pytest.mark.shared
def test_the_shared_data_is_shipped() -> None:
    assert set(DATA) <= set(PROFILES)
    assert len(DATA) >= 13


@each_profile
def test_the_source_is_told(name: str) -> None:
    profile = load_profile(name)
    assert profile.name == name
    assert profile.summary
    assert "\n" not in profile.summary
    assert repr(profile) == f"<Profile {name}: {profile.summary}>"
    # A profile was measured in a browser or on a provider, or transcribed from a file of its source.
    measured = profile.source["certainty"].startswith("measured")
    assert measured or profile.source["certainty"].startswith("transcribed")
    assert ("browser" in profile.source or "provider" in profile.source, "path" in profile.source) == (measured, not measured)


@each_profile
def test_the_order_is_that_of_the_idl(name: str) -> None:
    dictionaries = find_revision(CURRENT).idl()["dictionaries"]
    limits = load_profile(name).limits()
    members = dictionaries["MLOpSupportLimits"]["members"]
    assert list(limits) == [member["name"] for member in members if member["name"] in limits]
    for member in members:
        if isinstance(limits.get(member["name"]), dict):
            rows = dictionaries[str(member["type"])]["members"]
            assert list(limits[member["name"]]) == [row["name"] for row in rows]


@each_profile
def test_a_device_takes_nothing_that_the_draft_refuses(name: str) -> None:
    profile = load_profile(name)
    every = DATA_TYPES + SMALL_TYPES
    for limits in (profile.input, profile.constant, profile.output):
        assert set(limits.data_types) <= set(every)
    wider = set()
    draft = limits_of(BROWSERS).operations
    assert profile.operations.keys() <= draft.keys()
    for operation, rows in profile.operations.items():
        assert rows.keys() == draft[operation].keys()
        for row, limits in rows.items():
            allowed = draft[operation][row]
            assert limits.data_types, (operation, row)
            assert set(limits.data_types) <= set(allowed.data_types), (operation, row)
            low, high = allowed.ranks
            if limits.ranks[0] < low or limits.ranks[1] > (MAX_RANK if high is None else high):
                wider.add((operation, row))
    # The draft's steps come first: a scalar is refused in the one, and made by the other.
    assert wider <= {("scatterElements", "indices"), ("gather", "output")}


#: The number of rows that differ between two versions of a backend.
DIFFERENCES = {
    ("coreml", "coreml-macos14"): 2,
    ("ort", "ort-openvino"): 2,
    ("dml", "dml-fl4_0"): 101,
    ("dml", "dml-fl4_1"): 57,
    ("dml", "dml-fl5_0"): 30,
    ("dml", "dml-fl5_1"): 14,
    ("dml", "dml-fl6_0"): 7,
    ("dml-fl6_0", "dml-fl6_2"): 0,
    ("tflite-chromium147", "tflite-chromium153"): 43,
}


def rows_of(profile: Profile) -> dict[tuple[str, str], TensorLimits]:
    own = {(member, ""): getattr(profile, member) for member in ("input", "constant", "output")}
    return own | {(operation, row): limits for operation, rows in profile.operations.items() for row, limits in rows.items()}


@pytest.mark.parametrize(("one", "other"), DIFFERENCES)
def test_what_versions_differ_in(one: str, other: str) -> None:
    first, second = rows_of(load_profile(one)), rows_of(load_profile(other))
    assert first.keys() == second.keys()
    assert sum(first[row] != second[row] for row in first) == DIFFERENCES[one, other]


_OWN = {"cpu": "cpu", "gpu": "gpu", "npu": "npu"}
_NO_NPU = {"cpu": "cpu", "gpu": "gpu", "npu": "gpu"}
_CPU = {"cpu": "cpu", "gpu": "cpu", "npu": "cpu"}
DEVICES = {
    **dict.fromkeys(("coreml", "coreml-macos14", "dml", "ort", "ort-openvino"), _OWN),
    **dict.fromkeys(("dml-fl4_0", "dml-fl4_1", "dml-fl5_0", "dml-fl5_1", "dml-fl6_0", "dml-fl6_2"), _NO_NPU),
    **dict.fromkeys(("tflite-chromium147", "tflite-chromium153"), _CPU),
}


@pytest.mark.parametrize("name", DEVICES)
def test_where_a_request_runs(name: str) -> None:
    assert load_profile(name).devices == DEVICES[name]


@each_profile
def test_every_request_runs_somewhere(name: str) -> None:
    devices = load_profile(name).devices
    assert set(devices) == set(DEVICE_TYPES) >= set(devices.values())


def test_it_is_read_once() -> None:
    assert load_profile("tflite") is load_profile("tflite-chromium153") is load_profile("chromium153-tflite")
    assert load_profile("chromium147-tflite") is load_profile("tflite-chromium147")
    assert load_profile("dml") is not load_profile("dml-fl4_0")


def test_threads_get_the_same_object(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if all of them ask while it is being read."""

    def slow(*arguments: Any) -> Profile:
        time.sleep(0.02)
        return resolve(*arguments)

    resolve = schema.resolve
    monkeypatch.setattr(schema, "resolve", slow)
    monkeypatch.setattr(load, "_shipped", cache(load._shipped.__wrapped__))
    together = threading.Barrier(4)

    def ask(_: int) -> Profile:
        together.wait(PATIENCE)
        return load_profile("ort")

    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(ask, range(4)))) == 1


def test_the_limits_are_new_each_time() -> None:
    profile = load_profile("coreml")
    before = profile.limits()
    changed = profile.limits()
    changed["add"]["a"]["dataTypes"].clear()
    changed["add"]["b"]["rankRange"]["max"] = 99
    del changed["conv2d"]
    assert profile.limits() == before
    with pytest.raises(TypeError):
        profile.operations["add"] = {}  # type: ignore[index]
    with pytest.raises(TypeError):
        profile.operations["add"]["a"] = profile.input  # type: ignore[index]


def test_every_operand_of_an_operation_has_a_row() -> None:
    renamed = {("where", "input"): "trueValue", ("where", "other"): "falseValue"}
    for table in (FIRST.operations, NEWEST.operations):
        for name, operation in table.items():
            rows = [renamed.get((name, row), row) for row in (*operation.operands, *operation.members)]
            assert set(rows) <= set(operand_names()[name]), name


# Violations of a call


def descriptor(dataType: Any, *shape: int) -> OperandDescriptor:
    return OperandDescriptor(dataType, shape)


def test_a_call_that_fits() -> None:
    operands = [("a", "a", descriptor("float32", 2)), ("b", "b", descriptor("float32", 2))]
    assert list(load_profile("coreml").check("add", "", operands, [descriptor("float32", 2)])) == []


def test_every_violation_is_found() -> None:
    operands = [("a", "a", descriptor("int64", 1, 1, 1, 1, 1, 1)), ("b", "b", descriptor("float32", 2))]
    coreml = load_profile("coreml")
    found = list(coreml.check("add", "sum", operands, [descriptor("int64", 2)]))
    types = ("float32", "float16", "int32")
    assert found == [
        Violation("add", "a", "dataType", "int64", types, "coreml", "sum"),
        Violation("add", "a", "rank", "6-D [1, 1, 1, 1, 1, 1]", (0, 5), "coreml", "sum"),
        Violation("add", "output", "dataType", "int64", types, "coreml", "sum"),
    ]
    (chosen,) = coreml.check("add", "", operands[1:], [descriptor("int64", 2)], "dataType")
    assert chosen.argument == "dataType"
    assert chosen.requirement == "must be one of ['float32', 'float16', 'int32'] on the device profile \"coreml\""


def test_a_violation_is_found_once() -> None:
    """The zero point says what type the output has: it is at fault for both."""
    x, scale, zeroPoint = descriptor("float32", 2), descriptor("float32", 2), descriptor("int4", 2)
    operands = [("input", "input", x), ("scale", "scale", scale), ("zeroPoint", "zeroPoint", zeroPoint)]
    tflite = load_profile("tflite")
    (violation,) = tflite.check("quantizeLinear", "", operands, [zeroPoint], "zeroPoint")
    assert (violation.argument, violation.kind, violation.given) == ("zeroPoint", "dataType", "int4")
    # Where the device takes the zero point and not the output, it is told as well, and what it allows.
    rows = {**tflite.operations["quantizeLinear"], "output": TensorLimits(("int8",), (0, 5))}
    narrow = replace(tflite, operations={"quantizeLinear": rows})
    found = narrow.check("quantizeLinear", "", operands, [zeroPoint], "zeroPoint")
    assert [(each.argument, each.allowed) for each in found] == [("zeroPoint", ("int32", "int8", "uint8")), ("zeroPoint", ("int8",))]


def limited(*types: Any, ranks: tuple[int, int] = (0, 5)) -> Profile:
    """Return a profile whose limits are these, for relu."""
    limits = TensorLimits(types, ranks)
    return replace(load_profile("coreml"), name="mine", operations={"relu": {"input": limits, "output": limits}}, input=limits)


REQUIREMENTS = [
    (limited("int32"), "must have a data type of ['int32'] on the device profile \"mine\""),
    (limited(), 'must not be given on the device profile "mine", which takes no data type here'),
    (limited("float32", ranks=(0, 1)), 'must have at most 1 dimension on the device profile "mine"'),
    (limited("float32", ranks=(0, 0)), 'must be 0-D on the device profile "mine"'),
    (limited("float32", ranks=(3, 5)), 'must have 3 to 5 dimensions on the device profile "mine"'),
    (limited("float32", ranks=(4, 4)), 'must be 4-D on the device profile "mine"'),
    (limited("float32", ranks=(3, 8)), 'must have at least 3 dimensions on the device profile "mine"'),
]


@pytest.mark.parametrize(("profile", "text"), REQUIREMENTS, ids=[text for _, text in REQUIREMENTS])
def test_what_must_hold(profile: Profile, text: str) -> None:
    given = descriptor("float32", 2, 3)
    assert [each.requirement for each in profile.check("relu", "", [("input", "input", given)], [])] == [text]
    seen: list[Violation] = []
    observed = replace(profile, observer=lambda violation: seen.append(violation) is None)
    observed.accept_tensor(Call("input", "", FIRST), "input", "descriptor", given, "x")
    (violation,) = seen
    assert (violation.requirement, violation.operation, violation.argument, violation.label) == (text, "input", "descriptor", "x")


def test_an_operation_that_is_not_there() -> None:
    (violation,) = limited("float32").check("tanh", "t", [("input", "input", descriptor("float32"))], [descriptor("float32")])
    assert violation == Violation("tanh", "", "operation", profile="mine", label="t")
    assert violation.requirement == 'the device profile "mine" does not have it'


@pytest.mark.parametrize(
    ("operation", "types", "names"),
    [
        ("relu", ["int8"], ["output"]),
        ("split", ["float32", "int8", "int8"], ["outputs[1]", "outputs[2]"]),
        ("lstm", ["int8", "float32", "int8"], ["outputs[0]", "outputs[2]"]),
        ("gru", ["int8"], ["outputs[0]"]),
    ],
)
def test_the_names_of_outputs(operation: str, types: list[str], names: list[str]) -> None:
    outputs = [descriptor(each, 2, 2, 2) for each in types]
    found = list(load_profile("coreml").check(operation, "", [], outputs))
    assert [each.argument for each in found if each.kind == "dataType"] == names


def test_the_smallest_rank_of_an_output_is_no_limit() -> None:
    coreml = load_profile("coreml")
    assert coreml.operations["gatherND"]["output"].ranks == (1, 5)
    assert list(coreml.check("gatherND", "", [], [descriptor("float32")])) == []
    (violation,) = coreml.check("gatherND", "", [], [descriptor("float32", *[1] * 6)])
    assert violation.requirement == 'must have at most 5 dimensions on the device profile "coreml"'


def test_the_names_of_june_2024() -> None:
    mask, value = descriptor("uint8", 2), descriptor("uint32", 2)
    operands = [("condition", "condition", mask), ("input", "input", value), ("other", "other", value)]
    found = load_profile("ort").check("where", "", operands, [value])
    assert [(each.argument, each.kind) for each in found] == [("input", "dataType"), ("other", "dataType"), ("output", "dataType")]


# Calls that a device runs itself


def profile_of(folder: Path, data: object) -> Profile:
    file = folder / "mine.json"
    file.write_text(json.dumps(data), encoding="utf-8")
    return load_profile(file)


NATIVE = {
    "_extends": "ort",
    "_native": {
        "add": {"a": {"dataTypes": ["float32", "float16"]}, "output": {"rankRange": {"min": 1, "max": 4}}},
        "relu": {"input": {"rankRange": {"min": 4, "max": 4}}},
        "tanh": {"input": {"rankRange": {"min": 0, "max": 1}}},
        "split": {"outputs": {"rankRange": {"min": 2, "max": 8}}},
        "where": {"trueValue": {"dataTypes": []}},
        "sigmoid": {},
    },
}
REASONS: list[tuple[str, list[str], OperandDescriptor, str]] = [
    ("add", ["a", "b"], descriptor("float32", 2), ""),
    ("add", ["a", "b"], descriptor("int32", 2), "native only for a data type of ['float32', 'float16'] in a, got int32"),
    ("add", ["a", "b"], descriptor("float16"), "native only with 1 to 4 dimensions in output, got 0-D []"),
    ("relu", ["input"], descriptor("float32", 2), "native only with 4 dimensions in input, got 1-D [2]"),
    ("tanh", ["input"], descriptor("float32", 2, 2), "native only with at most 1 dimension in input, got 2-D [2, 2]"),
    ("split", ["input"], descriptor("float32", 2), "native only with at least 2 dimensions in outputs[0], got 1-D [2]"),
    ("where", ["input"], descriptor("float32"), "native only for a data type of [] in input, got float32"),
    ("sigmoid", ["input"], descriptor("float32"), ""),
    ("softmax", ["input"], descriptor("float32", 2, 2), "not in the profile's native operations"),
]


@pytest.mark.parametrize(("operation", "rows", "given", "reason"), REASONS)
def test_why_an_operation_falls_back(tmp_path: Path, operation: str, rows: list[str], given: OperandDescriptor, reason: str) -> None:
    operands = [(row, row, given) for row in rows]
    profile = profile_of(tmp_path, NATIVE)
    assert profile.fallback_reason(operation, operands, [given]) == reason
    assert load_profile("ort").fallback_reason(operation, operands, [given]) == ""


def test_a_list_of_native_operations(tmp_path: Path) -> None:
    profile = profile_of(tmp_path, {"_extends": "ort", "_native": ["add"]})
    given = descriptor("uint64", 2)
    assert profile.fallback_reason("add", [("a", "a", given)], [given]) == ""
    assert profile.fallback_reason("sub", [("a", "a", given)], [given]) == "not in the profile's native operations"
    nothing = profile_of(tmp_path, {"_extends": "ort", "_native": []})
    assert nothing.fallback_reason("add", [("a", "a", given)], [given]) == "not in the profile's native operations"


def pads(mode: str, dataType: DataType = "float32") -> GraphDescription:
    builder = MLGraphBuilder(ML(revision="2026-06").createContextSync())
    x = builder.input("x", dataType=dataType, shape=[2, 3])
    return describe({"y": builder.pad(x, [0, 1], [1, 0], mode=mode)})


RULES: list[tuple[dict[str, Any], GraphDescription, str]] = [
    (
        {},
        pads("edge"),
        "native only if options.mode is one of ['constant', 'reflection'], where input has a data type of ['float32'], got 'edge'",
    ),
    ({}, pads("reflection"), ""),
    ({}, pads("constant"), ""),
    ({}, pads("edge", "int32"), ""),
    ({}, pads("constant", "int8"), "native only for a data type of ['float32', 'float16', 'int32'] in input, got int8"),
    ({"_lacks": ["float32", "uint8"]}, pads("constant"), "native only for a data type of"),
    ({"_lacks": ["uint8"]}, pads("constant"), ""),
    ({"_native": ["add"]}, pads("constant"), "not in the profile's native operations"),
    ({"_nativeRules": {"pad": []}}, pads("edge"), ""),
]


@pytest.mark.parametrize(("said", "graph", "reason"), RULES)
def test_rules_of_native_operations(tmp_path: Path, said: dict[str, Any], graph: GraphDescription, reason: str) -> None:
    rules = {
        "pad": [
            {"must": {"input": {"dataTypes": ["float32", "float16", "int32"]}}},
            {"must": {"mode": {"oneOf": ["constant", "reflection"]}}, "when": {"input": {"dataTypes": ["float32"]}}},
        ]
    }
    profile_of(tmp_path, {"_extends": "ort", "_native": ["pad"], "_nativeRules": rules})
    (tmp_path / "next.json").write_text(json.dumps({"_extends": "mine.json", **said}), encoding="utf-8")
    [operator] = simulate(graph, load_profile(tmp_path / "next.json"), "gpu").operators
    assert operator.reason.startswith(reason)
    assert operator.device == ("cpu" if reason else "gpu")


# A revision with a profile


@pytest.mark.parametrize(("revision", "name"), [("2024-06", "2024-06"), (CURRENT, BROWSERS), (BROWSERS, BROWSERS)])
def test_a_revision_with_a_profile(revision: str, name: str) -> None:
    profile = load_profile("dml")
    made = with_acceptance(find_revision(revision), profile)
    assert (made.name, made.acceptance, made.max_byte_length) == (name, profile, 2**32 - 1)
    assert replace(made, acceptance=None, max_byte_length=2**31 - 1) == find_revision(name)
    assert find_revision(revision).acceptance is None


def test_the_size_of_an_operand() -> None:
    large = descriptor("uint8", 2**31)
    assert find_unsupported(find_revision(CURRENT), descriptor("uint8", 2, 2**30)).startswith("must have at most 2147483647 bytes, got ")
    current = FIRST
    assert find_unsupported(with_acceptance(current, load_profile("dml")), large) == ""
    reason = find_unsupported(with_acceptance(current, load_profile("ort")), large)
    assert reason.startswith('must have at most 2147483647 bytes on the device profile "ort", got uint8 [2147483648]')


@pytest.mark.parametrize(
    ("name", "requested", "device", "reason"),
    [
        ("coreml", "npu", "npu", ""),
        ("dml", "gpu", "gpu", ""),
        ("dml-fl4_0", "npu", "gpu", 'the device profile "dml-fl4_0" runs npu contexts on the gpu'),
        ("tflite", "gpu", "cpu", 'the device profile "tflite-chromium153" runs gpu contexts on the cpu'),
    ],
)
def test_the_device_of_a_request(name: str, requested: str, device: str, reason: str) -> None:
    assert load_profile(name).device_for(requested) == (device, reason)
