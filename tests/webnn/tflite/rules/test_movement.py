from __future__ import annotations

import numpy as np
import pytest

from tests.webnn.tflite.cases import FAMILIES
from tests.webnn.tflite.makers import c, f, i, ints, one
from tests.webnn.tflite.models import Graph, Op, T, write
from tests.webnn.tflite.support import check, compute, refusals


@pytest.mark.parametrize("name", FAMILIES["movement"])
def test_results(name: str) -> None:
    check(name)


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (one("RESHAPE", [f(2, 3), ints(4)], [f()]), "the new shape must have 6 elements, got [4]"),
        (one("TRANSPOSE", [f(2, 3), ints(0, 0)], [f()]), "the permutation must name each axis once, got [0, 0]"),
        (one("UNPACK", [f(3)], [f(), f()], "UnpackOptions", Num=2), "there must be an output for each of 3 elements, got 2"),
        (one("SPLIT", [ints([0]), f(4)], [f()], "SplitOptions", NumSplits=2), "num_splits must be the number of outputs, 1, got 2"),
        (one("SPLIT_V", [f(4), ints(4), ints([0])], [f()], "SplitVOptions", NumSplits=2), "num_splits must be the number of outputs, 1"),
        (one("SPLIT", [ints([0]), f(3)], [f(), f()], "SplitOptions", NumSplits=2), "must divide the size of axis 0, 3, got 2"),
        (one("SLICE", [f(3), ints([1]), ints([5])], [f()]), "the slice must lie inside of [3], got [1] to [6]"),
        (one("STRIDED_SLICE", [f(3), ints([0]), ints([2]), ints([0])], [f()], "StridedSliceOptions"), "steps must be other than 0"),
        (
            one("STRIDED_SLICE", [f(3), ints([7]), ints([8]), ints([1])], [f()], "StridedSliceOptions", ShrinkAxisMask=1),
            "begin must be an element",
        ),
        (
            one("STRIDED_SLICE", [f(3), ints(0, 0), ints(1, 1), ints(1, 1)], [f()], "StridedSliceOptions"),
            "at most one number for each of 1 dimensions",
        ),
        (one("PAD", [f(3), ints([[-1, 0]])], [f()]), "two numbers of at least 0 for each of 1 dimensions, got [-1, 0]"),
        (one("MIRROR_PAD", [f(3), ints([[4, 0]])], [f()], "MirrorPadOptions", Mode=1), "symmetric padding must be at most the size"),
        (one("DILATE", [f(3), ints([0]), T(np.float32(1))], [f()]), "the distances must be 1 numbers of at least 1, got [0]"),
        (one("DEPTH_TO_SPACE", [f(1, 1, 1, 6)], [f()], "DepthToSpaceOptions", BlockSize=2), "must divide the 6 channels, got 2"),
        (one("SPACE_TO_BATCH_ND", [f(1, 3, 3, 1), ints(2, 2), ints([[0, 0], [0, 0]])], [f()]), "the block must divide the padded input"),
        (one("BATCH_TO_SPACE_ND", [f(3, 1, 1, 1), ints(2, 2), ints([[0, 0], [0, 0]])], [f()]), "the block must divide the batches, 3"),
        (one("MATRIX_SET_DIAG", [f(2, 2), f(3)], [f()]), "the diagonal must fit the matrices of [2, 2], got [3]"),
        (one("MATRIX_SET_DIAG", [], [f()]), "the input 1 must be given"),
        (one("MATRIX_DIAG", [f()], [f()]), "the input must have dimensions"),
        (
            one("REVERSE_SEQUENCE", [f(5000, 5000), i(5000)], [f()], "ReverseSequenceOptions", BatchDim=1),
            "at most 16777216 steps in all sequences",
        ),
    ],
)
def test_refusals(model: bytes, reason: str) -> None:
    assert reason in refusals(model)[0][1]


def test_parts_without_elements() -> None:
    """All of them may be empty: the result is known, and empty, too."""
    tensors = [f(0, 2, name="x"), f(0, 2), f(0, 2), i(2)]
    steps = [
        Op("CONCATENATION", [0, 1], [2], ("ConcatenationOptions", {"Axis": 0})),
        Op("SHAPE", [2], [3], ("ShapeOptions", {"OutType": 2})),
    ]
    assert compute(write(Graph(tensors, steps, [0, 1], [3])), {})["t3"].tolist() == [0, 2]


def test_operators_of_stablehlo() -> None:
    """Few files have them; LiteRT's reference kernels have not."""
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    for model, wanted in (
        (one("STABLEHLO_TRANSPOSE", [f(2, 3)], [f(3, 2)], "StablehloTransposeOptions", Permutation=[1, 0]), x.T),
        (one("STABLEHLO_RESHAPE", [f(2, 3)], [f(6)]), x.reshape(6)),
        (
            one("STABLEHLO_SLICE", [f(2, 3)], [f()], "StablehloSliceOptions", StartIndices=[0, 1], LimitIndices=[2, 3], Strides=[1, 2]),
            x[:, 1:3:2],
        ),
        (
            one("STABLEHLO_CONCATENATE", [f(2, 3), c(2, 3)], [f()], "StablehloConcatenateOptions", Dimension=1),
            np.concatenate([x, c(2, 3).data], 1),
        ),
    ):
        np.testing.assert_array_equal(next(iter(compute(model, {"t0": x}).values())), wanted)
