"""The dictionaries ``MLOperandDescriptor`` and ``MLTensorDescriptor``: `#dictdef-mloperanddescriptor`, `#dictdef-mltensordescriptor`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from webnn.validation import webidl
from webnn.validation.descriptor import DATA_TYPES, OperandDescriptor
from webnn.validation.ignored import explain_member, warn_ignored
from webnn.validation.operation import Call
from webnn.validation.switch import draft_error

if TYPE_CHECKING:
    from webnn.validation.descriptor_models import OperandDescriptorWithShape
    from webnn.validation.revision import Revision

__all__ = ["convertDescriptor", "convertTensorDescriptor"]

D = TypeVar("D", bound="OperandDescriptorWithShape")
#: The members of ``MLOperandDescriptor`` in all drafts.
_MEMBERS = frozenset({"dataType", "dimensions", "shape"})
_TENSOR_MEMBERS = _MEMBERS | {"readable", "writable"}


def convertDescriptor(call: Call, members: Any) -> OperandDescriptor:
    """Convert the argument ``descriptor`` to ``MLOperandDescriptor``."""
    plain = _convertPlain(call.revision, members)
    if plain is not None:
        return plain
    # Imported lazily because it loads pydantic.
    from webnn.validation.descriptor_models import OperandDescriptorWithDimensions, OperandDescriptorWithShape  # noqa: PLC0415

    if call.revision.shape == "dimensions":
        named = call.convert("descriptor", webidl.dictionary_members, members)
        warn_ignored(call, "descriptor", named, OperandDescriptorWithDimensions.member_names())
        given = call.convert("descriptor", OperandDescriptorWithDimensions.convertMembers, named)
        return OperandDescriptor(given.dataType, given.dimensions)
    shaped = _convertShaped(call, OperandDescriptorWithShape, members)
    return OperandDescriptor(shaped.dataType, shaped.shape)


def _convertPlain(revision: Revision, members: Any) -> OperandDescriptor | None:
    """Convert the usual form of the dictionary in a sixth of the time; return ``None`` for any other form.

    The usual form is a ``dict`` of a string and of integers in range, which Web IDL does not change. The only member that it may have
    beside them is that of the other draft, which is ignored, or read where the draft has both.
    """
    if type(members) is not dict or not _MEMBERS.issuperset(members):
        return None
    dataType, sizes = members.get("dataType"), members.get(revision.shape)
    if sizes is None and revision.former_shape:
        sizes = members.get(revision.former_shape)
    return _describe(dataType, sizes)


def _describe(dataType: Any, sizes: Any) -> OperandDescriptor | None:
    """Return the descriptor of values that Web IDL does not change; ``None`` for others."""
    if type(dataType) is not str or dataType not in DATA_TYPES or (type(sizes) is not list and type(sizes) is not tuple):
        return None
    for size in sizes:
        if type(size) is not int or not 0 <= size < 2**32:
            return None
    return OperandDescriptor(dataType, tuple(sizes))


def convertTensorDescriptor(call: Call, members: Mapping[str, Any] | None) -> tuple[OperandDescriptor, bool, bool]:
    """Convert the argument ``descriptor`` to ``MLTensorDescriptor``; return also whether the tensor is readable, and writable."""
    if type(members) is dict and _TENSOR_MEMBERS.issuperset(members):
        # The usual form, as above.
        readable, writable = members.get("readable", False), members.get("writable", False)
        plain = _describe(members.get("dataType"), members.get("shape"))
        if plain is not None and type(readable) is bool and type(writable) is bool:
            return plain, readable, writable
    from webnn.validation.descriptor_models import TensorDescriptor  # noqa: PLC0415 (as above)

    given = _convertShaped(call, TensorDescriptor, members)
    return OperandDescriptor(given.dataType, given.shape), given.readable, given.writable


def _convertShaped(call: Call, model: type[D], members: Any) -> D:
    named, known = call.convert("descriptor", webidl.dictionary_members, members), model.member_names()
    former = call.revision.former_shape
    if former in named:
        # The newer name counts if both are given.
        named = {("shape" if name == former else name): value for name, value in named.items() if name != former or "shape" not in named}
    if "shape" not in named and "dimensions" in named:
        # ``MLTensorDescriptor`` has the members of ``MLOperandDescriptor``, which every draft has.
        reason = explain_member(replace(call, operation="input"), "descriptor", "dimensions", known, "shape")
        has = lambda revision: "dimensions" in (revision.shape, revision.former_shape)  # noqa: E731
        raise draft_error(call, "descriptor.shape", f"is required but missing: {reason}", has)
    warn_ignored(call, "descriptor", named, known)
    return call.convert("descriptor", partial(model.convertMembers, types=call.revision.types), named)
