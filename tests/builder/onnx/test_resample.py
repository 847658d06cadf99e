"""The values of resample2d, against the NumPy reference, and the choice of its lowering."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support import Array, Case, check_cases, each_row, run
from webnn import ML, MLGraphBuilder
from webnn.builder.onnx.translate import translate
from webnn.reference.operations import REFERENCE

RNG = np.random.default_rng(0)


def f32(*shape: int) -> Any:
    return RNG.uniform(-1, 1, shape).astype(np.float32)


#: Input and options of a case, run in both modes; and whether the engine's own Resize is right for nearest neighbours and linear.
CASES: list[tuple[tuple[int, ...], dict[str, Any], bool, bool]] = [
    ((2, 3, 4, 5), {}, True, True),
    ((1, 2, 3, 4), {"scales": [2, 3]}, True, True),
    ((1, 2, 8, 6), {"scales": [0.5, 0.25]}, True, True),
    ((1, 2, 3, 4), {"scales": [1, 2]}, True, True),
    ((1, 2, 7, 5), {"sizes": [3, 9]}, True, True),
    ((1, 1, 4, 4), {"sizes": [1, 1]}, True, True),
    ((1, 1, 1, 1), {"sizes": [3, 2]}, True, True),
    ((2, 3, 4, 5), {"sizes": [4, 5]}, True, True),
    ((1, 1, 2, 2), {"scales": [9, 9], "sizes": [3, 3]}, True, True),
    *(((2, 3, 4, 3), {"axes": axes, "sizes": [5, 7]}, True, axes != [0, 1]) for axes in ([0, 1], [1, 2], [2, 3])),
    *(((2, 4, 2, 4), {"axes": axes, "scales": [2, 0.5]}, True, axes != [0, 1]) for axes in ([0, 1], [1, 2], [2, 3])),
    *(((2, 2, 2, 2), {"axes": axes, "scales": [1, 2]}, True, axes != [0, 1]) for axes in ([0, 1], [1, 2], [2, 3])),
    *(((2, 2, 2, 2), {"axes": axes, "scales": [2, 1]}, True, axes != [0, 1]) for axes in ([0, 1], [1, 2], [2, 3])),
    # Twice as many elements, in both forms, and almost.
    *(((1, 33, 47, 29), {"axes": axes, "scales": [2, 2]}, True, axes != [0, 1]) for axes in ([0, 1], [1, 2], [2, 3])),
    ((1, 2, 33, 47), {"sizes": [66, 94]}, True, True),
    ((1, 2, 33, 47), {"sizes": [66, 95]}, True, True),
    # The given scale maps the positions, not the quotient of the sizes.
    ((1, 1, 3, 3), {"scales": [1.5, 1.25]}, True, True),
    # The engine's float32 product would round up to another size.
    *(((10, 10, 10, 10), {"axes": axes, "scales": [0.7, 0.7]}, False, False) for axes in ([0, 1], [1, 2], [2, 3])),
    # The sizes stay, yet the positions move.
    ((1, 1, 3, 3), {"scales": [1.2, 1.3]}, False, False),
    ((1, 1, 3, 3), {"scales": [1, 1.3]}, False, False),
    # An exact middle between two elements, where float32 arithmetic may end on either side.
    ((1, 1, 1, 190), {"sizes": [1, 49]}, False, True),
    ((1, 1, 32, 1), {"scales": [2.1, 1]}, False, True),
]


def lowering(shape: tuple[int, ...], options: dict[str, Any]) -> set[str]:
    builder = MLGraphBuilder(ML(revision="2024-06").createContextSync())
    y = builder.resample2d(builder.input("x", {"dataType": "float32", "dimensions": shape}), options)  # type: ignore[arg-type]
    return {node.op_type for node in translate(builder._collect({"y": y})).proto.graph.node}


@pytest.mark.parametrize(
    ("options", "fast"),
    [({"sizes": [6, 8]}, True), ({"scales": [2, 2]}, True), ({"sizes": [6, 9]}, False), ({"scales": [2, 2], "mode": "linear"}, False)],
)
def test_elements_are_doubled_by_the_fast_kernel(options: dict[str, Any], fast: bool) -> None:
    builder = MLGraphBuilder(ML(revision="2024-06").createContextSync())
    y = builder.resample2d(builder.input("x", {"dataType": "float32", "dimensions": [1, 2, 3, 4]}), options)  # type: ignore[arg-type]
    [node] = translate(builder._collect({"y": y})).proto.graph.node
    attributes = {each.name: each.s for each in node.attribute}
    assert (attributes.get("coordinate_transformation_mode") == b"asymmetric") == fast


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("mode", ["nearest-neighbor", "linear"])
def test_values(mode: str, dtype: Any) -> None:
    def compare(case: Case, actual: Array, expected: Array) -> None:
        assert actual.dtype == expected.dtype
        assert actual.shape == expected.shape
        if mode == "nearest-neighbor":
            np.testing.assert_array_equal(actual, expected)
        else:
            # The engine's positions are float32: their error grows with the size.
            largest = max(case.arguments[0].shape)
            rtol, atol = (1e-5, 1e-6 + largest * 2.0**-22) if dtype is np.float32 else (1e-3, 1e-4)
            np.testing.assert_allclose(actual, expected, rtol=rtol, atol=atol)

    check_cases([Case("resample2d", f32(*shape).astype(dtype), mode=mode, **options) for shape, options, _, _ in CASES], compare)


@each_row(("shape", "options", "nearest", "linear"), CASES)
def test_lowering(shape: tuple[int, ...], options: dict[str, Any], *, nearest: bool, linear: bool) -> None:
    assert ("Resize" in lowering(shape, options)) == nearest
    assert ("Resize" in lowering(shape, {"mode": "linear", **options})) == linear


def test_nearest_copies_special_values() -> None:
    x = np.array([1, np.inf, np.nan, -np.inf, -0.0, 2], np.float32).reshape(1, 1, 2, 3)
    [actual] = run("resample2d", x, scales=[2, 2])
    np.testing.assert_array_equal(actual.view(np.uint32), x.repeat(2, axis=2).repeat(2, axis=3).view(np.uint32))


def test_every_pair_of_small_sizes() -> None:
    """Each pair in one graph of a builder: the engine and the tables choose the same nearest elements."""
    context = ML(revision="2024-06").createContextSync()
    for size in range(1, 24):
        builder = MLGraphBuilder(context)
        x = builder.input("x", {"dataType": "float32", "dimensions": [1, 1, 1, size]})
        value = np.arange(size, dtype=np.float32).reshape(1, 1, 1, size)
        results = {str(count): builder.resample2d(x, sizes=[1, count]) for count in range(1, 30)}
        outputs = {name: np.zeros(result.shape(), np.float32) for name, result in results.items()}
        computed = context.computeSync(builder.buildSync(results), {"x": value}, outputs)["outputs"]
        for name, actual in computed.items():
            np.testing.assert_array_equal(actual, REFERENCE["resample2d"](value, sizes=[1, int(name)]))


def test_long_axes_make_no_tables() -> None:
    [actual] = run("resample2d", f32(1, 1, 1, 1), scales=[1, 5_000_000.5])
    assert actual.shape == (1, 1, 1, 5_000_000)
    assert np.ptp(actual) == 0
