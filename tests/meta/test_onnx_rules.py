"""The rules of the ONNX import, their documentation and their tests are one set."""

from __future__ import annotations

import re

from onnx import defs

from tests.meta.specification import ROOT
from webnn.onnx.rules import FAMILIES, RULES

TESTS = ROOT / "tests" / "webnn" / "onnx" / "rules"
#: Families whose rules are tested together with others.
WITHOUT_TESTS = {"constants", "microsoft_quantized"}


def test_every_rule_says_how_it_maps() -> None:
    assert len(RULES) > 150
    assert [name for name, rule in RULES.items() if not (rule.__doc__ or "").strip().endswith(".")] == []


def test_every_operator_is_one_of_onnx() -> None:
    """Operators of another domain have its name in front; ONNX Runtime's optimizer writes some without."""
    known = {f"{each.domain}.{each.name}".lstrip(".") for each in defs.get_all_schemas_with_history()}
    unknown = {name for name in RULES if name not in known and not name.startswith("com.microsoft.")}
    # The newest ones are unknown to the lowest version of onnx.
    assert unknown <= {"SimplifiedLayerNormalization", "BitCast", "CumProd"}, unknown


def test_every_family_has_tests() -> None:
    tested = {re.sub(r"^test_", "", path.stem) for path in TESTS.glob("test_*.py")}
    assert tested <= set(FAMILIES)
    assert set(FAMILIES) - tested == WITHOUT_TESTS


def test_the_page_names_every_operator_with_a_rule() -> None:
    page = (ROOT / "docs" / "onnx-ops.md").read_text(encoding="utf-8")
    named = set(re.findall(r"^\| ([\w.]+) \|", page, re.MULTILINE))
    schemas = {each.name for each in defs.get_all_schemas() if each.domain == ""}
    # Operators without a test of their own, and those of ONNX Runtime.
    assert {name for name in RULES if name in schemas} - named <= {"GlobalLpPool", "Range"}
