"""Operations that pick or replace elements by index: `#api-mlgraphbuilder-gather`, `#api-mlgraphbuilder-scatterelements`."""

from __future__ import annotations

from typing import Unpack

from webnn.builder.base import BuilderBase
from webnn.builder.operand import MLOperand
from webnn.builder.options import MLGatherOptions, MLOperatorOptions, MLScatterOptions
from webnn.validation.member import some_drafts

__all__ = ["GatherScatterOps"]


class GatherScatterOps(BuilderBase):
    """Gathering and scattering by index. Until 2024-06 `gather` alone."""

    __slots__ = ()

    def gather(
        self, input: MLOperand, indices: MLOperand, options: MLGatherOptions | None = None, **members: Unpack[MLGatherOptions]
    ) -> MLOperand:
        """Pick slices of an operand along an axis by their indices. `#api-mlgraphbuilder-gather`.

        Args:
            input: The operand, any data type, at least 1-D: [before..., N, behind...], N being the size of the axis.
            indices: The indices, int32, uint32 or int64, any shape. Each is clamped to -N .. N - 1; negative ones count from the end.
            options: ``axis``, from 0 to the rank of the input less 1 (0).

        Returns:
            The slices, [before..., indices..., behind...].

        Raises:
            WebNNTypeError: There is no such axis, the indices are of another type, or the output has too many dimensions.
        """
        return self._single("gather", (input, indices), (), options, members)

    @some_drafts
    def gatherElements(
        self, input: MLOperand, indices: MLOperand, options: MLGatherOptions | None = None, **members: Unpack[MLGatherOptions]
    ) -> MLOperand:
        """Pick single elements of an operand along an axis by their indices. `#api-mlgraphbuilder-gatherelements`.

        Each element of the output is the input's element with the same coordinates, except along the axis: there the coordinate is the
        index at the same place of ``indices``.

        Args:
            input: The operand, any data type, at least 1-D: [before..., N, behind...], N being the size of the axis.
            indices: The indices, int32, uint32 or int64, [before..., M, behind...] with any M. Each is clamped to -N .. N - 1; negative
                ones count from the end.
            options: ``axis``, from 0 to the rank of the input less 1 (0).

        Returns:
            The elements, [before..., M, behind...].

        Raises:
            WebNNTypeError: There is no such axis, the indices are of another type or shape, or the revision has no such operation.
        """
        return self._single("gatherElements", (input, indices), (), options, members)

    @some_drafts
    def gatherND(
        self, input: MLOperand, indices: MLOperand, options: MLOperatorOptions | None = None, **members: Unpack[MLOperatorOptions]
    ) -> MLOperand:
        """Pick elements or slices of an operand by their coordinates. `#api-mlgraphbuilder-gathernd`.

        Args:
            input: The operand, any data type, at least 1-D: [N1, ..., Nk, behind...].
            indices: The coordinates, int32, uint32 or int64, [places..., k] with k from 1 to the rank of the input. Part i of each is
                clamped to -Ni .. Ni - 1; negative ones count from the end.
            options: A label for messages.

        Returns:
            The slices, [places..., behind...].

        Raises:
            WebNNTypeError: The input or the indices are a scalar, the indices are of another type, the coordinates have more parts than the
                input has dimensions, the output has too many dimensions, or the revision has no such operation.
        """
        return self._single("gatherND", (input, indices), (), options, members)

    @some_drafts
    def scatterElements(
        self,
        input: MLOperand,
        indices: MLOperand,
        updates: MLOperand,
        options: MLScatterOptions | None = None,
        **members: Unpack[MLScatterOptions],
    ) -> MLOperand:
        """Replace single elements of an operand along an axis by their indices. `#api-mlgraphbuilder-scatterelements`.

        Each update keeps its coordinates in ``updates``, except along the axis: there the coordinate is its index. If several updates have
        the same place, the last one in row-major order counts.

        Args:
            input: The operand, any data type, at least 1-D: [before..., N, behind...], N being the size of the axis.
            indices: The indices, int32, uint32 or int64, [before..., M, behind...] with any M. Each is clamped to -N .. N - 1; negative
                ones count from the end.
            updates: The new elements, of the input's type, [before..., M, behind...].
            options: ``axis``, from 0 to the rank of the input less 1 (0).

        Returns:
            The input with the new elements in it, [before..., N, behind...].

        Raises:
            WebNNTypeError: There is no such axis, the indices or updates are of another type or shape, or the revision has no such
                operation.
        """
        return self._single("scatterElements", (input, indices, updates), (), options, members)

    @some_drafts
    def scatterND(
        self,
        input: MLOperand,
        indices: MLOperand,
        updates: MLOperand,
        options: MLOperatorOptions | None = None,
        **members: Unpack[MLOperatorOptions],
    ) -> MLOperand:
        """Replace elements or slices of an operand by their coordinates. `#api-mlgraphbuilder-scatternd`.

        If several updates have the same slice, the last one in row-major order counts.

        Args:
            input: The operand, any data type, at least 1-D: [N1, ..., Nk, behind...].
            indices: The coordinates, int32, uint32 or int64, [places..., k] with k from 1 to the rank of the input. Part i of each is
                clamped to -Ni .. Ni - 1; negative ones count from the end.
            updates: The new slices, of the input's type, [places..., behind...].
            options: A label for messages.

        Returns:
            The input with the new slices in it, [N1, ..., Nk, behind...].

        Raises:
            WebNNTypeError: The input or the indices are a scalar, the indices or updates are of another type, the coordinates have more
                parts than the input has dimensions, the updates have another shape, or the revision has no such operation.
        """
        return self._single("scatterND", (input, indices, updates), (), options, members)
