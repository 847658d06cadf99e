"""Web IDL dictionaries as pydantic models: `Dictionary`, and the annotated types of its members.

A model is the *converted* dictionary: defaults filled in, numbers in range, sequences as tuples, operands as their descriptors. The
dictionaries that a program writes are the typed dictionaries of `webnn.builder.options`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Literal, Self, cast, get_args, get_type_hints

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler, PlainValidator, ValidationError, ValidationInfo
from pydantic_core import core_schema

from webnn.validation import webidl
from webnn.validation.data_type import conversion
from webnn.validation.descriptor import DATA_TYPES, DataType, OperandDescriptor, Types
from webnn.validation.interfaces import Activation, ActivationBase, OperandBase

__all__ = [
    "ActivationNames",
    "Activations",
    "Boolean",
    "DataTypeMember",
    "Dictionary",
    "Double",
    "Enumeration",
    "Float",
    "FloatSequence",
    "InputLayout",
    "Long",
    "Number",
    "Operand",
    "UnsignedLong",
    "UnsignedLongSequence",
    "convertOperand",
    "find_replacements",
]


_requireOperand = webidl.interface(OperandBase, "MLOperand")


def convertOperand(value: object) -> OperandDescriptor:
    """Convert to `MLOperand`, and return its descriptor."""
    return _requireOperand(value).descriptor


#: The values of ``MLRecurrentNetworkActivation``, `#enumdef-mlrecurrentnetworkactivation`.
ACTIVATION_NAMES = ("relu", "sigmoid", "tanh")


def _convertActivation(value: object) -> Activation:
    if webidl.isInstance(value, ActivationBase):
        return cast(ActivationBase, value)._activation
    made = f", as builder.{value}() makes one" if type(value) is str and value in ACTIVATION_NAMES else ""
    raise webidl.ConversionError(f"must be an MLActivation{made}, got {webidl.describe(value)}")


_convertActivationName = webidl.enumeration("MLRecurrentNetworkActivation", ACTIVATION_NAMES)


def _nameActivation(value: object) -> Activation:
    """Convert to ``MLRecurrentNetworkActivation``, and return the activation of that name."""
    return Activation(_convertActivationName(value))


def _convertDataTypeMember(value: object, info: ValidationInfo) -> DataType:
    # The context is the argument ``types`` of `Dictionary.convertMembers`.
    return conversion(info.context or DATA_TYPES)(value)


@dataclass(frozen=True, slots=True)
class Enumeration:
    """Marks a `Literal` as the type of the IDL's enumeration of this name."""

    name: str

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        return core_schema.no_info_plain_validator_function(webidl.enumeration(self.name, get_args(source)))


UnsignedLong = Annotated[int, PlainValidator(webidl.enforceRangeUnsignedLong)]
Long = Annotated[int, PlainValidator(webidl.enforceRangeLong)]
UnsignedLongSequence = Annotated[tuple[int, ...], PlainValidator(webidl.unsignedLongs)]
Float = Annotated[float, PlainValidator(webidl.float_)]
FloatSequence = Annotated[tuple[float, ...], PlainValidator(webidl.sequence(webidl.float_))]
#: Since 2026-06, members of these two types are cast to the data type of the operation's first operand.
Double = Annotated[float, PlainValidator(webidl.double)]
Number = Annotated[int | float, PlainValidator(webidl.number)]
Boolean = Annotated[bool, PlainValidator(webidl.boolean)]
Operand = Annotated[OperandDescriptor, PlainValidator(convertOperand)]
Activations = Annotated[tuple[Activation, ...], PlainValidator(webidl.sequence(_convertActivation))]
ActivationNames = Annotated[tuple[Activation, ...], PlainValidator(webidl.sequence(_nameActivation))]
DataTypeMember = Annotated[DataType, PlainValidator(_convertDataTypeMember)]
InputLayout = Annotated[Literal["nchw", "nhwc"], Enumeration("MLInputOperandLayout")]


class Dictionary(BaseModel):
    """A converted Web IDL dictionary. Members that the program did not give have their default, or ``None`` where there is none."""

    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True, arbitrary_types_allowed=True, revalidate_instances="never")
    #: Members with another name in the draft before: that name, and the one here.
    former_names: ClassVar[Mapping[str, str]] = MappingProxyType({})

    @classmethod
    @cache
    def member_names(cls, *more: str) -> frozenset[str]:
        """Return the names of the members, and the names of more members that other code converts."""
        return frozenset([*cls.model_fields, *more])

    @classmethod
    @cache
    def operand_members(cls) -> tuple[str, ...]:
        """Return the names of the members that are operands, in the IDL's order."""
        return _members_of(cls, Operand)

    @classmethod
    @cache
    def cast_members(cls) -> tuple[str, ...]:
        """Return the names of the members that are cast to the data type of the operation's first operand, in the IDL's order."""
        return _members_of(cls, Double, Number)

    @classmethod
    def convertMembers(cls, given: Mapping[str, Any], *, types: Types = DATA_TYPES) -> Self:
        """Convert a program's dictionary, as `webidl.dictionary_members` returns it; ``types``: the data types of the revision.

        Raises:
            ConversionError: With the member's name in ``path``.
        """
        try:
            return cls.model_validate(given, context=types)
        except ValidationError as invalid:
            first = invalid.errors(include_url=False)[0]
            path = "".join(f".{part}" for part in first["loc"])
            if first["type"] == "missing":
                raise webidl.ConversionError("is required but missing", path) from None
            cause = first.get("ctx", {}).get("error")
            if isinstance(cause, webidl.ConversionError):
                raise webidl.ConversionError(cause.reason, path + cause.path) from cause.__cause__
            raise webidl.ConversionError(first["msg"], path) from None


def _members_of(model: type[Dictionary], *types: Any) -> tuple[str, ...]:
    hints = get_type_hints(model, include_extras=True)
    # A member without a default may be `None`.
    return tuple(name for name in model.model_fields if any(each in types for each in (hints[name], *get_args(hints[name]))))


def find_replacements(model: type[Dictionary] | None, other: type[Dictionary]) -> dict[str, str]:
    """Return the members that a dictionary has only in another draft, with their replacements in this one, empty for none.

    ``model`` is ``None`` if this draft has no such dictionary.
    """
    own, renames = (model.model_fields, model.former_names) if model is not None else ({}, {})
    names = {**{new: old for old, new in other.former_names.items()}, **renames}
    return {name: names.get(name, "") for name in other.model_fields if name not in own}
