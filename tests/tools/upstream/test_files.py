"""The files of ``upstream/wpt``: which draft each one is for, and the checkout in which it runs."""

from __future__ import annotations

from pathlib import Path

from tests.tools.upstream.written import small_checkout
from tools.upstream.files import DRAFT, DRAFTS, FOLDER, OurFile, folder_of, our_files, overlay
from webnn.validation.drafts import find_revision


def test_the_drafts() -> None:
    drafts = {each.draft for each in our_files()}
    assert set(DRAFTS) <= drafts
    for name in drafts - set(DRAFTS):
        find_revision(name)
    assert OurFile("2024-06", "webnn/a.js").name == "2024-06/webnn/a.js"
    assert OurFile(f"{DRAFT}+zero-size", "webnn/a.js").place == FOLDER / "webnn" / "a.js"
    assert {each.level().dialect for each in our_files() if "+" not in each.draft} == {None}
    assert folder_of("2027-01+proposal") == folder_of(DRAFT) == FOLDER


def test_there_are_enough() -> None:
    files = our_files()
    assert len(files) >= 150
    assert len(files) == len({each.name for each in files}) == len([*FOLDER.rglob("*.any.js"), *FOLDER.rglob("*.https.html")])


def test_every_operation_has_a_file_of_extremes() -> None:
    texts = [each.place.read_text(encoding="utf-8") for each in our_files() if "-extremes" in each.path]
    found = {text.partition("title=test WebNN API ")[2].partition(" ")[0] for text in texts}
    assert found <= set(find_revision("2026-06").operations)
    assert len(found) >= 95


def test_an_overlay(tmp_path: Path) -> None:
    checkout = overlay(small_checkout(tmp_path / "wpt"), "2024-06", tmp_path / "new")
    assert set(checkout.files()) == {each.path for each in our_files() if each.draft == "2024-06"}
    assert checkout.read("webnn/resources/utils_compute.js") == (folder_of("2024-06") / "webnn/resources/utils_compute.js").read_text(
        encoding="utf-8"
    )
    assert checkout.read("webnn/resources/utils_validation.js")
