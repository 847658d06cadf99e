"""The draft 2026-06: `MLTensor` and `dispatch()`, 17 more operations, tables of tensor limits, numbers of any size."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Annotated, ClassVar, Literal

from webnn.validation import activation, matmul, movement, normalization, pooling, recurrent, reduction, resample, webidl
from webnn.validation.context_options import AcceleratedContextOptions
from webnn.validation.data_type import convertDataType
from webnn.validation.descriptor import is_float
from webnn.validation.dictionary import ActivationNames, Dictionary, Double, Enumeration, Number
from webnn.validation.drafts import draft_2024_06
from webnn.validation.drafts.delta import Delta, Lifting, NoCounterpartError, RowChanges, renamed, retyped
from webnn.validation.drafts.idl import read_idl
from webnn.validation.drafts.limits import read_limits
from webnn.validation.families import OPERATIONS
from webnn.validation.operation import Argument
from webnn.validation.shapes import bidirectionally_broadcast

__all__ = ["DRAFT"]

_NAME = "2026-06"


class _PadOptions(movement.PadOptions):
    """``MLPadOptions``: without the mode "symmetric"; the value is cast to the input's type."""

    mirrors_again: ClassVar[bool] = False

    mode: Annotated[Literal["constant", "edge", "reflection"], Enumeration("MLPaddingMode")] = "constant"
    value: Number = 0


class _Resample2dOptions(resample.Resample2dOptions):
    """``MLResample2dOptions``: the same members with another meaning."""

    has_neighbours: ClassVar[bool] = False
    maps_with_scales: ClassVar[bool] = False


def _convertAxis(value: object) -> int:
    """Convert the axis of ``argMin`` and ``argMax``; a program for an earlier draft gives none."""
    if value is None:
        raise webidl.ConversionError("must be given: it takes the place of options.axes")
    return webidl.enforceRangeUnsignedLong(value)


def _doubles(model: type[Dictionary], *members: str) -> RowChanges:
    """Options that are doubles."""
    return {"options": retyped(model, **dict.fromkeys(members, Double))}


def _names(model: type[Dictionary]) -> RowChanges:
    """Activations by their names."""
    return {"options": retyped(model, activations=ActivationNames | None)}


def _lift_arg_min_max(call: Lifting) -> None:
    rank = call.operands[0].rank
    axes = call.options.pop("axes", None)
    axes = tuple(range(rank)) if axes is None else axes
    if len(axes) != 1:
        raise NoCounterpartError(f"it searches {len(axes)} axes")
    if call.options.pop("selectLastIndex", False):
        raise NoCounterpartError("options.selectLastIndex is True")
    call.arguments["axis"] = axes[0]
    call.options["outputDataType"] = "int64"


def _lower_arg_min_max(call: Lifting) -> None:
    if call.options.pop("outputDataType", "int32") != "int64":
        raise NoCounterpartError("its result is int32, and there it is int64")
    call.options["axes"] = (call.arguments.pop("axis"),)


def _lower_pad(call: Lifting) -> None:
    value = call.options.get("value", 0)
    if call.options.get("mode", "constant") != "constant":
        # The value means nothing.
        call.options.pop("value", None)
    elif not math.isfinite(value):
        raise NoCounterpartError(f"options.value is {value}, and there it is finite")


def _lower_slice(call: Lifting) -> None:
    strides = call.options.pop("strides", ())
    if any(stride != 1 for stride in strides):
        raise NoCounterpartError(f"options.strides is {list(strides)}, and there are none")


def _lift_numbers(*members: str) -> Callable[[Lifting], None]:
    """Options that this draft rounds to the type of the operand, and the draft before does not."""

    def check(call: Lifting) -> None:
        for member in members:
            number = call.options.get(member)
            if number is not None and not is_float(call.operands[0].dataType) and number != int(number):
                raise NoCounterpartError(f"options.{member} is {number}, which {call.operands[0].dataType} does not have")

    return check


def _lift_resample2d(call: Lifting) -> None:
    scales, sizes = call.options.get("scales"), call.options.get("sizes")
    if scales is None or sizes is not None:
        return
    for axis, scale in zip(call.options.get("axes", (2, 3)), scales, strict=True):
        size = call.operands[0].dimensions[axis]
        # Beyond the draft there may be no elements: the result has none either, whatever the scale is.
        if size and int(size * scale) / size != scale:
            raise NoCounterpartError(f"options.scales has {scale}, which is not the quotient of two sizes of axis {axis}")


