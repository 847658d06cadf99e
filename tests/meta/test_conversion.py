"""Each argument and each member converts as its IDL type says: probed with the values that tell one type from another.

`tests/validation/test_webidl.py` tests the conversions themselves.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import webnn
from tests.meta.specification import CLASSES, DRAFTS, FORMER, LATEST, Draft, each_draft, each_operation, of_each_draft, text
from tests.support import each_row, make_context, refused
from webnn.validation import webidl
from webnn.validation.drafts.idl import IdlOperation
from webnn.validation.interfaces import Activation

#: Stands for a conversion that has to fail.
REFUSED = object()

UNSIGNED = 2**32
LARGE = 10**400
Cases = list[tuple[Any, Any]]

BUILDERS = {draft: webnn.MLGraphBuilder(make_context(str(draft))) for draft in DRAFTS}
OPERANDS = {draft: builder.input("operand", {"dataType": "float32", draft.revision.shape: [2]}) for draft, builder in BUILDERS.items()}
OPERAND = OPERANDS[LATEST]
ACTIVATION = BUILDERS[FORMER].relu()

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
_ANY_UNSIGNED_LONG: Cases = [*_NUMBERS, (UNSIGNED + 5, 5), (-1, UNSIGNED - 1), (-1.5, UNSIGNED - 1), *((value, 0) for value in _NOT_FINITE)]
_NO_NUMBERS: Cases = [([1], REFUSED), ({}, REFUSED), (OPERAND, REFUSED), (object(), REFUSED)]
_DOUBLE: Cases = [
    (1, 1.0),
    (True, 1.0),
    ("0.5", 0.5),
    (0.1, 0.1),
    (1e39, 1e39),
    (LARGE, REFUSED),
    *_NO_NUMBERS,
    *((value, REFUSED) for value in _NOT_FINITE),
]
_FLOAT: Cases = [*_DOUBLE[:3], (0.1, float(np.float32(0.1))), (1e39, REFUSED), *_DOUBLE[5:]]


def _sequences(element: Cases) -> Cases:
    """Make the cases of ``sequence<T>`` of those of T."""
    return [
        *(([value], REFUSED if expected is REFUSED else (expected,)) for value, expected in element),
        ([], ()),
        ((1, 3), (1, 3)),
        (range(3), (0, 1, 2)),
        (np.array([1, 3], np.uint8), (1, 3)),
        ([[1]], REFUSED),
        ("13", REFUSED),
        ({0: 1}, REFUSED),
        (3, REFUSED),
        (np.array(3), REFUSED),
    ]


def _enumeration(draft: Draft, name: str) -> Cases:
    """Make the cases of an enumeration: its values, and what is none, such as the values of all others."""
    values = draft.idl["enumerations"][name]
    others = {value for each in DRAFTS for values in each.idl["enumerations"].values() for value in values} - set(values)
    wrong = [*sorted(others), "", values[0].swapcase(), f" {values[0]}", f"{values[0]}\0", 0, [values[0]]]
    return [*((value, value) for value in values), *((value, REFUSED) for value in wrong)]


def _cases(draft: Draft) -> dict[str, Cases]:
    """Make for each type of a draft's IDL what it makes of a value."""
    operand = OPERANDS[draft]
    return {
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
        "unsigned long": _ANY_UNSIGNED_LONG,
        "float": _FLOAT,
        "double": _DOUBLE,
        # An integer of Python is a BigInt, whatever its size; any other number is a double.
        "MLNumber": [
            (2**53 + 1, 2**53 + 1),
            (LARGE, LARGE),
            (-LARGE, -LARGE),
            (True, 1),
            ("3", 3.0),
            (np.uint64(2**64 - 1), 2**64 - 1),
            (np.array(3), 3),
            (0.1, 0.1),
            (1e39, 1e39),
            ("0.5", 0.5),
            (np.float32(0.5), 0.5),
            ("three", math.nan),
            (math.nan, math.nan),
            (-math.inf, -math.inf),
            *_NO_NUMBERS,
        ],
        "boolean": [(0, False), ("", False), (math.nan, False), (2, True), ("false", True), ([], True)],
        "sequence<[EnforceRange] unsigned long>": [*_sequences(_UNSIGNED_LONG), ([1, None], REFUSED)],
        "sequence<unsigned long>": [*_sequences(_ANY_UNSIGNED_LONG), ([1, None], (1, 0))],
        "sequence<float>": [*_sequences(_FLOAT), ([1, None], REFUSED)],
        # A string and a 0-D array are numbers here; what can be iterated is a sequence.
        "([EnforceRange] unsigned long or sequence<[EnforceRange] unsigned long>)": [
            *_UNSIGNED_LONG,
            ([], ()),
            ([1, 3], (1, 3)),
            (np.array([1, 3]), (1, 3)),
            ([-1], REFUSED),
            ([[1]], REFUSED),
        ],
        # Only the descriptor of an operand is kept.
        "MLOperand": [(operand, operand.descriptor), *((value, REFUSED) for value in (ACTIVATION, "operand", 1, [operand], np.zeros(2)))],
        "sequence<MLActivation>": [
            ([], ()),
            ((ACTIVATION, ACTIVATION), (ACTIVATION._activation,) * 2),
            *((value, REFUSED) for value in (ACTIVATION, [operand], ["relu"], [None], "relu")),
        ],
        # A name becomes an activation without options.
        "sequence<MLRecurrentNetworkActivation>": [
            ([], ()),
            (("relu", "tanh"), (Activation("relu"), Activation("tanh"))),
            (["sigmoid"], (Activation("sigmoid"),)),
            *((value, REFUSED) for value in ([ACTIVATION], [operand], ["gelu"], ["Relu"], [None], "relu")),
        ],
        **{name: _enumeration(draft, name) for name in draft.idl["enumerations"]},
    }


