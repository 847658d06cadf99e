"""The changes of a draft to the one before it, as data, and the functions that apply them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from types import MappingProxyType, new_class
from typing import Any, Literal, TypedDict, TypeVar, get_type_hints

from pydantic import create_model

from webnn.validation.checks import Checks
from webnn.validation.context_options import ContextOptions
from webnn.validation.data_type import conversion, convertDataType
from webnn.validation.descriptor import DATA_TYPES, DataType, OperandDescriptor, Types
from webnn.validation.dictionary import Dictionary, find_replacements
from webnn.validation.drafts.idl import Idl
from webnn.validation.drafts.limits import Limits, tables
from webnn.validation.extension import Extension
from webnn.validation.operation import Argument, Call, Operation, Outputs
from webnn.validation.revision import Revision

__all__ = ["Check", "CheckedSteps", "Delta", "Flags", "Lifting", "NoCounterpartError", "RowChanges", "compose", "renamed", "retyped"]

T = TypeVar("T")
#: Called with the `Call`, the outputs that the steps of an operation have inferred, and what the steps get. Raises `WebNNTypeError`.
Check = Callable[..., None]


class Flags(TypedDict, total=False):
    """Fields of `Revision` that a draft may set."""

    min_dimension: int
    max_dimension: int
    max_tensor_count: int
    checks_operands: bool
    tensors: bool
    activations: bool
    shape: Literal["dimensions", "shape"]
    former_shape: Literal["", "dimensions"]
    attributes: bool
    build_once: bool
    any_buffer: bool
    big_numbers: bool
    cast: Callable[[float, DataType], int | float]
    checks: Checks
    convert_name: Callable[[object], str]
    context_options: type[ContextOptions]


class RowChanges(TypedDict, total=False):
    """Fields of an operation's row that a draft changes.

    ``elsewhere`` has replacements of removed options by something other than options; the others follow from the models. ``checks`` are not
    a field: they run behind the steps. Several additions can have checks of one operation, but only one can have other steps.
    """

    operands: tuple[str, ...]
    infer: Callable[..., Outputs]
    checks: tuple[Check, ...]
    arguments: tuple[Argument, ...]
    options: type[Dictionary]
    elsewhere: Mapping[str, str]
    translation: Callable[[], Any]
    complete: Callable[[Sequence[OperandDescriptor], Mapping[str, Any]], Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class CheckedSteps:
    """The steps of an operation, then the checks of additions, in the order of the names of these."""

    func: Callable[..., Outputs]
    checks: Mapping[str, tuple[Check, ...]]

    def __call__(self, call: Call, *values: Any) -> Outputs:
        """Run the steps and the checks of a call; return the outputs."""
        outputs = self.func(call, *values)
        for name in sorted(self.checks):
            for check in self.checks[name]:
                check(call, outputs, *values)
        return outputs


class NoCounterpartError(ValueError):
    """A call of the draft before has no counterpart in this draft; the text says what in it."""


@dataclass(frozen=True, slots=True)
class Lifting:
    """A call of one draft, for a function that makes a call of the next or the previous draft of it by changing its mappings.

    Attributes:
        arguments: The arguments other than operands, by the names of the first draft.
        options: The options other than operands, by these names.
        operands: The descriptors of all operands, the arguments first.
    """

    arguments: dict[str, Any]
    options: dict[str, Any]
    operands: tuple[OperandDescriptor, ...]


def _same(value: T) -> T:
    return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Delta:
    """A draft, as the difference from the one before it; or an addition to drafts, such as what browsers have beyond them.

    Attributes:
        name: The draft's year and month, or the name of the addition.
        after: The draft before it; empty for an addition.
        since: The first draft that an addition fits.
        added: The rows of new operations.
        removed: The names of operations that the draft removes.
        changed: The changed fields of the rows of other operations, by the operation's name.
        adds: New members of interfaces, by interface, with the replacements in the earlier drafts, empty for none.
        removes: Removed members, by interface, with their replacements, empty for none. For interfaces other than ``MLContext`` and
            ``MLGraphBuilder``, only members that are declared with `member.some_drafts`.
        mixins: For ``MLContext`` and ``MLGraphBuilder``, a class with members that the package's own class lacks. Its ``__slots__`` must be
            empty.
        lifts: For operations of which more has changed than names: makes a call of this draft of one of the draft before, or raises
            `NoCounterpartError`. Renamed arguments and options need no function.
        lowers: The same in the other direction; `Lifting` then has the names of this draft.
        types: New values of ``MLOperandDataType``. Every argument of that type takes them.
        flags: Other changes.
        extensions: Values for single places of the package, by their keys: `Revision.extensions`.
        conflicts: The additions that this one cannot be combined with, with the reasons.
        reference: Returns the functions of `webnn.reference` for operations that are new or changed, by the operation's name.
        idl: Makes the IDL from that of the draft before.
        limits: Makes the tables of tensor limits from those of the draft before, if that has them.
        context_only: It changes contexts only: a graph is described, saved and loaded without it. A graph of such a draft is one of the
            draft before.
        takes: The additions that a draft takes up. It has them, so their names are refused behind its own.
        provisional: Not all of the draft's text is known, for example its IDL alone. A program gets it only by its name.
    """

    name: str
    after: str = ""
    since: str = ""
    added: Sequence[Operation] = ()
    removed: Sequence[str] = ()
    changed: Mapping[str, RowChanges] = field(default_factory=dict)
    adds: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    removes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    mixins: Mapping[str, type] = field(default_factory=dict)
    lifts: Mapping[str, Callable[[Lifting], None]] = field(default_factory=dict)
    lowers: Mapping[str, Callable[[Lifting], None]] = field(default_factory=dict)
    types: Types = ()
    flags: Flags = field(default_factory=Flags)
    extensions: Mapping[Extension[Any], Any] = field(default_factory=dict)
    conflicts: Mapping[str, str] = field(default_factory=dict)
    reference: Callable[[], Mapping[str, Callable[..., Any]]] | None = None
    idl: Callable[[Idl], Idl] = _same
    limits: Callable[[Limits | None], Limits | None] = _same
    context_only: bool = False
    takes: Sequence[str] = ()
    provisional: bool = False


def compose(before: Revision, *deltas: Delta) -> Revision:
    """Return a draft with changes applied in order.

    Raises:
        ValueError: A change does not fit this draft: the draft that it comes after, or the first one that it fits, is missing; or the
            draft has the change already, or one that conflicts with it.
    """
    for delta in deltas:
        if (delta.since and delta.since not in before.history) or delta.after not in {"", before.name}:
            raise ValueError(f"{delta.name!r} comes after {delta.after or delta.since!r}, not after {before.name!r}")
        if delta.name in before.history:
            hint = "" if f"+{delta.name}" in before.name else f": leave +{delta.name} out"
            raise ValueError(f"{before.name!r} has {delta.name!r} already{hint}")
        for other in before.history:
            if reason := delta.conflicts.get(other) or before.conflicts.get((other, delta.name)):
                raise ValueError(f"{delta.name!r} cannot be combined with {other!r}: {reason}")
        before = _apply(before, delta)
    return before


def _apply(before: Revision, delta: Delta) -> Revision:
    operations = {
        **{name: _change(row, delta.name, delta.changed.get(name)) for name, row in before.operations.items() if name not in delta.removed},
        **{row.name: row for row in delta.added},
    }
    types = before.types + delta.types
    if types != DATA_TYPES:
        operations = {name: _retype(row, before.types, types) for name, row in operations.items()}
    removed = {f"{interface}.{name}": instead for interface, names in delta.removes.items() for name, instead in names.items()}
    added = {f"{interface}.{name}" for interface, names in delta.adds.items() for name in names}
    mixins = {interface: (mixin, *before.mixins.get(interface, ())) for interface, mixin in delta.mixins.items()}
    limits = delta.limits(before.limits)
    changes: dict[str, Any] = {}
    if limits is not None:
        limits = replace(
            limits, operations=MappingProxyType({name: limits.operations[name] for name in limits.operations if name in operations})
        )
        changes["data_types"], changes["ranks"] = tables(limits, before.max_rank)
    return replace(
        before,
        name=delta.name if delta.after else f"{before.name}+{delta.name}",
        history=(*before.history, *delta.takes, delta.name),
        graph_draft=delta.name if delta.after and not delta.context_only else before.graph_draft,
        operations=MappingProxyType(operations),
        members=(before.members | added).difference(removed),
        removed=MappingProxyType({key: instead for key, instead in {**before.removed, **removed}.items() if key not in added}),
        mixins=MappingProxyType({**before.mixins, **mixins}),
        reshapes=before.reshapes or bool(delta.mixins or delta.removed or removed.keys() - before.members),
        conflicts=MappingProxyType({**before.conflicts, **{(delta.name, other): why for other, why in delta.conflicts.items()}}),
        references=before.references if delta.reference is None else (*before.references, delta.reference),
        idl=before.idl if delta.idl is _same else functools.cache(lambda: delta.idl(before.idl())),
        types=types,
        limits=limits,
        context_only=before.context_only | {delta.name} if delta.context_only else before.context_only,
        extensions=MappingProxyType({**before.extensions, **delta.extensions}),
        **changes,
        **delta.flags,
    )


def _retype(row: Operation, before: Types, types: Types) -> Operation:
    """Return the row of an operation whose arguments of type ``MLOperandDataType`` take the values of another draft."""
    known, convert = (convertDataType, conversion(before)), conversion(types)
    return replace(row, arguments=tuple([replace(each, convert=convert) if each.convert in known else each for each in row.arguments]))


def _change(row: Operation, name: str, changes: RowChanges | None) -> Operation:
    """Return the row of an operation with the changes of the draft or the addition of a name."""
    if changes is None:
        return row
    removed = {} if row.options is None else find_replacements(changes.get("options", row.options), row.options)
    fields: dict[str, Any] = {**changes, "elsewhere": {**row.elsewhere, **removed, **changes.get("elsewhere", {})}}
    own = fields.pop("checks", ())
    before = row.infer.checks if isinstance(row.infer, CheckedSteps) else {}
    if own or before:
        steps = row.infer.func if isinstance(row.infer, CheckedSteps) else row.infer
        fields["infer"] = CheckedSteps(fields.get("infer", steps), {**before, **({name: own} if own else {})})
    return replace(row, **fields)


def retyped(model: type[Dictionary], **types: Any) -> type[Dictionary]:
    """Return the model of a dictionary with other types for some members, and the same defaults."""
    fields: dict[str, Any] = {name: (type, model.model_fields[name].default) for name, type in types.items()}
    return create_model(model.__name__, __base__=model, __module__=model.__module__, __doc__=model.__doc__, **fields)


def renamed(model: type[Dictionary], **names: str) -> type[Dictionary]:
    """Return the model of a dictionary with new names for some members. Validators and translations read them by both names."""
    types = get_type_hints(model, include_extras=True)
    fields: dict[str, Any] = {names.get(name, name): (types[name], each.default) for name, each in model.model_fields.items()}
    made = create_model(model.__name__, __base__=Dictionary, __module__=model.__module__, **fields)
    namespace = {
        "__module__": model.__module__,
        "__doc__": model.__doc__,
        "former_names": MappingProxyType(names),
        **{old: property(attrgetter(new)) for old, new in names.items()},
    }
    return new_class(model.__name__, (made,), exec_body=lambda body: body.update(namespace))
