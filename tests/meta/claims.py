"""The claims of `MLContext.opSupportLimits`, and one call of the operation for each claim: data for `test_claims`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from tests.support import CURRENT, limits_of
from webnn import MLGraphBuilder, MLOperand
from webnn.validation.drafts.limits import OperandLimits

__all__ = ["CHOSEN", "Case", "Claim", "Limits", "call", "case", "claims"]

Shape = tuple[int, ...]
#: The draft's rows: how an operation's operands depend on each other is no other with what browsers ship beyond it.
_OPERATIONS = limits_of(CURRENT).operations
#: The entry of `MLContext.opSupportLimits` for one operation: for each operand its ``dataTypes`` and ``rankRange``.
Limits = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Claim:
    """One operand may have a data type at a rank, the lowest or the highest that the operation takes."""

    operation: str
    operand: str
    dataType: str
    rank: int

    def __str__(self) -> str:
        return f"{self.operation}: {self.operand} of {self.dataType}, {self.rank}-D"


@dataclass(frozen=True)
class Case:
    """A call of an operation.

    Attributes:
        operation: The operation.
        operands: The operands' types and shapes, arguments before options.
        arguments: The arguments behind the operands.
        options: The options other than operands.
    """

    operation: str
    operands: tuple[tuple[str, str, Shape], ...]
    arguments: tuple[Any, ...] = ()
    options: tuple[tuple[str, Any], ...] = ()

    def with_operand(self, name: str, dataType: str | None = None, shape: Shape | None = None) -> Case:
        """Return the same call with another type or shape of one operand."""
        return replace(
            self,
            operands=tuple(
                (each, (dataType or type) if each == name else type, shape if each == name and shape is not None else old)
                for each, type, old in self.operands
            ),
        )

    def with_output(self, dataType: str) -> Case:
        """Return the same call with another type of the output, which the program chooses."""
        name = CHOSEN[self.operation]
        member = name.removeprefix("options.")
        if member == name:
            return replace(self, arguments=(dataType,))
        return replace(self, options=tuple({**dict(self.options), member: dataType}.items()))


# How to call each operation: the shapes of its operands, its arguments and its options, for one operand of a rank.


@dataclass(frozen=True)
class Form:
    """A call but for the data types.

    Attributes:
        shapes: The shapes of the operands.
        arguments: The arguments behind the operands.
        options: The options other than operands.
    """

    shapes: Mapping[str, Shape]
    arguments: tuple[Any, ...] = ()
    options: tuple[tuple[str, Any], ...] = ()


#: Make the form in which an operand has a rank; the operation's rows say which operands there are.
Maker = Callable[[str, int, Mapping[str, OperandLimits]], Form]


def _cube(rank: int) -> Shape:
    return (2,) * rank


def _alike(arguments: Callable[[int], tuple[Any, ...]] = lambda rank: (), **options: Any) -> Maker:
    """All operands have one shape; the arguments depend on its rank."""

    def make(target: str, rank: int, rows: Mapping[str, OperandLimits]) -> Form:
        shapes = {name: _cube(rank) for name, row in rows.items() if not row.output}
        return Form(shapes, arguments(rank), tuple(options.items()))

    return make


def _fixed(*arguments: Any, options: Mapping[str, Any] | None = None, **shapes: Shape) -> Maker:
    """Each operand has a shape of its own."""
    form = Form(shapes, arguments, tuple((options or {}).items()))
    return lambda target, rank, rows: form


def _position(target: str, rank: int, rows: Mapping[str, OperandLimits]) -> Form:
    """The output has the input's rank if the axis is kept, and one less if not."""
    return Form({"input": _cube(max(rank, 1))}, (0,), (("keepDimensions", rank > 0),))


def _batch(target: str, rank: int, rows: Mapping[str, OperandLimits]) -> Form:
    parameters = dict.fromkeys(("mean", "variance", "scale", "bias"), _cube(1))
    return Form({"input": _cube(rank if target in {"input", "output"} else 1), **parameters}, (), (("axis", 0),))


def _layer(target: str, rank: int, rows: Mapping[str, OperandLimits]) -> Form:
    """The parameters have one dimension for each axis, all that the input has."""
    return Form(dict.fromkeys(("input", "scale", "bias"), _cube(rank)), (), (("axes", tuple(range(rank))),))


def _gemm(target: str, rank: int, rows: Mapping[str, OperandLimits]) -> Form:
    return Form({"a": _cube(2), "b": _cube(2), "c": _cube(rank if target == "c" else 2)})


def _gather(target: str, rank: int, rows: Mapping[str, OperandLimits]) -> Form:
    """The output has the dimensions of the indices in place of the axis; one index picks a row."""
    if target == "indices":
        return Form({"input": _cube(1 if rank else 2), "indices": _cube(rank)})
    if target == "output" and rank == 0:
        return Form({"input": _cube(1), "indices": _cube(0)})
    return Form({"input": _cube(rank), "indices": _cube(1)})


def _gather_nd(target: str, rank: int, rows: Mapping[str, OperandLimits]) -> Form:
    """Coordinates of one part, behind any number of places, pick along the first axis."""
    if target == "input":
        return Form({"input": _cube(rank), "indices": (1,)})
    if target == "output" and rank == 0:
        return Form({"input": (2,), "indices": (1,)})
    # An input of two dimensions leaves one of them to the output.
    return Form({"input": _cube(1 if target == "indices" else 2), "indices": (*_cube(rank - 1), 1)})


