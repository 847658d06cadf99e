"""The rows of operations that a draft changes, as Python expressions."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import get_args, get_type_hints

from tools.draft.changes import members_of
from tools.draft.plan import Chain, Plan, signs
from webnn import validation
from webnn.validation import dictionary
from webnn.validation.dictionary import Dictionary
from webnn.validation.drafts.idl import Idl, IdlMember, IdlOperation
from webnn.validation.drafts.idl_text import write_type
from webnn.validation.families import OPERATIONS

__all__ = ["Rows"]

_OPERAND_TYPES = frozenset({"MLOperand", "sequence<MLOperand>"})
#: The annotated type of a member in `webnn.validation.dictionary`, by its type in the IDL.
_ANNOTATIONS: Mapping[str, str] = MappingProxyType(
    {
        "MLNumber": "Number",
        "MLOperand": "Operand",
        "MLOperandDataType": "DataTypeMember",
        "[EnforceRange] long": "Long",
        "[EnforceRange] unsigned long": "UnsignedLong",
        "boolean": "Boolean",
        "double": "Double",
        "float": "Float",
        "sequence<MLActivation>": "Activations",
        "sequence<MLRecurrentNetworkActivation>": "ActivationNames",
        "sequence<[EnforceRange] unsigned long>": "UnsignedLongSequence",
        "sequence<float>": "FloatSequence",
    }
)
#: The conversion of an argument, and the name that it imports, by its type in the IDL.
_CONVERSIONS: Mapping[str, tuple[str, tuple[str, str]]] = MappingProxyType(
    {
        "MLOperandDataType": ("convertDataType", ("webnn.validation.data_type", "convertDataType")),
        "[EnforceRange] unsigned long": ("webidl.enforceRangeUnsignedLong", ("webnn.validation", "webidl")),
        "sequence<[EnforceRange] unsigned long>": ("webidl.unsignedLongs", ("webnn.validation", "webidl")),
    }
)


class Rows:
    """Plans the changes of rows.

    Args:
        plan: Gets the changes.
        old: The IDL of the draft before.
        new: The IDL of the new draft.
        chain: The drafts before.
    """

    def __init__(self, plan: Plan, old: Idl, new: Idl, chain: Chain) -> None:
        self._plan = plan
        self._old = old
        self._new = new
        self._chain = chain

    def change(self, name: str, before: Sequence[IdlOperation], after: Sequence[IdlOperation]) -> None:
        """Plan the row of an operation whose overloads are given."""
        plan = self._plan
        if name not in self._chain.revision.operations:
            plan.decide("the draft before has no row of this operation", name)
            return
        # The overload with an input: one without it made an activation.
        one, other = (max(methods, key=lambda method: len(method["arguments"])) for methods in (before, after))
        (operands, arguments, options), (new_operands, new_arguments, new_options) = map(_split, (one, other))
        changes: dict[str, str] = {}
        if operands != new_operands:
            changes["operands"] = _tuple([f'"{each}"' for each in new_operands])
            plan.decide(f"its operands are {', '.join(new_operands)}, before {', '.join(operands)}: rename them in the method", name)
        if arguments != new_arguments:
            self._change_arguments(name, changes, arguments, new_arguments)
        self._change_options(name, changes, members_of(self._old, options), members_of(self._new, new_options))
        if changes:
            plan.changed[name] = changes
        if len(before) != len(after):
            plan.decide(f"it has {len(after)} overloads, before {len(before)}: see Operation.activation", name)

    def _change_arguments(self, name: str, changes: dict[str, str], before: Mapping[str, str], after: Mapping[str, str]) -> None:
        plan, written = self._plan, []
        for argument, kind in after.items():
            if kind not in _CONVERSIONS:
                plan.decide(f"the argument {kind} {argument} needs a conversion; its arguments before: {_listed(before)}", name)
                return
            conversion, needed = _CONVERSIONS[kind]
            written.append(f'Argument("{argument}", {conversion})')
            plan.imports |= {needed, ("webnn.validation.operation", "Argument")}
        changes["arguments"] = _tuple(written)
        if list(before.values()) != list(after.values()):
            plan.decide(f"its arguments are {_listed(after)}, before {_listed(before)}: does `infer` take them?", name)

    def _change_options(self, name: str, changes: dict[str, str], before: dict[str, IdlMember], after: dict[str, IdlMember]) -> None:
        plan = self._plan
        for each in [each for each in before if each in after]:
            if (old := before[each].get("default")) != (new := after[each].get("default")):
                plan.decide(f"the default of options.{each} is {new!r}, before {old!r}", name)
        # An option of every operation, which the driver takes.
        before, after = ({each: member for each, member in members.items() if each != "label"} for members in (before, after))
        gone, come = [each for each in before if each not in after], [each for each in after if each not in before]
        kinds = {each: write_type(after[each]["type"]) for each in after if each in before and _differ(before[each], after[each])}
        if not (gone or come or kinds):
            return
        found = _find_model(self._module_of(name), after) if gone or come else None
        if found is not None:
            changes["options"] = self._write(found)
            annotations = {each: _annotation(member) for each, member in after.items()}
            different = {each: kind for each, kind in annotations.items() if kind and kind.partition(" ")[0] != _name_of(found, each)}
            if different:
                changes["options"] = self._retype(changes["options"], different)
            if unknown := [each for each, kind in annotations.items() if not kind]:
                plan.decide(f"is options.{' and options.'.join(unknown)} of {found.__name__} as the draft says?", name)
        elif len(gone) == len(come) == 1:
            changes["options"] = f'renamed({self._model_before(name)}, {gone[0]}="{come[0]}")'
            plan.imports.add(("webnn.validation.drafts.delta", "renamed"))
            plan.decide(f"options.{come[0]} is taken for options.{gone[0]} with another name: is it?", name)
        elif gone or come:
            plan.decide(f"its options differ ({signs(before, after)}), and no model of its module has these members: write one", name)
        elif all(kind in _ANNOTATIONS for kind in kinds.values()):
            changes["options"] = self._retype(self._model_before(name), {each: _annotation(after[each]) for each in kinds})
        else:
            plan.decide(f"its options have the types {_listed(kinds)}: write a model", name)

    def _module_of(self, name: str) -> str:
        """Return the module of an operation's validator, which has the models of its options."""
        infer = self._chain.revision.operations[name].infer
        module: str = getattr(infer, "func", infer).__module__
        return module

    def _model_before(self, name: str) -> str:
        """Return the expression of the model that an operation has in the draft before."""
        for (package, module), delta in reversed(self._chain.deltas):
            if "options" in delta.changed.get(name, {}):
                self._plan.imports.add((package, module))
                return f'{module}.DRAFT.changed["{name}"]["options"]'
        model = OPERATIONS[name].options
        assert model is not None  # the IDL has options
        return self._write(model)

    def _write(self, model: type[Dictionary]) -> str:
        package, _, module = model.__module__.rpartition(".")
        self._plan.imports.add((package, module))
        return f"{module}.{model.__name__}"

    def _retype(self, model: str, annotations: Mapping[str, str]) -> str:
        self._plan.imports |= {("webnn.validation.dictionary", each.partition(" ")[0]) for each in annotations.values()}
        self._plan.imports.add(("webnn.validation.drafts.delta", "retyped"))
        return f"retyped({model}, {', '.join([f'{name}={kind}' for name, kind in annotations.items()])})"