CASES = {draft: _cases(draft) for draft in DRAFTS}


def outcome_of(converter: Callable[[Any], Any], value: Any) -> Any:
    try:
        return converter(value)
    except webidl.ConversionError:
        return REFUSED


def assert_converts(converter: Callable[[Any], Any], cases: Cases) -> None:
    for value, expected in cases:
        result = outcome_of(converter, value)
        if expected != expected:  # noqa: PLR0124 (NaN)
            assert type(result) is float
            assert math.isnan(result)
        else:
            assert (type(result), result) == (type(expected), expected), f"{value!r} became {result!r}"


Member = tuple[str, str]


def members_of(draft: Draft) -> list[Member]:
    """Return every member of every dictionary that is converted, with its dictionary."""
    return [(name, member["name"]) for name in draft.models for member in draft.members(name)]


def arguments_of(draft: Draft) -> list[tuple[str, str]]:
    return [(name, argument.name) for name in draft.operation_names for argument in draft.operations[name].arguments]


def operation_of(draft: Draft, name: str) -> IdlOperation:
    return draft.overloads("MLGraphBuilder")[name][0]


def member_type(draft: Draft, dictionary: str, name: str) -> str:
    return next(text(member["type"]) for member in draft.members(dictionary) if member["name"] == name)


def argument_type(operation: IdlOperation, name: str) -> str:
    return next(text(argument["type"]) for argument in operation["arguments"] if argument["name"] == name)


#: A value for every type of a required member.
_REQUIRED = {"MLOperandDataType": "float32", "sequence<[EnforceRange] unsigned long>": [1]}


def convert_member(draft: Draft, dictionary: str, name: str, value: object) -> Any:
    """Convert a dictionary of this member, and of those that are required, and return the member."""
    required = {member["name"]: _REQUIRED[text(member["type"])] for member in draft.members(dictionary) if member.get("required")}
    return getattr(draft.models[dictionary].convertMembers(webidl.dictionary_members({**required, name: value})), name)


@each_draft
def test_the_amount(draft: Draft) -> None:
    members, arguments = members_of(draft), arguments_of(draft)
    least = {FORMER: (95, 16), LATEST: (103, 20)}[draft]
    assert len(members) >= least[0]
    assert len(arguments) >= least[1]
    used = {member_type(draft, *each) for each in members} | {argument_type(operation_of(draft, name), each) for name, each in arguments}
    # Every type of the draft has its cases.
    assert used <= set(CASES[draft])
    assert all(any(name in type for type in used) for name in draft.idl["enumerations"])


@of_each_draft(members_of)
def test_a_member(draft: Draft, name: Member) -> None:
    dictionary, member = name
    assert_converts(lambda value: convert_member(draft, *name, value), CASES[draft][member_type(draft, *name)])
    # A member that is None is missing.
    field = draft.models[dictionary].model_fields[member]
    if field.is_required():
        with pytest.raises(webidl.ConversionError, match="is required but missing"):
            convert_member(draft, *name, None)
    else:
        assert convert_member(draft, *name, None) == field.default


