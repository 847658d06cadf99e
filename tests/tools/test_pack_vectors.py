"""Packing recorded cases, and the archives that the package holds."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.shared import SHARED
from tools import pack_vectors
from webnn.wpt_runner.levels import LEVELS
from webnn.wpt_runner.vectors.cases import Case, load_cases
from webnn.wpt_runner.vectors.files import bundled_archives

LEVEL = LEVELS[0].name


def case(name: str = "one", **changes: Any) -> dict[str, Any]:
    return {"name": name, "tolerance": {"metricType": "ULP", "value": 0}, "graph": {"data": [1, 1.0, -0.0, 1e-45, "-0"]}, **changes}


def record(folder: Path, *tests: Any, name: str = "unary", level: str = LEVEL) -> Path:
    folder.mkdir(exist_ok=True)
    text = json.dumps({"source": "Größe", "level": level, "tests": tests}, indent=1, ensure_ascii=False)
    (folder / f"{name}.json").write_text(text, encoding="utf-8")
    return folder


def texts(path: Path) -> dict[str, str]:
    """Return the cases of a folder or archive by file, number and name, exactly: 1 is not 1.0, and 0 is not -0."""
    return texts_of(load_cases([path]))


def texts_of(cases: Iterable[Case]) -> dict[str, str]:
    return {f"{each.file} {number} {each.name}": json.dumps(each.graph) for number, each in enumerate(cases)}


@pytest.mark.shared
@pytest.mark.parametrize("archive", bundled_archives(), ids=lambda path: path.stem)
def test_the_package_holds_the_shared_cases(archive: Path) -> None:
    folder = SHARED / "wpt_vectors" / archive.stem
    assert {path.name for path in folder.glob("*.json")} == set(zipfile.ZipFile(archive).namelist())
    packed, shared = list(load_cases([archive])), list(load_cases([folder]))
    assert packed == shared
    assert texts_of(packed) == texts_of(shared)
    assert pack_vectors.main([str(folder), "--check"]) == 0


def test_packing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = record(record(tmp_path / "new", case(), case("two")), case("Übergröße"), name="other")
    assert pack_vectors.main([str(folder)], tmp_path) == 0
    target = tmp_path / f"{LEVEL}.zip"
    assert f"wrote {target}: 3 cases in 2 files, " in capsys.readouterr().out
    assert texts(target) == texts(folder)
    first = target.read_bytes()
    # The same bytes again, whatever was there.
    target.write_bytes(b"something else")
    assert pack_vectors.main([str(folder)], tmp_path) == 0
    assert target.read_bytes() == first
    assert list(tmp_path.glob("*.part")) == []
    assert pack_vectors.main([str(folder), "--check"], tmp_path) == 0


@pytest.mark.parametrize(
    "changed", [case(graph={"data": [1, 1, -0.0, 1e-45, "-0"]}), case(graph={"data": [1, 1.0, 0.0, 1e-45, "-0"]}), None]
)
def test_the_check_sees_each_difference(changed: dict[str, Any] | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = record(record(tmp_path / "new", case()), case("two"), name="other")
    assert pack_vectors.main([str(folder)], tmp_path) == 0
    before = (tmp_path / f"{LEVEL}.zip").read_bytes()
    if changed is None:
        (folder / "unary.json").unlink()
    else:
        record(folder, changed)
    assert pack_vectors.main([str(folder), "--check"], tmp_path) == 1
    assert capsys.readouterr().err == f"pack_vectors: {LEVEL}.zip and {folder} differ in unary.json\n"
    assert (tmp_path / f"{LEVEL}.zip").read_bytes() == before


@pytest.mark.parametrize(
    ("tests", "level", "message"),
    [
        ([case()], "1999", "must be of one level of 2024-06, 2025-03, got '1999'"),
        ([], LEVEL, "must be of one level of 2024-06, 2025-03, got no cases"),
        ([{"name": "broken"}], LEVEL, "unary: broken: tolerance: field required"),
    ],
)
def test_what_cannot_be_packed(tests: list[Any], level: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert pack_vectors.main([str(record(tmp_path / "new", *tests, level=level))], tmp_path) == 2
    assert message in capsys.readouterr().err
    assert list(tmp_path.glob("*.zip")) == []


def test_two_levels(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record(record(tmp_path / "new", case()), case(), name="other", level=LEVELS[1].name)
    assert pack_vectors.main([str(tmp_path / "new")], tmp_path) == 2
    assert "got '2024-06', '2025-03'" in capsys.readouterr().err


def test_nothing_to_compare_with(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert pack_vectors.main([str(record(tmp_path / "new", case())), "--check"], tmp_path) == 2
    assert f"{LEVEL}.zip does not exist" in capsys.readouterr().err
