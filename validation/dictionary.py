"""Web IDL dictionaries as pydantic models: `Dictionary`, and the annotated types of its members.

A model is the *converted* dictionary: defaults filled in, numbers in range, sequences as tuples, operands as their descriptors. The
dictionaries that a program writes are the typed dictionaries of `webnn.builder.options`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, PlainValidator, ValidationError

from webnn.validation import webidl
from webnn.validation.descriptor import DATA_TYPES, DataType, OperandDescriptor
from webnn.validation.interfaces import Activation, ActivationBase, OperandBase

__all__ = [
    "Activations",
    "Boolean",
    "DataTypeMember",
    "Dictionary",
    "Float",
    "FloatSequence",
    "InputLayout",
    "Long",
    "Operand",
    "OperandDescriptorDictionary",
    "UnsignedLong",
    "UnsignedLongSequence",
    "convert",
    "convertDataType",
    "convertMembers",
    "convertOperand",
]


def convertOperand(value: object) -> OperandDescriptor:
    """Convert to `MLOperand`; what remains is its descriptor."""
    if isinstance(value, OperandBase):
        return value._descriptor
    raise webidl.ConversionError(f"must be an MLOperand, got {webidl.describe(value)}")


def _convertActivation(value: object) -> Activation:
    if isinstance(value, ActivationBase):
        return value._activation
    raise webidl.ConversionError(f"must be an MLActivation, got {webidl.describe(value)}")


_convertDataType = webidl.enumeration("MLOperandDataType", DATA_TYPES)


def convertDataType(value: object) -> DataType:
    """Convert to ``MLOperandDataType``."""
    return _convertDataType(value)  # type: ignore[return-value]  # one of DATA_TYPES, as just checked


UnsignedLong = Annotated[int, PlainValidator(webidl.enforceRangeUnsignedLong)]
Long = Annotated[int, PlainValidator(webidl.enforceRangeLong)]
UnsignedLongSequence = Annotated[tuple[int, ...], PlainValidator(webidl.sequence(webidl.enforceRangeUnsignedLong))]
Float = Annotated[float, PlainValidator(webidl.float_)]
FloatSequence = Annotated[tuple[float, ...], PlainValidator(webidl.sequence(webidl.float_))]
Boolean = Annotated[bool, PlainValidator(webidl.boolean)]
Operand = Annotated[OperandDescriptor, PlainValidator(convertOperand)]
Activations = Annotated[tuple[Activation, ...], PlainValidator(webidl.sequence(_convertActivation))]
DataTypeMember = Annotated[DataType, PlainValidator(convertDataType)]
InputLayout = Annotated[Literal["nchw", "nhwc"], PlainValidator(webidl.enumeration("MLInputOperandLayout", ("nchw", "nhwc")))]


class Dictionary(BaseModel):
    """A converted Web IDL dictionary. Members that the program did not give have their default, or ``None`` where there is none."""

    model_config = ConfigDict(
        extra="ignore",
        frozen=True,
        defer_build=True,
        arbitrary_types_allowed=True,
        revalidate_instances="never",
    )


D = TypeVar("D", bound=Dictionary)


class OperandDescriptorDictionary(Dictionary):
    """``MLOperandDescriptor``, `#dictdef-mloperanddescriptor`."""

    dataType: DataTypeMember
    dimensions: UnsignedLongSequence = ()


def convert(model: type[D], members: Any) -> D:
    """Convert a program's dictionary.

    Args:
        model: The dictionary's model.
        members: A mapping, or ``None``.

    Raises:
        ConversionError: With the member's name in ``path``.
    """
    return convertMembers(model, webidl.dictionary_members(members))


def convertMembers(model: type[D], given: Mapping[str, Any]) -> D:
    """Convert the members of a program's dictionary, as `webidl.dictionary_members` returns them; see `convert`."""
    try:
        return model.model_validate(given)
    except ValidationError as invalid:
        first = invalid.errors(include_url=False)[0]
        path = "".join(f".{part}" for part in first["loc"])
        if first["type"] == "missing":
            raise webidl.ConversionError("is required but missing", path) from None
        cause = first.get("ctx", {}).get("error")
        if isinstance(cause, webidl.ConversionError):
            raise webidl.ConversionError(cause.reason, path + cause.path) from None
        raise webidl.ConversionError(first["msg"], path) from None
