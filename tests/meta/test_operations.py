"""The operations of the IDLs, the builder's methods, the validators, the translations and the test oracle are one set."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable
from typing import Any

from tests.meta.specification import (
    DRAFTS,
    FORMER,
    LATEST,
    NOT_OPERATIONS,
    OPERATION_NAMES,
    SYNC,
    Draft,
    each_draft,
    each_operation,
    is_promise,
    of_each_draft,
    other_than,
    text,
)
from tests.support import BROWSERS, NEWEST, each_row, refused, shared_context
from webnn import MLGraphBuilder
from webnn.builder.base import MISSING
from webnn.builder.onnx.translate import TRANSLATIONS
from webnn.validation.drafts import find_revision
from webnn.validation.drafts.idl import IdlArgument, IdlOperation, IdlType
from webnn.validation.families import OPERATIONS

BUILDERS = {draft: draft.overloads("MLGraphBuilder") for draft in DRAFTS}
METHODS = {name for name in dir(MLGraphBuilder) if not name.startswith("_")}
#: A floor for the number of operations, by draft.
LEAST = {FORMER: 78, LATEST: 95}

OPERAND_TYPES = {"MLOperand", "sequence<MLOperand>"}
#: The types of the options that the steps of an operation cast to its input's data type.
CAST_TYPES = {"MLNumber", "double"}
#: How the annotations write the IDL's types. A sequence of numbers is annotated as `Numbers`.
ANNOTATIONS = {
    "AllowSharedBufferSource": "Bytes",
    "ArrayBufferView": "Bytes",
    "DOMString": "str",
    "MLActivation": "MLActivation",
    "MLNamedOperands": "Mapping[str, MLOperand]",
    "MLNumber": "float",
    "MLOperand": "MLOperand",
    "MLOperandDataType": "DataType",
    # The builder stands below the context, which has `MLTensor`.
    "MLTensor": "Tensor",
    "Promise<MLGraph>": "asyncio.Future[MLGraph]",
    "USVString": "str",
    "[EnforceRange] unsigned long": "int",
    "double": "float",
    "sequence<MLOperand>": "Sequence[MLOperand]",
    "sequence<[EnforceRange] unsigned long>": "Numbers",
    "sequence<unsigned long>": "Numbers",
    "([EnforceRange] unsigned long or sequence<[EnforceRange] unsigned long>)": "int | Numbers",
    "unsigned long": "int",
}
RETURNS = {**ANNOTATIONS, "sequence<MLOperand>": "list[MLOperand]"}

#: Operations whose arguments have another order in the drafts: each draft's form is an overload.
REARRANGED = {"argMax": "the axis is an argument of the current draft, and an option of the other one", "argMin": "likewise"}
#: Parameters that are not arguments in any draft, with the reason. All others must be.
EXTRA_PARAMETERS = {"members": "the members of the options as keyword arguments"}


@each_draft
def test_one_set_of_operations(draft: Draft) -> None:
    names = draft.operation_names
    assert len(names) == len(set(names)) >= LEAST[draft]
    assert set(draft.operations) == set(names)
    assert set(draft.reference) == set(names)


def test_every_operation_has_a_method_and_a_translation() -> None:
    twins = {
        name + SYNC
        for builder in BUILDERS.values()
        for name, operations in builder.items()
        if any(is_promise(each["returns"]) for each in operations)
    }
    assert twins == {"buildSync"}
    assert {*OPERATION_NAMES, *NOT_OPERATIONS, *twins} == METHODS
    assert set(TRANSLATIONS) == set(OPERATION_NAMES)


def test_the_operations_of_a_revision() -> None:
    assert set(FORMER.operations) | set(LATEST.operations) == set(OPERATIONS)
    # The addition of browsers changes only which data types there are.
    assert set(find_revision(BROWSERS).operations) == set(NEWEST.operations)


@of_each_draft(lambda draft: [name for name in OPERATION_NAMES if name not in draft.operation_names])
def test_an_operation_that_the_draft_does_not_have(draft: Draft, name: str) -> None:
    builder = MLGraphBuilder(shared_context(str(draft)))
    with refused(rule="draft", operation=name):
        getattr(builder, name)


# Rows


@each_operation
def test_the_row_of_an_operation(draft: Draft, name: str) -> None:
    operation, *activations = BUILDERS[draft][name]
    row = draft.operations[name]
    assert row.name == name
    assert row.anchor.removeprefix("#") in draft.idl["anchors"]
    operands = [argument["name"] for argument in operation["arguments"] if text(argument["type"]) in OPERAND_TYPES]
    assert list(row.operands) == operands
    assert row.variadic == any(text(argument["type"]) == "sequence<MLOperand>" for argument in operation["arguments"])
    arguments = [each["name"] for each in draft.positional(operation) if each["name"] not in operands]
    assert [argument.name for argument in row.arguments] == arguments
    options = draft.options_name(operation) or ""
    assert row.options is draft.models.get(options)
    members = {member["name"]: text(member["type"]) for member in draft.members(options)}
    assert list(row.members) == [member for member, type in members.items() if type == "MLOperand"]
    assert row.numbers == (tuple(member for member, type in members.items() if type in CAST_TYPES) if draft is LATEST else ())
    assert (row.activation and draft.revision.activations) == bool(activations)
    assert all(each["returns"] == "MLActivation" for each in activations)


@each_operation
def test_what_the_other_draft_has_elsewhere(draft: Draft, name: str) -> None:
    """An option of the other draft alone is refused, with what this draft has in its place."""
    other = other_than(draft)
    if name not in other.operations:
        assert draft.operations[name].elsewhere == {}
        return
    own, others = ([member["name"] for member in each.members(each.options_name(BUILDERS[each][name][0]) or "")] for each in (draft, other))
    elsewhere = draft.operations[name].elsewhere
    assert set(elsewhere) == set(others) - set(own)
    places = {"", *own, *(f"the argument {argument.name}" for argument in draft.operations[name].arguments)}
    assert set(elsewhere.values()) <= places


@each_draft
@each_row("table", ["data_types", "ranks"])
def test_the_tables_of_the_revision_name_operands(draft: Draft, table: str) -> None:
    entries = getattr(draft.revision, table)
    assert entries
    for name, limits in entries.items():
        row = draft.operations[name]
        operands = {*row.operands, *(f"options.{member}" for member in row.members)}
        assert set(limits) - {"output"} <= operands, name
        if draft.revision.checks_operands:
            assert set(limits) - {"output"} == operands, name
    if draft.revision.checks_operands:
        assert set(entries) == set(draft.operation_names)


# Signatures


def parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    return [each for each in inspect.signature(function).parameters.values() if each.name != "self"]


def annotation(type: IdlType) -> str:
    return ANNOTATIONS.get(text(type), text(type))


Parameters = list[tuple[str, object, str]]


def expected_parameters(operation: IdlOperation) -> Parameters:
    """Return name, default and annotation of each parameter that the IDL wants; a default that is absent is `inspect.Parameter.empty`."""
    result: Parameters = []
    for argument in operation["arguments"]:
        written = annotation(argument["type"])
        optional = argument.get("optional", False)
        result.append((argument["name"], None if optional else inspect.Parameter.empty, f"{written} | None" if optional else written))
    return result


def given_parameters(function: Callable[..., Any], kind: Any = inspect.Parameter.POSITIONAL_OR_KEYWORD) -> Parameters:
    return [(each.name, each.default, each.annotation) for each in parameters(function) if each.kind is kind]


def keywords(function: Callable[..., Any]) -> str | None:
    """Return the annotation of ``**members``, if there is such a parameter."""
    found = [each for each in parameters(function) if each.kind is inspect.Parameter.VAR_KEYWORD]
    assert [each.name for each in found] in ([], ["members"])
    return found[0].annotation if found else None


def check_signature(draft: Draft, operation: IdlOperation, function: Callable[..., Any]) -> None:
    """Check a signature against one draft's form. Where that has no options, the method has those of the current draft."""
    expected = expected_parameters(operation)
    options = draft.options_name(operation)
    if options is None and operation["name"] in OPERATION_NAMES:
        options = LATEST.options_name(BUILDERS[LATEST][operation["name"]][0])
        expected.append(("options", None, f"{options} | None"))
    assert given_parameters(function) == expected
    assert keywords(function) == (f"Unpack[{options}]" if options else None)
    assert inspect.signature(function).return_annotation == RETURNS[text(operation["returns"])]


