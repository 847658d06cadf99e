"""Every operation has a formula and an example, and each example prints what it says."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import each_row
from tools.site import examples as module
from tools.site.examples import examples, onnx_text, run
from webnn.validation.drafts import DRAFTS, find_revision

OPERATIONS = sorted({name for draft in DRAFTS for name in find_revision(draft).operations})


def test_every_operation_has_one() -> None:
    assert sorted(examples()) == OPERATIONS
    assert len(OPERATIONS) > 90


def test_a_family_is_that_of_the_validator() -> None:
    """The files have the names of the other layers."""
    rows = {name: row for draft in DRAFTS for name, row in find_revision(draft).operations.items()}
    validators = {name: getattr(row.infer, "func", row.infer).__module__.rpartition(".")[2] for name, row in rows.items()}
    assert {name: example.family for name, example in examples().items()} == validators


@each_row("operation", OPERATIONS)
def test_it_prints_what_it_says(operation: str) -> None:
    printed, graph, _ = run(operation)
    assert printed == examples()[operation].prints
    assert operation in {each.operation for each in graph.description.operators}


@each_row("operation", OPERATIONS)
def test_it_is_short(operation: str) -> None:
    example = examples()[operation]
    assert 2 <= len(example.code.splitlines()) <= 6
    assert max(map(len, example.code.splitlines())) <= 100


@each_row("operation", ["conv2d", "gru", "softmax"])
def test_its_onnx(operation: str) -> None:
    text = onnx_text(operation)
    assert text.startswith(f"# opset ai.onnx 21\n{operation} (float[")
    assert {"conv2d": "y = Conv <pads", "gru": "= Scan (", "softmax": "y = Softmax <axis"}[operation] in text
    # Without the names of nodes, which are those of their outputs.
    assert "[y]" not in text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param('[relu]\nformula = "y"\nexample = ""\n', "relu must be there once", id="a missing key"),
        pytest.param(
            '[relu]\nformula = "y"\nexample = ""\nprints = ""\nmore = 1\n', "got ['example', 'formula', 'more'", id="an unknown key"
        ),
    ],
)
def test_a_wrong_entry(text: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "unary.toml").write_text(text, encoding="utf-8")
    monkeypatch.setattr(module, "FOLDER", tmp_path)
    examples.cache_clear()
    try:
        with pytest.raises(ValueError, match=r"unary\.toml: relu must be there once") as caught:
            examples()
        assert message in str(caught.value)
    finally:
        examples.cache_clear()


def test_two_entries_of_one_operation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("activation", "unary"):
        (tmp_path / f"{name}.toml").write_text('[relu]\nformula = "y"\nexample = ""\nprints = ""\n', encoding="utf-8")
    monkeypatch.setattr(module, "FOLDER", tmp_path)
    examples.cache_clear()
    try:
        with pytest.raises(ValueError, match=r"unary\.toml: relu must be there once"):
            examples()
    finally:
        examples.cache_clear()