_ARG_MIN_MAX: RowChanges = {
    "infer": reduction.arg_min_max_of_axis,
    "arguments": (Argument("axis", _convertAxis),),
    "options": reduction.ArgMinMaxOfAxisOptions,
    "elsewhere": {"axes": "the argument axis"},
}
_POOL: RowChanges = {"options": renamed(pooling.Pool2dOptions, roundingType="outputShapeRounding")}
_COMPUTE = "it has compute(graph, inputs, outputs) over arrays in the place of tensors"

DRAFT = Delta(
    name=_NAME,
    after="2024-06",
    # The newest draft has every operation of the families.
    added=[row for name, row in OPERATIONS.items() if name not in draft_2024_06.DRAFT.operations],
    changed={
        "argMax": _ARG_MIN_MAX,
        "argMin": _ARG_MIN_MAX,
        "averagePool2d": _POOL,
        "batchNormalization": _doubles(normalization.BatchNormalizationOptions, "epsilon"),
        "cast": {"arguments": (Argument("dataType", convertDataType),)},
        "clamp": {"options": retyped(activation.ClampOptions, minValue=Number | None, maxValue=Number | None)},
        "elu": _doubles(activation.EluOptions, "alpha"),
        "gemm": _doubles(matmul.GemmOptions, "alpha", "beta"),
        "gru": _names(recurrent.GruOptions),
        "gruCell": _names(recurrent.GruCellOptions),
        "hardSigmoid": _doubles(activation.HardSigmoidOptions, "alpha", "beta"),
        "instanceNormalization": _doubles(normalization.InstanceNormalizationOptions, "epsilon"),
        "l2Pool2d": _POOL,
        "layerNormalization": _doubles(normalization.LayerNormalizationOptions, "epsilon"),
        "leakyRelu": _doubles(activation.LeakyReluOptions, "alpha"),
        "linear": _doubles(activation.LinearOptions, "alpha", "beta"),
        "lstm": _names(recurrent.LstmOptions),
        "lstmCell": _names(recurrent.LstmCellOptions),
        "maxPool2d": _POOL,
        "pad": {"options": _PadOptions},
        "prelu": {"infer": partial(activation.prelu, broadcast=bidirectionally_broadcast)},
        "resample2d": {"options": _Resample2dOptions},
        "slice": {"options": movement.SliceOptions},
        "softmax": {"arguments": (Argument("axis", webidl.enforceRangeUnsignedLong),)},
        "where": {"operands": ("condition", "trueValue", "falseValue"), "infer": movement.where},
    },
    adds={
        "MLContext": {
            "accelerated": "createContext() takes deviceType in its place",
            "createConstantTensor": _COMPUTE,
            "createTensor": _COMPUTE,
            "destroy": "",
            "dispatch": _COMPUTE,
            "lost": "",
            "opSupportLimits": "",
            "readTensor": _COMPUTE,
            "writeTensor": _COMPUTE,
        },
        "MLGraph": {"destroy": ""},
    },
    removes={"MLContext": {"compute": "it has createTensor(), writeTensor(), dispatch() and readTensor() in the place of compute()"}},
    lifts={
        "argMax": _lift_arg_min_max,
        "argMin": _lift_arg_min_max,
        "clamp": _lift_numbers("minValue", "maxValue"),
        "pad": _lift_numbers("value"),
        "resample2d": _lift_resample2d,
    },
    lowers={
        "argMax": _lower_arg_min_max,
        "argMin": _lower_arg_min_max,
        "pad": _lower_pad,
        "resample2d": _lift_resample2d,
        "slice": _lower_slice,
    },
    flags={
        "max_dimension": 2**31 - 1,
        "max_tensor_count": 8192,
        "checks_operands": True,
        "tensors": True,
        "activations": False,
        "shape": "shape",
        "attributes": True,
        "build_once": True,
        "any_buffer": True,
        "big_numbers": True,
        "convert_name": webidl.usvString,
        "context_options": AcceleratedContextOptions,
    },
    idl=lambda _: read_idl(_NAME),
    limits=lambda _: read_limits(_NAME),
)
