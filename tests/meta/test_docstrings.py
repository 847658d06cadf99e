"""Every public method says what it does, where the drafts say so, what it takes and how it fails."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

import webnn
from tests.meta.specification import (
    ANCHORS,
    CLASSES,
    DICTIONARIES,
    DRAFTS,
    FORMER,
    LAYERS,
    OPERATION_NAMES,
    RETURNED,
    ROOT,
    SYNC,
    Draft,
    each_operation,
    of_each_draft,
    sources,
)
from tests.support import each_row
from webnn.validation.operation import Operation

METHODS = [
    (interface, name)
    for interface, cls in CLASSES.items()
    for name, member in inspect.getmembers(cls, inspect.isfunction)
    if not name.startswith("_")
]
ATTRIBUTES = [
    (interface, name)
    for interface, cls in CLASSES.items()
    for name, member in inspect.getmembers_static(cls, lambda member: isinstance(member, property))
    if not name.startswith("_")
]
#: Attributes and methods of the emulator's own, which no draft has and the contexts of both have.
OWN = {("MLGraph", "description"), ("MLGraph", "devices"), ("MLGraph", "placement")}
OWN_METHODS = {("MLGraph", name) for name in ("accuracy", "firstNaN", "profile", "run", "trace")}
#: Methods that cannot fail, with the reason.
NEVER_FAIL = {("MLTensor", "destroy"): "a tensor belongs to a context of the current draft, and a second call does nothing"}
PROMISES = {(interface, name.removesuffix(SYNC)) for interface, name in METHODS if name.endswith(SYNC)} & set(METHODS)
#: How what one draft alone has says that the contexts of the other one refuse it.
ONE_DRAFT = "follows the draft 2024-06|follows a draft since 2026-06|follows a draft until 2026-06"

_QUOTED_ANCHOR = re.compile(r"""[`"'](#[a-z][a-z0-9-]*)[`"']""")
_SECTION = re.compile(r"^([A-Z]\w+):\n((?:(?:    .*)?\n)*)", re.MULTILINE)
_ENTRY = re.compile(r"^    (\w+): ", re.MULTILINE)


def docstring(member: object) -> str:
    text = inspect.getdoc(member)
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
    # The operations, input, constant, build and its twin.
    assert len([name for interface, name in METHODS if interface == "MLGraphBuilder"]) == len(OPERATION_NAMES) + 3 + 1
    # MLContext, ML, and destroy() of a graph and of a tensor.
    assert len([name for interface, name in METHODS if interface != "MLGraphBuilder"]) >= 13 + 2 + 2 + len(OWN_METHODS)
    assert len(PROMISES) >= 6
    assert len(ATTRIBUTES) >= 2 + 2 + 5 + 1 + len(OWN)
    assert set(ATTRIBUTES) > OWN
    assert set(METHODS) > OWN_METHODS


@each_row(("interface", "name"), [*METHODS, *ATTRIBUTES])
def test_the_summary(interface: str, name: str) -> None:
    first = docstring(getattr(CLASSES[interface], name)).splitlines()[0]
    assert first[0].isupper() or first.startswith("`")
    assert first.endswith(".")


@each_row(("interface", "name"), [each for each in METHODS if each not in OWN_METHODS])
def test_the_anchor(interface: str, name: str) -> None:
    text = docstring(method(interface, name))
    if name.endswith(SYNC):
        # A twin refers to the method whose steps it runs.
        assert f"`{name.removesuffix(SYNC)}`" in text
    else:
        anchors = _QUOTED_ANCHOR.findall(text)
        assert anchors
        assert set(anchors) <= ANCHORS


@each_row(("interface", "name"), [each for each in ATTRIBUTES if each not in {("NavigatorML", "ml"), *OWN}])
def test_the_anchor_of_an_attribute(interface: str, name: str) -> None:
    anchors = _QUOTED_ANCHOR.findall(docstring(getattr(CLASSES[interface], name)))
    assert anchors[0] == f"#{interface.lower()}-{name.lower()}"
    # A method in the other draft has its section there.
    assert anchors[1:] == ([f"#api-{interface.lower()}-{name.lower()}"] if name in FORMER.overloads(interface) else [])
    assert set(anchors) <= ANCHORS


@each_operation
def test_the_anchor_of_an_operation(draft: Draft, name: str) -> None:
    assert _QUOTED_ANCHOR.findall(docstring(method("MLGraphBuilder", name)))[0] == draft.operations[name].anchor


