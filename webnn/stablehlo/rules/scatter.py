"""`stablehlo#scatter`: updates of windows at indices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

import numpy as np

from webnn.builder.operand import MLOperand
from webnn.hlo.ir import Region
from webnn.hlo.ir import Value as HloValue
from webnn.importing.along import put
from webnn.importing.ordering import find_order
from webnn.importing.steps import Result, product
from webnn.importing.values import Array, Refused
from webnn.stablehlo.comparators import uses
from webnn.stablehlo.indexed import Windows, count_earlier, find_scattered
from webnn.stablehlo.indices import add_places, clamp_index, find_parts
from webnn.stablehlo.node import Item, Node
from webnn.stablehlo.regions import find_kinds
from webnn.stablehlo.rules import Rule
from webnn.stablehlo.tensors import run_body

__all__ = ["RULES"]

#: So many updates are done one after the other, although they could be combined before.
_FEW = 8
#: The most updates, of which several may be for one place, that are done one after the other.
_MOST_ROUNDS = 128
#: The most pairs of updates that are compared at once.
_MOST_PAIRS = 1 << 24
#: Places of updates: known ones all lie in the input; others may be that of a row behind it.
_Places: TypeAlias = MLOperand | Array


def _scatter(node: Node) -> list[Item] | list[Result]:
    """Map to scatterND: rows of the inputs are gathered, the region updates them, and they are scattered.

    The dimensions that windows do not have as a whole become one, the first one. A window that does not lie in the inputs is left out: its
    updates go to a row behind them, which is cut off.

    If one row may have several updates, then few updates are done one after the other. Many are combined before, if the region is one
    operation: each update takes over the next one for its row, then what that one has taken over, and so on, so that the number of steps
    is the logarithm of the number of updates. Others are refused, unless unique_indices is true. `stablehlo#scatter`.
    """
    windows = find_scattered(node)
    count = len(node.types)
    for index in range(count):
        node.fit(windows.shape, index)
    if not node.value(count + 1).size:
        return list(node.items[:count])
    return _Scatter(node, windows).run()


class _Scatter:
    """A scatter, whose inputs and updates have become rows: [N, elements] and [P, elements]."""

    def __init__(self, node: Node, windows: Windows) -> None:
        self._node = node
        self._builder = node.builder
        self._region: Region = node.regions[0]
        self._windows = windows
        count = len(node.types)
        self._merged = [axis for axis, size in enumerate(windows.sizes) if size < windows.shape[axis]]
        self._whole = [axis for axis in windows.kept if axis not in self._merged]
        self._size = product([windows.shape[axis] for axis in self._merged])
        self._width = product([windows.shape[axis] for axis in self._whole])
        #: How many updates of rows there are.
        self._count = product(windows.outside) // self._width
        self._dtypes = [value.dtype for value in node.values()[:count]]
        self._takes_inputs = _depends(self._region, self._region.arguments[:count])
        order = windows.order(self._merged)
        self._updates = [
            node.reshape(node.transpose(node.operand(count + 1 + index), order), [self._count, self._width]) for index in range(count)
        ]
        others = [axis for axis in range(len(windows.shape)) if axis not in (*self._merged, *self._whole)]
        #: The dimensions of the inputs, in the order in which they become rows.
        self._order = [*self._merged, *self._whole, *others]
        self._rows = [node.reshape(node.transpose(node.operand(index), self._order), [self._size, self._width]) for index in range(count)]

    def run(self) -> list[Result]:
        """Return the results."""
        index = self._node.value(len(self._dtypes))
        if index.array is not None:
            self._update_known(index.array)
        else:
            self._update_computed()
        shape = [self._windows.shape[axis] for axis in self._order]
        back = [self._order.index(axis) for axis in range(len(shape))]
        results: list[Result] = []
        for rows in self._rows:
            has_more = rows.descriptor.dimensions[0] > self._size
            inside = self._builder.slice(rows, [0, 0], [self._size, self._width]) if has_more else rows
            results.append(self._node.transpose(self._node.reshape(inside, shape), back))
        return results

    # Where the rows are.

    def _update_known(self, indices: Array) -> None:
        """Update rows at known places."""
        windows = self._windows
        vectors = windows.vectors(indices)
        starts = vectors.clip(0, windows.limits)
        places = windows.known_places(self._node, starts, self._merged)
        is_inside = (vectors == starts).all(-1)
        chosen = np.flatnonzero(np.broadcast_to(is_inside.reshape([*is_inside.shape, *[1] * (places.ndim - is_inside.ndim)]), places.shape))
        places = places.reshape(-1)[chosen]
        if not places.size:
            return
        updates = self._pick(self._updates, chosen)
        earlier = count_earlier(places)
        rounds = int(earlier.max()) + 1
        if rounds == 1 or self._is_unique():
            self._update(places, updates)
        elif rounds > _FEW and self._kind() is not None:
            self._combine(places, updates)
        elif rounds <= _MOST_ROUNDS:
            for number in range(rounds):
                now = np.flatnonzero(earlier == number)
                self._update(places[now], self._pick(updates, now))
        else:
            self._refuse(rounds)

    def _update_computed(self) -> None:
        """Update rows at computed places."""
        builder = self._builder
        places = self._find_places()
        self._rows = [builder.pad(rows, [0, 0], [1, 0], mode="constant", value=0) for rows in self._rows]
        if self._count == 1 or self._is_unique():
            self._update(places, self._updates)
        elif self._count > _FEW and self._kind() is not None:
            self._combine(places, self._updates)
        elif self._count <= _MOST_ROUNDS:
            for number in range(self._count):
                now = [builder.slice(each, [number, 0], [1, self._width]) for each in self._updates]
                self._update(builder.slice(places, [number], [1]), now)
        else:
            self._refuse(self._count)

    def _find_places(self) -> MLOperand:
        """Return computed places of rows: [P]. Windows that do not lie in the inputs have a place behind them."""
        node, windows, builder = self._node, self._windows, self._builder
        parts = list(range(len(windows.mapped)))
        if not parts:
            found = node.constant(windows.known_places(node, np.zeros([*windows.batch, 0], np.int64), self._merged).astype(np.int32))
            return node.reshape(found, [self._count])
        vectors = find_parts(node, windows, node.operand(len(self._dtypes)), parts)
        limits = windows.limits
        clamped = clamp_index(node, vectors, limits if len(limits) > 1 else limits[0])
        is_inside = builder.equal(vectors, clamped)
        found = add_places(node, windows, node.cast(clamped, "int32"), parts, self._merged, is_inside)
        return node.reshape(found, [self._count])

    def _is_unique(self) -> bool:
        return not any(self._takes_inputs) or self._node.flag("unique_indices", default=False)

    def _kind(self) -> Literal["add", "max", "min", "mul"] | None:
        kinds = find_kinds(self._region)
        return kinds[0] if kinds is not None and len(kinds) == len(self._rows) == 1 else None

    def _refuse(self, count: int) -> None:
        raise Refused(
            f"at most {_MOST_ROUNDS} updates may be for one place if the region is not one of add, multiply, maximum, minimum, and, or, "
            f"got {count}",
            "unique_indices = true says that all places differ",
        )

    # Rows.

    def _pick(self, rows: Sequence[MLOperand], chosen: Array) -> list[MLOperand]:
        """Return known rows."""
        if chosen.size == rows[0].descriptor.dimensions[0]:
            return list(rows)
        numbers = self._node.constant(chosen.astype(np.int32))
        return [self._builder.gather(each, numbers, axis=0) for each in rows]

    def _update(self, places: _Places, updates: Sequence[MLOperand]) -> None:
        """Update rows; if one has several updates, they must not depend on it."""
        builder = self._builder
        # Arguments that the region does not use must only have the right shape.
        rows = list(updates)
        if any(self._takes_inputs):
            indices = self._node.constant(places.astype(np.int32)) if isinstance(places, np.ndarray) else places
            rows = [builder.gather(each, indices, axis=0) for each in self._rows]
        if isinstance(places, np.ndarray):
            columns = self._node.constant(places.astype(np.int32).reshape(-1, 1))
        else:
            columns = self._node.reshape(places, [*places.descriptor.dimensions, 1])
        self._rows = [builder.scatterND(row, columns, new) for row, new in zip(self._rows, self._apply(rows, updates), strict=True)]

    def _apply(self, rows: Sequence[MLOperand], updates: Sequence[MLOperand]) -> list[MLOperand]:
        """Return what the region makes of rows and their updates."""
        items = [self._node.typed(each, dtype) for each, dtype in zip([*rows, *updates], [*self._dtypes, *self._dtypes], strict=True)]
        return [self._node.operand_of(each) for each in run_body(self._node, self._region, items, updates[0].descriptor.dimensions)]

    def _combine(self, places: _Places, updates: Sequence[MLOperand]) -> None:
        """Combine the updates of each row, and then update it once.

        An update knows the next one for its row. In each step it takes over the sum of the next one, and knows the one behind that.
        """
        builder, node = self._builder, self._node
        (total,) = updates
        count = total.descriptor.dimensions[0]
        following, target = self._follow_known(places) if isinstance(places, np.ndarray) else self._follow(places)
        end = node.scalar(count, "int32")
        for step in range((count - 1).bit_length()):
            has_next = builder.lesser(following, end)
            (joined,) = self._apply([total], [builder.gather(total, following, axis=0)])
            total = builder.where(node.reshape(has_next, [count, 1]), joined, total)
            if step + 1 < (count - 1).bit_length():
                following = builder.where(has_next, builder.gather(following, following, axis=0), end)
        if isinstance(target, np.ndarray):
            assert isinstance(places, np.ndarray)
            self._update(places[target], self._pick([total], target))
        else:
            self._update(target, [total])

    def _follow_known(self, places: Array) -> tuple[MLOperand, Array]:
        """Return the next update for the same row, or their number; and the first ones for each row."""
        order = np.argsort(places, kind="stable")
        is_same = places[order][1:] == places[order][:-1]
        following = np.full(places.size, places.size, np.int32)
        following[order[:-1][is_same]] = order[1:][is_same]
        return self._node.constant(following), np.sort(order[np.concatenate([[True], ~is_same])])

    def _follow(self, places: MLOperand) -> tuple[MLOperand, MLOperand]:
        """Return the next update for the same row, or their number; and the places of the first ones, that of others behind all rows."""
        builder, node = self._builder, self._node
        count = places.descriptor.dimensions[0]
        known = node.positions(count)
        numbers = node.constant(known)
        end = node.scalar(count, "int32")
        if count * count <= _MOST_PAIRS:
            is_same = builder.equal(node.reshape(places, [count, 1]), places)
            is_later = builder.greater(numbers, node.constant(known.reshape(count, 1)))
            later = builder.where(builder.logicalAnd(is_same, is_later), numbers, end)
            following = builder.reduceMin(later, axes=[1], keepDimensions=False)
        else:
            order = find_order(node, places)
            ordered = builder.gather(places, order, axis=0)
            last = [count - 1]
            is_same = builder.equal(builder.slice(ordered, [1], last), builder.slice(ordered, [0], last))
            next_ones = builder.where(is_same, builder.slice(order, [1], last), end)
            following = put(node, builder.expand(end, [count]), builder.slice(order, [0], last), next_ones)
        zeros, ones = (builder.expand(node.scalar(number, "int32"), [size]) for number, size in ((0, count + 1), (1, count)))
        is_next = builder.slice(put(node, zeros, following, ones), [0], [count])
        return following, builder.where(node.cast(is_next, "uint8"), node.scalar(self._size, "int32"), places)


def _depends(region: Region, arguments: Sequence[HloValue]) -> list[bool]:
    """Tell for each result of a region whether it may depend on some arguments."""
    seen = set(arguments)
    for operation in region.operations:
        if not seen.isdisjoint(uses(operation)):
            seen.update(operation.results)
    return [result in seen for result in region.results]


RULES: Mapping[str, Rule] = {"stablehlo.scatter": _scatter}
