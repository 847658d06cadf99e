"""Broadcasting: `#algorithms-broadcasting`. Pure functions on shapes."""

from __future__ import annotations

from webnn.validation.descriptor import Shape

__all__ = ["bidirectionally_broadcast", "unidirectionally_broadcast"]


def unidirectionally_broadcast(shapeFrom: Shape, shapeTo: Shape) -> Shape | None:
    """*Unidirectionally broadcast the shapes*: stretch ``shapeFrom`` to ``shapeTo``, and return that; ``None`` for failure."""
    sizeFrom, sizeTo = len(shapeFrom), len(shapeTo)
    # [3] A shape cannot be stretched to fewer dimensions.
    if sizeFrom > sizeTo:
        return None
    # 4.-5. Ones in front make the ranks equal.
    paddedFrom = (1,) * (sizeTo - sizeFrom) + shapeFrom
    for dimFrom, dimTo in zip(paddedFrom, shapeTo, strict=True):
        # [7.3] Each dimension is kept, or stretched if it is 1.
        if dimFrom not in (dimTo, 1):
            return None
    return shapeTo


def bidirectionally_broadcast(shapeA: Shape, shapeB: Shape) -> Shape | None:
    """*Bidirectionally broadcast the shapes*: return the shape to which both can be stretched; ``None`` for failure."""
    if shapeA == shapeB:
        return shapeA
    # 3. The rank of the result is the larger one.
    outputSize = max(len(shapeA), len(shapeB))
    # 4.-7. Ones in front make the ranks equal.
    paddedA = (1,) * (outputSize - len(shapeA)) + shapeA
    paddedB = (1,) * (outputSize - len(shapeB)) + shapeB
    outputShape: list[int] = []
    for dimA, dimB in zip(paddedA, paddedB, strict=True):
        # [9.3] Dimensions must be equal, or one of them 1; the other one is the result's.
        if dimA not in (dimB, 1) and dimB != 1:
            return None
        outputShape.append(dimB if dimA == 1 else dimA)
    return tuple(outputShape)
