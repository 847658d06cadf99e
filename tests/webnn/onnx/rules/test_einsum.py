"""Einsum, compared with NumPy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

import webnn.onnx
from tests.webnn.onnx.models import compute, one, operations

SIZES = {"a": 2, "b": 3, "c": 4, "i": 5, "j": 6, "k": 2, "B": 3}
#: Equations; where they have an ellipsis, its dimensions for each operand.
EQUATIONS: dict[str, tuple[list[int], ...]] = {
    "i": ([],),
    "ij->ji": ([],),
    "ij->": ([],),
    "ij->j": ([],),
    "ba": ([],),
    "bB": ([],),
    "ii->i": ([],),
    "ii": ([],),
    "iji->j": ([],),
    "iii->i": ([],),
    "aabb->ba": ([],),
    "...ii->...i": ([2, 3],),
    "...ij->ji...": ([2],),
    "i,j->ij": ([], []),
    "i,j->ji": ([], []),
    "i,i": ([], []),
    "i,i->i": ([], []),
    ",i->i": ([], []),
    "ij,jk->ik": ([], []),
    "ij,kj->ki": ([], []),
    "ij,jk": ([], []),
    "ij,jk->": ([], []),
    "aij,ajk->aik": ([], []),
    "aibj,cib->acj": ([], []),
    "bihc, bjhc -> bhij".replace("h", "a"): ([], []),
    "abij,cij->cab": ([], []),
    "ii,ij->j": ([], []),
    "...ij,...jk->...ik": ([2, 3], [2, 3]),
    "...ij,...jk->...ik ": ([2, 3], [3]),
    "...ij,...jk->i...k": ([2, 1], [1, 3]),
    "...ij,...jk->...ik  ": ([1], [3]),
    " ...ij,...jk->...ik": ([3], [1]),
    " ...ij,...jk->...ik ": ([1, 2], [3, 1]),
    "...i,...i->...": ([2], []),
    "...i,...i->... ": ([1], [4]),
    "...i,...j->...ij": ([4, 1], [1, 2]),
    "...i,...i,...i": ([1], [4], [1]),
    "...,...i": ([2, 3], [3]),
    "ij,jk,kc->ic": ([], [], []),
    "i,j,k->kji": ([], [], []),
    "ai,bi,ci->abc": ([], [], []),
}


@pytest.mark.parametrize("dtype", ["float32", "int32"])
@pytest.mark.parametrize("equation", EQUATIONS)
def test_equations(equation: str, dtype: str) -> None:
    random = np.random.default_rng(0)
    arrays = {}
    for index, (text, dots) in enumerate(zip(equation.replace(" ", "").split("->")[0].split(","), EQUATIONS[equation], strict=True)):
        head, _, tail = text.partition("...")
        shape = [*(SIZES[each] for each in head), *dots, *(SIZES[each] for each in tail)]
        arrays["xyz"[index]] = np.asarray(random.integers(-9, 9, shape), dtype)
    actual = compute(one("Einsum", arrays, 12, outputs=["out"], equation=equation), arrays)["out"]
    wanted = np.einsum(equation, *arrays.values())
    assert actual.shape == wanted.shape
    assert actual.tolist() == wanted.tolist()


@pytest.mark.parametrize(
    ("equation", "wanted"),
    [
        ("bij,bjk->bik", ["matmul"]),
        ("bij,bkj->bik", ["transpose", "matmul"]),
        ("ij,kj->ki", ["transpose", "matmul"]),
        ("i,j->ij", ["reshape", "reshape", "mul"]),
        ("ij,ij->ij", ["mul"]),
        ("ii->i", ["reshape", "slice"]),
    ],
)
def test_graphs_are_small(equation: str, wanted: list[str]) -> None:
    arrays = {
        name: np.zeros([2] * len(text), np.float32)
        for name, text in zip("xy", equation.split("->", maxsplit=1)[0].split(","), strict=False)
    }
    assert operations(one("Einsum", arrays, 12, outputs=["out"], equation=equation)) == wanted


@pytest.mark.parametrize(
    ("equation", "reason"),
    [
        ("ij->i", "must have 2 terms, got 1"),
        ("ijk,jk->i", "the term 'ijk' of the equation must have 2 dimensions, got 3"),
        ("ij,jk->im", "the result of the equation 'ij,jk->im' must name each dimension once"),
        ("ij,jk->ii", "must name each dimension once"),
        ("i...,j...->i", "and the ellipsis"),
        ("i1,jk->i", "must have letters and ellipses only"),
        ("i......,jk->i", "must have letters and ellipses only"),
        ("ijk...,jk->i", "must be 0 to 10 dimensions, got -1"),
        ("ij,ij->ij", "the dimension i must have one size in all terms, got 2 and 3"),
        ("ii,ij->ij", "the dimension i must have one size in all terms, got 2 and 3"),
    ],
)
def test_refusals(equation: str, reason: str) -> None:
    refuse(equation, [(2, 3), (3, 3)], reason)


@pytest.mark.parametrize(
    ("equation", "sizes", "reason"),
    [
        ("i,i->i", [1, 3], "the dimension i must have one size in all terms, got 1 and 3"),
        ("...,...->...", [2, 3], "must have one size in all terms, got 2 and 3"),
        ("...,...,...->...", [4, 1, 3], "must have one size in all terms, got 4 and 3"),
    ],
)
def test_only_an_ellipsis_broadcasts(equation: str, sizes: list[int], reason: str) -> None:
    refuse(equation, [(size,) for size in sizes], reason)


def refuse(equation: str, shapes: Sequence[tuple[int, ...]], reason: str) -> None:
    arrays = {f"x{index}": np.zeros(shape, np.float32) for index, shape in enumerate(shapes)}
    with pytest.raises(webnn.onnx.RefusedModelError, match=reason):
        webnn.onnx.load(one("Einsum", arrays, 12, outputs=["out"], equation=equation))