def _split(operation: IdlOperation) -> tuple[tuple[str, ...], dict[str, str], str]:
    """Return the names of a method's operands, the types of its other arguments by name, and the dictionary of its options."""
    types = {each["name"]: write_type(each["type"]) for each in operation["arguments"]}
    options = types.pop("options", "")
    operands = tuple([name for name, kind in types.items() if kind in _OPERAND_TYPES])
    return operands, {name: kind for name, kind in types.items() if kind not in _OPERAND_TYPES}, options


def _differ(one: IdlMember, other: IdlMember) -> bool:
    return write_type(one["type"]) != write_type(other["type"])


def _annotation(member: IdlMember) -> str:
    """Return the annotation of a member in a model; empty if none is known."""
    kind = _ANNOTATIONS.get(write_type(member["type"]), "")
    return f"{kind} | None" if kind and "default" not in member and not member.get("required") else kind


def _name_of(model: type[Dictionary], member: str) -> str:
    """Return the name in `webnn.validation.dictionary` of a member's annotated type; empty if it has another one."""
    hint = get_type_hints(model, include_extras=True)[member]
    # `X | None` has X among its arguments.
    return next((name for name in dictionary.__all__ if getattr(dictionary, name) in (hint, *get_args(hint))), "")


@cache
def _models() -> tuple[type[Dictionary], ...]:
    """Return the models that modules of validators have by their own names; `renamed` and `retyped` make others."""
    modules = [importlib.import_module(each.name) for each in pkgutil.iter_modules(validation.__path__, f"{validation.__name__}.")]

    def below(model: type[Dictionary]) -> Iterator[type[Dictionary]]:
        for each in model.__subclasses__():
            yield each
            yield from below(each)

    known = {id(value) for module in modules for value in vars(module).values()}
    return tuple(dict.fromkeys([each for each in below(Dictionary) if id(each) in known]))


def _find_model(module: str, members: Mapping[str, IdlMember]) -> type[Dictionary] | None:
    """Return the model of a module that has exactly some members."""
    return next((each for each in _models() if each.__module__ == module and set(each.model_fields) == members.keys()), None)


def _listed(arguments: Mapping[str, str]) -> str:
    return ", ".join([f"{kind} {name}" for name, kind in arguments.items()]) or "none"


def _tuple(items: Sequence[str]) -> str:
    return f"({', '.join(items)}{',' * (len(items) == 1)})"
