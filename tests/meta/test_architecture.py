"""The picture in docs/ is what the code gives, and the code has no dependency that the picture has no way for."""

from __future__ import annotations

import dataclasses
import xml.etree.ElementTree as ET

import pytest

from tests.meta.specification import LAYERS, sources
from tools import draw_architecture
from tools.draw_architecture import BUILDER, CONTEXT, FACE, ONNX, OPS, RUNNER, VALIDATION, WAYS, Survey, survey

SURVEY = survey()
LIBRARIES = {"numpy", "onnx", "onnxruntime", "pydantic", "pydantic_core", "pytest", "quickjs", "rich", "tomlkit", "typer"}


def test_the_picture_is_what_the_code_gives(capsys: pytest.CaptureFixture[str]) -> None:
    status = draw_architecture.main(["--check"])
    assert status == 0, f"run python tools/draw_architecture.py\n{capsys.readouterr().err}"


def test_it_is_the_same_every_time() -> None:
    assert draw_architecture.draw(survey()) == draw_architecture.draw(SURVEY)


def test_every_module_is_in_it() -> None:
    assert sum(len(package.modules) for package in SURVEY.packages.values()) == sum(len(sources(folder)) for folder in LAYERS.values())
    texts = {element.text for element in ET.fromstring(draw_architecture.draw(SURVEY)).iter() if element.tag.endswith("text")}
    for name, package in SURVEY.packages.items():
        assert name in texts
        assert {module.name for module in package.modules} - {""} <= texts


def test_the_layers_stand_on_each_other() -> None:
    """The arrows that make the architecture."""
    assert {(RUNNER, FACE), (FACE, CONTEXT), (CONTEXT, BUILDER), (CONTEXT, ONNX), (ONNX, VALIDATION)} <= set(SURVEY.arrows)
    # Every family of operations is a mixin over the shared driver.
    assert SURVEY.arrows[OPS, BUILDER] == len(SURVEY.packages[OPS].modules) - 1


@pytest.mark.parametrize(
    ("source", "target"),
    [
        *((VALIDATION, other) for other in (BUILDER, OPS, ONNX, CONTEXT, FACE, RUNNER)),
        *((package, upper) for package in (BUILDER, OPS, ONNX) for upper in (CONTEXT, FACE, RUNNER)),
        *((CONTEXT, upper) for upper in (FACE, RUNNER)),
        # Graphs and operations know nothing of ONNX; the runner sees public names only.
        *((package, ONNX) for package in (BUILDER, OPS)),
        *((RUNNER, lower) for lower in (CONTEXT, BUILDER, OPS, ONNX, VALIDATION)),
    ],
)
def test_a_forbidden_arrow(source: str, target: str) -> None:
    assert (source, target) not in SURVEY.arrows
    if (source, target) != (BUILDER, CONTEXT):
        assert (source, target) not in SURVEY.annotations
        assert (source, target) not in WAYS


def test_a_forbidden_arrow_is_noticed() -> None:
    wrong: Survey = dataclasses.replace(SURVEY, arrows={**SURVEY.arrows, (VALIDATION, CONTEXT): 1})
    with pytest.raises(ValueError, match=r"webnn\.validation imports webnn\.context: the architecture has no such arrow"):
        draw_architecture.draw(wrong)


def test_the_libraries() -> None:
    users = {library: {name for name, found in SURVEY.libraries.items() if library in found} for library in LIBRARIES}
    assert {library for found in SURVEY.libraries.values() for library in found} == LIBRARIES
    assert users["onnx"] == {ONNX}
    assert users["onnxruntime"] == {CONTEXT}
    assert users["typer"] == {FACE, RUNNER}
    assert users["rich"] == {FACE, CONTEXT, RUNNER}
    assert users["pydantic"] == {VALIDATION, CONTEXT, FACE, RUNNER}
    assert users["pydantic_core"] == {VALIDATION}
    assert users["pytest"] == {FACE, RUNNER}
    assert users["quickjs"] == users["tomlkit"] == {RUNNER}


def test_a_difference_is_shown(tmp_path: object, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(draw_architecture, "ROOT", tmp_path)
    monkeypatch.setattr(draw_architecture, "TARGET", draw_architecture.ROOT / "picture.svg")
    monkeypatch.setattr(draw_architecture, "survey", lambda: SURVEY)
    assert draw_architecture.main(["--check"]) == 1
    assert "+<svg" in capsys.readouterr().err
    assert draw_architecture.main([]) == 0
    assert draw_architecture.main(["--check"]) == 0
