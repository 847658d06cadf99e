"""The picture in docs/architecture.md is what the code gives, and its arrows make no circle."""

from __future__ import annotations

import graphlib
from pathlib import Path

import pytest

from tests.meta.specification import LAYERS, sources
from tools import draw_architecture
from tools.draw_architecture import PACKAGES, _all_below, _id, draw, find_imports, find_upward_calls, main, package_of


def test_the_picture_is_what_the_code_gives() -> None:
    assert main(["--check"]) == 0, "run python -m tools.draw_architecture"


def test_another_picture_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "page.md"
    text = draw_architecture.PAGE.read_text(encoding="utf-8")
    monkeypatch.setattr(draw_architecture, "PAGE", page)
    page.write_text(text.replace("webnn_demo -", "webnn_domo -"), encoding="utf-8")
    assert main(["--check"]) == 1
    assert main([]) == 0
    assert page.read_text(encoding="utf-8") == text


def test_every_module_is_in_it() -> None:
    found = [file for name in PACKAGES for file in draw_architecture._files(name)]
    assert sorted(found) == sorted(file for folder in LAYERS.values() for file in sources(folder))


def test_packages_make_no_circle() -> None:
    graphlib.TopologicalSorter(find_imports()).prepare()


@pytest.mark.parametrize(
    ("module", "package"),
    [("webnn.builder.ops.conv", "webnn.builder"), ("webnn.builder.onnx", "webnn.builder.onnx"), ("webnn.ML", "webnn"), ("numpy", "")],
)
def test_the_package_of_a_module(module: str, package: str) -> None:
    assert package_of(module) == package


def test_an_arrow_for_each_import() -> None:
    drawn = draw()
    assert "webnn_builder_onnx --> webnn_builder" in drawn
    # A longer way leads there.
    assert "webnn_context --> webnn_validation" not in drawn


def test_a_dotted_arrow_for_each_upward_call() -> None:
    calls = find_upward_calls()
    assert {"webnn.formats", "webnn.inspect", "webnn.reference"} <= calls["webnn.context"]
    # `webnn.context.travel` is in the package of its callers.
    assert "webnn.context" not in calls["webnn.context"]
    for name, targets in calls.items():
        assert not targets & _all_below(find_imports(), name), "is below it, and can be imported"
        for target in targets:
            assert f"{_id(name)} -.-> {_id(target)}" in draw()
