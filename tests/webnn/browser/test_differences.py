"""Differences between two hosts: a second realm with a planted fault takes the browser's place."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import webnn
from tests.webnn.browser.support import watch_program
from tests.webnn.browser.test_watch import GRAPH
from webnn.browser.differences import Difference, Kind, find_differences, show
from webnn.browser.opinion import Opinion
from webnn.browser.watch import Log, WatchedCall

READ = f"{GRAPH} console.log('read', new Float32Array(await context.readTensor(output))[1].toFixed(2));"
CHECK = """
  const c = await navigator.ml.createContext(), b = new MLGraphBuilder(c), d = {dataType: 'float32', shape: [2, 3]};
  const x = b.input('x', d);
  try { b.relu(x); console.log('accepted'); } catch (e) { console.log('refused'); }
  const y = b.transpose(x);
  console.log(y.shape, b.sigmoid(y).dataType);
"""
#: Makes another function of a member.
REPLACE = """
  const replace = (owner, name, make) => {
    const {value, ...rest} = Object.getOwnPropertyDescriptor(owner.prototype, name);
    Object.defineProperty(owner.prototype, name, {...rest, value: make(value)});
  };
"""
REFUSE = f"{REPLACE} replace(MLGraphBuilder, 'relu', () => function relu() {{ throw new TypeError('there is no relu'); }});"
CALLS = [
    (CHECK, "", []),
    (CHECK, REFUSE, [(Kind.verdict, "accepted", "TypeError: there is no relu"), (Kind.console, "accepted", "refused")]),
    (
        "const b = new MLGraphBuilder(await navigator.ml.createContext()); try { b.relu(1); } catch {}",
        REFUSE.replace("TypeError", "RangeError"),
        [(Kind.error, "TypeError: relu", "RangeError: there is no relu")],
    ),
    (
        CHECK,
        f"{REPLACE} replace(MLGraphBuilder, 'transpose', f => function (x) {{ return f.call(this, x, {{permutation: [0, 1]}}); }});",
        [(Kind.shape, "[3, 2]", "[2, 3]"), (Kind.value, "[3, 2]", "[2, 3]"), (Kind.shape, "[3, 2]", "[2, 3]"), (Kind.console, "", "")],
    ),
    (
        CHECK,
        f"{REPLACE} replace(MLGraphBuilder, 'sigmoid', value => function (x) {{ return value.call(this, this.cast(x, 'float16')); }});",
        [
            (Kind.type, "'float32'", "'float16'"),
            (Kind.calls, "no such call", "accepted"),
            (Kind.value, "'float32'", "'float16'"),
            (Kind.console, "", ""),
        ],
    ),
    (
        "const c = await navigator.ml.createContext(); if (globalThis.more) c.opSupportLimits(); c.destroy();",
        "globalThis.more = true;",
        [(Kind.calls, "no such call", "accepted")],
    ),
]


def found(differences: list[Difference]) -> list[tuple[Kind, str, str]]:
    return [(each.kind, each.emulator, each.browser) for each in differences]


@pytest.mark.parametrize(("program", "fault", "expected"), CALLS)
def test_calls(program: str, fault: str, expected: list[tuple[Kind, str, str]]) -> None:
    differences = find_differences(watch_program(program)[0], watch_program(program, fault=fault)[0])
    assert [each.kind for each in differences] == [kind for kind, _, _ in expected]
    for difference, (_, emulator, browser) in zip(differences, expected, strict=True):
        assert emulator in difference.emulator
        assert browser in difference.browser
        assert difference.counts


def moved(by: float) -> str:
    return f"""{REPLACE} replace(MLContext, 'readTensor', value => async function (...values) {{
      const buffer = await value.apply(this, values), numbers = new Float32Array(buffer);
      numbers[1] += {by};
      return buffer;
    }});"""


NUMBERS = [
    (0.0, None, ""),
    (2e-7, False, "1 of 2 elements differ, at most 3 ULP (element 1); sigmoid: both are right"),
    (0.25, True, "sigmoid: the browser is wrong: "),
    (float("nan"), True, "at most inf ULP (element 1); sigmoid: the browser is wrong: "),
]


@pytest.mark.parametrize(("by", "counts", "remark"), NUMBERS)
def test_numbers_have_a_third_opinion(by: float, counts: bool | None, remark: str) -> None:
    log, witness = watch_program(READ)
    other, _ = watch_program(READ, fault=moved(by).replace("nan", "NaN"))
    differences = find_differences(log, other, Opinion(log, witness))
    assert [each.kind for each in differences if each.kind is not Kind.console] == ([] if counts is None else [Kind.numbers])
    if counts is not None:
        assert differences[0].counts is counts
        assert remark in differences[0].remark
        assert "call 10, MLContext.readTensor(MLTensor@7)" in differences[0].place
    # The console shows what was computed: it follows from the numbers.
    assert not any(each.counts for each in differences if each.kind is Kind.console)


def test_the_emulator_may_be_wrong() -> None:
    log, witness = watch_program(READ, fault=moved(0.5))
    other, _ = watch_program(READ)
    (difference, _) = find_differences(log, other, Opinion(log, witness))
    assert "the emulator is wrong: " in difference.remark
    third, _ = watch_program(READ, fault=moved(0.25))
    (difference, _) = find_differences(log, third, Opinion(log, witness))
    assert "neither is right: " in difference.remark


CLAMPED = READ.replace("sigmoid(x)", "sign(builder.clamp(x, {minValue: NaN}))")


@pytest.mark.parametrize(
    ("ours", "theirs", "remark"),
    [
        ({}, {"clampNaN": "ignore"}, "; the browser's is right with semantics.clampNaN='ignore'"),
        ({"clampNaN": "ignore"}, {}, "; the browser's is right with semantics.clampNaN='nan'"),
        ({}, {"clampNaN": "maxValue", "signNaN": "nan"}, "; the browser's is right with semantics.clampNaN='maxValue'"),
    ],
)
def test_a_switch_explains_numbers(ours: Any, theirs: Any, remark: str) -> None:
    assert CLAMPED != READ
    with webnn.emulate(semantics=ours):
        log, witness = watch_program(CLAMPED)
    with webnn.emulate(semantics=theirs):
        other, _ = watch_program(CLAMPED)
    (difference, *_) = find_differences(log, other, Opinion(log, witness))
    assert difference.kind is Kind.numbers
    assert difference.counts
    assert difference.remark.endswith(remark)


def log_of(*members: str) -> Log:
    return Log(host="", calls=[WatchedCall(number=number, member=each, self="", arguments=[]) for number, each in enumerate(members, 1)])


ORDERS = [
    ("abc", "abc", []),
    ("abcd", "abd", [("call 3, c()", "not done", "no such call", "")]),
    ("ab", "abxyz", [("call 3, x()", "no such call", "not done", "and the next 2 calls")]),
    ("axb", "ayb", [("call 2, x()", "not done", "no such call", ""), ("call 2, y()", "no such call", "not done", "")]),
    ("", "a", [("call 1, a()", "no such call", "not done", "")]),
]


@pytest.mark.parametrize(("ours", "theirs", "expected"), ORDERS)
def test_calls_are_aligned(ours: str, theirs: str, expected: list[Any]) -> None:
    differences = find_differences(log_of(*ours), log_of(*theirs))
    assert [(each.place, each.emulator, each.browser, each.remark) for each in differences] == expected


def test_long_logs_are_not_searched() -> None:
    first, second = log_of(*["a"] * 3000), log_of("b", *["a"] * 2999)
    assert [each.remark for each in find_differences(first, second)] == ["and the next 2999 calls"] * 2
    assert find_differences(first, log_of(*["a"] * 3000)) == []


def test_without_an_opinion_numbers_count() -> None:
    log, _ = watch_program(READ)
    other, _ = watch_program(READ, fault=moved(2e-7))
    (difference,) = find_differences(log, other)
    assert difference.counts
    assert difference.remark == "1 of 2 elements differ, at most 3 ULP (element 1)"
    # Too large to be kept: only the digests are compared.
    small, _ = watch_program(READ, largest=4)
    (difference,) = find_differences(small, watch_program(READ, fault=moved(2e-7), largest=4)[0])
    assert difference.remark == "too large to be compared"


def test_zeros_and_nan_of_other_bits_are_equal() -> None:
    def log(numbers: list[float]) -> Log:
        content = {"kind": "ArrayBuffer", "bytes": 8, "digest": hash(repr(numbers)), "data": np.array(numbers, np.float32).tobytes().hex()}
        tensor = {"object": "MLTensor@1", "dataType": "float32", "shape": [2]}
        read = WatchedCall(number=1, member="MLContext.readTensor", self="MLContext@1", arguments=[tensor], ended=True, value=content)
        return Log(host="", calls=[read])

    (difference,) = find_differences(log([0.0, float("nan")]), log([-0.0, -float("nan")]))
    assert not difference.counts
    assert difference.remark.startswith("0 of 2 elements differ, at most 0 ULP")


def test_the_end_and_what_was_not_caught() -> None:
    log, _ = watch_program(CHECK)
    other = copy.deepcopy(log)
    other.end = "the page ended: Target crashed"
    other.uncaught = [("RangeError", "too long")]
    other.calls[-1].ended = False
    assert found(find_differences(log, other)) == [
        (Kind.verdict, "accepted", "not done"),
        (Kind.error, "none", "RangeError: too long"),
        (Kind.end, "done", "the page ended: Target crashed"),
    ]


SHOWN: list[tuple[Any, str]] = [
    ([1, None, {"undefined": True}], "[1, null, undefined]"),
    ({"members": {"a": {"number": "NaN"}, "b": "c"}}, "{a: NaN, b: 'c'}"),
    ({"kind": "Float32Array", "bytes": 8, "digest": 1}, "Float32Array of 8 bytes"),
    ({"kind": "DataView", "detached": True}, "detached DataView"),
    ({"object": "MLOperand@1", "shape": []}, "MLOperand@1"),
    (True, "true"),
    ("x" * 200, f"'{'x' * 156}..."),
]


@pytest.mark.parametrize(("value", "text"), SHOWN)
def test_how_values_are_shown(value: Any, text: str) -> None:
    assert show(value) == text
