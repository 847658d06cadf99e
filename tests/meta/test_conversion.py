"""Each argument and each member converts as its IDL type says: probed with the values that tell one type from another.

`tests/validation/test_webidl.py` tests the conversions themselves.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import webnn
from tests.meta.specification import IDL, MODELS, OPERATION_NAMES, is_dictionary, members, options_name, overloads, positional, text
from tests.support import make_context
from webnn.validation import webidl
from webnn.validation.dictionary import convert
from webnn.validation.idl import IdlOperation
from webnn.validation.operations import OPERATIONS

#: Stands for a conversion that has to fail.
REFUSED = object()

UNSIGNED = 2**32
Cases = list[tuple[Any, Any]]

BUILDER = webnn.MLGraphBuilder(make_context())
OPERAND = BUILDER.input("operand", {"dataType": "float32", "dimensions": [2]})
ACTIVATION = BUILDER.relu()

_NUMBERS: Cases = [(1, 1), (1.5, 1), (True, 1), ("3", 3), (np.uint8(3), 3), (np.array(3), 3), ({}, REFUSED), (OPERAND, REFUSED)]
_NOT_FINITE = ["three", math.nan, math.inf]
_UNSIGNED_LONG: Cases = [
    *_NUMBERS,
    (UNSIGNED - 1, UNSIGNED - 1),
    (UNSIGNED, REFUSED),
    (-1, REFUSED),
    (-0.5, 0),
    *((value, REFUSED) for value in _NOT_FINITE),
]
_FLOAT: Cases = [
    (1, 1.0),
    (True, 1.0),
    ("0.5", 0.5),
    (0.1, float(np.float32(0.1))),
    (1e39, REFUSED),
    (10**400, REFUSED),
    ([], REFUSED),
    ({}, REFUSED),
    *((value, REFUSED) for value in _NOT_FINITE),
]


def _sequences(element: Cases) -> Cases:
    """Make the cases of ``sequence<T>`` of those of T."""
    return [
        *(([value], REFUSED if expected is REFUSED else (expected,)) for value, expected in element),
        ([], ()),
        ((1, 3), (1, 3)),
        (range(3), (0, 1, 2)),
        (np.array([1, 3], np.uint8), (1, 3)),
        ([1, None], REFUSED),
        ([[1]], REFUSED),
        ("13", REFUSED),
        ({0: 1}, REFUSED),
        (3, REFUSED),
        (np.array(3), REFUSED),
    ]


def _enumeration(values: list[str]) -> Cases:
    """Make the cases of an enumeration: its values, and what is none, such as the values of all others."""
    others = {value for each in IDL["enumerations"].values() for value in each} - set(values)
    wrong = [*sorted(others), "", values[0].swapcase(), f" {values[0]}", f"{values[0]}\0", 0, [values[0]]]
    return [*((value, value) for value in values), *((value, REFUSED) for value in wrong)]


#: For each type of the IDL what it makes of a value.
CASES: dict[str, Cases] = {
    "[EnforceRange] unsigned long": _UNSIGNED_LONG,
    "[EnforceRange] long": [
        *_NUMBERS,
        (2**31 - 1, 2**31 - 1),
        (2**31, REFUSED),
        (-(2**31), -(2**31)),
        (-(2**31) - 1, REFUSED),
        (-1.5, -1),
        *((value, REFUSED) for value in _NOT_FINITE),
    ],
    "unsigned long": [*_NUMBERS, (UNSIGNED + 5, 5), (-1, UNSIGNED - 1), (-1.5, UNSIGNED - 1), *((value, 0) for value in _NOT_FINITE)],
    "float": _FLOAT,
    "double": [(0.1, 0.1), ("3", 3.0), (1e39, 1e39), (10**400, REFUSED), *((value, REFUSED) for value in _NOT_FINITE)],
    "boolean": [(0, False), ("", False), (math.nan, False), (2, True), ("false", True), ([], True)],
    "sequence<[EnforceRange] unsigned long>": _sequences(_UNSIGNED_LONG),
    "sequence<float>": _sequences(_FLOAT),
    # A string and a 0-D array are numbers here; what can be iterated is a sequence.
    "([EnforceRange] unsigned long or sequence<[EnforceRange] unsigned long>)": [
        *_UNSIGNED_LONG,
        ([], ()),
        ([1, 3], (1, 3)),
        (np.array([1, 3]), (1, 3)),
        ([-1], REFUSED),
        ([[1]], REFUSED),
    ],
    # What remains of an operand is its descriptor.
    "MLOperand": [(OPERAND, OPERAND._descriptor), *((value, REFUSED) for value in (ACTIVATION, "operand", 1, [OPERAND], np.zeros(2)))],
    "sequence<MLActivation>": [
        ([], ()),
        ((ACTIVATION, ACTIVATION), (ACTIVATION._activation,) * 2),
        *((value, REFUSED) for value in (ACTIVATION, [OPERAND], ["relu"], [None], "relu")),
    ],
    **{name: _enumeration(values) for name, values in IDL["enumerations"].items()},
}


def outcome_of(converter: Callable[[Any], Any], value: Any) -> Any:
    try:
        return converter(value)
    except webidl.ConversionError:
        return REFUSED


def assert_converts(converter: Callable[[Any], Any], cases: Cases) -> None:
    for value, expected in cases:
        result = outcome_of(converter, value)
        assert (type(result), result) == (type(expected), expected), f"{value!r} became {result!r}"


MEMBERS = [(name, member["name"]) for name in MODELS for member in members(name)]
ARGUMENTS = [(name, argument.name) for name in OPERATION_NAMES for argument in OPERATIONS[name].arguments]


def member_type(dictionary: str, name: str) -> str:
    return next(text(member["type"]) for member in members(dictionary) if member["name"] == name)


def argument_type(operation: IdlOperation, name: str) -> str:
    return next(text(argument["type"]) for argument in operation["arguments"] if argument["name"] == name)


def convert_member(dictionary: str, name: str, value: object) -> Any:
    """Convert a dictionary of this member, and of those that are required, and return the member."""
    required = {member["name"]: IDL["enumerations"][text(member["type"])][0] for member in members(dictionary) if member.get("required")}
    return getattr(convert(MODELS[dictionary], {**required, name: value}), name)


def test_the_amount() -> None:
    assert len(MEMBERS) == 95
    assert len(ARGUMENTS) == 16
    used = {member_type(*each) for each in MEMBERS} | {
        argument_type(overloads("MLGraphBuilder")[name][0], each) for name, each in ARGUMENTS
    }
    assert used == set(CASES) - {"double"}


@pytest.mark.parametrize(("dictionary", "name"), MEMBERS)
def test_a_member(dictionary: str, name: str) -> None:
    assert_converts(lambda value: convert_member(dictionary, name, value), CASES[member_type(dictionary, name)])
    # A member that is None is missing.
    field = MODELS[dictionary].model_fields[name]
    if field.is_required():
        with pytest.raises(webidl.ConversionError, match="is required but missing"):
            convert_member(dictionary, name, None)
    else:
        assert convert_member(dictionary, name, None) == field.default


@pytest.mark.parametrize(("operation", "name"), ARGUMENTS)
def test_an_argument(operation: str, name: str) -> None:
    (converter,) = [argument.convert for argument in OPERATIONS[operation].arguments if argument.name == name]
    type = argument_type(overloads("MLGraphBuilder")[operation][0], name)
    # An argument that is None is JavaScript's undefined: NaN where a number is wanted.
    undefined = 0 if type == "unsigned long" else REFUSED
    assert_converts(converter, [*CASES[type], (None, undefined)])


# The same through the public methods: a failed conversion is a TypeError that names the operation and what is at fault.

VALID: dict[str, Any] = {
    "MLOperand": OPERAND,
    "MLOperandDataType": "float32",
    "sequence<MLOperand>": [OPERAND],
    "[EnforceRange] unsigned long": 1,
    "unsigned long": 1,
    "sequence<[EnforceRange] unsigned long>": [1],
    "([EnforceRange] unsigned long or sequence<[EnforceRange] unsigned long>)": 1,
}


def call_wrongly(name: str, arguments: list[Any], fault: str) -> None:
    with pytest.raises(webnn.WebNNTypeError) as caught:
        getattr(BUILDER, name)(*arguments)
    assert caught.value.operation == name
    assert caught.value.argument == fault
    assert caught.value.anchor == OPERATIONS[name].anchor
    assert str(caught.value).startswith(f"{name}: {fault} must be ")


@pytest.mark.parametrize("name", OPERATION_NAMES)
def test_a_wrong_argument(name: str) -> None:
    operation = overloads("MLGraphBuilder")[name][0]
    valid = [VALID[text(argument["type"])] for argument in positional(operation)]
    for index, argument in enumerate(positional(operation)):
        if OPERATIONS[name].activation and index == 0:
            continue
        for wrong in (object(), BUILDER, {}, OPERATIONS):
            call_wrongly(name, [*valid[:index], wrong, *valid[index + 1 :]], argument["name"])
    # Nor is anything but a dictionary an options dictionary.
    options = options_name(operation)
    if options:
        for wrong in (1, "axis", [1], OPERAND):
            call_wrongly(name, [*valid, wrong], "options")
        for member in members(options):
            if member["type"] != "boolean":
                call_wrongly(name, [*valid, {member["name"]: object()}], f"options.{member['name']}")


@pytest.mark.parametrize("name", OPERATION_NAMES)
def test_a_wrong_label(name: str) -> None:
    valid = [VALID[text(argument["type"])] for argument in positional(overloads("MLGraphBuilder")[name][0])]
    for wrong in (1.5, object(), [1], {}, OPERAND):
        call_wrongly(name, [*valid, {"label": wrong}], "options.label")


class Choice(str):
    """A string that writes itself otherwise, as the members of ``class Layout(str, enum.Enum)`` do."""

    __slots__ = ()

    def __str__(self) -> str:
        return "Choice"


@pytest.mark.parametrize(("dictionary", "name"), [each for each in MEMBERS if member_type(*each) in IDL["enumerations"]])
def test_a_string_is_its_text(dictionary: str, name: str) -> None:
    for value in IDL["enumerations"][member_type(dictionary, name)]:
        assert type(convert_member(dictionary, name, Choice(value))) is str
        assert convert_member(dictionary, name, Choice(value)) == value


ACTIVATIONS = [name for name in OPERATION_NAMES if OPERATIONS[name].activation]


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_the_first_argument_chooses_the_overload(name: str) -> None:
    method = getattr(BUILDER, name)
    assert isinstance(method(OPERAND), webnn.MLOperand)
    assert isinstance(method(), webnn.MLActivation)
    with_options = OPERATIONS[name].options is not None
    if with_options:
        assert isinstance(method({}), webnn.MLActivation)
        assert isinstance(method({"alpha": 2}), webnn.MLActivation)
        call_wrongly(name, [{"alpha": "two"}], "options.alpha")
    for wrong in (1, "x", [OPERAND], ACTIVATION, *([] if with_options else [{}])):
        call_wrongly(name, [wrong], "input")


def test_a_member_that_the_draft_does_not_know_is_ignored() -> None:
    for name in OPERATION_NAMES:
        operation = overloads("MLGraphBuilder")[name][0]
        if text(operation["returns"]) == "MLOperand" and all(
            is_dictionary(each["type"]) or each["type"] == "MLOperand" for each in operation["arguments"]
        ):
            valid = [VALID[text(argument["type"])] for argument in positional(operation)]
            with_unknown, without = (outcome(name, [*valid, options]) for options in ({"unheard": 1, "label": "l"}, {"label": "l"}))
            assert with_unknown == without


def outcome(name: str, arguments: list[Any]) -> str:
    try:
        return str(getattr(BUILDER, name)(*arguments)._descriptor)
    except webnn.WebNNTypeError as error:
        return str(error)


def test_the_arguments_of_the_builder_s_own_methods() -> None:
    for value, expected in CASES["double"]:
        if expected is REFUSED:
            with pytest.raises(webnn.WebNNTypeError, match="constant: value must "):
                BUILDER.constant("float32", value)
        else:
            BUILDER.constant("float32", value)
    for value, expected in CASES["MLOperandDataType"]:
        if expected is REFUSED:
            with pytest.raises(webnn.WebNNTypeError, match="constant: type must "):
                BUILDER.constant(value, 1)
            with pytest.raises(webnn.WebNNTypeError, match=r"input: descriptor\.dataType must "):
                BUILDER.input("x", {"dataType": value})
        else:
            assert BUILDER.constant(value, 1).dataType() == expected
            assert BUILDER.input("x", {"dataType": value}).dataType() == expected
    for value in ({}, [OPERAND], object()):
        with pytest.raises(webnn.WebNNTypeError, match="input: name must "):
            BUILDER.input(value, {"dataType": "float32"})  # type: ignore[arg-type]
        with pytest.raises(webnn.WebNNTypeError, match=r"build: outputs.* must "):
            BUILDER.buildSync({"x": value})  # type: ignore[dict-item]


@pytest.mark.parametrize("member", [member["name"] for member in members("MLContextOptions")])
def test_the_options_of_a_context(member: str) -> None:
    for value, expected in CASES[member_type("MLContextOptions", member)]:
        if expected is REFUSED:
            with pytest.raises(webnn.WebNNTypeError, match=rf"createContext: options\.{member} must be one of"):
                webnn.ML().createContextSync({member: value})  # type: ignore[misc]
