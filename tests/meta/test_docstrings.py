"""Every public method says what it does, where the draft says so, what it takes and how it fails."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.meta.specification import CLASSES, IDL, LAYERS, MODELS, OPERATION_NAMES, RETURNED, ROOT, SYNC, overloads, sources
from webnn.validation.operations import OPERATIONS

ANCHORS = {f"#{anchor}" for anchor in IDL["anchors"]}

METHODS = [
    (interface, name)
    for interface, cls in CLASSES.items()
    for name, member in inspect.getmembers_static(cls, inspect.isfunction)
    if not name.startswith("_")
]
#: Methods that cannot fail, with the reason.
NEVER_FAIL = {
    ("MLOperand", "dataType"): "returns what the operand holds",
    ("MLOperand", "shape"): "returns what the operand holds",
}
PROMISES = {(interface, name.removesuffix(SYNC)) for interface, name in METHODS if name.endswith(SYNC)}

_QUOTED_ANCHOR = re.compile(r"""[`"'](#[a-z][a-z0-9-]*)[`"']""")
_SECTION = re.compile(r"^([A-Z]\w+):\n((?:(?:    .*)?\n)*)", re.MULTILINE)
_ENTRY = re.compile(r"^    (\w+): ", re.MULTILINE)


def docstring(function: Callable[..., Any]) -> str:
    text = inspect.getdoc(function)
    assert text, "has no docstring"
    return text + "\n"


def section(function: Callable[..., Any], title: str) -> list[str]:
    """Return the names that a section of a docstring explains."""
    sections = dict(_SECTION.findall(docstring(function)))
    return _ENTRY.findall(sections[title]) if title in sections else []


def method(interface: str, name: str) -> Callable[..., Any]:
    function: Callable[..., Any] = getattr(CLASSES[interface], name)
    return function


def test_the_amount() -> None:
    assert len(METHODS) == 82 + 2 + 2 + 2
    assert len(PROMISES) == 3


@pytest.mark.parametrize(("interface", "name"), METHODS)
def test_the_summary(interface: str, name: str) -> None:
    first = docstring(method(interface, name)).splitlines()[0]
    assert first[0].isupper()
    assert first.endswith((".", "`."))


@pytest.mark.parametrize(("interface", "name"), METHODS)
def test_the_anchor(interface: str, name: str) -> None:
    text = docstring(method(interface, name))
    if name.endswith(SYNC):
        # A twin refers to the method whose steps it runs.
        assert f"`{name.removesuffix(SYNC)}`" in text
    else:
        anchors = _QUOTED_ANCHOR.findall(text)
        assert anchors
        assert set(anchors) <= ANCHORS


@pytest.mark.parametrize("name", OPERATION_NAMES)
def test_the_anchor_of_an_operation(name: str) -> None:
    assert _QUOTED_ANCHOR.findall(docstring(method("MLGraphBuilder", name)))[0] == OPERATIONS[name].anchor


@pytest.mark.parametrize(("interface", "name"), METHODS)
def test_the_arguments(interface: str, name: str) -> None:
    function = method(interface, name)
    parameters = [each for each in inspect.signature(function).parameters if each != "self"]
    assert section(function, "Args") == parameters


@pytest.mark.parametrize(("interface", "name"), METHODS)
def test_the_errors(interface: str, name: str) -> None:
    function = method(interface, name)
    errors = section(function, "Raises")
    if (interface, name) in NEVER_FAIL:
        assert errors == []
    elif (interface, name) in PROMISES:
        # It raises nothing: the future fails.
        assert errors == []
        assert re.search(r"It fails with\s+`WebNNTypeError`", docstring(function))
        # With what its twin raises.
        for error in section(method(interface, name + SYNC), "Raises"):
            assert f"`{error}`" in docstring(function)
    else:
        assert errors[0] == "WebNNTypeError"


@pytest.mark.parametrize("name", OPERATION_NAMES)
def test_the_options_are_explained(name: str) -> None:
    """The docstring names each member of the method's options."""
    model = OPERATIONS[name].options
    text = docstring(method("MLGraphBuilder", name))
    for member in model.model_fields if model else ():
        assert f"``{member}``" in text


@pytest.mark.parametrize("cls", CLASSES, ids=str)
def test_the_classes(cls: str) -> None:
    text = inspect.getdoc(CLASSES[cls]) or ""
    anchors = _QUOTED_ANCHOR.findall(text)
    assert anchors
    assert set(anchors) <= ANCHORS


@pytest.mark.parametrize("name", IDL["dictionaries"])
def test_the_dictionaries(name: str) -> None:
    webnn = importlib.import_module("webnn")
    own = f"#dictdef-{name.lower()}"
    assert own in ANCHORS
    assert _QUOTED_ANCHOR.findall(getattr(webnn, name).__doc__) in ([own], ["#api-mlcontextoptions"])
    if name not in RETURNED:
        assert name in (MODELS[name].__doc__ or "")


@pytest.mark.parametrize("name", OPERATION_NAMES)
def test_the_validators(name: str) -> None:
    """Each validator, too, is written out with what it takes; its first argument is the call."""
    infer = OPERATIONS[name].infer
    parameters = list(inspect.signature(infer).parameters)
    assert parameters[0] == "call"
    assert section(infer, "Args") == parameters
    assert section(infer, "Raises") in (["WebNNTypeError"], [])
    row = OPERATIONS[name]
    expected = [*row.operands, *(argument.name for argument in row.arguments), *(["options"] if row.options else [])]
    given = parameters[1:]
    assert given[: len(expected)] == expected


def test_every_anchor_in_the_sources_exists() -> None:
    count = 0
    for folder in LAYERS.values():
        for file in sources(folder):
            anchors = _QUOTED_ANCHOR.findall(file.read_text(encoding="utf-8"))
            count += len(anchors)
            assert set(anchors) <= ANCHORS, file.relative_to(ROOT)
    assert count > 250


def test_the_overloads_have_their_sections() -> None:
    """A method with several sections in the draft names each: `constant`."""
    assert len(overloads("MLGraphBuilder")["constant"]) == 2
    anchors = _QUOTED_ANCHOR.findall(docstring(method("MLGraphBuilder", "constant")))
    assert anchors == ["#api-mlgraphbuilder-constant-bufferview", "#api-mlgraphbuilder-constant-type-value"]