@each_row(("interface", "name"), METHODS)
def test_the_arguments(interface: str, name: str) -> None:
    function = method(interface, name)
    parameters = [each for each in inspect.signature(function).parameters if each != "self"]
    if interface == "MLGraphBuilder" and {"options", "members"} <= {*parameters}:
        # The builder says once that options may be keyword arguments.
        assert "An options dictionary is given as a ``dict`` or as keyword arguments." in " ".join(
            (webnn.MLGraphBuilder.__doc__ or "").split()
        )
        parameters.remove("members")
    assert section(function, "Args") == parameters


@each_row(("interface", "name"), METHODS)
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


@each_row(
    ("interface", "name"),
    [each for each in [*METHODS, *ATTRIBUTES] if each[0] in {"MLContext", "MLGraph"} and each not in OWN | OWN_METHODS],
)
def test_it_says_whose_draft_s_it_is(interface: str, name: str) -> None:
    """A method or an attribute that one draft alone has says that the other one's contexts refuse it."""
    both = all(name.removesuffix(SYNC) in {*draft.overloads(interface), *draft.attributes(interface)} for draft in DRAFTS)
    assert not both
    assert re.search(ONE_DRAFT, " ".join(docstring(getattr(CLASSES[interface], name)).split()))


@each_operation
def test_the_options_are_explained(draft: Draft, name: str) -> None:
    """The docstring names each member of the method's options."""
    model = draft.operations[name].options
    text = docstring(method("MLGraphBuilder", name))
    for member in model.model_fields if model else ():
        assert f"``{member}``" in text


@each_row("cls", list(CLASSES))
def test_the_classes(cls: str) -> None:
    anchors = _QUOTED_ANCHOR.findall(inspect.getdoc(CLASSES[cls]) or "")
    assert anchors
    assert set(anchors) <= ANCHORS


@each_row("name", DICTIONARIES)
def test_a_typed_dictionary(name: str) -> None:
    own = f"#dictdef-{name.lower()}"
    assert own in ANCHORS
    text = getattr(webnn, name).__doc__ or ""
    assert _QUOTED_ANCHOR.findall(text) in ([own], ["#api-mlcontextoptions"])
    # Members that only one draft has are named.
    forms = [{member["name"] for member in draft.members(name)} for draft in DRAFTS if name in draft.idl["dictionaries"]]
    for member in set.union(*forms) - set.intersection(*forms) - {"outputDataType"}:
        assert f"``{member}``" in text


@of_each_draft(lambda draft: draft.models)
def test_a_model(draft: Draft, name: str) -> None:
    assert name not in RETURNED
    assert name in (draft.models[name].__doc__ or "")


def validator(row: Operation) -> Callable[..., Any]:
    """Return the function that a row's validator is, or is a partial call of."""
    function: Callable[..., Any] = getattr(row.infer, "func", row.infer)
    return function


def names(row: Operation) -> list[str]:
    return [*row.operands, *(argument.name for argument in row.arguments), *(["options"] if row.options else [])]


@each_operation
def test_the_validators(draft: Draft, name: str) -> None:
    """Each validator, too, is written out with what it takes; its first argument is the call. The method explains the others."""
    function = validator(draft.operations[name])
    parameters = list(inspect.signature(function).parameters)
    assert parameters[0] == "call"
    assert docstring(function).splitlines()[0].endswith(".")
    assert set(_QUOTED_ANCHOR.findall(docstring(function))) <= ANCHORS
    # One that serves both drafts has the names of either.
    rows = [each.operations[name] for each in DRAFTS if name in each.operations]
    expected = [names(row) for row in rows if validator(row) is function]
    assert any(parameters[1 : len(each) + 1] == each for each in expected)


def test_every_anchor_in_the_sources_exists() -> None:
    count = 0
    for folder in LAYERS.values():
        for file in sources(folder):
            anchors = _QUOTED_ANCHOR.findall(file.read_text(encoding="utf-8"))
            count += len(anchors)
            assert set(anchors) <= ANCHORS, file.relative_to(ROOT)
    assert count > 380


def test_the_overloads_have_their_sections() -> None:
    """A method with several sections in a draft names each."""
    for name, expected in {
        ("MLGraphBuilder", "constant"): ["constant-buffer", "constant-datatype-value", "constant-tensor"],
        ("MLContext", "readTensor"): ["readtensor", "readtensor-byob"],
    }.items():
        anchors = _QUOTED_ANCHOR.findall(docstring(method(*name)))
        assert anchors == [f"#api-{name[0].lower()}-{each}" for each in expected]
