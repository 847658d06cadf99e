"""The models and the typed dictionaries have the IDLs' members, in their order, with their types and defaults.

A model is one draft's. A typed dictionary, which a program writes without saying for which draft, has the members of both.
"""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
import pytest

import webnn
from tests.meta.specification import (
    DICTIONARIES,
    DRAFTS,
    LATEST,
    OPERATOR_OPTIONS,
    RETURNED,
    Draft,
    each_draft,
    merged,
    of_each_draft,
    text,
)
from webnn.builder import options
from webnn.context import context, graph_steps, ml, state, tensor
from webnn.validation import descriptor, drafts
from webnn.validation.drafts.chromium import CHROMIUM
from webnn.validation.drafts.idl import IdlMember
from webnn.validation.revision import RevisionName

#: The Python types for each type of the IDL.
ANNOTATIONS = {
    "DOMString": "str",
    "MLNamedArrayBufferViews": "dict[str, Array]",
    "MLNumber": "float",
    "MLOperand": "MLOperand",
    "MLOperandDataType": "DataType",
    "USVString": "str",
    "[EnforceRange] long": "int",
    "[EnforceRange] unsigned long": "int",
    "boolean": "bool",
    "double": "float",
    "float": "float",
    # Either of them: the names of the current draft, or what the other one has for them.
    "sequence<MLActivation>": "Activations",
    "sequence<MLRecurrentNetworkActivation>": "Activations",
    "sequence<[EnforceRange] unsigned long>": "Numbers",
    "sequence<float>": "Numbers",
}
#: Members whose annotation is narrower than their type, with the reason.
NARROWER = {("MLArgMinMaxOptions", "outputDataType"): ("Literal['int32', 'int64']", "the steps of argMin and argMax refuse the others")}
#: Dictionaries without a label: they belong to no operation, except to the draft of June 2024 that ignores what it does not know.
UNLABELLED = {"MLOperandDescriptor", "MLTensorDescriptor", "MLContextOptions", *RETURNED}


@each_draft
def test_every_dictionary_has_a_model(draft: Draft) -> None:
    assert set(draft.models) == set(draft.converted)


def test_the_amount() -> None:
    assert all(len(draft.converted) >= least for draft, least in zip(DRAFTS, (31, 26), strict=True))
    assert len(DICTIONARIES) >= 34


def test_every_typed_dictionary_is_public() -> None:
    assert {name for name in webnn.__all__ if hasattr(getattr(webnn, name), "__total__")} == set(DICTIONARIES)
    defined = {
        name
        for module in (graph_steps, context, state, ml, options, tensor)
        for name, value in vars(module).items()
        if name.startswith("ML") and hasattr(value, "__total__")
    }
    assert defined == set(DICTIONARIES)


@of_each_draft(lambda draft: draft.models)
def test_a_model(draft: Draft, name: str) -> None:
    fields = draft.models[name].model_fields
    assert list(fields) == [member["name"] for member in draft.members(name)]
    for member in draft.members(name):
        field = fields[member["name"]]
        assert field.is_required() == member.get("required", False)
        if not field.is_required():
            assert_default(field.default, member)


def assert_default(given: Any, member: IdlMember) -> None:
    if "default" not in member:
        assert given is None
        return
    expected = member["default"]
    match text(member["type"]):
        case "float":
            assert isinstance(given, float)
            assert np.float32(given) == np.float32(expected)
        case "double":
            assert isinstance(given, float)
            assert given == expected
        case _:
            expected = tuple(expected) if isinstance(expected, list) else expected
            assert (type(given), given) == (type(expected), expected)


# Dictionaries as a program writes them


def forms(name: str) -> list[dict[str, IdlMember]]:
    """Return the members that a dictionary has in each draft that has it, inherited ones too."""
    return [{member["name"]: member for member in draft.members(name)} for draft in DRAFTS if name in draft.idl["dictionaries"]]


def annotation(name: str, member: str) -> str:
    """Write the annotation of a member: what its types in both drafts allow."""
    found = [form[member] for form in forms(name) if member in form]
    if (name, member) in NARROWER:
        written, _ = NARROWER[name, member]
    else:
        (written,) = {written_type(text(each["type"])) for each in found}
    # It is required if no draft that has the dictionary can do without it.
    required = len(found) == len(forms(name)) and all(each.get("required") for each in found)
    return f"Required[{written}]" if required else written


def written_type(type: str) -> str:
    if type in ANNOTATIONS:
        return ANNOTATIONS[type]
    values = merged(draft.idl["enumerations"].get(type, []) for draft in DRAFTS)
    return f"Literal[{', '.join(map(repr, values))}]"


@pytest.mark.parametrize("name", DICTIONARIES)
def test_a_typed_dictionary(name: str) -> None:
    written = getattr(webnn, name)
    annotations = {key: value.__forward_arg__ for key, value in written.__annotations__.items()}
    assert ("label" in annotations) == (name not in UNLABELLED)
    assert annotations.pop("label", "str") == "str"
    assert annotations == {member: annotation(name, member) for member in merged(forms(name))}
    # The order is that of the current draft, if it has the dictionary.
    members = list(forms(name)[0])
    assert [each for each in annotations if each in members] == members
    assert written.__total__ == (name in RETURNED)


def test_the_label_is_the_driver_s() -> None:
    (label,) = LATEST.idl["dictionaries"][OPERATOR_OPTIONS]["members"]
    assert (label["name"], label["default"]) == ("label", "")
    heirs = {name for name, definition in LATEST.idl["dictionaries"].items() if definition.get("inherits") == OPERATOR_OPTIONS}
    assert set(DICTIONARIES) - UNLABELLED - {OPERATOR_OPTIONS} == heirs


# Enumerations


@each_draft
def test_the_data_types(draft: Draft) -> None:
    assert draft.idl["enumerations"]["MLOperandDataType"] == list(descriptor.DATA_TYPES)
    assert set(descriptor.SMALL_TYPES).isdisjoint(descriptor.DATA_TYPES)


def test_the_enumerations_that_differ() -> None:
    different = {
        name
        for name in merged(draft.idl["enumerations"] for draft in DRAFTS)
        if len({str(draft.idl["enumerations"].get(name)) for draft in DRAFTS}) > 1
    }
    assert different == {"MLDeviceType", "MLPaddingMode", "MLRecurrentNetworkActivation"}


def test_type_checkers_know_the_revisions_and_the_options() -> None:
    assert [*get_args(RevisionName)] == [
        *drafts.DRAFTS,
        drafts.for_devices().name,
        f"{drafts.for_devices().name}+{CHROMIUM.name}",
        drafts.DEFAULT,
        *(f"{drafts.find_addition(name).since}+{name}" for name in drafts.extra_additions()),
    ]
    assert {name for name in options.__all__ if name not in webnn.__all__} == set()
