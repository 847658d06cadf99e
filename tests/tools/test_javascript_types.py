"""The TypeScript declarations in js/types."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import javascript_types
from webnn.validation.drafts import find_revision

REVISIONS = [name for name in javascript_types.NAMES if name[0].isdigit()]


def test_the_declarations_are_up_to_date() -> None:
    """`python -m tools.javascript_types` writes them."""
    assert javascript_types.main(["--check"]) == 0


@pytest.mark.parametrize("name", REVISIONS)
def test_all_operations_are_declared(name: str) -> None:
    text = javascript_types.declare(name)
    assert [operation for operation in find_revision(name).operations if f"  {operation}(" not in text] == []


def test_an_outdated_file_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(javascript_types, "FOLDER", tmp_path / "types")
    assert javascript_types.main([]) == 0
    assert javascript_types.main(["--check"]) == 0
    (tmp_path / "types" / "2026-06.d.ts").write_text("", encoding="utf-8")
    assert javascript_types.main(["--check"]) == 1
    assert "2026-06.d.ts is not current" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("type_", "given", "got"),
    [
        ("DOMString", "string", "string"),
        ("MLGraph", "MLGraph", "MLGraph"),
        ({"sequence": "MLOperand"}, "Iterable<MLOperand>", "MLOperand[]"),
        ({"sequence": {"union": ["bigint", "double"]}}, "Iterable<bigint | number>", "(bigint | number)[]"),
        ({"record": ["USVString", {"extendedAttributes": {}, "type": "long"}]}, "Record<string, number>", "Record<string, number>"),
        ({"promise": "undefined"}, "Promise<void>", "Promise<void>"),
    ],
)
def test_types(type_: object, given: str, got: str) -> None:
    empty: dict[str, dict[str, object]] = {"enumerations": {}, "typedefs": {}, "dictionaries": {}, "interfaces": {}}
    declarations = javascript_types._Declarations(empty)
    assert (declarations._write(type_), declarations._write(type_, gets=True)) == (given, got)


def test_an_unknown_type_is_refused() -> None:
    with pytest.raises(ValueError, match="observable"):
        javascript_types._Declarations({"interfaces": {}})._write({"observable": "long"})
