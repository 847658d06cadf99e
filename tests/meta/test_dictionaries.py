"""The models and the typed dictionaries have the IDL's members, in its order, with its types and defaults."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import webnn
from tests.meta.specification import IDL, MODELS, RETURNED, members, text
from webnn.builder import options
from webnn.context import context, ml
from webnn.validation.idl import IdlMember

#: What a program may write for each type of the IDL.
ANNOTATIONS = {
    "MLNamedArrayBufferViews": "dict[str, Array]",
    "MLOperand": "MLOperand",
    "MLOperandDataType": "DataType",
    "[EnforceRange] long": "int",
    "[EnforceRange] unsigned long": "int",
    "boolean": "bool",
    "float": "float",
    "sequence<MLActivation>": "Sequence[MLActivation]",
    "sequence<[EnforceRange] unsigned long>": "Numbers",
    "sequence<float>": "Numbers",
}
#: Members that are not this draft's, with the reason.
EXTRA_MEMBERS = {"label": "names the operator in messages, as in later drafts; this draft ignores members it does not know"}
#: Dictionaries without the extra members: they belong to no operation.
PLAIN = {"MLOperandDescriptor", "MLContextOptions", *RETURNED}


def test_every_dictionary_has_both_forms() -> None:
    assert set(MODELS) == set(IDL["dictionaries"]) - RETURNED
    public = {name for name in webnn.__all__ if name.startswith("ML") and (name.endswith(("Options", "Descriptor", "Result")))}
    assert public - {"MLOperatorOptions"} == set(IDL["dictionaries"])


@pytest.mark.parametrize("name", MODELS)
def test_a_model(name: str) -> None:
    fields = MODELS[name].model_fields
    assert list(fields) == [member["name"] for member in members(name)]
    for member in members(name):
        field = fields[member["name"]]
        assert field.is_required() == member.get("required", False)
        if not field.is_required():
            assert_default(field.default, member)


def assert_default(given: Any, member: IdlMember) -> None:
    if "default" not in member:
        assert given is None
        return
    expected = member["default"]
    if text(member["type"]) == "float":
        assert isinstance(given, float)
        assert np.float32(given) == np.float32(expected)
    else:
        expected = tuple(expected) if isinstance(expected, list) else expected
        assert (type(given), given) == (type(expected), expected)


@pytest.mark.parametrize("name", IDL["dictionaries"])
def test_a_typed_dictionary(name: str) -> None:
    written = getattr(webnn, name)
    annotations = {key: value.__forward_arg__ for key, value in written.__annotations__.items()}
    if name not in PLAIN:
        for extra in EXTRA_MEMBERS:
            del annotations[extra]
    assert list(annotations) == [member["name"] for member in members(name)]
    for member in members(name):
        assert annotations[member["name"]] == annotation(member), member["name"]
    assert not written.__total__ or name in RETURNED


def annotation(member: IdlMember) -> str:
    name = text(member["type"])
    if name in ANNOTATIONS:
        written = ANNOTATIONS[name]
    else:
        written = f"Literal[{', '.join(repr(value) for value in IDL['enumerations'][name])}]"
    return f"Required[{written}]" if member.get("required") else written


def test_every_typed_dictionary_is_public() -> None:
    defined = {
        name
        for module in (options, context, ml)
        for name, value in vars(module).items()
        if name.startswith("ML") and hasattr(value, "__total__")
    }
    assert defined == {*IDL["dictionaries"], "MLOperatorOptions"}
