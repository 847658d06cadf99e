"""Regions on scalars are applied to whole tensors, unless that would mix elements."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import webnn.stablehlo
from tests.webnn.stablehlo.programs import Array, compute, program, refusal
from webnn.hlo import Function, Module, RegionBuilder, Value
from webnn.hlo.attributes import DotDimensionNumbers, Symbol
from webnn.hlo.ir import Region
from webnn.hlo.types import TensorType

SCALAR, VECTOR, PRED = TensorType(shape=(), element="f32"), TensorType(shape=(3,), element="f32"), TensorType(shape=(), element="i1")
X = np.array([1, 2, 3], np.float32)
#: As many elements as there are in what the regions are applied to.
TABLE = np.array([0, 2, 9], np.float32)

Program = Callable[[RegionBuilder, Value], Value]


def one(body: RegionBuilder, name: str, operands: list[Value], type: TensorType, **attributes: object) -> Value:
    return body.append(f"stablehlo.{name}", operands, [type], attributes)[0]  # type: ignore[arg-type]


def table(body: RegionBuilder) -> Value:
    return one(body, "constant", [], VECTOR, value=TABLE)


def total(body: RegionBuilder, vector: Value, initial: Value | None = None) -> Value:
    add = RegionBuilder([SCALAR, SCALAR])
    add.append("stablehlo.return", add.append("stablehlo.add", add.arguments, [SCALAR]))
    zero = one(body, "constant", [], SCALAR, value=np.array(0, np.float32)) if initial is None else initial
    return body.append("stablehlo.reduce", [vector, zero], [SCALAR], {"dimensions": (0,)}, [add.build()])[0]


def branches(body: RegionBuilder, x: Value) -> Value:
    """The branch that depends on an element is chosen for each element."""
    regions = []
    for name in ("negate", "abs"):
        inner = RegionBuilder()
        inner.append("stablehlo.return", [one(inner, name, [x], SCALAR)])
        regions.append(inner.build())
    condition = one(body, "compare", [x, total(body, table(body))], PRED, comparison_direction="LT")
    return body.append("stablehlo.if", [condition], [SCALAR], {}, regions)[0]


def wide_branches(body: RegionBuilder, x: Value) -> Value:
    regions = []
    for turned in (False, True):
        inner = RegionBuilder()
        found = total(inner, one(inner, "negate", [table(inner)], VECTOR) if turned else table(inner), x)
        inner.append("stablehlo.return", [found])
        regions.append(inner.build())
    return body.append(
        "stablehlo.case",
        [one(body, "constant", [], TensorType(shape=(), element="i32"), value=np.array(0, np.int32))],
        [SCALAR],
        {},
        regions,
    )[0]


#: Regions that would mix elements, and the operation that is refused.
MIXED: list[tuple[str, Program]] = [
    ("clamp", lambda b, x: total(b, one(b, "clamp", [x, table(b), x], VECTOR))),
    ("select", lambda b, x: total(b, one(b, "select", [one(b, "is_finite", [x], PRED), table(b), table(b)], VECTOR))),
    ("broadcast_in_dim", lambda b, x: total(b, one(b, "broadcast_in_dim", [x], VECTOR, broadcast_dimensions=()))),
    ("reduce", lambda b, x: total(b, table(b), x)),
    ("dot_general", lambda b, x: one(b, "dot_general", [x, x], SCALAR, dot_dimension_numbers=DotDimensionNumbers())),
    ("reshape", lambda b, x: one(b, "reshape", [x], SCALAR)),
    ("reduce", wide_branches),
]


def region(make: Program) -> Region:
    body = RegionBuilder([SCALAR])
    body.append("stablehlo.return", [make(body, body.arguments[0])])
    return body.build()


@pytest.mark.parametrize(("name", "make"), MIXED, ids=[f"{index} {name}" for index, (name, _) in enumerate(MIXED)])
@pytest.mark.parametrize("known", [(), (0,)], ids=["input", "known"])
def test_elements_that_would_be_mixed(name: str, make: Program, known: tuple[int, ...]) -> None:
    found = refusal("map", [X], [VECTOR], {"dimensions": (0,)}, [region(make)], known)
    assert f"applied to tensors must compute each element by itself, got stablehlo.{name} of tensor<" in found


@pytest.mark.parametrize("known", [(), (0,)], ids=["input", "known"])
def test_what_does_not_depend_on_elements(known: tuple[int, ...]) -> None:
    module = program("map", [X], [VECTOR], {"dimensions": (0,)}, [region(lambda b, x: one(b, "add", [x, total(b, table(b))], SCALAR))])
    assert compute(module, [X], known)[0].tolist() == [12, 13, 14]


@pytest.mark.parametrize("known", [(), (0,)], ids=["input", "known"])
def test_branches_of_elements(known: tuple[int, ...]) -> None:
    x = np.array([1, -2, 30], np.float32)
    module = program("map", [x], [VECTOR], {"dimensions": (0,)}, [region(branches)])
    assert compute(module, [x], known)[0].tolist() == [-1, 2, 30]


def loop(body: RegionBuilder, x: Value) -> Value:
    """Each element would have iterations of its own."""
    condition, step = RegionBuilder([SCALAR]), RegionBuilder([SCALAR])
    limit = one(condition, "constant", [], SCALAR, value=np.array(9, np.float32))
    condition.append("stablehlo.return", [one(condition, "compare", [condition.arguments[0], limit], PRED, comparison_direction="LT")])
    step.append("stablehlo.return", [one(step, "add", [step.arguments[0], step.arguments[0]], SCALAR)])
    return body.append("stablehlo.while", [x], [SCALAR], {}, [condition.build(), step.build()])[0]


def test_loops_of_elements() -> None:
    found = refusal("map", [X], [VECTOR], {"dimensions": (0,)}, [region(loop)], [0])
    assert found == "the condition of a loop must be a scalar, got [3]"


@pytest.mark.parametrize("name", ["if", "case"])
def test_what_chooses_a_branch_is_a_scalar(name: str) -> None:
    predicate: Array = np.zeros(3, np.bool_ if name == "if" else np.int32)
    regions = []
    for _ in range(2):
        branch = RegionBuilder()
        branch.append("stablehlo.return", [table(branch)])
        regions.append(branch.build())
    for known in ([], [0]):
        found = refusal(name, [predicate], [VECTOR], {}, regions, known)
        assert found.startswith("what chooses a branch must be a scalar, got tensor<3xi")


def test_functions_are_looked_into() -> None:
    inner = RegionBuilder([SCALAR])
    inner.append("func.return", [total(inner, one(inner, "clamp", [inner.arguments[0], table(inner), inner.arguments[0]], VECTOR))])
    main = RegionBuilder([VECTOR])
    body = RegionBuilder([SCALAR])
    body.append("stablehlo.return", body.append("func.call", body.arguments, [SCALAR], {"callee": Symbol("f")}))
    main.append("func.return", main.append("stablehlo.map", main.arguments, [VECTOR], {"dimensions": (0,)}, [body.build()]))
    module = Module(functions=(Function(name="main", body=main.build()), Function(name="f", body=inner.build(), public=False)))
    (found,) = webnn.stablehlo.survey(module, webnn.stablehlo.Settings())[1].refusals
    assert "must compute each element by itself, got stablehlo.clamp" in found.reason


def test_one_element_is_a_scalar() -> None:
    """A scalar argument that gets a scalar may do anything."""
    make = dict(MIXED)["clamp"]
    module = program("map", [X[0]], [SCALAR], {"dimensions": ()}, [region(make)])
    assert compute(module, [X[0]])[0] == 3
