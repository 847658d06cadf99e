"""Resampling: `#api-mlgraphbuilder-resample2d-method`."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Annotated, ClassVar, Literal

from webnn.validation.descriptor import OperandDescriptor
from webnn.validation.dictionary import Dictionary, Enumeration, FloatSequence, UnsignedLongSequence
from webnn.validation.operation import Call, Operation

__all__ = ["OPERATIONS", "Resample2dOptions", "resample2d"]

InterpolationMode = Annotated[Literal["nearest-neighbor", "linear"], Enumeration("MLInterpolationMode")]

_AXES = ((0, 1), (1, 2), (2, 3))


class Resample2dOptions(Dictionary):
    """``MLResample2dOptions``, `#dictdef-mlresample2doptions`."""

    #: The axes are neighbours in ascending order.
    has_neighbours: ClassVar[bool] = True
    #: Positions are mapped with the scales that were given; otherwise with the quotients of the sizes.
    maps_with_scales: ClassVar[bool] = True

    mode: InterpolationMode = "nearest-neighbor"
    scales: FloatSequence | None = None
    sizes: UnsignedLongSequence | None = None
    axes: UnsignedLongSequence | None = None


def resample2d(call: Call, input: OperandDescriptor, options: Resample2dOptions) -> OperandDescriptor:
    """Validate ``resample2d``, `#api-mlgraphbuilder-resample2d-method`."""
    # [2; 2026-06: 3] The input is of a type that the operation allows.
    call.check_type("input", input)
    # [3; 2026-06: 4] The input is 4-D.
    call.check_rank("input", input)
    # 4. *Check resample options*:
    # 4.1. Scales are 1 by default.
    unread = options.sizes is not None and call.revision.checks.sizes_alone
    scales = (1.0, 1.0) if options.scales is None or unread else options.scales
    # [4, #mlgraphbuilder-check-resample-options 2; 2026-06: 6] There are two scales.
    call.check_size("options.scales", scales, 2)
    # [4, #mlgraphbuilder-check-resample-options 2; 2026-06: 6] The scales are positive.
    if not (scales[0] > 0 and scales[1] > 0):
        raise call.error("options.scales", "must be greater than 0 in each element", list(scales))
    # [4, #mlgraphbuilder-check-resample-options 3; 2026-06: 7] There are two sizes, if any, and none is 0.
    if options.sizes is not None:
        call.check_size("options.sizes", options.sizes, 2)
        call.check_sizes("options.sizes", options.sizes)
    # 4.4. The last two axes by default.
    axes = (2, 3) if options.axes is None else options.axes
    if options.has_neighbours:
        # [4, #mlgraphbuilder-check-resample-options 5; 2026-06: -] The axes are neighbours in ascending order.
        if axes not in _AXES:
            raise call.error("options.axes", "must be [0, 1], [1, 2] or [2, 3]", list(axes), rule="axis")
    else:
        # Since 2026-06, there are two axes (no step says so: see docs/spec-issues.md).
        call.check_size("options.axes", axes, 2)
        # [2026-06: 9] The two axes differ.
        if axes[0] == axes[1]:
            raise call.error("options.axes", "must be different from each other", list(axes), rule="different")
        # [2026-06: 9] Each axis is one of the input's.
        if max(axes) >= input.rank:
            raise call.error("options.axes", f"must be less than the rank of input, {input.rank}, in each element", list(axes), rule="axis")
    # 5. *Calculate resample output sizes*:
    shape = list(input.dimensions)
    for index, axis in enumerate(axes):
        if options.sizes is not None:
            # 5.2.1. The size, if it is given.
            shape[axis] = options.sizes[index]
        else:
            # 5.2.2. Otherwise the exact product with the scale, rounded down.
            shape[axis] = math.floor(input.dimensions[axis] * Fraction(scales[index]))
    # [5, #mlgraphbuilder-calculate-resample-output-sizes 2.3; 2026-06: 10.3.3] Every dimension is valid.
    return call.output(input.dataType, tuple(shape))


OPERATIONS = (
    Operation(
        name="resample2d", anchor="#api-mlgraphbuilder-resample2d-method", operands=("input",), infer=resample2d, options=Resample2dOptions
    ),
)
