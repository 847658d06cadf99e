"""Tests of implementations of dynamic-shapes, for `webnn wpt new`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from webnn.proposals.proposal import Case, Script

__all__ = ["TESTS"]

_SIX = np.arange(6, dtype=np.float32)


def _floats(builder: Any, *shape: int | str) -> Any:
    return builder.input("x", {"dataType": "float32", "shape": list(shape)})


def _sizes(builder: Any, *sizes: int) -> Any:
    return builder.constant({"dataType": "int32", "shape": [len(sizes)]}, np.array(sizes, np.int32))


def _moduli(builder: Any) -> Mapping[str, Any]:
    x, four = _floats(builder, 6), builder.constant("float32", -4)
    return {"floor": builder.modulusFloor(x, four), "truncate": builder.modulusTruncate(x, four)}


def _shapes(builder: Any) -> Mapping[str, Any]:
    x = _floats(builder, 1, 2, 3)
    return {
        "shape": builder.shape(x),
        "squeezed": builder.squeeze(x),
        "unsqueezed": builder.unsqueeze(x, [1]),
        "flat": builder.reshapeTo2d(x, axis=2),
    }


def _computed(builder: Any) -> Mapping[str, Any]:
    x = _floats(builder, 2, 3)
    zeros = _sizes(builder, 0, 0)
    return {
        "reshaped": builder.reshapeDynamic(x, _sizes(builder, 3, 2)),
        "expanded": builder.expandDynamic(x, _sizes(builder, 2, 2, 3)),
        "sliced": builder.sliceDynamic(x, _sizes(builder, 0, 1), _sizes(builder, 2, 2)),
        "padded": builder.padDynamic(x, zeros, _sizes(builder, 0, 1)),
        "tiled": builder.tileDynamic(x, _sizes(builder, 1, 2)),
        "resampled": builder.resample2dDynamic(builder.reshape(x, [1, 1, 2, 3]), sizes=_sizes(builder, 4, 3)),
    }


def _sequences(builder: Any) -> Mapping[str, Any]:
    first, second = builder.splitDynamic(_floats(builder, 6), _sizes(builder, 4, 2))
    numbers = [builder.constant("int32", number) for number in (1, 8, 3)]
    return {"first": first, "second": second, "range": builder.range(*numbers)}


def _no_sizes_fit(builder: Any) -> None:
    builder.matmul(_floats(builder, "rows", 2), builder.constant({"dataType": "float32", "shape": [3, 2]}, _SIX))


_GRAPH = """
const builder = new MLGraphBuilder(context);
const x = builder.input('x', {dataType: 'float32', shape: ['rows', 2]});
const graph = await builder.build({y: builder.concat([x, x], 0)});
const tensor = (rows) => context.createTensor({
  dataType: 'float32', shape: [rows, 2], readable: true, writable: true});
"""

TESTS = (
    Case("modulusFloor has the sign of the divisor, modulusTruncate that of the dividend", _moduli, {"x": _SIX - 3}),
    Case("shape, squeeze, unsqueeze and reshapeTo2d", _shapes, {"x": _SIX.reshape(1, 2, 3)}),
    Case("shapes as operands", _computed, {"x": _SIX.reshape(2, 3)}),
    Case("splitDynamic and range", _sequences, {"x": _SIX}),
    Case("the name of a dimension is not empty", lambda builder: {"x": _floats(builder, "", 2)}, error="TypeError"),
    Case("a call that is valid for no sizes is refused", _no_sizes_fit, error="TypeError"),
    Script(
        "one graph takes tensors of several sizes",
        f"""{_GRAPH}
for (const rows of [1, 3]) {{
  const [input, output] = [await tensor(rows), await tensor(2 * rows)];
  const data = new Float32Array(2 * rows).fill(rows);
  context.writeTensor(input, data);
  context.dispatch(graph, {{x: input}}, {{y: output}});
  assert_array_equals(
      new Float32Array(await context.readTensor(output)), [...data, ...data]);
}}
""",
    ),
    Script(
        "computeShapes() and dispatch() refuse shapes that do not fit",
        f"""{_GRAPH}
assert_array_equals(graph.computeShapes({{x: [3, 2]}}).y, [6, 2]);
assert_throws_js(TypeError, () => graph.computeShapes({{x: [3, 4]}}));
const [input, output] = [await tensor(2), await tensor(3)];
assert_throws_js(
    TypeError, () => context.dispatch(graph, {{x: input}}, {{y: output}}));
""",
    ),
)
