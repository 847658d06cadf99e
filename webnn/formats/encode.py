"""From a description to GraphJson, as plain data."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from webnn.builder.description import ActivationDescription, ConstantDescription, DescriptionError, GraphDescription, OperatorDescription
from webnn.formats.decimals import shorten
from webnn.formats.exchange import has_types, signatures
from webnn.validation import webidl
from webnn.validation.caller import find_program
from webnn.validation.descriptor import NUMPY_DTYPES, SMALL_TYPES, OperandDescriptor
from webnn.validation.drafts import DRAFTS_OF_GRAPHS, extra_additions, for_devices
from webnn.validation.errors import WebNNTypeError, WebNNWarning

__all__ = ["Encoded", "encode", "encode_options"]

#: Constants up to this many bytes are written into the graph's file.
_INLINE = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoded:
    """A description that is ready to be written.

    Attributes:
        description: The graph in the draft that is written, with all descriptors.
        draft: The draft that the file must name; empty for the newest one.
        constants: For each constant the member ``init``.
    """

    description: GraphDescription
    draft: str
    constants: Mapping[str, dict[str, Any]]
    weights: Mapping[str, ConstantDescription]


def encode(description: GraphDescription) -> Encoded:
    """Prepare a description.

    It is lifted to the newest draft. If that has no counterpart for something, there is a `WebNNWarning`, and the file names the draft.
    Raises `DescriptionError` if the description contradicts itself.
    """
    lifted = _lift(description)
    try:
        if not all(operator.descriptors for operator in lifted.operators):
            lifted = lifted.infer()
        draft = _name_draft(lifted)
    except WebNNTypeError as error:
        raise DescriptionError(str(error), error.path or "operators") from error
    known = {*lifted.inputs, *lifted.constants, *[name for operator in lifted.operators for name in operator.outputs]}
    for name, value in lifted.outputs.items():
        if value not in known:
            raise DescriptionError(f"there is no value {webidl.describe(value)}", f"outputs.{name}")
    weights: dict[str, ConstantDescription] = {}
    constants = {name: _encode_constant(name, constant, weights) for name, constant in lifted.constants.items()}
    return Encoded(description=lifted, draft=draft, constants=constants, weights=weights)


def _lift(description: GraphDescription) -> GraphDescription:
    own = description.draft.partition("+")[0]
    if own == DRAFTS_OF_GRAPHS[-1]:
        needed = description.draft == own and has_types(description, SMALL_TYPES)
        return replace(description, draft=for_devices().of_graphs) if needed else description
    try:
        return description.lift()
    except DescriptionError as error:
        checked = description.infer()
        find_program().warn(f"save: the file keeps the draft {own}, which other programs do not know: {error}", WebNNWarning)
        return checked


def _name_draft(description: GraphDescription) -> str:
    """Return the draft that a file must name because its reader cannot derive it from the graph; empty if it can.

    Raises `DescriptionError` if a reader would not know the draft.
    """
    own, *additions = description.draft.split("+")
    extra = extra_additions() if additions else ()
    if own not in DRAFTS_OF_GRAPHS or not set(additions) <= {for_devices().history[-1], *extra}:
        raise DescriptionError(f"a file can name {', '.join(DRAFTS_OF_GRAPHS)}, not {webidl.describe(description.draft)}", "draft")
    return "" if own == DRAFTS_OF_GRAPHS[-1] and set(additions).isdisjoint(extra) else description.draft


def _encode_constant(name: str, constant: ConstantDescription, weights: dict[str, ConstantDescription]) -> dict[str, Any]:
    descriptor = constant.descriptor
    if constant.value.nbytes <= _INLINE and descriptor.dataType not in SMALL_TYPES:
        if descriptor.dataType == "float32" and not descriptor.dimensions and np.isfinite(constant.value):
            return {"kind": "scalar", "value": shorten(float(constant.value[()]), constant.value.dtype)}
        return {"kind": "inlineBytes", "bytes": list(constant.value.tobytes())}
    reference = name if _is_unicode(name) and name != "__metadata__" else f"constant{len(weights)}"
    while reference in weights:
        reference += "_"
    weights[reference] = constant
    return {"kind": "weights", "ref": reference}


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def encode_options(operator: OperatorDescription, known: Callable[[str], OperandDescriptor | None], draft: str) -> dict[str, Any]:
    """Return the positional arguments and the options of an operator as plain data, without operands and label.

    Raises `DescriptionError` if a value cannot be written.
    """
    encoded: dict[str, Any] = {}
    if not operator.arguments and not operator.options:
        return encoded
    for name, value in [*operator.arguments.items(), *operator.options.items()]:
        kind = type(value)
        if kind is int or kind is str or kind is bool:
            encoded[name] = value
            continue
        dtype: np.dtype[Any] | None = NUMPY_DTYPES["float32"]
        signature = signatures(draft).get(operator.operation)
        if signature is not None and name in signature.numbers:
            first = next(iter(operator.inputs.values()))
            descriptor = known(first if isinstance(first, str) else first[0])
            dtype = None if descriptor is None else NUMPY_DTYPES[descriptor.dataType]
        encoded[name] = _encode_value(value, dtype)
    return encoded


def _encode_value(value: Any, dtype: np.dtype[Any] | None) -> Any:
    if isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
        return shorten(float(value), dtype)
    if isinstance(value, tuple | list):
        return [_encode_value(each, dtype) for each in value]
    if isinstance(value, np.generic):
        return _encode_value(value.item(), dtype)
    if isinstance(value, ActivationDescription):
        options = {name: _encode_value(each, dtype) for name, each in value.options.items()}
        return {"op": value.operation, **({"options": options} if options else {})}
    raise DescriptionError(f"must be a number, a string, a boolean or a sequence, got {webidl.describe(value)}", "operators")
