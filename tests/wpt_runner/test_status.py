"""The implementation status in the form of the working group: what is measured, and what is kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from webnn.validation.drafts import DRAFTS, find_revision
from webnn.wpt_runner.scores import Run, Score
from webnn.wpt_runner.status import check_backend, make_status, read_status, write_status


def run(**scores: tuple[int, int]) -> Run:
    return Run(name="x", scores={f"/webnn/conformance_tests/{name}.https.any.html?cpu": Score(*each) for name, each in scores.items()})


def entry(op: str, wpt: str, **more: Any) -> dict[str, Any]:
    """Return an entry as the group writes it: https://webmachinelearning.github.io/assets/json/webnn_status.json."""
    return {
        "op": op,
        "op_id": "unary",
        "version": "",
        "wpt": wpt,
        "wpt_progress": 4,
        "tflite_op": ["ONE", "TWO"],
        "tflite_progress": 4,
        "tflite_chromium_version_added": "M126",
        **more,
        "notes": "by hand",
    }


BASE = {
    "impl_status": [
        entry("relu", "relu"),
        entry("reduction / reduceL1", "reduction"),
        entry("pooling / maxPool2d", "pooling", tflite_progress=3),
        entry("element-wise logical / not", "logical_not", tflite_progress=2),
        entry("softmax", "softmax"),
        entry("element-wise unary / abs", "abs"),
    ]
}


def test_marks_are_measured_and_the_rest_is_kept() -> None:
    measured = run(relu=(3, 5), reduce_l1=(0, 4), pooling=(7, 7), logical_not=(1, 1), softmax=(2, 2))
    content, found = make_status({"tflite": measured}, BASE)
    entries = content["impl_status"]
    assert [each["tflite_progress"] for each in entries] == [3, 0, 4, 4, 4, 4]
    assert [each["wpt"] for each in entries] == ["relu", "reduce_l1", "pooling", "logical_not", "softmax", "abs"]
    for before, after in zip(BASE["impl_status"], entries, strict=True):
        assert list(before) == list(after)
        changed = {name for name in before if before[name] != after[name]}
        assert changed <= {"tflite_progress", "wpt"}
    assert [(each.operation, each.scores[0], each.before[0], each.after[0]) for each in found[:2]] == [
        ("relu", (3, 5), 4, 3),
        ("reduction / reduceL1", (0, 4), 4, 0),
    ]
    # There is no test of it: its mark stays.
    assert (found[-1].scores, found[-1].before, found[-1].after) == ((None,), (4,), (4,))
    assert BASE["impl_status"][0]["tflite_progress"] == 4


def test_a_backend_that_the_file_lacks() -> None:
    content, found = make_status({"tflite": run(relu=(5, 5)), "webnn": run(relu=(5, 5), abs=(1, 2))}, BASE)
    first = content["impl_status"][0]
    assert list(first)[-4:] == ["webnn_op", "webnn_progress", "webnn_chromium_version_added", "notes"]
    assert (first["webnn_op"], first["webnn_progress"]) == ([""], 4)
    assert found[0].before == (4, None)
    assert [each["webnn_progress"] for each in content["impl_status"]] == [4, 0, 0, 0, 0, 3]


def test_without_a_file_there_are_the_operations_with_tests() -> None:
    content, found = make_status({"webnn": run(relu=(5, 5), conv2d=(1, 1), idlharness=(1, 1))})
    assert [(each["op"], each["op_id"], each["wpt"], each["wpt_progress"]) for each in content["impl_status"]] == [
        ("conv2d", "conv2d", "conv2d", 4),
        ("relu", "relu-method", "relu", 4),
    ]
    assert [each.after for each in found] == [(4,), (4,)]


def test_a_test_file_of_several_operations() -> None:
    """Where the names of the subtests are known, each operation has its own score."""
    test = "/webnn/conformance_tests/pooling.https.any.html"
    shares = {f"{test}?cpu": {"maxPool2d": Score(2, 2), "l2Pool2d": Score(1, 2)}, f"{test}?gpu": {"l2Pool2d": Score(2, 2)}}
    measured = Run(name="x", scores={f"{test}?cpu": Score(3, 4), f"{test}?gpu": Score(2, 2)}, shares=shares)
    content, found = make_status({"tflite": measured}, BASE)
    [entry] = [each for each in content["impl_status"] if each["op"] == "pooling / maxPool2d"]
    assert (entry["wpt"], entry["tflite_progress"]) == ("pooling", 4)
    # The other one, which the file lacks, is added.
    assert (found[-1].operation, found[-1].scores, found[-1].after) == ("l2Pool2d", ((3, 4),), (3,))
    assert content["impl_status"][-1]["wpt"] == "pooling"


def test_tests_of_validation_do_not_count() -> None:
    measured = Run(name="x", scores={"/webnn/validation_tests/relu.https.any.html": Score(0, 9)})
    content, found = make_status({"tflite": measured}, BASE)
    assert content == BASE
    assert all(each.scores == (None,) for each in found)


def test_all_operations_of_the_draft_are_found() -> None:
    """Each name of a test file in snake case leads to its operation."""
    names = list(find_revision(DRAFTS[-1]).operations)
    snake = {"".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name): (1, 1) for name in names}
    content, _ = make_status({"webnn": run(**snake)})
    assert [each["op"] for each in content["impl_status"]] == sorted(names)


def test_the_file_is_read_and_written(tmp_path: Path) -> None:
    path = tmp_path / "status.json"
    path.write_text(write_status(BASE), encoding="utf-8")
    assert read_status(path) == BASE
    for content, message in (
        ([], "is not a webnn_status.json: it must be an object"),
        ({"impl_status": [{"op": 3}]}, r"impl_status\[0\].op must be a string"),
        ({}, "impl_status"),
    ):
        path.write_text(json.dumps(content), encoding="utf-8")
        with pytest.raises(ValueError, match=message):
            read_status(path)


def test_names_of_backends() -> None:
    assert not check_backend("tflite") + check_backend("fw_ort")
    for name in ("TFLite", "", "a b", "3d"):
        assert "must be lower case letters" in check_backend(name)
