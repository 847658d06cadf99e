"""Random calls of every operation, for probing what a browser and a profile accept.

A call is data that a page and Python can both carry out: ``{"operation": "gather", "arguments": [...]}``. Among the arguments, and among
the members of options, ``{"$": [dataType, shape, isConstant]}`` is an operand.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from random import Random
from typing import Any

from webnn.context.profiles import Profile
from webnn.context.profiles.profile import operand_names
from webnn.validation.descriptor import DATA_TYPES
from webnn.validation.drafts import for_devices

__all__ = ["Call", "Draws", "operand"]

Call = dict[str, Any]
Shape = list[int]

#: The largest rank of most operands.
_LONGEST = 5


def operand(dataType: str, shape: Sequence[int], *, constant: bool = False) -> dict[str, Any]:
    """Write an operand."""
    return {"$": [dataType, list(shape), constant]}


class Draws:
    """Draws the calls that a profile's limits allow, and some that they just do not allow.

    Args:
        profile: The limits.
        random: Where the calls come from; the same seed makes the same calls.

    Attributes:
        limits: What the operands of each operation may be.
        operation: The operation of the call that is drawn.
        types: The data types of its operands, by row.
    """

    def __init__(self, profile: Profile, random: Random) -> None:
        self.random = random
        self.limits = profile.operations
        draft = for_devices().limits
        assert draft is not None  # the newest draft has tables
        self._tables = draft.operations
        self.operation = ""
        self.types: dict[str, str] = {}

    @property
    def operations(self) -> tuple[str, ...]:
        """The operations that can be drawn."""
        return tuple(name for name in self.limits if name in _RECIPES)

    def draw(self, operation: str, *, near: bool = False) -> Call:
        """Draw a call: one that should be accepted, or with ``near`` one that differs from such a call in one place."""
        self.operation = operation
        self.types = self._choose_types()
        *arguments, options = _RECIPES[operation](self)
        call = {"operation": operation, "arguments": [*arguments, {name: value for name, value in options.items() if value is not None}]}
        return self._mutate(call) if near else call

    # ---- What the recipes draw

    def pick(self, values: Sequence[Any]) -> Any:
        """Draw one of several values."""
        return self.random.choice(values)

    def maybe(self, value: Any) -> Any:
        """Draw a value, or none."""
        return value if self.random.random() < 0.5 else None

    def flag(self) -> Any:
        """Draw true, false or nothing."""
        return self.pick((True, False, None))

    def number(self, *more: Any) -> Any:
        """Draw a number for an option, or nothing."""
        return self.pick((None, 0, 1, 0.5, -2, *more))

    def shape(self, row: str, least: int = 0) -> Shape:
        """Draw the shape of an operand, within the ranks of the profile."""
        low, high = self.limits[self.operation][row].ranks
        longest = high if self.random.random() < 0.2 else min(high, _LONGEST)
        return self.sizes(self.random.randint(max(low, least), max(low, least, longest)))

    def sizes(self, rank: int) -> Shape:
        """Draw the sizes of dimensions."""
        return [self.random.randint(1, 4 if rank < 6 else 2) for _ in range(rank)]

    def axis(self, shape: Shape) -> int:
        """Draw an axis."""
        return self.random.randrange(len(shape)) if shape else 0

    def axes(self, shape: Shape) -> Any:
        """Draw several axes, or nothing."""
        return self.maybe(self.random.sample(range(len(shape)), self.random.randint(0, len(shape))))

    def tensor(self, row: str, shape: Sequence[int], *, constant: float = 0.3) -> dict[str, Any]:
        """Make an operand of a row; ``constant`` is how likely it is to be a constant."""
        return operand(self.types[row], shape, constant=self.random.random() < constant)

    def sides(self, shape: Shape) -> tuple[Shape, Shape]:
        """Draw two shapes that broadcast to a shape."""
        one, other = ([self.pick((size, size, 1)) for size in shape][self.pick((0, 0, self.axis(shape))) :] for _ in range(2))
        return (one, shape) if self.random.random() < 0.5 else (shape, other)

    def _choose_types(self) -> dict[str, str]:
        """Choose a data type for each row: tied rows have the same one."""
        rows, tables = self.limits[self.operation], self._tables.get(self.operation, {})
        root = {row: (tables[row].same_type_as if row in tables else "") or row for row in operand_names()[self.operation]}
        types: dict[str, str] = {}
        for each in dict.fromkeys(root.values()):
            tied = [row for row in rows if root[row] == each]
            fitting = [name for name in DATA_TYPES if all(name in rows[row].data_types for row in tied)]
            types |= dict.fromkeys(tied, self.pick(fitting or DATA_TYPES))
        return types

    # ---- Calls that are nearly right

    def _mutate(self, call: Call) -> Call:
        """Change one place of a call: a data type, a dimension, the rank, a number."""
        places: list[tuple[Any, Any]] = []

        def walk(value: Any) -> None:
            for key in value if isinstance(value, dict) else range(len(value)):
                each = value[key]
                isOperand = isinstance(each, dict) and "$" in each
                if isOperand or not isinstance(each, dict):
                    places.append((value, key))
                if isinstance(each, dict | list) and not isOperand:
                    walk(each)

        walk(call["arguments"])
        within, key = self.pick(places)
        value = within[key]
        if isinstance(value, dict):
            dataType, shape, constant = value["$"]
            changed = self.pick((shape[1:], [*shape, 2], [3, *shape], [*shape, *self.sizes(6)], [*shape[:-1], 5]))
            within[key] = {
                "$": self.pick(([self.pick(DATA_TYPES), shape, constant], [dataType, changed, constant], [dataType, shape, not constant]))
            }
        elif isinstance(value, bool):
            within[key] = not value
        elif isinstance(value, int | float):
            within[key] = value + self.pick((1, -1, 2, 100))
        elif isinstance(value, list):
            within[key] = self.pick((value[1:], [*value, *value[:1]], value[::-1]))
        elif isinstance(value, str):
            within[key] = self.pick((*DATA_TYPES, "edge", "reflection", "linear", "nhwc", "ceil"))
        return call


# ---- Recipes: each draws the arguments of a call; the last one is the options


def _unary(*options: str) -> Callable[[Draws], list[Any]]:
    def draw(d: Draws) -> list[Any]:
        row = next(iter(d.limits[d.operation]))
        return [d.tensor(row, d.shape(row)), {name: d.number() for name in options}]

    return draw


def _binary(d: Draws) -> list[Any]:
    one, other = d.sides(d.shape("a"))
    return [d.tensor("a", one), d.tensor("b", other), {}]


def _clamp(d: Draws) -> list[Any]:
    return [d.tensor("input", d.shape("input")), {"minValue": d.pick((None, -1, 0)), "maxValue": d.pick((None, 1, 6))}]


def _cast(d: Draws) -> list[Any]:
    return [d.tensor("input", d.shape("input")), d.types["output"], {}]


def _arg(d: Draws) -> list[Any]:
    shape = d.shape("input", 1)
    return [d.tensor("input", shape), d.axis(shape), {"keepDimensions": d.flag(), "outputDataType": d.types["output"]}]


def _along(*flags: str) -> Callable[[Draws], list[Any]]:
    def draw(d: Draws) -> list[Any]:
        shape = d.shape("input", 1)
        return [d.tensor("input", shape), d.axis(shape), {name: d.flag() for name in flags}]

    return draw


def _reduce(d: Draws) -> list[Any]:
    shape = d.shape("input")
    return [d.tensor("input", shape), {"axes": d.axes(shape), "keepDimensions": d.flag()}]


def _reverse(d: Draws) -> list[Any]:
    shape = d.shape("input")
    return [d.tensor("input", shape), {"axes": d.axes(shape)}]


def _triangular(d: Draws) -> list[Any]:
    return [d.tensor("input", d.shape("input", 2)), {"upper": d.flag(), "diagonal": d.pick((None, 0, 1, -1))}]


def _transpose(d: Draws) -> list[Any]:
    shape = d.shape("input")
    return [d.tensor("input", shape), {"permutation": d.maybe(d.random.sample(range(len(shape)), len(shape)))}]


def _concat(d: Draws) -> list[Any]:
    shape = d.shape("inputs", 1)
    axis = d.axis(shape)
    shapes = [[*shape[:axis], d.random.randint(1, 3), *shape[axis + 1 :]] for _ in range(d.random.randint(1, 3))]
    return [[d.tensor("inputs", each) for each in shapes], axis, {}]


def _split(d: Draws) -> list[Any]:
    shape = d.shape("input", 1)
    axis = d.axis(shape)
    parts = d.pick(([1] * shape[axis], [shape[axis]], [1, shape[axis]], shape[axis], 1))
    if parts == [1, shape[axis]]:
        shape[axis] += 1
    return [d.tensor("input", shape), parts, {"axis": axis}]


def _slice(d: Draws) -> list[Any]:
    shape = d.shape("input")
    starts = [d.random.randrange(size) for size in shape]
    sizes = [d.random.randint(1, size - start) for size, start in zip(shape, starts, strict=True)]
    return [d.tensor("input", shape), starts, sizes, {"strides": d.maybe([d.random.randint(1, size) for size in sizes])}]


def _pad(d: Draws) -> list[Any]:
    shape = d.shape("input")
    before, after = ([d.random.randint(0, size - 1) for size in shape] for _ in range(2))
    return [d.tensor("input", shape), before, after, {"mode": d.pick((None, "constant", "edge", "reflection")), "value": d.number()}]


def _reshape(d: Draws) -> list[Any]:
    shape = d.shape("input")
    _, high = d.limits["reshape"]["output"].ranks
    return [d.tensor("input", shape), d.pick((shape[::-1], [prod(shape)], ([1, *shape])[-high:] if len(shape) < high else shape)), {}]


def _expand(d: Draws) -> list[Any]:
    shape = d.shape("output" if "output" in d.limits["expand"] else "input")
    return [d.tensor("input", [d.pick((size, 1)) for size in shape][d.pick((0, d.axis(shape))) :]), shape, {}]


def _tile(d: Draws) -> list[Any]:
    shape = d.shape("input")
    return [d.tensor("input", shape), [d.random.randint(1, 2) for _ in shape], {}]


def _where(d: Draws) -> list[Any]:
    shape = d.shape("trueValue")
    one, other = d.sides(shape)
    return [d.tensor("condition", d.sides(shape)[0]), d.tensor("trueValue", one), d.tensor("falseValue", other), {}]


def _gather(d: Draws) -> list[Any]:
    shape = d.shape("input", 1)
    return [d.tensor("input", shape), d.tensor("indices", d.sizes(d.random.randint(0, 3))), {"axis": d.maybe(d.axis(shape))}]


def _gatherElements(d: Draws) -> list[Any]:
    shape = d.shape("input", 1)
    axis = d.axis(shape)
    indices = [*shape[:axis], d.random.randint(1, 4), *shape[axis + 1 :]]
    return [d.tensor("input", shape), d.tensor("indices", indices, constant=0.6), {"axis": axis}]


def _gatherND(d: Draws) -> list[Any]:
    shape = d.shape("input", 1)
    return [
        d.tensor("input", shape),
        d.tensor("indices", [*d.sizes(d.random.randint(0, 3)), d.random.randint(1, len(shape))], constant=0.6),
        {},
    ]


def _scatterElements(d: Draws) -> list[Any]:
    source, indices, options = _gatherElements(d)
    return [source, indices, d.tensor("updates", indices["$"][1]), options]


def _scatterND(d: Draws) -> list[Any]:
    source, indices, options = _gatherND(d)
    *rows, depth = indices["$"][1]
    return [source, indices, d.tensor("updates", rows + source["$"][1][depth:]), options]


def _matmul(d: Draws) -> list[Any]:
    rows, inner, columns = d.sizes(3)
    one, other = d.sides(d.shape("a", 2)[2:])
    return [d.tensor("a", [*one, rows, inner]), d.tensor("b", [*other, inner, columns]), {}]


def _gemm(d: Draws) -> list[Any]:
    rows, inner, columns = d.sizes(3)
    aTranspose, bTranspose = d.flag(), d.flag()
    a, b = ([inner, rows] if aTranspose else [rows, inner]), ([columns, inner] if bTranspose else [inner, columns])
    c = d.maybe(d.tensor("c", d.pick(([], [columns], [1, columns], [rows, 1], [rows, columns], [1]))))
    more = {"alpha": d.number(), "beta": d.number(), "aTranspose": aTranspose, "bTranspose": bTranspose}
    return [d.tensor("a", a), d.tensor("b", b), {"c": c, **more}]


def _image(d: Draws, layout: str | None, channels: int) -> Shape:
    batch, height, width = d.random.randint(1, 2), d.random.randint(4, 9), d.random.randint(4, 9)
    return [batch, height, width, channels] if layout == "nhwc" else [batch, channels, height, width]


def _window(d: Draws) -> dict[str, Any]:
    return {
        "padding": d.pick((None, None, [0, 0, 0, 0], [1, 1, 1, 1], [0, 1, 0, 1], [0, 1, 1, 0])),
        "strides": d.pick((None, [1, 1], [2, 2], [1, 2])),
        "dilations": d.pick((None, None, [1, 1], [2, 2], [1, 2])),
    }


def _conv(order: Sequence[str]) -> Callable[[Draws], list[Any]]:
    def draw(d: Draws) -> list[Any]:
        layout, filterLayout = d.pick((None, "nchw", "nhwc")), d.pick((None, *order))
        groups = d.pick((None, 1, 1, 2, 3))
        per, outer = d.pick((1, 1, 2)), (groups or 1) * d.pick((1, 1, 2))
        channels = (groups or 1) * per
        height, width = d.random.randint(1, 3), d.random.randint(1, 3)
        isTransposed = d.operation == "convTranspose2d"
        # The letters of the layout: o and i are the channels of the output and of the input as the filter counts them.
        o, i = (outer // (groups or 1), channels) if isTransposed else (outer, per)
        sizes = {"o": o, "i": i, "h": height, "w": width}
        options = {**_window(d), "groups": groups, "inputLayout": layout, "filterLayout": filterLayout}
        options["bias"] = d.maybe(d.tensor("bias", [outer], constant=0.6))
        if isTransposed:
            options["outputPadding"] = d.pick((None, None, [0, 0], [1, 1]))
            if options["outputPadding"] == [1, 1]:
                options["strides"] = [2, 2]
        filterShape = [sizes[letter] for letter in filterLayout or order[0]]
        return [d.tensor("input", _image(d, layout, channels)), d.tensor("filter", filterShape, constant=0.6), options]

    return draw


def _pool(d: Draws) -> list[Any]:
    layout = d.pick((None, "nchw", "nhwc"))
    window = d.pick((None, [1, 1], [2, 2], [3, 2]))
    options = {**_window(d), "windowDimensions": window, "layout": layout, "outputShapeRounding": d.pick((None, "floor", "ceil"))}
    return [d.tensor("input", _image(d, layout, d.random.randint(1, 3))), options]


def _resample2d(d: Draws) -> list[Any]:
    axes = d.pick((None, [0, 1], [1, 2], [2, 3], [3, 2]))
    sizes = d.maybe([d.random.randint(1, 8), d.random.randint(1, 8)])
    scales = d.maybe([d.pick((1, 2, 0.5)), d.pick((1, 2, 1.5))])
    mode = d.pick((None, "nearest-neighbor", "linear"))
    return [d.tensor("input", [d.random.randint(2, 5) for _ in range(4)]), {"mode": mode, "axes": axes, "sizes": sizes, "scales": scales}]


def _prelu(d: Draws) -> list[Any]:
    shape = d.shape("input")
    slope = [d.pick((size, 1)) for size in shape][d.pick((0, d.axis(shape))) :]
    return [d.tensor("input", shape), d.tensor("slope", slope, constant=0.6), {}]


def _batchNormalization(d: Draws) -> list[Any]:
    shape = d.shape("input", 2)
    axis = d.pick((None, d.axis(shape)))
    size = [shape[1 if axis is None else axis]]
    more = {name: d.maybe(d.tensor(name, size, constant=0.6)) for name in ("scale", "bias")}
    return [d.tensor("input", shape), d.tensor("mean", size), d.tensor("variance", size), {**more, "axis": axis, "epsilon": d.number()}]


def _instanceNormalization(d: Draws) -> list[Any]:
    layout, channels = d.pick((None, "nchw", "nhwc")), d.random.randint(1, 3)
    more = {name: d.maybe(d.tensor(name, [channels], constant=0.6)) for name in ("scale", "bias")}
    return [d.tensor("input", _image(d, layout, channels)), {**more, "layout": layout, "epsilon": d.number()}]


def _layerNormalization(d: Draws) -> list[Any]:
    shape = d.shape("input", 1)
    axes = d.axes(shape)
    sizes = shape[1:] if axes is None else [shape[axis] for axis in axes]
    more = {name: d.maybe(d.tensor(name, sizes, constant=0.6)) for name in ("scale", "bias")}
    return [d.tensor("input", shape), {**more, "axes": axes, "epsilon": d.number()}]


def _quantize(d: Draws) -> list[Any]:
    shape = d.shape("input")
    blocks = d.pick(
        ([1] * len(shape), shape, [d.pick((size, 1)) for size in shape], [size // 2 if size % 2 == 0 else size for size in shape])
    )
    return [d.tensor("input", shape), d.tensor("scale", blocks, constant=0.6), d.tensor("zeroPoint", blocks, constant=0.6), {}]


def _recurrent(gates: int, *, isCell: bool) -> Callable[[Draws], list[Any]]:
    def draw(d: Draws) -> list[Any]:
        steps, batch, size, hidden = d.sizes(4)
        direction = None if isCell else d.pick((None, "forward", "backward", "both"))
        count = [] if isCell else [2 if direction == "both" else 1]
        isLstm = gates == 4
        names = {"bias": gates * hidden, "recurrentBias": gates * hidden} | ({"peepholeWeight": 3 * hidden} if isLstm else {})
        options: dict[str, Any] = {name: d.maybe(d.tensor(name, [*count, length])) for name, length in names.items()}
        options["layout"] = d.pick((None, "iofg", "ifgo") if isLstm else (None, "zrn", "rzn"))
        options["activations"] = d.maybe([d.pick(("relu", "sigmoid", "tanh")) for _ in range(gates - 1)])
        if not isLstm:
            options["resetAfter"] = d.flag()
        states = ("hiddenState", "cellState")[: 2 if isLstm else 1]
        arguments = [
            d.tensor("input", [batch, size] if isCell else [steps, batch, size]),
            d.tensor("weight", [*count, gates * hidden, size], constant=0.6),
            d.tensor("recurrentWeight", [*count, gates * hidden, hidden], constant=0.6),
        ]
        if isCell:
            return [*arguments, *(d.tensor(name, [batch, hidden]) for name in states), hidden, options]
        options |= {f"initial{name[0].upper()}{name[1:]}": None for name in states}
        for name in states:
            row = f"initial{name[0].upper()}{name[1:]}"
            options[row] = d.maybe(d.tensor(row, [*count, batch, hidden]))
        return [*arguments, steps, hidden, {**options, "direction": direction, "returnSequence": d.flag()}]

    return draw


def _each(names: str, recipe: Callable[[Draws], list[Any]]) -> dict[str, Callable[[Draws], list[Any]]]:
    return dict.fromkeys(names.split(), recipe)


_RECIPES: Mapping[str, Callable[[Draws], list[Any]]] = {
    **_each("abs ceil cos erf exp floor identity log neg reciprocal roundEven sign sin sqrt tan logicalNot isNaN isInfinite", _unary()),
    **_each("gelu hardSwish relu sigmoid softplus softsign tanh", _unary()),
    **_each("elu leakyRelu", _unary("alpha")),
    **_each("linear hardSigmoid", _unary("alpha", "beta")),
    **_each(
        "add sub mul div max min pow equal notEqual greater greaterOrEqual lesser lesserOrEqual logicalAnd logicalOr logicalXor", _binary
    ),
    **_each(
        "reduceL1 reduceL2 reduceLogSum reduceLogSumExp reduceMax reduceMean reduceMin reduceProduct reduceSum reduceSumSquare", _reduce
    ),
    **_each("argMin argMax", _arg),
    **_each("averagePool2d l2Pool2d maxPool2d", _pool),
    **_each("quantizeLinear dequantizeLinear", _quantize),
    "batchNormalization": _batchNormalization,
    "cast": _cast,
    "clamp": _clamp,
    "concat": _concat,
    "conv2d": _conv(("oihw", "hwio", "ohwi", "ihwo")),
    "convTranspose2d": _conv(("iohw", "hwoi", "ohwi")),
    "cumulativeSum": _along("exclusive", "reversed"),
    "expand": _expand,
    "gather": _gather,
    "gatherElements": _gatherElements,
    "gatherND": _gatherND,
    "gemm": _gemm,
    "gru": _recurrent(3, isCell=False),
    "gruCell": _recurrent(3, isCell=True),
    "instanceNormalization": _instanceNormalization,
    "layerNormalization": _layerNormalization,
    "lstm": _recurrent(4, isCell=False),
    "lstmCell": _recurrent(4, isCell=True),
    "matmul": _matmul,
    "pad": _pad,
    "prelu": _prelu,
    "resample2d": _resample2d,
    "reshape": _reshape,
    "reverse": _reverse,
    "scatterElements": _scatterElements,
    "scatterND": _scatterND,
    "slice": _slice,
    "softmax": _along(),
    "split": _split,
    "tile": _tile,
    "transpose": _transpose,
    "triangular": _triangular,
    "where": _where,
}