def renamed(name: str) -> dict[str, str]:
    """Return the arguments of an operation that the drafts call by different names: the current name, and the other one."""
    if name in REARRANGED or any(name not in builder for builder in BUILDERS.values()):
        return {}
    names = [[argument["name"] for argument in draft.positional(BUILDERS[draft][name][0])] for draft in DRAFTS]
    return {current: former for current, former in zip(*names, strict=True) if current != former}


SINGLE = [
    name
    for name, operations in BUILDERS[LATEST].items()
    if len(operations) == len(BUILDERS[FORMER].get(name, operations)) == 1 and name not in {"input", *REARRANGED}
]


@each_row("name", [name for name in SINGLE if not renamed(name)])
def test_a_signature(name: str) -> None:
    method = getattr(MLGraphBuilder, name)
    assert not typing.get_overloads(method)
    for draft in DRAFTS:
        for operation in BUILDERS[draft].get(name, []):
            check_signature(draft, operation, method)


def test_some_arguments_have_two_names() -> None:
    wanted = {"cast": {"dataType": "type"}, "where": {"trueValue": "input", "falseValue": "other"}}
    assert {name: renamed(name) for name in SINGLE if renamed(name)} == wanted


@each_row("name", [name for name in SINGLE if renamed(name)])
def test_a_signature_with_two_names_for_an_argument(name: str) -> None:
    """By position they are one; by keyword each name is there, so that neither is required."""
    method = getattr(MLGraphBuilder, name)
    (operation,) = BUILDERS[LATEST][name]
    types = {name: written for name, _, written in expected_parameters(operation)}
    expected = [
        (each, MISSING, f"{written} | Missing") if each in renamed(name) else (each, default, written)
        for each, default, written in expected_parameters(operation)
    ]
    assert given_parameters(method) == expected
    former = [(former, MISSING, f"{types[current]} | Missing") for current, former in renamed(name).items()]
    assert given_parameters(method, inspect.Parameter.KEYWORD_ONLY) == former
    assert keywords(method) == f"Unpack[{LATEST.options_name(operation)}]"
    assert inspect.signature(method).return_annotation == RETURNS[text(operation["returns"])]


