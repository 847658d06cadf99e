"""A draft without `lstm` and `gru`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import webnn
from tests.support import each_row

REVISION = "2026-06+no-lstm-gru"
GONE = ["gru", "lstm"]


@each_row("name", GONE)
def test_what_is_gone(name: str) -> None:
    context = webnn.ML(revision=REVISION).createContextSync()
    builder = webnn.MLGraphBuilder(context)
    assert not hasattr(builder, name)
    assert name not in dir(builder)
    assert name not in context.opSupportLimits()
    assert hasattr(builder, f"{name}Cell")
    with pytest.raises(webnn.WebNNTypeError, match=f"^{name}: the draft 2026-06.no-lstm-gru has no such operation"):
        getattr(builder, name)
    draft = webnn.ML(revision="2026-06").createContextSync()
    assert hasattr(webnn.MLGraphBuilder(draft), name)
    assert name in draft.opSupportLimits()


def test_cells_compute_what_the_network_did() -> None:
    """An unrolled network gives what `gru` gives in the draft."""
    steps, batch, size, hidden = 3, 2, 2, 4
    rng = np.random.default_rng(0)
    shapes = {"x": (steps, batch, size), "weight": (1, 3 * hidden, size), "recurrent": (1, 3 * hidden, hidden)}
    numbers = {name: rng.uniform(-1, 1, shape).astype(np.float32) for name, shape in shapes.items()}

    def compute(revision: Any) -> Any:
        context: Any = webnn.ML(revision=revision).createContextSync()
        builder: Any = webnn.MLGraphBuilder(context)
        x, *weights = (builder.input(name, {"dataType": "float32", "shape": shape}) for name, shape in shapes.items())
        if hasattr(builder, "gru"):
            output = builder.gru(x, *weights, steps, hidden)[0]
        else:
            weight, recurrent = (builder.reshape(each, each.shape[1:]) for each in weights)
            output = builder.constant({"dataType": "float32", "shape": [batch, hidden]}, np.zeros((batch, hidden), np.float32))
            for step in range(steps):
                now = builder.reshape(builder.slice(x, [step, 0, 0], [1, batch, size]), [batch, size])
                output = builder.gruCell(now, weight, recurrent, output, hidden)
        graph = builder.buildSync({"y": output})
        given = {name: context.createTensorSync(dataType="float32", shape=shape, writable=True) for name, shape in shapes.items()}
        result = context.createTensorSync(dataType="float32", shape=output.shape, readable=True)
        for name, tensor in given.items():
            context.writeTensor(tensor, numbers[name])
        context.dispatch(graph, given, {"y": result})
        return context.readTensorSync(result).reshape(batch, hidden)

    np.testing.assert_allclose(compute(REVISION), compute("2026-06"), rtol=1e-5, atol=1e-6)
