"""What a draft changes in the one before it, as data, and how such changes are put together."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from types import MappingProxyType, new_class
from typing import Any, Literal, TypedDict, TypeVar, get_type_hints

from pydantic import create_model

from webnn.validation.dictionary import Dictionary
from webnn.validation.drafts.idl import Idl
from webnn.validation.drafts.limits import Limits, tables
from webnn.validation.operation import Argument, Operation, Outputs
from webnn.validation.revision import Revision

__all__ = ["Delta", "Flags", "RowChanges", "compose", "renamed", "retyped"]

T = TypeVar("T")


class Flags(TypedDict, total=False):
    """Fields of `Revision` that a draft may set."""

    max_dimension: int
    max_tensor_count: int
    checks_operands: bool
    tensors: bool
    activations: bool
    shape: Literal["dimensions", "shape"]
    attributes: bool
    build_once: bool
    any_buffer: bool
    big_numbers: bool
    small_integers: bool
    convert_name: Callable[[object], str]


class RowChanges(TypedDict, total=False):
    """Fields of an operation's row that a draft changes; what it has ``elsewhere`` is added to what is there."""

    operands: tuple[str, ...]
    infer: Callable[..., Outputs]
    arguments: tuple[Argument, ...]
    options: type[Dictionary]
    numbers: tuple[str, ...]
    elsewhere: Mapping[str, str]
    translation: Callable[[], Any]


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
        removed: The names of operations that go.
        changed: What changes in the rows of operations that stay, by the operation's name.
        unknown: Options that the drafts before do not have, by operation, and what they have instead, empty for nothing.
        adds: The members of interfaces that are new, by interface, and what the drafts before have instead, empty for nothing.
        removes: The members that go, by interface, and what there is instead, empty for nothing. Of interfaces other than ``MLContext`` and
            ``MLGraphBuilder`` only those that are declared with `member.some_drafts`.
        mixins: For ``MLContext`` and ``MLGraphBuilder``, a class with members that the package's own class lacks.
        flags: What else changes.
        idl: Makes the IDL from that of the draft before.
        limits: Makes the tables of tensor limits from those of the draft before, if that has them.
    """

    name: str
    after: str = ""
    since: str = ""
    added: Sequence[Operation] = ()
    removed: Sequence[str] = ()
    changed: Mapping[str, RowChanges] = field(default_factory=dict)
    unknown: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    adds: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    removes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    mixins: Mapping[str, type] = field(default_factory=dict)
    flags: Flags = field(default_factory=Flags)
    idl: Callable[[Idl], Idl] = _same
    limits: Callable[[Limits | None], Limits | None] = _same


def compose(before: Revision, *deltas: Delta) -> Revision:
    """Return a draft with changes, in order.

    Raises:
        ValueError: A change is not one of this draft: the draft that it comes after, or the first one that it fits, is not there.
    """
    for delta in deltas:
        if (delta.since and delta.since not in before.history) or delta.after not in {"", before.name}:
            raise ValueError(f"{delta.name!r} comes after {delta.after or delta.since!r}, not after {before.name!r}")
        before = _apply(before, delta)
    return before


def _apply(before: Revision, delta: Delta) -> Revision:
    operations = {
        **{name: _change(row, delta.changed.get(name)) for name, row in before.operations.items() if name not in delta.removed},
        **{row.name: row for row in delta.added},
    }
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
        history=(*before.history, delta.name),
        operations=MappingProxyType(operations),
        members=(before.members | added).difference(removed),
        removed=MappingProxyType({key: instead for key, instead in {**before.removed, **removed}.items() if key not in added}),
        mixins=MappingProxyType({**before.mixins, **mixins}),
        reshapes=before.reshapes or bool(delta.mixins or delta.removed or removed.keys() - before.members),
        idl=before.idl if delta.idl is _same else functools.cache(lambda: delta.idl(before.idl())),
        limits=limits,
        **changes,
        **delta.flags,
    )


def _change(row: Operation, changes: RowChanges | None) -> Operation:
    if changes is None:
        return row
    fields: dict[str, Any] = {**changes, "elsewhere": {**row.elsewhere, **changes.get("elsewhere", {})}}
    return replace(row, **fields)


def retyped(model: type[Dictionary], **types: Any) -> type[Dictionary]:
    """Return the model of a dictionary some of whose members have other types, and the same defaults."""
    fields: dict[str, Any] = {name: (type, model.model_fields[name].default) for name, type in types.items()}
    return create_model(model.__name__, __base__=model, __module__=model.__module__, __doc__=model.__doc__, **fields)


def renamed(model: type[Dictionary], **names: str) -> type[Dictionary]:
    """Return the model of a dictionary some of whose members have other names. Validators and translations read them by both names.

    Args:
        model: The model.
        names: The new name of each member that has one.
    """
    types = get_type_hints(model, include_extras=True)
    fields: dict[str, Any] = {names.get(name, name): (types[name], each.default) for name, each in model.model_fields.items()}
    made = create_model(model.__name__, __base__=Dictionary, __module__=model.__module__, **fields)
    namespace = {
        "__module__": model.__module__,
        "__doc__": model.__doc__,
        **{old: property(attrgetter(new)) for old, new in names.items()},
    }
    return new_class(model.__name__, (made,), exec_body=lambda body: body.update(namespace))