@of_each_draft(arguments_of)
def test_an_argument(draft: Draft, name: tuple[str, str]) -> None:
    operation, argument = name
    (converter,) = [each.convert for each in draft.operations[operation].arguments if each.name == argument]
    type = argument_type(operation_of(draft, operation), argument)
    # An argument that is None is JavaScript's undefined: NaN where a number is wanted.
    undefined = 0 if type == "unsigned long" else REFUSED
    assert_converts(converter, [*CASES[draft][type], (None, undefined)])


# The same through the public methods: a failed conversion is a TypeError that names the operation and what is at fault.


def valid_arguments(draft: Draft, name: str) -> list[Any]:
    """Return arguments of an operation that convert."""
    values = {
        "MLOperand": OPERANDS[draft],
        "MLOperandDataType": "float32",
        "sequence<MLOperand>": [OPERANDS[draft]],
        "[EnforceRange] unsigned long": 1,
        "unsigned long": 1,
        "sequence<[EnforceRange] unsigned long>": [1],
        "sequence<unsigned long>": [1],
        "([EnforceRange] unsigned long or sequence<[EnforceRange] unsigned long>)": 1,
    }
    return [values[text(argument["type"])] for argument in draft.positional(operation_of(draft, name))]


def call_wrongly(draft: Draft, name: str, arguments: list[Any], fault: str) -> None:
    with pytest.raises(webnn.WebNNTypeError) as caught:
        getattr(BUILDERS[draft], name)(*arguments)
    assert caught.value.operation == name
    assert caught.value.argument == fault
    assert caught.value.anchor == draft.operations[name].anchor
    assert str(caught.value).startswith(f"{name}: {fault} must be ")


@each_operation
def test_a_wrong_argument(draft: Draft, name: str) -> None:
    operation = operation_of(draft, name)
    valid = valid_arguments(draft, name)
    for index, argument in enumerate(draft.positional(operation)):
        if draft.operations[name].activation and index == 0:
            continue
        for wrong in (object(), BUILDERS[draft], {}, CLASSES):
            call_wrongly(draft, name, [*valid[:index], wrong, *valid[index + 1 :]], argument["name"])
    # Nor is anything but a dictionary an options dictionary.
    options = draft.options_name(operation)
    if options:
        for wrong in (1, "axis", [1], OPERANDS[draft]):
            call_wrongly(draft, name, [*valid, wrong], "options")
        for member in draft.members(options):
            if member["type"] != "boolean":
                call_wrongly(draft, name, [*valid, {member["name"]: object()}], f"options.{member['name']}")


@each_operation
def test_a_wrong_label(draft: Draft, name: str) -> None:
    for wrong in (1.5, object(), [1], {}, OPERANDS[draft]):
        call_wrongly(draft, name, [*valid_arguments(draft, name), {"label": wrong}], "options.label")


class Choice(str):
    """A string that writes itself otherwise, as the members of ``class Layout(str, enum.Enum)`` do."""

    __slots__ = ()

    def __str__(self) -> str:
        return "Choice"


@of_each_draft(lambda draft: [each for each in members_of(draft) if member_type(draft, *each) in draft.idl["enumerations"]])
def test_a_string_is_its_text(draft: Draft, name: Member) -> None:
    for value in draft.idl["enumerations"][member_type(draft, *name)]:
        assert type(convert_member(draft, *name, Choice(value))) is str
        assert convert_member(draft, *name, Choice(value)) == value


ACTIVATIONS = [name for name, row in FORMER.operations.items() if row.activation]


@each_row("name", ACTIVATIONS)
def test_the_first_argument_chooses_the_overload(name: str) -> None:
    method = getattr(BUILDERS[FORMER], name)
    operand = OPERANDS[FORMER]
    assert isinstance(method(operand), webnn.MLOperand)
    assert isinstance(method(), webnn.MLActivation)
    with_options = FORMER.operations[name].options is not None
    if with_options:
        assert isinstance(method({}), webnn.MLActivation)
        assert isinstance(method({"alpha": 2}), webnn.MLActivation)
        call_wrongly(FORMER, name, [{"alpha": "two"}], "options.alpha")
    for wrong in (1, "x", [operand], ACTIVATION, *([] if with_options else [{}])):
        call_wrongly(FORMER, name, [wrong], "input")


@each_row("name", ACTIVATIONS)
def test_the_current_draft_has_one_overload(name: str) -> None:
    assert isinstance(getattr(BUILDERS[LATEST], name)(OPERAND), webnn.MLOperand)
    wrong: list[Any]
    for wrong in ([], [None], [{}], [{"alpha": 2}], [1], [[OPERAND]], [ACTIVATION]):
        call_wrongly(LATEST, name, wrong, "input")
    # Without anything it says where the other draft's form went.
    with refused(rule="draft", operation=name, argument="input"):
        getattr(BUILDERS[LATEST], name)()


