"""The emitter: appends operations of StableHLO to a region, and knows the shapes and element types of their results."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from webnn.hlo.attributes import Attribute, GatherDimensionNumbers, ScatterDimensionNumbers, Symbol
from webnn.hlo.ir import Function, Location, Region, RegionBuilder, Value
from webnn.hlo.types import DTYPES, ELEMENTS, TensorType

__all__ = ["Array", "Emitter", "Functions", "Number", "Tensor", "broadcast_shapes", "is_float"]

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
Shape: TypeAlias = Sequence[int]


def is_float(element: str) -> bool:
    """Tell whether an element type is floating point."""
    return element.startswith("f")


def broadcast_shapes(*shapes: Shape) -> tuple[int, ...]:
    """Broadcast shapes in all directions, as NumPy does."""
    return np.broadcast_shapes(*map(tuple, shapes))


class Functions:
    """The functions of a module beside the first one: those of composites. Each is made once for each type."""

    def __init__(self) -> None:
        self.made: list[Function] = []
        self._names: dict[tuple[str, str], str] = {}

    def find(self, name: str, type: TensorType, make: Callable[[Emitter, Tensor], Tensor]) -> str:
        """Return the name of the function that computes a composite of one operand and one result of the same type."""
        key = (name, str(type))
        if key not in self._names:
            count = sum(each == name for each, _ in self._names)
            self._names[key] = f"{name}.impl{f'_{count - 1}' if count else ''}"
            body = RegionBuilder([type])
            inner = Emitter(body, self, Location())
            inner.end("func.return", [make(inner, inner.tensor(body.arguments[0]))])
            self.made.append(Function(name=self._names[key], body=body.build(), public=False))
        return self._names[key]


class Tensor:
    """A value of a program. Arithmetic appends operations; a number beside it has its element type, and both are broadcast."""

    __slots__ = ("element", "emitter", "shape", "value")

    def __init__(self, emitter: Emitter, value: Value, shape: tuple[int, ...], element: str) -> None:
        self.emitter = emitter
        self.value = value
        self.shape = shape
        self.element = element

    def __add__(self, other: Number) -> Tensor:
        return self.emitter.binary("add", self, other)

    def __radd__(self, other: Number) -> Tensor:
        return self.emitter.binary("add", other, self)

    def __sub__(self, other: Number) -> Tensor:
        return self.emitter.binary("subtract", self, other)

    def __rsub__(self, other: Number) -> Tensor:
        return self.emitter.binary("subtract", other, self)

    def __mul__(self, other: Number) -> Tensor:
        return self.emitter.binary("multiply", self, other)

    def __rmul__(self, other: Number) -> Tensor:
        return self.emitter.binary("multiply", other, self)

    def __truediv__(self, other: Number) -> Tensor:
        return self.emitter.binary("divide", self, other)

    def __rtruediv__(self, other: Number) -> Tensor:
        return self.emitter.binary("divide", other, self)

    def __neg__(self) -> Tensor:
        return self.emitter.unary("negate", self)

    def __and__(self, other: Tensor) -> Tensor:
        return self.emitter.binary("and", self, other)

    def __or__(self, other: Tensor) -> Tensor:
        return self.emitter.binary("or", self, other)

    def __xor__(self, other: Tensor) -> Tensor:
        return self.emitter.binary("xor", self, other)

    def __invert__(self) -> Tensor:
        return self.emitter.unary("not", self)


#: The other operand beside a tensor: a tensor, or a number for all elements.
Number: TypeAlias = Tensor | float


class Emitter:
    """Appends operations to a region; ``location`` is where they come from."""

    def __init__(self, region: RegionBuilder, functions: Functions, location: Location) -> None:
        self.region = region
        self.functions = functions
        self.location = location

    def tensor(self, value: Value) -> Tensor:
        """Return a value of the region, or of one around it, for arithmetic in this region."""
        assert isinstance(value.type, TensorType)
        return Tensor(self, value, tuple([size or 0 for size in value.type.shape]), str(value.type.element))

    def op(
        self,
        name: str,
        operands: Iterable[Tensor],
        shape: Shape,
        element: str,
        attributes: Mapping[str, Attribute] | None = None,
        regions: Iterable[Region] = (),
    ) -> Tensor:
        """Append an operation of StableHLO with one result."""
        (result,) = self.ops(name, operands, [(shape, element)], attributes, regions)
        return result

    def ops(
        self,
        name: str,
        operands: Iterable[Tensor],
        results: Iterable[tuple[Shape, str]],
        attributes: Mapping[str, Attribute] | None = None,
        regions: Iterable[Region] = (),
    ) -> list[Tensor]:
        """Append an operation of StableHLO with several results, of these shapes and element types."""
        types = [TensorType(shape=tuple(shape), element=element) for shape, element in results]
        values = self.region.append(f"stablehlo.{name}", [each.value for each in operands], types, attributes, regions, self.location)
        return [self.tensor(value) for value in values]

    def end(self, name: str, results: Iterable[Tensor]) -> None:
        """Append the operation that ends the region."""
        self.region.append(name, [each.value for each in results], location=self.location)

    def body(self, types: Sequence[tuple[Shape, str]], make: Callable[..., Sequence[Tensor]]) -> Region:
        """Make a region of an operation; ``make`` gets an emitter and arguments of some types, and returns the results."""
        region = RegionBuilder([TensorType(shape=tuple(shape), element=element) for shape, element in types])
        inner = Emitter(region, self.functions, self.location)
        inner.end("stablehlo.return", make(inner, *[inner.tensor(each) for each in region.arguments]))
        return region.build()

    # Constants.

    def constant(self, value: Array) -> Tensor:
        """Append a constant of a NumPy array."""
        return self.op("constant", [], value.shape, ELEMENTS[value.dtype.name], {"value": value})

    def full(self, number: float, element: str, shape: Shape = ()) -> Tensor:
        """Append a constant with one number for all elements; a floating-point type rounds it."""
        with np.errstate(over="ignore"):
            single = np.array(number, DTYPES[element])
        return self.op("constant", [], shape, element, {"value": np.broadcast_to(single, tuple(shape))})

    # Elementwise operations.

    def unary(self, name: str, x: Tensor) -> Tensor:
        """Append an elementwise operation of one operand."""
        return self.op(name, [x], x.shape, x.element)

    def binary(self, name: str, a: Number, b: Number) -> Tensor:
        """Append an elementwise operation of two operands; both are broadcast, and a number gets the type of the other one."""
        left, right = self._align(a, b)
        return self.op(name, [left, right], left.shape, left.element)

    def compare(self, direction: str, a: Tensor, b: Number) -> Tensor:
        """Compare elements: ``"EQ"``, ``"NE"``, ``"GE"``, ``"GT"``, ``"LE"`` or ``"LT"``. The result is i1."""
        left, right = self._align(a, b)
        kind = "FLOAT" if is_float(left.element) else "UNSIGNED" if left.element.startswith("u") else "SIGNED"
        attributes = {"comparison_direction": direction, "compare_type": kind}
        return self.op("compare", [left, right], left.shape, "i1", attributes)

    def select(self, condition: Tensor, a: Number, b: Number) -> Tensor:
        """Take elements of ``a`` where the condition holds, otherwise of ``b``; all are broadcast."""
        first, second = self._align(a, b)
        shape = broadcast_shapes(condition.shape, first.shape)
        operands = [self.broadcast(each, shape) for each in (condition, first, second)]
        return self.op("select", operands, shape, first.element)

    def convert(self, x: Tensor, element: str) -> Tensor:
        """Convert elements to another type."""
        return x if x.element == element else self.op("convert", [x], x.shape, element)

    def maximum(self, a: Number, b: Number) -> Tensor:
        """Take the greater of two elements; NaN if one is."""
        return self.binary("maximum", a, b)

    def minimum(self, a: Number, b: Number) -> Tensor:
        """Take the lesser of two elements; NaN if one is."""
        return self.binary("minimum", a, b)

    def clamp(self, x: Tensor, low: float, high: float) -> Tensor:
        """Hold elements between two numbers; NaN stays NaN."""
        bounds = [self.full(number, x.element) for number in (low, high)]
        return self.op("clamp", [bounds[0], x, bounds[1]], x.shape, x.element)

    def composite(self, name: str, x: Tensor, make: Callable[[Emitter, Tensor], Tensor]) -> Tensor:
        """Append a composite: its name, and a function that computes it."""
        function = self.functions.find(name, TensorType(shape=x.shape, element=x.element), make)
        return self.op("composite", [x], x.shape, x.element, {"name": name, "decomposition": Symbol(function), "version": 0})

    def _align(self, a: Number, b: Number) -> tuple[Tensor, Tensor]:
        """Bring two operands to one shape and type."""
        if isinstance(a, Tensor):
            other = b if isinstance(b, Tensor) else self.full(b, a.element, a.shape)
            shape = broadcast_shapes(a.shape, other.shape)
            return self.broadcast(a, shape), self.broadcast(other, shape)
        assert isinstance(b, Tensor)
        return self.full(a, b.element, b.shape), b

    # Shapes.

    def broadcast(self, x: Tensor, shape: Shape, dimensions: Sequence[int] | None = None) -> Tensor:
        """Repeat elements along dimensions. ``dimensions`` names that of the result for each of the tensor; the last ones by default."""
        if dimensions is None:
            if x.shape == tuple(shape):
                return x
            dimensions = range(len(shape) - len(x.shape), len(shape))
        return self.op("broadcast_in_dim", [x], shape, x.element, {"broadcast_dimensions": tuple(dimensions)})

    def reshape(self, x: Tensor, shape: Shape) -> Tensor:
        """Give the elements another shape."""
        return x if x.shape == tuple(shape) else self.op("reshape", [x], shape, x.element)

    def transpose(self, x: Tensor, permutation: Sequence[int]) -> Tensor:
        """Permute dimensions."""
        if list(permutation) == list(range(len(x.shape))):
            return x
        return self.op("transpose", [x], [x.shape[axis] for axis in permutation], x.element, {"permutation": tuple(permutation)})

    def slice(self, x: Tensor, starts: Sequence[int], limits: Sequence[int], strides: Sequence[int] | None = None) -> Tensor:
        """Cut a block out: from the starts to before the limits."""
        steps = [1] * len(x.shape) if strides is None else list(strides)
        shape = tuple([-(-(limit - start) // step) for start, limit, step in zip(starts, limits, steps, strict=True)])
        if shape == x.shape:
            return x
        attributes = {"start_indices": tuple(starts), "limit_indices": tuple(limits), "strides": tuple(steps)}
        return self.op("slice", [x], shape, x.element, attributes)

    def cut(self, x: Tensor, axis: int, start: int, limit: int) -> Tensor:
        """Cut a block out along one axis."""
        starts, limits = [0] * len(x.shape), list(x.shape)
        starts[axis], limits[axis] = start, limit
        return self.slice(x, starts, limits)

    def concatenate(self, parts: Sequence[Tensor], axis: int) -> Tensor:
        """Join tensors along an axis."""
        if len(parts) == 1:
            return parts[0]
        shape = list(parts[0].shape)
        shape[axis] = sum(part.shape[axis] for part in parts)
        return self.op("concatenate", parts, shape, parts[0].element, {"dimension": axis})

    def pad(self, x: Tensor, low: Sequence[int], high: Sequence[int], number: float) -> Tensor:
        """Add elements of one number around a tensor; a negative padding takes elements away."""
        if not any(low) and not any(high):
            return x
        shape = [before + size + after for before, size, after in zip(low, x.shape, high, strict=True)]
        attributes = {"edge_padding_low": tuple(low), "edge_padding_high": tuple(high), "interior_padding": (0,) * len(shape)}
        return self.op("pad", [x, self.full(number, x.element)], shape, x.element, attributes)

    def reverse(self, x: Tensor, axes: Sequence[int]) -> Tensor:
        """Reverse the order of elements along axes."""
        return self.op("reverse", [x], x.shape, x.element, {"dimensions": tuple(axes)}) if axes else x

    def iota(self, shape: Shape, axis: int, element: str) -> Tensor:
        """Append the positions of elements along an axis."""
        return self.op("iota", [], shape, element, {"iota_dimension": axis})

    # Operations with regions.

    def reduce(self, x: Tensor, name: str, initial: float, axes: Sequence[int], *, keep: bool = False) -> Tensor:
        """Reduce axes with an elementwise operation from a number that changes nothing. Without axes the result is the tensor."""
        if not axes:
            return x
        shape = [size for axis, size in enumerate(x.shape) if axis not in axes]
        operands = [x, self.full(initial, x.element)]
        result = self.op("reduce", operands, shape, x.element, {"dimensions": tuple(sorted(axes))}, [self._fold(name, x.element)])
        return self.reshape(result, [1 if axis in axes else size for axis, size in enumerate(x.shape)]) if keep else result

    def average(self, x: Tensor, axes: Sequence[int]) -> Tensor:
        """Return the means over axes, whose sizes become 1."""
        return self.reduce(x, "add", 0, axes, keep=True) / math.prod(x.shape[axis] for axis in axes)

    def reduce_window(
        self,
        x: Tensor,
        name: str,
        initial: float,
        window: Sequence[int],
        padding: Sequence[tuple[int, int]],
        strides: Sequence[int] | None = None,
        dilations: Sequence[int] | None = None,
    ) -> Tensor:
        """Reduce windows with an elementwise operation. The padding is the initial number, which changes nothing."""
        ones = (1,) * len(x.shape)
        steps, spread = tuple(strides or ones), tuple(dilations or ones)
        shape = [
            (low + size + high - (width - 1) * apart - 1) // step + 1
            for size, width, (low, high), step, apart in zip(x.shape, window, padding, steps, spread, strict=True)
        ]
        attributes: dict[str, Attribute] = {
            "window_dimensions": tuple(window),
            "window_strides": steps,
            "base_dilations": ones,
            "window_dilations": spread,
            "padding": np.array(padding, np.int64),
        }
        return self.op("reduce_window", [x, self.full(initial, x.element)], shape, x.element, attributes, [self._fold(name, x.element)])

    def _fold(self, name: str, element: str) -> Region:
        return self.body([((), element)] * 2, lambda e, a, b: [e.binary(name, a, b)])

    def gather(
        self, x: Tensor, indices: Tensor, numbers: GatherDimensionNumbers, sizes: Sequence[int], shape: Shape, *, is_sorted: bool = False
    ) -> Tensor:
        """Append a gather of slices of these sizes."""
        attributes: dict[str, Attribute] = {"dimension_numbers": numbers, "slice_sizes": tuple(sizes), "indices_are_sorted": is_sorted}
        return self.op("gather", [x, indices], shape, x.element, attributes)

    def scatter(self, x: Tensor, indices: Tensor, updates: Tensor, numbers: ScatterDimensionNumbers) -> Tensor:
        """Append a scatter that replaces elements."""
        attributes: dict[str, Attribute] = {"scatter_dimension_numbers": numbers, "indices_are_sorted": False, "unique_indices": False}
        body = self.body([((), x.element)] * 2, lambda _, old, new: [new])
        return self.op("scatter", [x, indices, updates], x.shape, x.element, attributes, [body])

    def take(self, x: Tensor, indices: Tensor, axis: int) -> Tensor:
        """Take slices along an axis. The dimensions of the indices replace the axis; all indices are inside it."""
        rank, count = len(x.shape), len(indices.shape)
        numbers = GatherDimensionNumbers(
            offset_dims=(*range(axis), *range(axis + count, rank - 1 + count)),
            collapsed_slice_dims=(axis,),
            start_index_map=(axis,),
            index_vector_dim=count,
        )
        sizes = [1 if each == axis else size for each, size in enumerate(x.shape)]
        return self.gather(x, indices, numbers, sizes, [*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :]])

    def loop(
        self,
        count: int,
        fixed: Sequence[Tensor],
        states: Sequence[Tensor],
        step: Callable[[Emitter, Tensor, Sequence[Tensor], Sequence[Tensor]], Sequence[Tensor]],
    ) -> list[Tensor]:
        """Append a loop, and return the last states. A step gets an emitter, its number, the fixed tensors and the states."""
        operands = [self.full(0, "i32"), *fixed, *states]
        types = [(each.shape, each.element) for each in operands]
        end = 1 + len(fixed)
        condition = self.body(types, lambda e, time, *_: [e.compare("LT", time, count)])
        body = self.body(types, lambda e, time, *rest: [time + 1, *rest[: end - 1], *step(e, time, rest[: end - 1], rest[end - 1 :])])
        return self.ops("while", operands, types, None, [condition, body])[end:]

    def at(self, x: Tensor, index: Tensor) -> Tensor:
        """Return the slice at an index of the first dimension."""
        sizes = (1, *x.shape[1:])
        starts = [index, *[self.full(0, index.element)] * (len(sizes) - 1)]
        return self.reshape(self.op("dynamic_slice", [x, *starts], sizes, x.element, {"slice_sizes": sizes}), sizes[1:])

    def put(self, x: Tensor, update: Tensor, index: Tensor) -> Tensor:
        """Replace the slice at an index of the first dimension."""
        starts = [index, *[self.full(0, index.element)] * len(update.shape)]
        return self.op("dynamic_update_slice", [x, self.reshape(update, [1, *update.shape]), *starts], x.shape, x.element)
