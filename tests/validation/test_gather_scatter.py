"""gather, gatherElements, gatherND, scatterElements, scatterND: inferred shapes, and every step that can fail."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support import CURRENT, Shape, each_row, infer, make_context, refused
from webnn import MLGraphBuilder
from webnn.validation.descriptor import DATA_TYPES

REVISIONS = ("2024-06", CURRENT)
INDEX_TYPES = ("int32", "uint32", "int64")

VALID: list[tuple[Shape, Shape, dict[str, Any], list[int]]] = [
    (Shape("int32", [3]), Shape("int64", []), {}, []),
    (Shape("float32", [1, 2, 3, 4]), Shape("int64", [5, 6]), {"axis": 2}, [1, 2, 5, 6, 4]),
    (Shape("float32", [1, 2, 3, 4]), Shape("uint32", [5, 6]), {"axis": 2}, [1, 2, 5, 6, 4]),
    (Shape("float32", [1, 2, 3, 4]), Shape("int32", [5, 6]), {"axis": 2}, [1, 2, 5, 6, 4]),
    (Shape("uint64", [1, 2, 3, 4]), Shape("int32", [5]), {}, [5, 2, 3, 4]),
    (Shape("int8", [1, 2, 3]), Shape("int32", []), {"axis": 2}, [1, 2]),
    (Shape("float16", [2] * 8), Shape("int32", [3]), {"axis": 7}, [2, 2, 2, 2, 2, 2, 2, 3]),
    (Shape("float16", [2]), Shape("int32", [1] * 8), {}, [1] * 8),
]

INVALID: list[tuple[Shape, Shape, dict[str, Any], str, str]] = [
    (Shape("float16", [1, 2, 3]), Shape("int32", [5, 6]), {"axis": 4}, "options.axis", "axis"),
    (Shape("float16", [1, 2, 3]), Shape("int32", [5, 6]), {"axis": 3}, "options.axis", "axis"),
    (Shape("float16", [1, 2, 3, 4]), Shape("float32", [5, 6]), {}, "indices", "type"),
    (Shape("float16", [1, 2, 3, 4]), Shape("uint64", [5, 6]), {}, "indices", "type"),
    (Shape("float16", [1, 2, 3, 4]), Shape("int32", [1] * 6), {}, "output", "limit"),
    (Shape("float16", [1, 2**20]), Shape("int32", [2**20]), {}, "output", "limit"),
    (Shape("float16", [1, 2]), Shape("int32", [2]), {"axis": -1}, "options.axis", "conversion"),
]


@each_row("revision", REVISIONS)
@each_row(("input", "indices", "options", "shape"), VALID)
def test_valid(input: Shape, indices: Shape, options: dict[str, Any], shape: list[int], revision: str) -> None:
    assert infer("gather", input, indices, revision=revision, **options) == [(input.dataType, shape)]


@each_row("revision", REVISIONS)
@each_row(("input", "indices", "options", "argument", "rule"), INVALID)
def test_invalid(input: Shape, indices: Shape, options: dict[str, Any], argument: str, rule: str, revision: str) -> None:
    with refused(rule=rule, operation="gather", argument=argument):
        infer("gather", input, indices, revision=revision, **options)


@pytest.mark.parametrize(("revision", "rule"), [("2024-06", "axis"), (CURRENT, "rank")])
def test_a_scalar_has_no_axis(revision: str, rule: str) -> None:
    with refused(rule=rule, operation="gather"):
        infer("gather", Shape("float16", []), Shape("int64", [1]), revision=revision)


# The operations of the current draft alone.

#: Operation, shapes of input and indices, options, shape of what is picked or replaced.
PLACES: list[tuple[str, list[int], list[int], dict[str, Any], list[int]]] = [
    ("Elements", [1, 2, 3], [2, 2, 3], {}, [2, 2, 3]),
    ("Elements", [1, 2, 3, 4], [1, 2, 1, 4], {"axis": 2}, [1, 2, 1, 4]),
    ("Elements", [3, 3], [2, 3], {}, [2, 3]),
    ("Elements", [3, 3], [2, 3], {"axis": 0}, [2, 3]),
    ("Elements", [3, 3], [3, 2], {"axis": 1}, [3, 2]),
    ("Elements", [1], [7], {}, [7]),
    ("Elements", [2] * 8, [2] * 7 + [5], {"axis": 7}, [2] * 7 + [5]),
    ("ND", [2, 2, 3, 3, 4], [5, 4, 3], {}, [5, 4, 3, 4]),
    ("ND", [4, 4, 4], [2, 1], {}, [2, 4, 4]),
    ("ND", [8], [1], {}, []),
    ("ND", [2, 3], [2], {}, []),
    ("ND", [2, 3], [4, 5, 2], {}, [4, 5]),
    ("ND", [2] * 8, [3, 1], {}, [3] + [2] * 7),
    ("ND", [2] * 8, [8], {}, []),
    ("ND", [2] * 8, [1] * 7 + [8], {}, [1] * 7),
]


@each_row("index_type", INDEX_TYPES)
@pytest.mark.parametrize("dtype", DATA_TYPES)
@each_row(("kind", "input", "indices", "options", "places"), PLACES)
def test_gathered_and_scattered(
    kind: str, input: list[int], indices: list[int], options: dict[str, Any], places: list[int], dtype: str, index_type: str
) -> None:
    operands = Shape(dtype, input), Shape(index_type, indices)
    assert infer("gather" + kind, *operands, revision=CURRENT, **options) == [(dtype, places)]
    assert infer("scatter" + kind, *operands, Shape(dtype, places), revision=CURRENT, **options) == [(dtype, input)]


#: Operations, operands, options, argument at fault, message.
REFUSED: list[tuple[str, list[Shape], dict[str, Any], str, str]] = [
    ("gatherElements", [Shape("float32", [1, 2]), Shape("float32", [1, 2])], {}, "indices", "type"),
    ("gatherElements", [Shape("float32", [1, 2]), Shape("uint64", [1, 2])], {}, "indices", "type"),
    ("gatherElements", [Shape("float32", []), Shape("int32", [])], {}, "input", "rank"),
    ("gatherElements", [Shape("float32", [1, 2, 3]), Shape("int32", [1, 2])], {}, "indices", "rank"),
    ("gatherElements", [Shape("float32", [1, 2]), Shape("int32", [1, 2, 1])], {}, "indices", "rank"),
    ("gatherElements", [Shape("float32", [1, 2]), Shape("int32", [1, 2])], {"axis": 2}, "options.axis", "axis"),
    ("gatherElements", [Shape("float32", [1, 2]), Shape("int32", [1, 2])], {"axis": -1}, "options.axis", "conversion"),
    ("gatherElements", [Shape("float32", [1, 2, 3, 4]), Shape("int32", [3, 2, 3, 4])], {"axis": 3}, "indices", "shape"),
    ("gatherElements", [Shape("float32", [3, 4]), Shape("int32", [3, 2])], {}, "indices", "shape"),
    ("gatherElements", [Shape("uint64", [1]), Shape("int32", [2**28])], {}, "output", "limit"),
    ("gatherND", [Shape("float32", [1, 2]), Shape("float32", [1, 1])], {}, "indices", "type"),
    ("gatherND", [Shape("float32", []), Shape("int32", [1, 1])], {}, "input", "rank"),
    ("gatherND", [Shape("float32", [1, 1]), Shape("int32", [])], {}, "indices", "rank"),
    ("gatherND", [Shape("float32", [1, 2, 3]), Shape("int32", [1, 1, 4])], {}, "indices", "rank"),
    ("gatherND", [Shape("float32", [1] * 8), Shape("int32", [1, 1, 1])], {}, "output", "limit"),
    ("gatherND", [Shape("float32", [1, 36]), Shape("int32", [2**24, 1])], {}, "output", "limit"),
    ("scatterElements", [Shape("int8", []), Shape("int32", []), Shape("int8", [])], {}, "input", "rank"),
    ("scatterElements", [Shape("int8", [3, 3]), Shape("int32", [2, 3, 3]), Shape("int8", [2, 3])], {}, "indices", "rank"),
    ("scatterElements", [Shape("int8", [3, 3]), Shape("int32", [2, 4]), Shape("int8", [2, 4])], {}, "indices", "shape"),
    ("scatterElements", [Shape("int8", [3, 3]), Shape("int32", [2, 2]), Shape("int8", [2, 2])], {"axis": 1}, "indices", "shape"),
    ("scatterElements", [Shape("int8", [3, 3]), Shape("int32", [2, 3]), Shape("int8", [2, 3])], {"axis": 2}, "options.axis", "axis"),
    ("scatterND", [Shape("int8", [4, 4, 4]), Shape("int32", [2, 4]), Shape("int8", [2])], {}, "indices", "rank"),
]


@each_row(("name", "operands", "options", "argument", "rule"), REFUSED)
def test_refused(name: str, operands: list[Shape], options: dict[str, Any], argument: str, rule: str) -> None:
    with refused(rule=rule, operation=name, label="a_label", argument=argument):
        infer(name, *operands, revision=CURRENT, label="a_label", **options)


#: Replacements of a valid input, indices or updates of both ways to scatter, and the rule.
SCATTER_REFUSED: list[tuple[str, Shape, str]] = [
    ("indices", Shape("int8", [2, 1]), "type"),
    ("updates", Shape("float16", [2, 3]), "type"),
    ("input", Shape("float32", []), "rank"),
    ("indices", Shape("int32", []), "rank"),
    ("updates", Shape("float32", [2, 4]), "shape"),
    # scatterElements checks the rank first.
    ("updates", Shape("float32", [2]), ""),
]


@pytest.mark.parametrize(("argument", "operand", "rule"), SCATTER_REFUSED)
@pytest.mark.parametrize(("name", "indices"), [("scatterElements", [2, 3]), ("scatterND", [2, 1])])
def test_refused_by_both_ways_to_scatter(name: str, indices: list[int], argument: str, operand: Shape, rule: str) -> None:
    operands = {"input": Shape("float32", [4, 3]), "indices": Shape("int32", indices), "updates": Shape("float32", [2, 3])}
    assert infer(name, *operands.values(), revision=CURRENT) == [("float32", [4, 3])]
    with refused(rule=rule or ("rank" if name == "scatterElements" else "shape"), operation=name, argument=argument):
        infer(name, *(operands | {argument: operand}).values(), revision=CURRENT)


def test_the_draft_of_june_2024_has_gather_alone() -> None:
    builder = MLGraphBuilder(make_context())
    x = builder.input("x", {"dataType": "float32", "dimensions": [3]})
    i = builder.input("i", {"dataType": "int32", "dimensions": [3]})
    builder.gather(x, i)
    for name in ("gatherElements", "gatherND", "scatterElements", "scatterND"):
        with refused(rule="draft", operation=name):
            getattr(builder, name)


@pytest.mark.parametrize("name", ["gatherElements", "gatherND", "scatterElements", "scatterND"])
def test_operands_of_another_builder(name: str) -> None:
    context = make_context(CURRENT)
    builder, other = MLGraphBuilder(context), MLGraphBuilder(context)
    names = ["input", "indices", "updates"][: 3 if name.startswith("scatter") else 2]
    for stranger in names:
        operands = [
            (other if each == stranger else builder).input(
                f"{stranger} {each}", {"dataType": "int32" if each == "indices" else "float32", "shape": [1, 1]}
            )
            for each in names
        ]
        with refused(rule="owner", operation=name, argument=stranger):
            getattr(builder, name)(*operands)
