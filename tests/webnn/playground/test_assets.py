"""The files of the page, and the page as files for a site."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from webnn.playground.assets import TYPES, describe, load, write_site

LOCK: dict[str, Any] = {
    "packages": {
        "numpy": {"file_name": "numpy.whl", "depends": []},
        "pydantic": {"file_name": "pydantic.whl", "depends": ["pydantic_core", "numpy"]},
        "pydantic-core": {"file_name": "core.whl", "depends": []},
    }
}
CORE = ["pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip"]


@pytest.fixture
def pyodide(tmp_path: Path) -> Path:
    folder = tmp_path / "distribution"
    folder.mkdir()
    (folder / "pyodide-lock.json").write_text(json.dumps(LOCK))
    for name in [*CORE, "numpy.whl", "pydantic.whl", "core.whl", "other.whl"]:
        (folder / name).write_text(name)
    (folder / "webnn.whl").write_text("webnn")
    return folder


def test_a_site(pyodide: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    write_site(site, pyodide, [pyodide / "webnn.whl"], ["pydantic"])
    files = {path.relative_to(site).as_posix() for path in site.rglob("*") if path.is_file()}
    copied = {f"pyodide/{name}" for name in [*CORE, "pyodide-lock.json", "numpy.whl", "pydantic.whl", "core.whl"]}
    assert files == {*copied, "wheels/webnn.whl", *TYPES, "index.html", "state.json", "python.json", "python.js", "python_worker.js"}
    page = (site / "index.html").read_text(encoding="utf-8")
    assert '<html lang="en" data-python>' in page
    assert page.index("Content-Security-Policy") < page.index("<script")
    assert json.loads((site / "python.json").read_text()) == {"packages": ["pydantic"], "wheels": ["wheels/webnn.whl"]}
    assert json.loads((site / "state.json").read_text(encoding="utf-8"))["languages"] == ["python"]


def test_an_older_distribution(pyodide: Path, tmp_path: Path) -> None:
    (pyodide / "pyodide.asm.mjs").rename(pyodide / "pyodide.asm.js")
    write_site(tmp_path / "site", pyodide, [], ["numpy"])
    assert sorted(path.name for path in (tmp_path / "site" / "pyodide").glob("*.asm.*")) == ["pyodide.asm.js", "pyodide.asm.wasm"]


def test_a_distribution_that_lacks_files(pyodide: Path, tmp_path: Path) -> None:
    (pyodide / "numpy.whl").unlink()
    with pytest.raises(FileNotFoundError, match=r"distribution lacks numpy\.whl$"):
        write_site(tmp_path / "site", pyodide, [], ["pydantic"])
    with pytest.raises(FileNotFoundError, match=r"^Pyodide has no package scipy$"):
        write_site(tmp_path / "site", pyodide, [], ["scipy"])


def test_the_page_loads_nothing_from_elsewhere() -> None:
    own = "".join(load(name) for name in ("index.html", "python.js", "python_worker.js", *TYPES) if name != "codemirror.js")
    # The name of a language is not an address.
    assert set(re.findall(r"https?://[^\s'\"`]+", own)) <= {"http://www.w3.org/2000/svg"}
    assert load("codemirror.js").startswith("/*! CodeMirror 6")


def test_the_examples_of_a_language() -> None:
    assert {each["language"] for each in describe(["python"])["examples"]} == {"python"}
    assert describe([])["examples"] == []