@each_row("name", list(REARRANGED))
def test_the_overloads_of_the_drafts(name: str) -> None:
    method = getattr(MLGraphBuilder, name)
    with_axis, with_options = typing.get_overloads(method)
    ((current,), (former,)) = (BUILDERS[draft][name] for draft in DRAFTS)
    check_signature(LATEST, current, with_axis)
    # A type checker wants one name for each position: the options stand where the axis does, and have their own name as a keyword.
    input, options = expected_parameters(former)
    assert given_parameters(with_options) == [input, ("axis", *options[1:])]
    assert given_parameters(with_options, inspect.Parameter.KEYWORD_ONLY) == [options]
    assert keywords(with_options) == keywords(with_axis) == f"Unpack[{FORMER.options_name(former)}]"
    # The method itself accepts what either of them does.
    (_, _, axis), *rest = expected_parameters(current)[1:]
    assert given_parameters(method) == [input, ("axis", None, f"{axis} | {options[2]}"), *rest]
    assert keywords(method) == keywords(with_axis)
    assert {inspect.signature(each).return_annotation for each in (method, with_axis, with_options)} == {"MLOperand"}


def test_the_signature_of_a_twin() -> None:
    asynchronous, synchronous = inspect.signature(MLGraphBuilder.build), inspect.signature(MLGraphBuilder.buildSync)
    assert asynchronous.parameters == synchronous.parameters
    assert asynchronous.return_annotation == f"asyncio.Future[{synchronous.return_annotation}]"


