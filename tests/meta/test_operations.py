"""The IDL's operations, the builder's methods, the validators, the translations and the test oracle are one set."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable
from typing import Any

import pytest

from tests.meta.specification import (
    IDL,
    MODELS,
    NOT_OPERATIONS,
    OPERATION_NAMES,
    REVISION,
    SYNC,
    is_dictionary,
    members,
    options_name,
    overloads,
    positional,
    text,
)
from tests.reference import REFERENCE
from webnn import MLGraphBuilder
from webnn.builder.onnx.translate import TRANSLATIONS
from webnn.validation.idl import IdlArgument, IdlOperation, IdlType
from webnn.validation.operations import OPERATIONS
from webnn.validation.revision import find_revision

BUILDER = overloads("MLGraphBuilder")
METHODS = {name for name in dir(MLGraphBuilder) if not name.startswith("_")}

OPERAND_TYPES = {"MLOperand", "sequence<MLOperand>"}
#: How the annotations write the IDL's types. What a program may pass for a sequence of numbers is `Numbers`.
ANNOTATIONS = {
    "ArrayBufferView": "object",
    "DOMString": "str",
    "MLActivation": "MLActivation",
    "MLNamedOperands": "Mapping[str, MLOperand]",
    "MLOperand": "MLOperand",
    "MLOperandDataType": "DataType",
    "Promise<MLGraph>": "asyncio.Future[MLGraph]",
    "[EnforceRange] unsigned long": "int",
    "double": "float",
    "sequence<MLOperand>": "Sequence[MLOperand]",
    "sequence<[EnforceRange] unsigned long>": "Numbers",
    "([EnforceRange] unsigned long or sequence<[EnforceRange] unsigned long>)": "int | Numbers",
    "unsigned long": "int",
}
RETURNS = {**ANNOTATIONS, "sequence<MLOperand>": "list[MLOperand]"}

#: Parameters that are not the IDL's own, with the reason. Everything else must be.
EXTRA_PARAMETERS = {
    "options": "a label, where this draft's method has no options: MLOperatorOptions of later drafts",
    "members": "the members of the options as keyword arguments",
}


def test_one_set_of_operations() -> None:
    expected = set(OPERATION_NAMES)
    assert len(OPERATION_NAMES) == len(expected) == 78
    assert set(OPERATIONS) == expected
    assert set(TRANSLATIONS) == expected
    assert set(REFERENCE) == expected


def test_the_methods_of_the_builder() -> None:
    twins = {
        name + SYNC for name, operations in BUILDER.items() if any(text(each["returns"]).startswith("Promise<") for each in operations)
    }
    assert twins == {"buildSync"}
    assert {*OPERATION_NAMES, *NOT_OPERATIONS, *twins} == METHODS


@pytest.mark.parametrize("name", OPERATION_NAMES)
def test_the_row_of_an_operation(name: str) -> None:
    operation, *activations = BUILDER[name]
    row = OPERATIONS[name]
    assert row.name == name
    assert row.anchor.removeprefix("#") in IDL["anchors"]
    operands = [argument["name"] for argument in operation["arguments"] if text(argument["type"]) in OPERAND_TYPES]
    assert list(row.operands) == operands
    assert row.variadic == any(text(argument["type"]) == "sequence<MLOperand>" for argument in operation["arguments"])
    assert [argument.name for argument in row.arguments] == [each["name"] for each in positional(operation) if each["name"] not in operands]
    options = options_name(operation)
    assert row.options is (MODELS[options] if options else None)
    assert list(row.members) == ([member["name"] for member in members(options) if member["type"] == "MLOperand"] if options else [])
    assert row.activation == bool(activations)
    assert all(each["returns"] == "MLActivation" for each in activations)


@pytest.mark.parametrize("table", ["data_types", "ranks"])
def test_the_tables_of_the_revision_name_operands(table: str) -> None:
    entries = getattr(find_revision(REVISION), table)
    assert entries
    for name, limits in entries.items():
        row = OPERATIONS[name]
        assert set(limits) <= {*row.operands, *(f"options.{member}" for member in row.members)}, name


# Signatures


def parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    return [each for each in inspect.signature(function).parameters.values() if each.name != "self"]


def annotation(type: IdlType) -> str:
    return text(type) if is_dictionary(type) else ANNOTATIONS[text(type)]


def expected_parameters(operation: IdlOperation) -> list[tuple[str, bool, str]]:
    """Return name, whether it is required, and annotation of each parameter that the IDL wants."""
    result: list[tuple[str, bool, str]] = []
    for argument in operation["arguments"]:
        required = not argument.get("optional", False)
        written = annotation(argument["type"])
        result.append((argument["name"], required, written if required else f"{written} | None"))
    return result


def given_parameters(function: Callable[..., Any]) -> list[tuple[str, bool, str]]:
    return [
        (each.name, each.default is inspect.Parameter.empty, each.annotation)
        for each in parameters(function)
        if each.kind is not inspect.Parameter.VAR_KEYWORD
    ]


def keywords(function: Callable[..., Any]) -> str | None:
    """Return the annotation of ``**members``, if there is such a parameter."""
    found = [each for each in parameters(function) if each.kind is inspect.Parameter.VAR_KEYWORD]
    assert [each.name for each in found] in ([], ["members"])
    return found[0].annotation if found else None


def check_signature(name: str, operation: IdlOperation, function: Callable[..., Any]) -> None:
    expected = expected_parameters(operation)
    options = options_name(operation)
    if options is None and name in OPERATIONS:
        options = "MLOperatorOptions"
        expected.append(("options", False, "MLOperatorOptions | None"))
    assert given_parameters(function) == expected
    assert keywords(function) == (f"Unpack[{options}]" if options else None)
    assert inspect.signature(function).return_annotation == RETURNS[text(operation["returns"])]


@pytest.mark.parametrize("name", [name for name, operations in BUILDER.items() if len(operations) == 1 and name != "input"])
def test_a_signature(name: str) -> None:
    method = getattr(MLGraphBuilder, name)
    assert not typing.get_overloads(method)
    check_signature(name, BUILDER[name][0], method)


def test_the_signature_of_a_twin() -> None:
    asynchronous, synchronous = inspect.signature(MLGraphBuilder.build), inspect.signature(MLGraphBuilder.buildSync)
    assert asynchronous.parameters == synchronous.parameters
    assert asynchronous.return_annotation == f"asyncio.Future[{synchronous.return_annotation}]"


@pytest.mark.parametrize("name", [name for name in OPERATION_NAMES if len(BUILDER[name]) > 1])
def test_the_overloads_of_an_activation_function(name: str) -> None:
    method = getattr(MLGraphBuilder, name)
    with_input, without_input = typing.get_overloads(method)
    operation, activation = BUILDER[name]
    check_signature(name, operation, with_input)
    options = options_name(activation)
    # The dictionary of the second overload stands where the input does in the first.
    assert given_parameters(without_input) == ([("input", False, f"{options} | None")] if options else [])
    assert keywords(without_input) == (f"Unpack[{options}]" if options else None)
    assert inspect.signature(without_input).return_annotation == "MLActivation"
    # The method itself accepts what either of them does.
    union = f"MLOperand | {options} | None" if options else "MLOperand | Missing"
    taken = options or "MLOperatorOptions"
    assert given_parameters(method) == [("input", False, union), ("options", False, f"{taken} | None")]
    assert keywords(method) == f"Unpack[{taken}]"
    assert inspect.signature(method).return_annotation == "MLOperand | MLActivation"


def test_the_overloads_of_input() -> None:
    by_dictionary, by_keywords = typing.get_overloads(MLGraphBuilder.input)
    (operation,) = BUILDER["input"]
    expected = expected_parameters(operation)
    assert given_parameters(by_dictionary) == expected
    assert keywords(by_dictionary) is None
    # The descriptor is required: what Python calls the second overload is the same dictionary as keyword arguments.
    assert given_parameters(by_keywords) == expected[:1]
    assert keywords(by_keywords) == f"Unpack[{options_name(operation)}]"
    assert [each.name for each in parameters(MLGraphBuilder.input)] == ["name", "descriptor", "members"]
    for method in (by_dictionary, by_keywords, MLGraphBuilder.input):
        assert inspect.signature(method).return_annotation == "MLOperand"


def test_the_overloads_of_constant() -> None:
    declared = typing.get_overloads(MLGraphBuilder.constant)
    assert len(declared) == len(BUILDER["constant"]) == 2
    for operation, overload in zip(BUILDER["constant"], declared, strict=True):
        expected: list[IdlArgument] = operation["arguments"]
        given = parameters(overload)
        # By position only: the two overloads name the same positions differently.
        assert [each.name for each in given] == [argument["name"] for argument in expected]
        assert {each.kind for each in given} == {inspect.Parameter.POSITIONAL_ONLY}
        assert {each.default for each in given} == {inspect.Parameter.empty}
        assert [each.annotation for each in given] == [annotation(argument["type"]) for argument in expected]
        assert inspect.signature(overload).return_annotation == "MLOperand"
    assert [each.name for each in parameters(MLGraphBuilder.constant)] == ["descriptor", "bufferView"]


def test_every_extra_parameter_is_listed() -> None:
    extra: set[str] = set()
    for name in METHODS:
        operations = BUILDER[name.removesuffix(SYNC)]
        known = {argument["name"] for operation in operations for argument in operation["arguments"]}
        extra.update({each.name for each in parameters(getattr(MLGraphBuilder, name))} - known)
    assert extra == set(EXTRA_PARAMETERS)
