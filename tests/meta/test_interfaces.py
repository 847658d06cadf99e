"""The classes have the members of their interfaces, the twins of those that return promises, and nothing else."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

import webnn
from tests.meta.specification import CLASSES, IDL, INTERFACES, SYNC, is_promise, overloads
from tests.support import make_context
from webnn import ML, Document, MLActivation, MLContext, MLGraph, MLGraphBuilder, MLOperand, Navigator

#: Public members that the IDL does not have, with the reason.
EXTRA: dict[str, dict[str, str]] = {}
#: Interfaces without a constructor that Python can make all the same, with the reason.
CONSTRUCTIBLE = {
    "ML": "there is no page that owns it: a program may want one of another revision, or with another permissions policy",
    "NavigatorML": "likewise",
}

PROMISES = [(name, method) for name in INTERFACES for method, operations in overloads(name).items() if is_promise(operations[0])]


def public(cls: type) -> set[str]:
    return {name for name in dir(cls) if not name.startswith("_")}


def test_every_interface_is_public() -> None:
    classes = {name for name in webnn.__all__ if name.startswith("ML") and inspect.isclass(getattr(webnn, name))}
    dictionaries = {*IDL["dictionaries"], "MLOperatorOptions"}
    assert classes - dictionaries == set(IDL["interfaces"])
    assert IDL["includes"]["Navigator"] == ["NavigatorML"]


@pytest.mark.parametrize("name", INTERFACES)
def test_members(name: str) -> None:
    operations = overloads(name)
    attributes = [attribute["name"] for attribute in INTERFACES[name].get("attributes", [])]
    twins = {method + SYNC for method, operations in operations.items() if is_promise(operations[0])}
    assert public(CLASSES[name]) == {*operations, *attributes, *twins, *EXTRA.get(name, {})}
    for attribute in attributes:
        assert isinstance(inspect.getattr_static(CLASSES[name], attribute), property)
    for method in operations:
        assert inspect.isfunction(inspect.getattr_static(CLASSES[name], method))


def test_there_are_promises() -> None:
    assert PROMISES == [("ML", "createContext"), ("MLContext", "compute"), ("MLGraphBuilder", "build")]


@pytest.mark.parametrize(("interface", "name"), PROMISES)
def test_a_twin(interface: str, name: str) -> None:
    asynchronous, synchronous = (inspect.signature(getattr(CLASSES[interface], each)) for each in (name, name + SYNC))
    assert asynchronous.parameters == synchronous.parameters
    (operation, *_) = overloads(interface)[name]
    assert isinstance(operation["returns"], dict)
    assert synchronous.return_annotation == operation["returns"]["promise"]
    assert asynchronous.return_annotation == f"asyncio.Future[{operation['returns']['promise']}]"


def signature(function: Callable[..., Any]) -> list[tuple[str, object, object]]:
    return [(each.name, each.annotation, each.default) for each in inspect.signature(function).parameters.values() if each.name != "self"]


def test_the_signatures_of_the_other_methods() -> None:
    empty = inspect.Parameter.empty
    first, second = overloads("ML")["createContext"]
    (options,), (device,) = first["arguments"], second["arguments"]
    # The two overloads differ in the type of their one argument; a dictionary is keyword arguments, too.
    assert signature(ML.createContext) == [
        (options["name"], f"{options['type']} | {device['type']} | None", None),
        ("members", f"Unpack[{options['type']}]", empty),
    ]
    (compute,) = overloads("MLContext")["compute"]
    assert [each["name"] for each in compute["arguments"]] == ["graph", "inputs", "outputs"]
    assert signature(MLContext.compute) == [
        ("graph", "MLGraph", empty),
        ("inputs", "Mapping[str, Any]", empty),
        ("outputs", "Mapping[str, Any]", empty),
    ]
    assert signature(MLOperand.dataType) == signature(MLOperand.shape) == []


@pytest.mark.parametrize("name", [name for name in INTERFACES if name not in CONSTRUCTIBLE])
def test_constructors(name: str) -> None:
    (arguments,) = INTERFACES[name].get("constructors", [None])
    if arguments is None:
        for wrong in ([], [1], [make_context()]):
            with pytest.raises(TypeError, match=f"^{name}: illegal constructor"):
                CLASSES[name](*wrong)
        with pytest.raises(TypeError, match=f"^{name}: illegal constructor"):
            CLASSES[name](options={})
    else:
        assert [each for each, _, _ in signature(CLASSES[name])] == [argument["name"] for argument in arguments]


def test_what_python_can_make_all_the_same() -> None:
    assert all("constructors" not in INTERFACES[name] for name in CONSTRUCTIBLE)
    assert [each for each, _, _ in signature(ML)] == ["revision", "document"]
    assert all(each.kind is inspect.Parameter.KEYWORD_ONLY for each in inspect.signature(ML).parameters.values())
    assert {each for each, _, _ in signature(Navigator)} == {"document", "revision"}
    assert isinstance(ML(document=Document()), ML)


@pytest.mark.parametrize("value", [None, 1, "context", {}, ML()], ids=lambda value: type(value).__name__)
def test_a_builder_needs_a_context(value: Any) -> None:
    with pytest.raises(webnn.WebNNTypeError, match="MLGraphBuilder: context must be an MLContext") as caught:
        MLGraphBuilder(value)
    assert caught.value.argument == "context"


def test_the_attribute_of_the_navigator() -> None:
    (attribute,) = INTERFACES["NavigatorML"]["attributes"]
    assert attribute["readonly"]
    assert "SameObject" in attribute["extendedAttributes"]
    navigator = Navigator()
    assert isinstance(navigator.ml, ML)
    assert navigator.ml is navigator.ml
    with pytest.raises(AttributeError):
        navigator.ml = ML()  # type: ignore[misc]


@pytest.mark.parametrize("cls", CLASSES.values(), ids=CLASSES)
def test_names_are_the_specification_s(cls: type) -> None:
    """No second, snake_case surface."""
    assert [name for name in public(cls) if "_" in name] == []


def test_objects_take_no_other_attributes() -> None:
    """A misspelled attribute is an error, and objects stay small."""
    context = make_context()
    builder = MLGraphBuilder(context)
    operand = builder.input("x", {"dataType": "float32", "dimensions": [1]})
    relu = builder.relu()
    graph = builder.buildSync({"y": builder.relu(operand)})
    for each, cls in ((context, MLContext), (builder, MLGraphBuilder), (operand, MLOperand), (relu, MLActivation), (graph, MLGraph)):
        assert type(each) is cls
        with pytest.raises(AttributeError):
            each.unheard = 1  # type: ignore[union-attr]


def test_what_methods_return() -> None:
    operand = MLGraphBuilder(make_context()).input("x", {"dataType": "float16", "dimensions": [2, 3]})
    assert operand.dataType() in IDL["enumerations"]["MLOperandDataType"]
    # A sequence is returned as a new list: to change it changes nothing.
    operand.shape().append(4)
    assert operand.shape() == [2, 3]