@each_row("name", [name for name in FORMER.operation_names if len(BUILDERS[FORMER][name]) > 1])
def test_the_overloads_of_an_activation_function(name: str) -> None:
    method = getattr(MLGraphBuilder, name)
    with_input, without_input = typing.get_overloads(method)
    operation, activation = BUILDERS[FORMER][name]
    check_signature(FORMER, operation, with_input)
    # The current draft has that form alone.
    (current,) = BUILDERS[LATEST][name]
    check_signature(LATEST, current, with_input)
    options = FORMER.options_name(activation)
    # The dictionary of the second overload stands where the input does in the first.
    assert given_parameters(without_input) == ([("input", None, f"{options} | None")] if options else [])
    assert keywords(without_input) == (f"Unpack[{options}]" if options else None)
    assert inspect.signature(without_input).return_annotation == "MLActivation"
    # The method itself accepts what either of them does.
    union, default = (f"MLOperand | {options} | None", None) if options else ("MLOperand | Missing", MISSING)
    taken = options or "MLOperatorOptions"
    assert given_parameters(method) == [("input", default, union), ("options", None, f"{taken} | None")]
    assert keywords(method) == f"Unpack[{taken}]"
    assert inspect.signature(method).return_annotation == "MLOperand | MLActivation"


def test_the_overloads_of_input() -> None:
    by_dictionary, by_keywords = typing.get_overloads(MLGraphBuilder.input)
    for draft in DRAFTS:
        (operation,) = BUILDERS[draft]["input"]
        expected = expected_parameters(operation)
        assert given_parameters(by_dictionary) == expected
        assert keywords(by_dictionary) is None
        # The descriptor is required: what Python calls the second overload is the same dictionary as keyword arguments.
        assert given_parameters(by_keywords) == expected[:1]
        assert keywords(by_keywords) == f"Unpack[{draft.options_name(operation)}]"
    assert [each.name for each in parameters(MLGraphBuilder.input)] == ["name", "descriptor", "members"]
    for method in (by_dictionary, by_keywords, MLGraphBuilder.input):
        assert inspect.signature(method).return_annotation == "MLOperand"


def test_the_overloads_of_constant() -> None:
    declared = typing.get_overloads(MLGraphBuilder.constant)
    assert len(declared) == len(BUILDERS[LATEST]["constant"]) == 3
    for operation, overload in zip(BUILDERS[LATEST]["constant"], declared, strict=True):
        expected: list[IdlArgument] = operation["arguments"]
        given = parameters(overload)
        # By position only: the overloads name the same positions differently, and so do the drafts.
        assert [each.name for each in given] == [argument["name"] for argument in expected]
        assert {each.kind for each in given} == {inspect.Parameter.POSITIONAL_ONLY}
        assert {each.default for each in given} == {inspect.Parameter.empty}
        assert [each.annotation for each in given] == [annotation(argument["type"]) for argument in expected]
        assert inspect.signature(overload).return_annotation == "MLOperand"
    types = [[each.annotation for each in parameters(overload)] for overload in declared]
    former = [[annotation(argument["type"]) for argument in operation["arguments"]] for operation in BUILDERS[FORMER]["constant"]]
    assert former == types[:2]
    assert [each.name for each in parameters(MLGraphBuilder.constant)] == ["descriptor", "buffer"]


def test_every_extra_parameter_is_listed() -> None:
    extra: set[str] = set()
    for name in METHODS:
        operations = [operation for builder in BUILDERS.values() for operation in builder.get(name.removesuffix(SYNC), [])]
        known = {argument["name"] for operation in operations for argument in operation["arguments"]}
        extra.update({each.name for each in parameters(getattr(MLGraphBuilder, name))} - known)
    assert extra == set(EXTRA_PARAMETERS)
