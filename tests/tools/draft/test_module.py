"""The module of a draft."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.tools.draft.sources import IDL, read, text
from webnn.validation.drafts import draft_2024_06

plan = pytest.importorskip("tools.draft.plan", reason="widlparser is not installed")


def test_it_is_a_draft(tmp_path: Path) -> None:
    from tools.draft.module import write_module  # as above

    changes = {
        "float alpha": "double alpha",
        "  MLOperand relu(MLOperand input);\n": "  MLOperand sign(MLOperand input);\n",
        "record<DOMString": "record<USVString",
        "undefined compute();": "undefined destroy();",
        "roundingType": "rounding",
    }
    later = IDL
    for before, after in changes.items():
        later = later.replace(before, after)
    old, new = (read(tmp_path, text(idl)) for idl in (IDL, later))
    made = plan.make_plan(old, new, plan.Chain(revision=draft_2024_06.DRAFT))
    written = write_module("2030-01", "2024-06", made, has_limits=True)
    names: dict[str, Any] = {}
    exec(written, names)
    draft = names["DRAFT"]
    assert (draft.name, draft.after, draft.removed) == ("2030-01", "2024-06", ["relu"])
    assert [row.name for row in draft.added] == ["sign"]
    assert draft.adds == {"MLContext": {"destroy": ""}}
    assert draft.removes == {"MLContext": {"compute": ""}}
    assert set(draft.changed) == {"elu", "maxPool2d"}
    assert draft.flags["convert_name"]("\ud800") == "\ufffd"
    assert "read_limits(_NAME)" in written


def test_a_draft_without_changes() -> None:
    from tools.draft.module import write_module  # as above

    written = write_module("2030-01", "2024-06", plan.Plan(), has_limits=False)
    names: dict[str, Any] = {}
    exec(written, names)
    assert names["DRAFT"].name == "2030-01"
    assert "limits" not in written