@each_operation
def test_a_member_that_the_draft_does_not_know_is_ignored(draft: Draft, name: str) -> None:
    valid = valid_arguments(draft, name)
    with pytest.warns(webnn.WebNNWarning, match=rf"^\[l\] {name}: options\.unheard is ignored: it is not a member"):
        with_unknown = outcome(draft, name, [*valid, {"unheard": 1, "label": "l"}])
    without = outcome(draft, name, [*valid, {"label": "l"}])
    assert with_unknown == without
    refused, message = without
    assert message.startswith(f"[l] {name}: ") == refused


def outcome(draft: Draft, name: str, arguments: list[Any]) -> tuple[bool, str]:
    """Return whether a call is refused, and the message or what it returns."""
    try:
        returned = getattr(BUILDERS[draft], name)(*arguments)
    except webnn.WebNNTypeError as error:
        return True, str(error)
    return False, str([operand.descriptor for operand in returned] if isinstance(returned, list) else returned.descriptor)


@of_each_draft(lambda draft: [name for name, row in draft.operations.items() if row.elsewhere])
def test_a_member_of_the_other_draft_is_refused(draft: Draft, name: str) -> None:
    """A browser ignores it, as any member that it does not know; the emulator raises, because the program means it."""
    for member, instead in draft.operations[name].elsewhere.items():
        with pytest.raises(webnn.WebNNTypeError, match=f"has {instead}" if instead else "has nothing like it") as caught:
            getattr(BUILDERS[draft], name)(*valid_arguments(draft, name), {member: 1})
        assert caught.value.argument == f"options.{member}"


@each_draft
def test_the_arguments_of_the_builder_s_own_methods(draft: Draft) -> None:
    builder = webnn.MLGraphBuilder(make_context(str(draft)))
    (scalar,) = [
        [(argument["name"], CASES[draft][text(argument["type"])]) for argument in operation["arguments"]]
        for operation in draft.overloads("MLGraphBuilder")["constant"]
        if operation["arguments"][0]["type"] == "MLOperandDataType"
    ]
    (dataType, data_types), (number, numbers) = scalar
    for value, expected in numbers:
        if expected is REFUSED:
            with refused(rule="conversion", operation="constant", argument=number):
                builder.constant("float32", value)
        else:
            builder.constant("float32", value)
    for index, (value, expected) in enumerate(data_types):
        name, descriptor = f"x{index}", {"dataType": value, draft.revision.shape: [1]}
        if expected is REFUSED:
            with refused(rule="conversion", operation="constant", argument=dataType):
                builder.constant(value, 1)
            with refused(rule="conversion", operation="input", argument="descriptor.dataType"):
                builder.input(name, descriptor)
        else:
            assert builder.constant(value, 1).descriptor.dataType == expected
            assert builder.input(name, descriptor).descriptor.dataType == expected
    wrong: Any
    for wrong in ({}, [OPERAND], object()):
        with refused(rule="conversion", operation="input", argument="name"):
            builder.input(wrong, {"dataType": "float32", draft.revision.shape: []})
        with refused(rule="conversion", operation="build", argument="outputs['x']"):
            builder.buildSync({"x": wrong})


@of_each_draft(lambda draft: [each for each in members_of(draft) if each[0] == "MLContextOptions"])
def test_the_options_of_a_context(draft: Draft, name: Member) -> None:
    _, member = name
    ml = webnn.ML(revision=str(draft))
    for value, expected in CASES[draft][member_type(draft, *name)]:
        if expected is REFUSED:
            with refused(rule="conversion", operation="createContext", argument=f"options.{member}"):
                ml.createContextSync({member: value})
        else:
            with warnings.catch_warnings():
                # There may be no such device here.
                warnings.simplefilter("ignore", webnn.DeviceFallbackWarning)
                assert isinstance(ml.createContextSync({member: value}), webnn.MLContext)


@each_row("member", ["dataType", "shape", "readable", "writable"])
def test_the_descriptor_of_a_tensor(member: str) -> None:
    context = make_context(str(LATEST))
    valid = {"dataType": "float32", "shape": [1]}
    for value, expected in CASES[LATEST][member_type(LATEST, "MLTensorDescriptor", member)]:
        if expected is REFUSED:
            with pytest.raises(webnn.WebNNTypeError, match=rf"createTensor: descriptor\.{member}(\[\d\])? must "):
                context.createTensorSync({**valid, member: value})
        elif member != "shape":
            assert getattr(context.createTensorSync({**valid, member: value}), member) == expected
