"""Convolutions as they are read: the meaning of dimensions, windows, groups."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from webnn.hlo.attributes import ConvDimensionNumbers
from webnn.importing.values import Refused, Value
from webnn.importing.windows import Window
from webnn.stablehlo.node import Node
from webnn.stablehlo.reducing import check_shape
from webnn.stablehlo.tensors import flip, permute, reshape
from webnn.stablehlo.windows import read_counts, read_padding

__all__ = ["Convolution", "Labelled", "Labels", "read_convolution"]

#: The meaning of each dimension of a tensor: batches "b", features "f"; of a kernel, features that go in "i" and come out "o"; or the
#: number of a spatial dimension.
Labels: TypeAlias = "tuple[str | int, ...]"


@dataclass(frozen=True, slots=True)
class Labelled:
    """A tensor, and what its dimensions mean."""

    value: Value
    labels: Labels

    def size(self, label: str | int) -> int:
        """Return the size of a dimension."""
        return self.value.shape[self.labels.index(label)]

    def arrange(self, node: Node, labels: Labels) -> Labelled:
        """Transpose the tensor."""
        return Labelled(permute(node, self.value, [self.labels.index(label) for label in labels]), labels)

    def add_spatial(self, node: Node, number: int) -> Labelled:
        """Add a spatial dimension of size 1 behind the spatial dimension before it; the first one comes last."""
        place = self.labels.index(number - 1) + 1 if number else len(self.labels)
        shape = [*self.value.shape[:place], 1, *self.value.shape[place:]]
        return Labelled(reshape(node, self.value, shape), (*self.labels[:place], number, *self.labels[place:]))


@dataclass(frozen=True, slots=True)
class Convolution:
    """A convolution without groups of batches, over spatial dimensions with a window each, ``reversed`` along some of them.

    The input has the labels "b" and "f", the kernel "i" and "o". ``output`` are the labels of the result.
    """

    input: Labelled
    kernel: Labelled
    windows: list[Window]
    groups: int
    output: Labels
    reversed: frozenset[int] = frozenset()

    def flip(self, node: Node, axes: Iterable[int] = ()) -> Convolution:
        """Return the same convolution with the kernel reversed along some dimensions instead of the windows, and along others as well."""
        kernel = self.kernel
        wanted = [kernel.labels.index(axis) for axis in self.reversed.symmetric_difference(axes)]
        return replace(self, kernel=replace(kernel, value=flip(node, kernel.value, wanted)), reversed=frozenset())

    @property
    def places(self) -> list[int]:
        """The spatial sizes of the result."""
        return [window.places for window in self.windows]

    def with_spatial(self, node: Node, count: int) -> Convolution:
        """Return the same convolution with at least `count` spatial dimensions."""
        found = self
        while (number := len(found.windows)) < count:
            output = list(found.output)
            output.insert(output.index(number - 1) + 1 if number else len(output), number)
            found = Convolution(
                found.input.add_spatial(node, number),
                found.kernel.add_spatial(node, number),
                [*found.windows, Window(size=1, count=1)],
                found.groups,
                tuple(output),
                found.reversed,
            )
        return found


def _read_labels(name: str, first: int, second: int, spatial: Sequence[int], labels: tuple[str, str]) -> Labels:
    places: dict[int, str | int] = {first: labels[0], second: labels[1], **{place: number for number, place in enumerate(spatial)}}
    rank = len(spatial) + 2
    if sorted(places) != list(range(rank)):
        raise Refused(
            f"the dimension numbers of the {name} must name each dimension from 0 to {rank - 1} once, got {[first, second, *spatial]}"
        )
    return tuple([places[place] for place in range(rank)])


def read_convolution(node: Node, padding: list[tuple[int, int]] | None = None) -> Convolution:
    """Return the convolution of an operation whose dimensions, sizes and groups fit; by default with the padding of the attribute."""
    node.expect(2 if padding is None else 3)
    numbers = node.attribute("dimension_numbers", ConvDimensionNumbers)
    input = Labelled(
        node.value(0),
        _read_labels("input", numbers.input_batch_dimension, numbers.input_feature_dimension, numbers.input_spatial_dimensions, ("b", "f")),
    )
    spatial = numbers.kernel_spatial_dimensions
    kernel = Labelled(
        node.value(1),
        _read_labels("kernel", numbers.kernel_input_feature_dimension, numbers.kernel_output_feature_dimension, spatial, ("i", "o")),
    )
    output = _read_labels(
        "result", numbers.output_batch_dimension, numbers.output_feature_dimension, numbers.output_spatial_dimensions, ("b", "f")
    )
    rank = len(output)
    if {len(input.labels), len(kernel.labels), input.value.rank, kernel.value.rank} != {rank}:
        raise Refused(f"both operands must have {rank} dimensions, got {list(input.value.shape)} and {list(kernel.value.shape)}")
    count = rank - 2
    strides, bases, dilations = (read_counts(node, name, count) for name in ("window_strides", "lhs_dilation", "rhs_dilation"))
    padding = read_padding(node, count) if padding is None else padding
    windows = [
        Window(
            size=input.size(axis), count=kernel.size(axis), stride=strides[axis], base=bases[axis], dilation=dilations[axis],
            low=padding[axis][0], high=padding[axis][1],
        )
        for axis in range(count)
    ]  # fmt: skip
    groups, batch_groups = node.integer("feature_group_count", 1), node.integer("batch_group_count", 1)
    batches, features, inner, outer = input.size("b"), input.size("f"), kernel.size("i"), kernel.size("o")
    if groups < 1 or batch_groups < 1 or min(groups, batch_groups) > 1:
        raise Refused(f"there must be groups of features or of batches, at least 1, got {groups} and {batch_groups}")
    if inner * groups != features or outer % (groups * batch_groups) or batches % batch_groups:
        raise Refused(
            f"the groups must divide the features and the batches, and the kernel must take the features of one, got {features} features "
            f"and {batches} batches, a kernel from {inner} to {outer}, {groups} groups of features and {batch_groups} of batches"
        )
    sizes: dict[str | int, int] = {"b": batches // batch_groups, "f": outer}
    sizes.update(enumerate(window.places for window in windows))
    check_shape(node, [sizes[label] for label in output])
    if batch_groups > 1:
        input = _group_batches(node, input, batch_groups)
    return Convolution(input, kernel, windows, groups * batch_groups, output, frozenset(_read_reversed(node, count)))


def _read_reversed(node: Node, count: int) -> list[int]:
    """Return the spatial dimensions along which the window is reversed."""
    if not node.has("window_reversal"):
        return []
    found = node.flags("window_reversal")
    if len(found) != count:
        raise Refused(f"window_reversal must have {count} flags, got {len(found)}")
    return [axis for axis, flag in enumerate(found) if flag]


def _group_batches(node: Node, input: Labelled, groups: int) -> Labelled:
    """Make groups of batches groups of features: the features of one batch of each group lie behind each other."""
    place = input.labels.index("b")
    shape = list(input.value.shape)
    apart = [*shape[:place], groups, shape[place] // groups, *shape[place + 1 :]]
    labels: Labels = (*input.labels[:place], "g", *input.labels[place:])
    moved = [label for label in labels if label != "g"]
    moved.insert(moved.index("f"), "g")
    split = Labelled(reshape(node, input.value, apart), labels).arrange(node, tuple(moved))
    sizes = [split.size(label) * (groups if label == "f" else 1) for label in moved if label != "g"]
    return Labelled(reshape(node, split.value, sizes), tuple([label for label in moved if label != "g"]))
