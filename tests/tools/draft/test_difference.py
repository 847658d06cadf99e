"""The IDL of a draft as changes."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from tools.draft.difference import write_difference
from webnn.validation.drafts.idl import Idl, merge_idl, read_idl

BEFORE = read_idl("2026-06")
ADDED = {"name": "more", "returns": "undefined", "arguments": []}


def add_operation(idl: Any) -> None:
    idl["interfaces"]["MLContext"]["operations"].append(ADDED)


def remove_overload(idl: Any) -> None:
    operations = idl["interfaces"]["MLContext"]["operations"]
    operations.remove(next(each for each in operations if each["name"] == "readTensor"))


def remove_dictionary_and_typedef(idl: Any) -> None:
    del idl["dictionaries"]["MLClampOptions"], idl["typedefs"]["MLNumber"]


def change_member(idl: Any) -> None:
    idl["dictionaries"]["MLClampOptions"]["members"][0]["type"] = "double"


def remove_value(idl: Any) -> None:
    idl["enumerations"]["MLOperandDataType"].remove("int8")


def add_value(idl: Any) -> None:
    idl["enumerations"]["MLOperandDataType"].append("bfloat16")


def remove_inheritance(idl: Any) -> None:
    del idl["dictionaries"]["MLClampOptions"]["inherits"]


def add_definitions(idl: Any) -> None:
    idl["interfaces"]["MLNew"] = {"operations": [ADDED]}
    idl["typedefs"]["MLNumber"] = "double"
    idl["anchors"] = sorted([*idl["anchors"], "api-mlnew-more"])


CHANGES: dict[str, tuple[Callable[[Any], None], dict[str, Any]]] = {
    "an operation": (add_operation, {"interfaces": {"MLContext": {"operations": [ADDED]}}}),
    "an overload less": (remove_overload, {"interfaces": {"MLContext": {"without": [["readTensor", "MLTensor"]]}}}),
    "definitions less": (remove_dictionary_and_typedef, {"removed": ["MLClampOptions", "MLNumber"]}),
    "a value": (add_value, {"enumerations": {"MLOperandDataType": ["bfloat16"]}}),
    "a member's type": (change_member, {}),
    "a value less": (remove_value, {}),
    "no inheritance": (remove_inheritance, {}),
    "definitions": (add_definitions, {}),
}


def ordered(idl: Any) -> Any:
    """Return an IDL whose members have one order, without empty lists of them."""
    result = copy.deepcopy(idl)
    for kind in ("dictionaries", "interfaces"):
        for definition in result[kind].values():
            for name in ("members", "operations", "attributes"):
                if not definition.get(name):
                    definition.pop(name, None)
                else:
                    definition[name].sort(key=repr)
    return result


@pytest.mark.parametrize("change", CHANGES)
def test_the_changes_make_the_draft(change: str) -> None:
    make, expected = CHANGES[change]
    after: Idl = copy.deepcopy(BEFORE)
    make(after)
    data = write_difference(BEFORE, after)
    assert data["after"] == "2026-06"
    if expected:
        assert {key: value for key, value in data.items() if key not in {"source", "after", "anchors"}} == expected
    anchors = sorted([*BEFORE["anchors"], *data["anchors"]])
    assert ordered({**merge_idl(BEFORE, data), "anchors": anchors}) == ordered(after)


def test_what_cannot_be_changes_is_the_whole_draft() -> None:
    after: Any = copy.deepcopy(BEFORE)
    after["mixins"]["MLNew"] = {"operations": []}
    assert write_difference(BEFORE, after) == after
