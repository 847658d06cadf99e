"""The comparison of device profiles."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from webnn.context.profiles import PROFILES, load_profile
from webnn.context.profiles.difference import Difference, compare, describe

RULE = {"must": {"indices": {"constant": True}}}

#: Changes of a profile that extends `ort`, and the printed difference.
CHANGES: list[tuple[dict[str, Any], list[tuple[str, str]]]] = [
    ({"_source": "another", "_extends": "ort"}, []),
    ({"maxTensorByteLength": 16}, [("maxTensorByteLength", "2147483647, now 16")]),
    ({"_devices": {"npu": "gpu"}}, [("devices.npu", "npu, now gpu")]),
    ({"_numerics": "fast"}, [("numerics", "None, now fast")]),
    ({"lstm": None}, [("", "operations: -lstm")]),
    ({"_native": ["add"]}, [("", "native: -everything +add")]),
    ({"input": {"rankRange": {"min": 1, "max": 4}}}, [("input", "0 to 8 dimensions, now 1 to 4")]),
    (
        {"sin": {each: {"dataTypes": ["float32", "int8"], "rankRange": {"min": 0, "max": 4}} for each in ("input", "output")}},
        [("sin.input, output", "-float16 +int8"), ("sin.input, output", "0 to 8 dimensions, now 0 to 4")],
    ),
    ({"_build": {"gatherElements": [RULE]}}, [("gatherElements", "+ indices must be a constant (NotSupportedError)")]),
]


@pytest.mark.parametrize(("said", "lines"), CHANGES, ids=[str(next(iter(said))) for said, _ in CHANGES])
def test_a_difference(tmp_path: Path, said: dict[str, Any], lines: list[tuple[str, str]]) -> None:
    (tmp_path / "mine.json").write_text(json.dumps({"_extends": "ort", **said}), encoding="utf-8")
    mine, ort = load_profile(tmp_path / "mine.json"), load_profile("ort")
    assert list(describe(compare(ort, mine))) == lines
    # The other way round, what is added is removed.
    back = compare(mine, ort)
    assert [(each.path, each.kind, list(each.removed), list(each.added)) for each in compare(ort, mine)] == [
        (each.path, each.kind, list(each.added), list(each.removed)) for each in back
    ]


def test_members_and_messages(tmp_path: Path) -> None:
    for name, members, says in (("one", ["a", "b"], "no"), ("two", ["b", "c"], "not at all"), ("none", None, "no")):
        recorded = {} if members is None else {"_members": {"interfaces": {"MLGraph": members}}}
        said = {"_extends": "ort", **recorded, "_build": {"gather": [{**RULE, "says": says, "change": says}]}}
        (tmp_path / f"{name}.json").write_text(json.dumps(said), encoding="utf-8")
    one, two, none = (load_profile(tmp_path / f"{name}.json") for name in ("one", "two", "none"))
    assert compare(one, two) == [Difference(path="MLGraph", kind="members", removed=["a"], added=["c"])]
    assert list(describe(compare(one, two))) == [("MLGraph", "members: -a +c")]
    assert compare(one, none) == []


@pytest.mark.parametrize("name", PROFILES)
def test_a_profile_is_like_itself(name: str) -> None:
    profile = load_profile(name)
    assert compare(profile, profile) == []
