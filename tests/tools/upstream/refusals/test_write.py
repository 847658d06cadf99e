"""Validation files of refused calls."""

from __future__ import annotations

import pytest

from tools.upstream.extremes.write import all_rows
from tools.upstream.refusals import write
from tools.upstream.refusals.rows import REFUSALS, Operand, Refusal
from webnn.formats.literals import quote
from webnn.wpt_runner.writing.cases import WritingError


@pytest.mark.parametrize(("draft", "label"), [("2026-06", True), ("2024-06", False)])
def test_a_file_for_each_operation(draft: str, label: bool) -> None:
    texts = dict(write.write_refusals(draft))
    assert set(texts) == {f"validation_tests/{row.operation}-steps.https.any.js" for row in REFUSALS[draft]}
    for row in REFUSALS[draft]:
        text = texts[f"validation_tests/{row.operation}-steps.https.any.js"]
        assert quote(f"[{row.operation}] Throw if {row.about}.") in text
        assert (f"new RegExp('\\\\[{row.operation}_xxx\\\\]')" in text) is label
        assert ("shape: [" in text) is label or draft == "2024-06"


def test_a_call_that_is_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    row = Refusal("concat", "it must not be", ([Operand("float32", (1,))], 0))
    monkeypatch.setattr(write, "REFUSALS", {"2026-06": [row]})
    with pytest.raises(WritingError, match="all of its calls are accepted"):
        list(write.write_refusals("2026-06"))


def test_builders_that_have_built() -> None:
    path, text = write.write_built()
    assert path.endswith("operations-after-build.https.any.js")
    for operation in all_rows():
        assert f"[{operation}] Throw if the builder has built a graph." in text
    assert text.count("'InvalidStateError'") == len(all_rows())
