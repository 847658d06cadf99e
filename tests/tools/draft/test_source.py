"""The facts of a source."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.tools.draft.sources import IDL, read, text

if TYPE_CHECKING:
    from tools.draft.source import Source

pytest.importorskip("tools.draft.source", reason="widlparser is not installed")


def test_a_source(tmp_path: Path) -> None:
    found = read(tmp_path, text())
    assert found.name == "2030-01"
    assert set(found.idl["interfaces"]) == {"MLContext", "MLOperand", "MLGraphBuilder"}
    assert list(found.algorithms) == ["MLGraphBuilder.relu(input)"]
    assert found.limits is None
    assert found.contradictions == ["limits: the source has no tables of limits"]


def test_a_method_that_runs_what_is_not_there(tmp_path: Path) -> None:
    steps = [
        "1. Let |output| be the result of [=MLGraphBuilder/calculating sizes=].",
        "    1. If that throws, re-[=exception/throw=] the error.",
    ]
    found = read(tmp_path, text(steps=steps))
    [algorithm] = found.algorithms.values()
    assert "runs" not in algorithm
    assert found.contradictions[1] == "steps: methods run algorithms that are not there: ['mlgraphbuilder-calculating-sizes']"


@pytest.mark.parametrize("content", ["", "<pre class='metadata'>\nTitle: T\nURL: u\n</pre>\n"])
def test_another_file(tmp_path: Path, content: str) -> None:
    with pytest.raises(ValueError, match="the source has no IDL"):
        read(tmp_path, content)


#: A file of IDL, and the comment that says whose it is.
ALONE = f"""// Source: T (https://example.org/)
{IDL.replace("undefined compute();", "undefined compute(); undefined export(MLOperand operand);")}
"""


def read_alone(folder: Path, content: str) -> Source:
    from tools.draft import source  # as above

    file = folder / "new.idl"
    file.write_text(content, encoding="utf-8")
    return source.read_alone(file, "2030-02", read(folder, text(more="## C ## {#api-mlcontext-compute}\n")))


def test_an_idl_alone(tmp_path: Path) -> None:
    before = read(tmp_path, text(more="## C ## {#api-mlcontext-compute}\n"))
    found = read_alone(tmp_path, ALONE)
    assert found.idl["source"] == {**before.idl["source"], "revision": "2030-02"}
    assert set(found.idl["anchors"]) - set(before.idl["anchors"]) == {"api-mlcontext-export"}
    assert (found.limits, found.steps, found.isPartial) == (before.limits, before.steps, True)


def test_an_idl_of_which_nobody_says_whose_it_is(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="the IDL has no comment that names its source"):
        read_alone(tmp_path, IDL)


def test_an_idl_that_is_empty(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="the source has no IDL"):
        read_alone(tmp_path, "// Source: T (https://example.org/)\n")


def test_a_draft_of_the_chain() -> None:
    from tools.draft import source  # as above

    found = source.read_known("2026-06")
    assert found.name == found.idl["source"]["revision"] == found.steps["source"]["revision"] == "2026-06"
    assert found.limits is not None
    with pytest.raises(FileNotFoundError):
        source.read_known("2026-09")
