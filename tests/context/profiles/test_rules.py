"""Rules of a profile: those that only `build()` checks, and those of calls."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import webnn
from tests.support import NEWEST
from webnn import MLGraphBuilder, MLOperand
from webnn.context.profiles import Profile, ProfileError, Violation, load_profile

Make = Callable[[MLGraphBuilder], MLOperand]

FLOATS = {"dataTypes": ["float32", "float16"]}
RULES: dict[str, list[dict[str, Any]]] = {
    "gatherElements": [{"must": {"indices": {"constant": True}}}],
    "relu": [{"must": {"input": {"constant": False}}}],
    "pad": [{"must": {"mode": {"oneOf": ["constant", "reflection"]}}, "when": {"input": {"rankRange": {"min": 1, "max": 8}}}}],
    "averagePool2d": [{"must": {"dilations": {"equals": [1, 1]}}}],
    "l2Pool2d": [{"must": {"dilated": {"equals": False}}}],
    "concat": [
        {"must": {"inputs": {"dataTypes": ["float32", "int32"]}}, "error": "UnknownError"},
        {"must": {"inputs": {"rankRange": {"min": 1, "max": 2}}}, "when": {"inputs": {**FLOATS, "size": {"min": 2}}}},
    ],
    "reduceSum": [{"must": {"axes": {"size": {"min": 0, "max": 1}}}, "error": "TypeError"}],
    "conv2d": [{"must": {"bias": {"constant": True}}, "error": "OperationError"}],
    "convTranspose2d": [{"must": {"autoPad": {"oneOf": ["none", "same-upper"]}}}],
    "constant": [{"must": {"constant": {"maxByteLength": 64}}}],
    "prelu": [{"must": {"broadcast": {"equals": "slope"}}, "at": "call", "error": "TypeError", "change": "expand it"}],
    "triangular": [{"must": {"farDiagonal": {"equals": False}}}],
    "slice": [
        {"must": {"longStrides": {"equals": False}}, "at": "call", "error": "TypeError"},
        {"must": {"input": {"rankRange": {"min": 1, "max": 2}}}},
    ],
}


def given(name: str, *shape: int, dataType: Any = "float32") -> Callable[[MLGraphBuilder], MLOperand]:
    return lambda builder: builder.input(name, dataType=dataType, shape=shape)


def known(*shape: int, dataType: Any = "float32") -> Callable[[MLGraphBuilder], MLOperand]:
    return lambda builder: builder.constant({"dataType": dataType, "shape": shape}, np.zeros(shape, dataType))


def call(operation: str, *operands: Any, **options: Any) -> Make:
    """Return a call of an operation; functions among its arguments and options make operands."""

    def make(value: Any, builder: MLGraphBuilder) -> Any:
        if isinstance(value, list):
            return [make(each, builder) for each in value]
        return value(builder) if callable(value) else value

    def run(builder: MLGraphBuilder) -> MLOperand:
        arguments = [make(each, builder) for each in operands]
        result: MLOperand = getattr(builder, operation)(*arguments, **{name: make(each, builder) for name, each in options.items()})
        return result

    return run


IMAGE, SMALL = given("x", 1, 1, 5, 5), given("x", 1, 1, 3, 3)
#: Calls, the error of `build()`, and what its message says; nothing for those that are built.
CALLS: list[tuple[Make, str, str]] = [
    (
        call("gatherElements", given("x", 3), given("i", 2, dataType="int32"), label="pick"),
        "NotSupportedError",
        '[pick] gatherElements: indices must be a constant on the device profile "mine.json", got an input',
    ),
    (call("gatherElements", given("x", 3), known(2, dataType="int32")), "", ""),
    # A result of constants is not a constant.
    (
        call("gatherElements", given("x", 3), call("cast", known(2), "int32")),
        "NotSupportedError",
        'gatherElements: indices must be a constant on the device profile "mine.json", got a result',
    ),
    (call("relu", known(2)), "NotSupportedError", "relu: input must be no constant"),
    (
        call("pad", given("x", 3), [1], [1], mode="edge"),
        "NotSupportedError",
        "pad: options.mode must be one of ['constant', 'reflection'] on the device profile \"mine.json\", where input has 1 to 8 "
        "dimensions, got 'edge'",
    ),
    (call("pad", given("x", 3), [1], [1], mode="reflection"), "", ""),
    # The default, and where the condition does not hold.
    (call("pad", given("x", 3), [1], [1]), "", ""),
    (call("pad", given("x"), [], [], mode="edge"), "", ""),
    (
        call("averagePool2d", IMAGE, windowDimensions=[2, 2], dilations=[2, 2]),
        "NotSupportedError",
        "averagePool2d: options.dilations must be [1, 1]",
    ),
    (call("averagePool2d", IMAGE, windowDimensions=[2, 2], dilations=[1, 1]), "", ""),
    (call("averagePool2d", IMAGE, windowDimensions=[2, 2]), "", ""),
    (
        call("concat", [given("a", 2, dataType="int8"), given("b", 2, dataType="int8")], 0),
        "UnknownError",
        "concat: inputs[0] must have a data type of ['float32', 'int32'] on the device profile \"mine.json\", got int8",
    ),
    (
        call("concat", [given("a", 1, 2, 3), given("b", 1, 2, 3)], 0),
        "NotSupportedError",
        'concat: inputs[0] must have 1 to 2 dimensions on the device profile "mine.json", where inputs has a data type of '
        "['float32', 'float16'] and inputs has at least 2 elements, got 3-D [1, 2, 3]",
    ),
    (call("concat", [given("a", 1, 2, 3)], 0), "", ""),
    (call("concat", [given("a", 1, 2, 3, dataType="int32"), given("b", 1, 2, 3, dataType="int32")], 0), "", ""),
    (call("reduceSum", given("x", 2, 3), axes=[0, 1]), "WebNNTypeError", "reduceSum: options.axes must have 0 to 1 elements"),
    (call("reduceSum", given("x", 2, 3), axes=[1]), "", ""),
    (call("reduceSum", given("x", 2, 3)), "", ""),
    (
        call("conv2d", SMALL, known(1, 1, 1, 1), bias=given("bias", 1)),
        "OperationError",
        "conv2d: options.bias must be a constant",
    ),
    (call("conv2d", SMALL, known(1, 1, 1, 1)), "", ""),
    (call("l2Pool2d", IMAGE, windowDimensions=[1, 2], dilations=[1, 2]), "NotSupportedError", "l2Pool2d: dilated must be False"),
    (call("l2Pool2d", IMAGE, windowDimensions=[1, 2], dilations=[2, 1]), "", ""),
    (call("l2Pool2d", IMAGE, padding=[5, 0, 0, 0], dilations=[2, 1]), "NotSupportedError", "l2Pool2d: dilated must be False"),
    (
        call("convTranspose2d", SMALL, known(1, 1, 3, 3), padding=[0, 1, 1, 0]),
        "NotSupportedError",
        "convTranspose2d: autoPad must be one of ['none', 'same-upper']",
    ),
    (call("convTranspose2d", SMALL, known(1, 1, 3, 3), padding=[1, 1, 1, 1]), "", ""),
    (call("convTranspose2d", SMALL, known(1, 1, 2, 3), padding=[0, 0, 0, 1], strides=[2, 2]), "", ""),
    (call("convTranspose2d", given("x", 1, 3, 3, 1), known(1, 3, 3, 1), inputLayout="nhwc", filterLayout="hwoi"), "", ""),
    (call("triangular", given("x", 4, 3), diagonal=2**31 - 4), "NotSupportedError", "triangular: farDiagonal must be False"),
    (call("triangular", given("x", 3, 4), diagonal=2**31 - 4), "NotSupportedError", "triangular: farDiagonal must be False"),
    (call("triangular", given("x", 3, 4), diagonal=2**31 - 5), "", ""),
    (call("triangular", given("x", 3, 4), diagonal=-(2**31)), "", ""),
    (call("add", given("x", 17), known(17)), "NotSupportedError", "constant: constant must have at most 64 bytes"),
    (call("add", given("x", 16), known(16)), "", ""),
]


@pytest.fixture(scope="module")
def profile(tmp_path_factory: pytest.TempPathFactory) -> Profile:
    file = tmp_path_factory.mktemp("profiles") / "mine.json"
    file.write_text(json.dumps({"_extends": "ort", "_build": RULES}), encoding="utf-8")
    return load_profile(file)


def build(profile: Profile, make: Make) -> None:
    context = webnn.ML(revision=NEWEST, profile=profile).createContextSync()
    builder = MLGraphBuilder(context)
    # The call itself is accepted.
    result = make(builder)
    builder.buildSync({"y": result})


@pytest.mark.parametrize(("make", "error", "text"), CALLS, ids=[f"{index}-{error}" for index, (_, error, _) in enumerate(CALLS)])
def test_what_build_refuses(profile: Profile, make: Make, error: str, text: str) -> None:
    if not error:
        build(profile, make)
        return
    with pytest.raises((webnn.DOMException, webnn.WebNNTypeError)) as caught:
        build(profile, make)
    assert type(caught.value).__name__ == error
    assert text in str(caught.value)
    assert isinstance(caught.value, webnn.DOMException | webnn.WebNNTypeError)
    assert str(caught.value).partition(": ")[0].endswith(caught.value.operation)


#: Calls, and what the error of the call itself says; nothing for those that are accepted.
REFUSED: list[tuple[Make, str]] = [
    (
        call("prelu", given("x", 3), given("s", 2, 3), label="p"),
        "[p] prelu: broadcast must be 'slope' on the device profile \"mine.json\", got 'both'",
    ),
    (call("prelu", given("x", 3), given("s", 1, 3)), "prelu: broadcast must be 'slope'"),
    (call("prelu", given("x", 2, 3), given("s", 3)), ""),
    (call("prelu", given("x", 2, 3), given("s", 2, 3)), ""),
    (call("slice", given("x", 5), [1], [4], strides=[5]), "slice: longStrides must be False"),
    (call("slice", given("x", 2, 5), [0, 1], [2, 4], strides=[1, 5]), "slice: longStrides must be False"),
    (call("slice", given("x", 5), [1], [4], strides=[4]), ""),
    (call("slice", given("x", 5), [1], [4]), ""),
    (call("slice", given("x"), [], []), ""),
]


@pytest.mark.parametrize(("make", "text"), REFUSED)
def test_what_a_call_refuses(profile: Profile, make: Make, text: str) -> None:
    builder = MLGraphBuilder(webnn.ML(revision=NEWEST, profile=profile).createContextSync())
    if not text:
        assert isinstance(make(builder), MLOperand)
        return
    with pytest.raises(webnn.WebNNTypeError) as caught:
        make(builder)
    assert str(caught.value).startswith(text)
    # The builder goes on as if there had been no call.
    assert builder._count == 0
    x = builder.input("more", dataType="float32", shape=[1])
    builder.buildSync({"y": builder.relu(x)})


def test_a_draft_without_strides(profile: Profile) -> None:
    builder = MLGraphBuilder(webnn.ML(revision="2024-06", profile=profile).createContextSync())
    x = builder.input("x", dataType="float32", dimensions=[3])
    assert builder.slice(x, [0], [2]).shape() == [2]


def test_an_operation_has_rules_of_both_kinds(profile: Profile) -> None:
    with pytest.raises(webnn.NotSupportedError, match=r"slice: input must have 1 to 2 dimensions"):
        build(profile, call("slice", given("x", 1, 1, 1), [0, 0, 0], [1, 1, 1]))


def test_an_observer_lets_a_call_go_on(profile: Profile) -> None:
    seen: list[Violation] = []
    build(replace(profile, observer=lambda violation: seen.append(violation) is None), REFUSED[0][0])
    assert [(each.operation, each.label, each.argument, each.kind, each.error, each.change) for each in seen] == [
        ("prelu", "p", "broadcast", "rule", "", "expand it")
    ]


def test_a_call_fails_with_a_type_error(tmp_path: Path) -> None:
    rules = [{"must": {"broadcast": {"equals": "slope"}}, "at": at} for at in ("call", "page")]
    (tmp_path / "wrong.json").write_text(json.dumps({"_extends": "ort", "_build": {"prelu": rules}}), encoding="utf-8")
    with pytest.raises(ProfileError) as caught:
        load_profile(tmp_path / "wrong.json")
    assert [*caught.value.problems] == [
        ("_build.prelu[0].at", "must be 'build' where the error is NotSupportedError, got 'call'"),
        ("_build.prelu[1].at", "must be one of 'build' or 'call', got 'page'"),
    ]


def test_the_limits_do_not_say_it(profile: Profile) -> None:
    assert profile.limits() == load_profile("ort").limits()


def test_an_observer_lets_a_build_go_on(profile: Profile) -> None:
    seen: list[Violation] = []
    observed = replace(profile, observer=lambda violation: seen.append(violation) is None)
    build(observed, CALLS[0][0])
    assert [(each.operation, each.label, each.argument, each.kind, each.error) for each in seen] == [
        ("gatherElements", "pick", "indices", "rule", "NotSupportedError")
    ]
    build(observed, CALLS[11][0])
    assert [(each.kind, each.given, each.allowed) for each in seen[1:]] == [("dataType", "int8", ("float32", "int32"))] * 2


def test_a_version_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "one.json").write_text(json.dumps({"_extends": "ort", "_build": RULES}), encoding="utf-8")
    rule = {"must": {"axis": {"equals": 1}}, "change": "transpose it"}
    (tmp_path / "two.json").write_text(json.dumps({"_extends": "one.json", "_build": {"pad": [], "softmax": [rule]}}), encoding="utf-8")
    profile = load_profile(tmp_path / "two.json")
    assert sorted(profile.rules) == sorted({*RULES, "softmax"} - {"pad"})
    assert profile.rules["relu"] == load_profile(tmp_path / "one.json").rules["relu"]
    builder = MLGraphBuilder(webnn.ML(revision=NEWEST, profile=profile).createContextSync())
    with pytest.raises(webnn.NotSupportedError, match=r"^softmax: axis must be 1 on the device profile \"two.json\", got 0$"):
        builder.buildSync({"y": builder.softmax(builder.input("x", dataType="float32", shape=[2, 2]), 0)})


def test_a_promise_is_rejected(profile: Profile) -> None:
    async def run() -> str:
        builder = MLGraphBuilder(await webnn.ML(revision=NEWEST, profile=profile).createContext())
        promise = builder.build({"y": CALLS[0][0](builder)})
        try:
            await promise
        except webnn.NotSupportedError as error:
            return error.name
        return ""

    assert asyncio.run(run()) == "NotSupportedError"