def _scatter_nd(target: str, rank: int, rows: Mapping[str, OperandLimits]) -> Form:
    """As `_gather_nd`; the updates have the shape that it returns."""
    form = _gather_nd("output" if target == "updates" else "input" if target == "output" else target, rank, rows)
    input, indices = form.shapes["input"], form.shapes["indices"]
    return Form({**form.shapes, "updates": (*indices[:-1], *input[1:])})


def _recurrent(gates: int, **states: Shape) -> Maker:
    """A sequence of two steps in one direction; batch, input and hidden size are two."""
    biases = {"bias": (1, gates * 2), "recurrentBias": (1, gates * 2)}
    weights = dict.fromkeys(("weight", "recurrentWeight"), (1, gates * 2, 2))
    return _fixed(2, 2, options={"returnSequence": True}, input=_cube(3), **weights, **biases, **states)


def _cell(gates: int, **states: Shape) -> Maker:
    weights = dict.fromkeys(("weight", "recurrentWeight"), (gates * 2, 2))
    return _fixed(2, input=_cube(2), **weights, bias=(gates * 2,), recurrentBias=(gates * 2,), **states)


def _each(value: int) -> Callable[[int], tuple[Any, ...]]:
    """Return one argument, with the value for each dimension."""
    return lambda rank: ((value,) * rank,)


_FIRST_AXIS = _alike(lambda rank: (0,))
_SIZES = _alike(_each(2))
_KEPT = _alike(keepDimensions=True)
_IMAGE = {"input": (1, 2, 3, 3), "bias": (2,)}
_HIDDEN = (1, 2, 2)

#: The operations whose operands are not simply all of one shape.
_MAKERS: Mapping[str, Maker] = {
    **dict.fromkeys(("argMin", "argMax"), _position),
    "batchNormalization": _batch,
    "concat": _FIRST_AXIS,
    "conv2d": _fixed(**_IMAGE, filter=(2, 2, 2, 2)),
    "convTranspose2d": _fixed(**_IMAGE, filter=(2, 2, 2, 2)),
    "cumulativeSum": _FIRST_AXIS,
    "expand": _SIZES,
    "gather": _gather,
    "gatherND": _gather_nd,
    "gemm": _gemm,
    "gru": _recurrent(3, initialHiddenState=_HIDDEN),
    "gruCell": _cell(3, hiddenState=(2, 2)),
    "instanceNormalization": _fixed(input=_cube(4), scale=(2,), bias=(2,)),
    "layerNormalization": _layer,
    "lstm": _recurrent(4, peepholeWeight=(1, 6), initialHiddenState=_HIDDEN, initialCellState=_HIDDEN),
    "lstmCell": _cell(4, peepholeWeight=(6,), hiddenState=(2, 2), cellState=(2, 2)),
    "pad": _alike(lambda rank: ((1,) * rank, (0,) * rank)),
    **dict.fromkeys(
        (
            *("reduceL1", "reduceL2", "reduceLogSum", "reduceLogSumExp", "reduceMax", "reduceMean", "reduceMin", "reduceProduct"),
            *("reduceSum", "reduceSumSquare"),
        ),
        _KEPT,
    ),
    "resample2d": _alike(scales=(2, 2)),
    "reshape": _SIZES,
    "scatterND": _scatter_nd,
    "slice": _alike(lambda rank: ((0,) * rank, (1,) * rank)),
    "softmax": _FIRST_AXIS,
    "split": _alike(lambda rank: (2,)),
    "tile": _SIZES,
}
_DEFAULT = _alike()

#: Where the program chooses the type of the output: the argument that says it.
CHOSEN = {"argMax": "options.outputDataType", "argMin": "options.outputDataType", "cast": "dataType"}


def claims(operation: str, limits: Limits) -> Iterator[Claim]:
    """List what is claimed of an operation: every data type of every operand and output, at its lowest and its highest rank."""
    for operand, row in limits.items():
        for dataType in row["dataTypes"]:
            for rank in sorted(set(row["rankRange"].values())):
                yield Claim(operation, operand, dataType, rank)


def case(claim: Claim, limits: Limits) -> Case:
    """Make the call of a claim. Operands whose type must be that of another one follow it, the others have a type that they claim."""
    rows = _OPERATIONS[claim.operation]
    form = _MAKERS.get(claim.operation, _DEFAULT)(claim.operand, claim.rank, rows)
    leader = rows[claim.operand].same_type_as or claim.operand
    types: dict[str, str] = {}
    for name, row in rows.items():
        own = row.same_type_as or name
        types[name] = claim.dataType if own == leader else limits[own]["dataTypes"][0]
    made = Case(
        claim.operation,
        tuple((name, types[name], form.shapes[name]) for name, row in rows.items() if not row.output),
        form.arguments,
        form.options,
    )
    return made.with_output(types["output"]) if claim.operation in CHOSEN else made


def call(builder: MLGraphBuilder, case: Case, prefix: str = "") -> dict[str, MLOperand]:
    """Call the operation of a case; return its outputs by the names that they have in the limits.

    Args:
        builder: The builder.
        case: The case.
        prefix: The beginning of the names of the graph's inputs, before those of the operands.
    """
    rows = _OPERATIONS[case.operation]
    arguments: list[Any] = []
    options = dict(case.options)
    for name, dataType, shape in case.operands:
        made: Any = builder.input(prefix + name, {"dataType": dataType, "shape": shape})
        if rows[name].option:
            options[name] = made
        else:
            arguments.append([made, made] if rows[name].sequence else made)
    returned = getattr(builder, case.operation)(*arguments, *case.arguments, options)
    names = [name for name, row in rows.items() if row.output]
    if names == ["outputs"]:
        return {f"outputs[{index}]": operand for index, operand in enumerate(returned)}
    return dict(zip(names, returned if isinstance(returned, list) else [returned], strict=True))
