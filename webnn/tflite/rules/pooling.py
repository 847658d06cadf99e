"""Pooling, and resizing."""

from __future__ import annotations

from webnn.builder.operand import MLOperand
from webnn.importing.steps import Result
from webnn.importing.values import Refused
from webnn.importing.windows import Pool, Window, pool
from webnn.tflite.node import Node, Rules
from webnn.tflite.windows import read_windows

__all__ = ["RULES", "slide"]


def slide(node: Node, operation: Pool, x: MLOperand) -> MLOperand:
    """Pool the height and the width as the options say."""
    shape = x.descriptor.dimensions
    if len(shape) != 4:
        raise Refused(f"the input must have 4 dimensions, got {list(shape)}")
    windows = read_windows(node, shape[1:3], [node.integer("FilterHeight", 1), node.integer("FilterWidth", 1)])
    return pool(node, operation, x, [Window(size=shape[0], count=1), *windows, Window(size=shape[3], count=1)])


def _l2(node: Node) -> MLOperand:
    """Take the root of the average of the squares."""
    x = node.operand(0)
    return node.activate(node.builder.sqrt(slide(node, "averagePool2d", node.builder.mul(x, x))))


def _resize(node: Node, mode: str, **rounding: str) -> Result:
    if node.value(0).rank != 4:
        raise Refused(f"the input must have 4 dimensions, got {list(node.value(0).shape)}")
    corners, half = node.flag("AlignCorners"), node.flag("HalfPixelCenters")
    if corners and half:
        raise Refused("AlignCorners and HalfPixelCenters must not both be set")
    positions = "align_corners" if corners else "half_pixel" if half else "asymmetric"
    if half and mode == "nearest":
        positions = "tf_half_pixel_for_nn"
    sizes = node.known_integers(1, "the size")
    return node.one(
        "Resize", [node.value(0), None, None, sizes], mode=mode, coordinate_transformation_mode=positions, axes=[1, 2], **rounding
    )


def _nearest(node: Node) -> Result:
    """Map to resample2d or gather. Positions are rounded down, with AlignCorners to the nearest one."""
    return _resize(node, "nearest", nearest_mode="round_prefer_ceil" if node.flag("AlignCorners") else "floor")


RULES: Rules = {
    "AVERAGE_POOL_2D": lambda node: node.activate(slide(node, "averagePool2d", node.operand(0))),
    "L2_POOL_2D": _l2,
    "MAX_POOL_2D": lambda node: node.activate(slide(node, "maxPool2d", node.operand(0))),
    "RESIZE_BILINEAR": lambda node: _resize(node, "linear"),
    "RESIZE_NEAREST_NEIGHBOR": _nearest,
}
