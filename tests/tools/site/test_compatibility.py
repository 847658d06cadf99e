"""The table of compatibility, and the first browsers with each operation."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("griffe", reason="needs griffe, the extra `docs`")

from tools.site import compatibility
from tools.site.compatibility import browsers_table, supported, versions
from tools.site.operations import operations
from webnn.context.profiles import PROFILES, load_profile


def test_every_operation_has_versions() -> None:
    assert versions().operations.keys() == operations().keys()
    assert all(100 < each < 1000 for found in versions().operations.values() for each in found)


def test_a_table_of_browsers() -> None:
    text = "\n".join(browsers_table("gelu"))
    assert "| 128 or newer | Linux | CPU, GPU |" in text
    assert "| 132 or newer | macOS | CPU, GPU, NPU |" in text
    assert browsers_table("unknown") == []
    assert "Chromium 153 on Linux runs the example on its CPU." in text
    assert "refuses the example: `The edge padding" in "\n".join(browsers_table("pad"))


def test_refusals_are_of_operations() -> None:
    assert versions().refused.keys() <= operations().keys()


def test_what_a_profile_takes() -> None:
    assert supported().keys() == set(PROFILES)
    assert supported()["coreml"]["argMin"] == ("float32", "float16", "int32")
    assert "dequantizeLinear" in supported()["dml"]
    # The device leaves it to the CPU.
    native = load_profile("webgpu-dawn").native
    assert native is not None
    assert "quantizeLinear" not in native
    assert supported()["webgpu-dawn"]["quantizeLinear"] == ()


def test_the_page() -> None:
    page = compatibility.page()
    assert page.count("<tr>") == 1 + len(operations())
    assert '<a href="operations/conv2d.html">conv2d</a>' in page
    assert 'data-types="f32 f16"' in page


def test_versions_that_lack_a_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "browsers.toml"
    tables = 'systems = ["a", "b"]\ndevices = ["CPU", "CPU"]\n[tried]\nbrowser = ""\n[tried.refused]\n[operations]\nabs = [1]\n'
    file.write_text(f'source = ""\ndate = ""\n{tables}', encoding="utf-8")
    monkeypatch.setattr(compatibility, "_FILE", file)
    versions.cache_clear()
    try:
        with pytest.raises(ValueError, match=r"browsers\.toml: abs must have 2 versions, got 1"):
            versions()
    finally:
        versions.cache_clear()
