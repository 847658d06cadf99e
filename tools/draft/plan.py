"""The changes of a draft: those that follow from the interfaces, as fields of a `Delta`, and questions for a person."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from tools.draft.changes import BUILDER, members_of, methods_of
from tools.draft.source import Source
from webnn.validation.drafts.delta import Delta
from webnn.validation.drafts.idl import Idl
from webnn.validation.drafts.idl_text import write_operation, write_type
from webnn.validation.families import OPERATIONS
from webnn.validation.revision import Revision

__all__ = ["NOT_OPERATIONS", "Chain", "Plan", "make_plan"]

#: Methods of ``MLGraphBuilder`` that are not operations of a graph.
NOT_OPERATIONS = frozenset({"build", "constant", "input"})
_TYPES = "MLOperandDataType"


def _type_of_names(idl: Idl) -> str:
    given = idl["typedefs"].get("MLNamedOperands", {})
    return write_type(given["record"][0]) if isinstance(given, Mapping) and "record" in given else ""


def _constants_take_buffers(idl: Idl) -> bool:
    types = [write_type(each["type"]) for method in methods_of(idl).get("constant", ()) for each in method["arguments"]]
    return any(each.endswith("BufferSource") for each in types)


def _shape_is_attribute(idl: Idl) -> bool:
    return any(each["name"] == "shape" for each in idl["interfaces"].get("MLOperand", {}).get("attributes", ()))


#: Flags of `Revision` that follow from the IDL: the condition, the expression where it holds, and the name that this imports.
_FLAGS: Mapping[str, tuple[Callable[[Idl], bool], str, tuple[str, str] | None]] = MappingProxyType(
    {
        "tensors": (lambda idl: "MLTensor" in idl["interfaces"], "True", None),
        "activations": (lambda idl: "MLActivation" not in idl["interfaces"], "False", None),
        "shape": (lambda idl: "shape" in members_of(idl, "MLOperandDescriptor"), '"shape"', None),
        "attributes": (_shape_is_attribute, "True", None),
        "any_buffer": (_constants_take_buffers, "True", None),
        "big_numbers": (lambda idl: "MLNumber" in idl["typedefs"], "True", None),
        "convert_name": (lambda idl: _type_of_names(idl) == "USVString", "webidl.usvString", ("webnn.validation", "webidl")),
        "context_options": (
            lambda idl: "accelerated" in members_of(idl, "MLContextOptions"),
            "AcceleratedContextOptions",
            ("webnn.validation.context_options", "AcceleratedContextOptions"),
        ),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """The drafts before a new one.

    Attributes:
        revision: The draft before it.
        deltas: The drafts after the first, each with its module, as a package and a name.
    """

    revision: Revision
    deltas: Sequence[tuple[tuple[str, str], Delta]] = ()


@dataclass(slots=True, kw_only=True)
class Plan:
    """A draft's `Delta` in the making. The values of `changed` and `flags` are Python expressions, which need `imports`.

    Attributes:
        imports: Names that are imported, each with its module in front.
        adds: The new members of interfaces; `removes` has those that are gone.
    """

    added: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    changed: dict[str, dict[str, str]] = field(default_factory=dict)
    adds: dict[str, list[str]] = field(default_factory=dict)
    removes: dict[str, list[str]] = field(default_factory=dict)
    types: list[str] = field(default_factory=list)
    flags: dict[str, str] = field(default_factory=dict)
    imports: set[tuple[str, str]] = field(default_factory=set)
    _decisions: dict[str, list[str]] = field(default_factory=dict)

    def decide(self, text: str, operation: str = "") -> None:
        """Note a question for a person, perhaps about an operation."""
        self._decisions.setdefault(text, []).append(operation)

    @property
    def decisions(self) -> list[str]:
        """The questions for a person. Operations with the same question share it."""
        return [f"{', '.join(names)}: {text}" if any(names) else text for text, names in self._decisions.items()]


def make_plan(old: Source, new: Source, chain: Chain) -> Plan:
    """Plan the `Delta` between two drafts."""
    # Imported here because it needs this module.
    from tools.draft.rows import Rows  # noqa: PLC0415

    plan = Plan()
    before, after = (methods_of(source.idl) for source in (old, new))
    rows = Rows(plan, old.idl, new.idl, chain)
    plan.removed = [name for name in before if name not in after and name in chain.revision.operations]
    for name in after:
        if name in NOT_OPERATIONS:
            _plan_other(plan, name, before.get(name, ()), after[name])
        elif name in before:
            rows.change(name, before[name], after[name])
        elif name in OPERATIONS:
            plan.added.append(name)
            plan.imports.add(("webnn.validation.families", "OPERATIONS"))
        else:
            plan.decide(
                f"this operation is new, {write_operation(after[name][0])}: it needs a row, a method, a translation and a reference "
                "(docs/adding-an-op.md; python -m tools.add_operation for a unary one)",
                name,
            )
    _plan_flags(plan, old.idl, new.idl)
    _plan_interfaces(plan, old.idl, new.idl)
    _plan_definitions(plan, old.idl, new.idl)
    return plan


def _plan_other(plan: Plan, name: str, before: Sequence[Any], after: Sequence[Any]) -> None:
    one, other = (" and ".join(map(write_operation, methods)) for methods in (before, after))
    if one != other:
        plan.decide(f"{BUILDER}.{name} is {other}, before {one}")


def _plan_flags(plan: Plan, old: Idl, new: Idl) -> None:
    for name, (holds, value, needed) in _FLAGS.items():
        if holds(new) == holds(old):
            continue
        if holds(new):
            plan.flags[name] = value
            plan.imports |= set() if needed is None else {needed}
        else:
            plan.decide(f"the flag {name!r} no longer follows from the interfaces: give its value")
    known = old["enumerations"].get(_TYPES, [])
    plan.types = [each for each in new["enumerations"].get(_TYPES, []) if each not in known]


def _plan_interfaces(plan: Plan, old: Idl, new: Idl) -> None:
    for name, entry in new["interfaces"].items():
        if name not in old["interfaces"]:
            plan.decide(f"the interface {name} is new: write its class")
        elif name != BUILDER:
            before, after = (_members(each) for each in (old["interfaces"][name], entry))
            come, gone = (_without(one, other) for one, other in ((after, before), (before, after)))
            plan.adds |= {name: come} if come else {}
            plan.removes |= {name: gone} if gone else {}
            for each in [each for each in before if each in after]:
                if before[each] != after[each]:
                    plan.decide(f"{name}.{each} is {after[each]}, before {before[each]}")
    for name in _without(old["interfaces"], new["interfaces"]):
        plan.decide(f"the interface {name} is gone")


def _members(interface: Mapping[str, Any]) -> dict[str, str]:
    """Return the members of an interface by name, as text."""
    found = {each["name"]: f"an attribute of type {write_type(each['type'])}" for each in interface.get("attributes", ())}
    for each in interface.get("operations", ()):
        found[each["name"]] = " and ".join(filter(None, [found.get(each["name"]), write_operation(each)]))
    return found


def _plan_definitions(plan: Plan, old: Idl, new: Idl) -> None:
    """Note the changes of enumerations and of dictionaries that are not options of operations."""
    for name, values in new["enumerations"].items():
        before = old["enumerations"].get(name)
        if before is None:
            plan.decide(f"the enumeration {name} is new: {', '.join(values)}")
        elif name != _TYPES and set(before) != set(values):
            plan.decide(f"the enumeration {name} has other values: {signs(before, values)}")
    options = {write_type(each["type"]) for methods in methods_of(new).values() for method in methods for each in method["arguments"]}
    for name in new["dictionaries"]:
        if name not in options and name in old["dictionaries"] and not name.endswith("SupportLimits"):
            one, other = members_of(old, name), members_of(new, name)
            if one.keys() != other.keys():
                plan.decide(f"the members of {name} differ: {signs(one, other)}")


def signs(before: Sequence[str] | Mapping[str, Any], after: Sequence[str] | Mapping[str, Any]) -> str:
    """Write what is gone and what has come: ``"- one, + other"``."""
    return ", ".join([f"- {each}" for each in _without(before, after)] + [f"+ {each}" for each in _without(after, before)])


def _without(names: Sequence[str] | Mapping[str, Any], others: Sequence[str] | Mapping[str, Any]) -> list[str]:
    return [each for each in names if each not in others]
