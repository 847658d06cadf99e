"""The switches of the semantics as data, and how they are given."""

from __future__ import annotations

from typing import Any, get_args, get_type_hints

import pytest

from webnn.builder.semantics import (
    SWITCHES,
    SemanticsOptions,
    check_switch,
    convert_semantics,
    explain,
    find_switches,
    merge_semantics,
    parse_semantics,
    write_semantics,
)
from webnn.context.profiles import PROFILES, load_profile
from webnn.validation.drafts import find_revision


def test_types_are_the_data() -> None:
    hints = get_type_hints(SemanticsOptions)
    assert {name: get_args(hint) for name, hint in hints.items()} == {name: tuple(switch.values) for name, switch in SWITCHES.items()}
    assert list(SWITCHES) == sorted(SWITCHES)


@pytest.mark.parametrize("name", SWITCHES)
def test_every_switch_has_operations_and_sources(name: str) -> None:
    switch = SWITCHES[name]
    assert set(switch.operations) <= find_revision("2026-06").operations.keys()
    assert switch.sources
    assert all(source.name and source.says for source in switch.sources)
    assert len(switch.values) > 1


def test_no_value_of_a_profile_is_without_a_source() -> None:
    """Each backend that has values is named by a source of the switch."""
    words = ("TFLite", "measured", "Core ML", "macOS", "DirectML", "ONNX Runtime")
    given = 0
    for profile in PROFILES:
        for name, value in load_profile(profile).semantics:
            assert not check_switch(name, value)
            texts = " ".join(f"{each.name} {each.says}" for each in SWITCHES[name].sources)
            assert any(word in texts for word in words if word in load_profile(profile).summary), (profile, name)
            given += 1
    assert given > 30


def test_values_of_shipped_profiles() -> None:
    expected = {
        ("tflite-chromium147", "maxPool2dEmptyWindow"): "zero",
        ("tflite-chromium147", "clampNaN"): None,
        ("tflite-chromium153", "maxPool2dEmptyWindow"): "zeroUnlessStrided",
        ("tflite-chromium153", "clampNaN"): "ignore",
        ("coreml", "maxPool2dEmptyWindow"): "infinity",
        ("coreml", "argMinMaxNaN"): None,
        ("coreml-macos14", "clampNaN"): "nan",
        ("coreml-macos14", "maxPool2dEmptyWindow"): "infinity",
        ("dml-fl4_0", "argMinMaxNaN"): "ignore",
        ("ort-openvino", "gatherOutOfRange"): "clamp",
    }
    assert {key: dict(load_profile(key[0]).semantics).get(key[1]) for key in expected} == expected


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (3, TypeError, "here must be a mapping from switches to values, got 3"),
        ({3: "nan"}, TypeError, "here must be a mapping from switches to values, got {3: 'nan'}"),
        ({"clampNan": "nan"}, ValueError, r"here: 'clampNan' must be a switch of the semantics, one of \[.*\] \(perhaps clampNaN\)"),
        ({"x" * 99: "nan"}, ValueError, r"here: 'x{76}\.\.\. must be a switch"),
        ({"clampNaN": "ignored"}, ValueError, r"'clampNaN' must be one of .*, got 'ignored' \(perhaps ignore\)"),
        ({"clampNaN": 3}, ValueError, r"'clampNaN' must be one of \['nan', 'ignore', 'maxValue'\], got 3$"),
        ({"clampNaN": float("nan")}, ValueError, "'clampNaN' must be one of .*, got nan$"),
        ({"clampNaN": None}, ValueError, "'clampNaN' must be one of .*, got None$"),
    ],
)
def test_wrong_values(given: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        convert_semantics(given, "here")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("clampNaN=ignore", (("clampNaN", "ignore"),)),
        (" signNaN = zero , clampNaN=ignore", (("clampNaN", "ignore"), ("signNaN", "zero"))),
        ("clampNaN", "must be switches with values, for example clampNaN=ignore,castNaN=largest, got 'clampNaN'"),
        ("clampNaN=ignore,", "must be switches with values"),
        ("clampNaN=ignore,clampNaN=nan", "'clampNaN' must not be given twice"),
        ("clampNaN=", r"'clampNaN' must be one of .*, got ''$"),
    ],
)
def test_texts(text: str, wanted: Any) -> None:
    if isinstance(wanted, str):
        with pytest.raises(ValueError, match=wanted):
            parse_semantics(text, "X")
    else:
        assert parse_semantics(text, "X") == wanted


def test_layers() -> None:
    profile, own = (("clampNaN", "ignore"), ("signNaN", "nan")), (("clampNaN", "nan"), ("castNaN", "zero"))
    # A default in a later layer resets an earlier one.
    assert merge_semantics(profile, own) == (("signNaN", "nan"),)
    assert merge_semantics(own, profile) == (("clampNaN", "ignore"), ("signNaN", "nan"))
    assert merge_semantics() == ()
    assert write_semantics(profile) == "semantics.clampNaN='ignore' and semantics.signNaN='nan'"
    assert [each.name for each in find_switches(["cast", "relu"])] == ["castNaN", "castOutOfRange"]


@pytest.mark.parametrize(
    ("operations", "given", "wanted", "explanation"),
    [
        (["clamp"], (), {"clampNaN": "ignore"}, "semantics.clampNaN='ignore'"),
        (["clamp"], (("clampNaN", "ignore"),), {}, "semantics.clampNaN='nan'"),
        # Two together, of one operation or of several.
        (
            ["cast"],
            (),
            {"castNaN": "largest", "castOutOfRange": "lowBits"},
            "semantics.castNaN='largest' and semantics.castOutOfRange='lowBits'",
        ),
        (
            ["sign", "div"],
            (),
            {"integerDivByZero": "zeros", "signNaN": "nan"},
            "semantics.integerDivByZero='zeros' and semantics.signNaN='nan'",
        ),
        # Only those that are about the operations, and never two values of one switch.
        (["cast"], (), {"clampNaN": "ignore"}, ""),
        (["relu"], (), {}, ""),
    ],
)
def test_explanations(operations: list[str], given: Any, wanted: dict[str, str], explanation: str) -> None:
    tried: list[Any] = []

    def agrees(semantics: Any) -> bool:
        tried.append(semantics)
        return dict(semantics) == wanted

    assert explain(operations, given, agrees) == explanation
    assert len(set(tried)) == len(tried) <= 21
    assert not given or given not in tried


def test_pairs_are_tried_only_if_there_are_few() -> None:
    tried: list[Any] = []
    every = {operation for switch in SWITCHES.values() for operation in switch.operations}
    assert explain(every, (), lambda semantics: bool(tried.append(semantics))) == ""
    assert len(tried) == sum(len(switch.values) - 1 for switch in SWITCHES.values())
