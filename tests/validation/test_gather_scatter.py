"""gather: inferred shapes, and every step that can fail."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support import Shape, infer

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
    (Shape("float16", []), Shape("int64", [1]), {}, "options.axis", "must be less than the rank of input, 0, got 0"),
    (Shape("float16", [1, 2, 3]), Shape("int32", [5, 6]), {"axis": 4}, "options.axis", "must be less than the rank of input, 3, got 4"),
    (Shape("float16", [1, 2, 3]), Shape("int32", [5, 6]), {"axis": 3}, "options.axis", "must be less than the rank of input"),
    (Shape("float16", [1, 2, 3, 4]), Shape("float32", [5, 6]), {}, "indices", "must have a data type of"),
    (Shape("float16", [1, 2, 3, 4]), Shape("uint64", [5, 6]), {}, "indices", "must have a data type of"),
    (Shape("float16", [1, 2, 3, 4]), Shape("int32", [1] * 6), {}, "output", "must have at most 8 dimensions"),
    (Shape("float16", [1, 2**20]), Shape("int32", [2**20]), {}, "output", "must have at most"),
    (Shape("float16", [1, 2]), Shape("int32", [2]), {"axis": -1}, "options.axis", "must be from 0"),
]


@pytest.mark.parametrize(("input", "indices", "options", "shape"), VALID)
def test_valid(input: Shape, indices: Shape, options: dict[str, Any], shape: list[int]) -> None:
    assert infer("gather", input, indices, **options) == [(input.dataType, shape)]


@pytest.mark.parametrize(("input", "indices", "options", "argument", "message"), INVALID)
def test_invalid(input: Shape, indices: Shape, options: dict[str, Any], argument: str, message: str) -> None:
    with pytest.raises(TypeError, match=message) as caught:
        infer("gather", input, indices, **options)
    assert (caught.value.operation, caught.value.argument) == ("gather", argument)  # type: ignore[attr-defined]
