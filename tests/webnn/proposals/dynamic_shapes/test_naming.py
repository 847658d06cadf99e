"""The names of an import: what its builder makes of sizes with names, what is refused, and what a graph checks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import webnn
from webnn.importing.driver import find_naming
from webnn.importing.values import Refused
from webnn.proposals.dynamic_shapes.naming import Names
from webnn.validation.drafts import find_revision

DRAFT = "2026-06+dynamic-shapes"


def _start(*shapes: tuple[Any, ...]) -> tuple[Names, list[Any]]:
    """Return the names of an import, and inputs of float32."""
    names = Names(find_revision(DRAFT), {"n": "dims['rows']", "m": "dims['columns']"})
    inputs = [
        names.builder.input(f"x{index}", dataType="float32", shape=[names.add(size) if isinstance(size, str) else size for size in shape])
        for index, shape in enumerate(shapes)
    ]
    for each in inputs:
        names.place(each)
    return names, inputs


def _build(names: Names, outputs: dict[str, Any]) -> webnn.MLGraph:
    """Build a graph in a context of the draft."""
    context = webnn.ML(revision=DRAFT).createContextSync()
    builder = webnn.MLGraphBuilder(context)
    description = webnn.describe(names.finish(outputs))
    return builder.buildSync(description.build(builder))


#: Calls with named sizes, as functions of the builder, an input [n, 2] and n; and what they compute, in NumPy.
CALLS: dict[str, tuple[Callable[[Any, Any, Any], Any], Callable[[Any, int], Any]]] = {
    "reshape": (lambda b, x, n: b.reshape(x, [2, n]), lambda x, n: x.reshape(2, n)),
    "expand": (lambda b, x, n: b.expand(x, [3, n, 2]), lambda x, n: np.broadcast_to(x, (3, n, 2))),
    "slice": (lambda b, x, n: b.slice(x, [n - 1, 0], [1, 2]), lambda x, n: x[n - 1 :]),
    "strides": (lambda b, x, n: b.slice(x, [0, 0], [n, 2], strides=[1, 2]), lambda x, n: x[:, ::2]),
    "pad": (lambda b, x, n: b.pad(x, [n, 0], [0, 0]), lambda x, n: np.pad(x, ((n, 0), (0, 0)))),
    "split": (lambda b, x, n: b.split(b.concat([x, x], 0), [n, n], axis=0)[1], lambda x, n: x),
    "tile": (lambda b, x, n: b.tile(x, [1, n]), lambda x, n: np.tile(x, (1, n))),
    "quotient": (lambda b, x, n: b.reshape(x, [n * 2 // 2, 2]), lambda x, n: x),
    "rounded": (lambda b, x, n: b.expand(b.reshape(x, [1, n, 2]), [n // 3 + 1, n, 2]), lambda x, n: np.stack([x] * (n // 3 + 1))),
}


@pytest.mark.parametrize("name", CALLS)
def test_calls_take_sizes(name: str) -> None:
    call, expected = CALLS[name]
    names, [x] = _start(("n", 2))
    made = call(names.builder, x, names.add("n"))
    graph = _build(names, {"y": names.builder.relu(made)})
    for rows in (1, 2, 7):
        array = np.arange(rows * 2, dtype=np.float32).reshape(rows, 2)
        np.testing.assert_array_equal(graph.run(x0=array)["y"], expected(array, rows))


def test_sizes_are_data() -> None:
    names, [x, _] = _start(("n", 2), ("m",))
    n, m = names.add("n"), names.add("m")
    numbers = names.emit(np.array([n * m - 1, 5, n - m], object), "float32")
    counted = names.builder.cast(names.count(m, m + n, 1, "int64"), "float32")
    graph = _build(names, {"numbers": numbers, "counted": counted, "y": names.builder.relu(x)})
    found = graph.run(x0=np.ones((4, 2), np.float32), x1=np.ones(3, np.float32))
    np.testing.assert_array_equal(found["numbers"], [11, 5, 1])
    np.testing.assert_array_equal(found["counted"], [3, 4, 5, 6])


#: Calls that need the number of a size.
NUMBERS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "index": lambda b, x, n: list(range(n)),
    "array": lambda b, x, n: np.zeros(n),
    "integers": lambda b, x, n: np.array([n], np.int64),
    "diagonal": lambda b, x, n: b.triangular(x, diagonal=n),
    "padding": lambda b, x, n: b.pad(x, [n, 0], [0, 0], mode="edge"),
    "parts": lambda b, x, n: b.split(x, n, axis=0),
    "bound": lambda b, x, n: n < 1000,
}


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_are_refused(name: str) -> None:
    names, [x] = _start(("n", 2))
    with pytest.raises(Refused) as error:
        NUMBERS[name](names.builder, x, names.add("n"))
    assert "'n' must be fixed" in error.value.reason
    assert "dims['rows']" in error.value.advice


#: Questions, sizes for which their answers are those of the import, others, and the condition that an error says.
FACTS: list[tuple[Callable[[Any, Any], Any], tuple[int, int], tuple[int, int], str]] = [
    (lambda n, m: n == 1, (2, 1), (1, 1), "n is not 1"),
    (lambda n, m: n >= 4, (4, 1), (3, 1), "n is at least 4"),
    (lambda n, m: n > 2, (3, 1), (2, 1), "n is at least 3"),
    (lambda n, m: n == m, (2, 3), (3, 3), "n is not m"),
    (lambda n, m: n // 2 == m, (2, 3), (6, 3), "(n // 2) is not m"),
]


@pytest.mark.parametrize("number", range(len(FACTS)))
def test_a_graph_checks_what_was_assumed(number: int) -> None:
    ask, right, wrong, condition = FACTS[number]
    names, [x, z] = _start(("n", 2), ("m",))
    ask(names.add("n"), names.add("m"))
    graph: Any = _build(names, {"y": names.builder.relu(x), "z": names.builder.neg(z)})
    n, m = right
    assert graph.computeShapes({"x0": [n, 2], "x1": [m]}) == {"y": [n, 2], "z": [m]}
    assert graph.run(x0=np.ones((n, 2), np.float32), x1=np.ones(m, np.float32))["y"].shape == (n, 2)
    n, m = wrong
    with pytest.raises(webnn.WebNNTypeError) as error:
        graph.computeShapes({"x0": [n, 2], "x1": [m]})
    assert f"the import has assumed that {condition}" in str(error.value)
    assert error.value.operation == "reshapeDynamic"


def test_what_is_decided_is_not_checked() -> None:
    names, [x] = _start(("n", 2))
    n = names.add("n")
    assert n * 3 // n == 3
    assert (n + 1) * n % n == 0
    assert n > 0
    assert n + 1 != 1
    assert n != 0
    assert [each.operation for each in webnn.describe(names.finish({"y": names.builder.relu(x)})).operators] == ["relu"]


def test_a_sum_of_names_is_a_size() -> None:
    names, _ = _start(("n", 2), ("m",), ("m + n",), ("k + n",))
    assert names.meaning(names.add("m + n")) == names.add("n") + names.add("m")
    # Nothing is k.
    assert names.meaning(names.add("k + n")) is names.add("k + n")


def test_the_draft_with_names_is_found() -> None:
    assert find_naming() == DRAFT
