"""A draft without ``lstm`` and ``gru``: issue #689."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from webnn.proposals.proposal import Case, Decision, Proposal
from webnn.validation.drafts.idl import merge_idl

__all__ = ["PROPOSAL"]

_OPERATIONS = ("gru", "lstm")
_IDL = {
    "removed": ["MLGruOptions", "MLGruSupportLimits", "MLLstmOptions", "MLLstmSupportLimits", "MLRecurrentNetworkDirection"],
    "interfaces": {"MLGraphBuilder": {"without": _OPERATIONS}},
    "dictionaries": {"MLOpSupportLimits": {"without": _OPERATIONS}},
}


def _unrolled(builder: Any) -> Mapping[str, Any]:
    """Make a recurrent network of two steps."""

    def matrix(name: str, *shape: int) -> Any:
        return builder.input(name, {"dataType": "float32", "shape": list(shape)})

    state = matrix("state", 1, 1)
    for step in range(2):
        weights = matrix(f"weight{step}", 3, 2), matrix(f"recurrent{step}", 3, 1)
        state = builder.gruCell(matrix(f"input{step}", 1, 2), *weights, state, 1, activations=["relu", "relu"])
    return {"y": state}


_NUMBERS = {
    "state": np.ones((1, 1), np.float32),
    **{f"input{step}": np.full((1, 2), step + 1, np.float32) for step in range(2)},
    **{f"weight{step}": np.array([[1, 0], [2, 1], [0, 1]], np.float32) for step in range(2)},
    **{f"recurrent{step}": np.ones((3, 1), np.float32) for step in range(2)},
}

PROPOSAL = Proposal(
    name="no-lstm-gru",
    since="2026-06",
    removed=_OPERATIONS,
    idl=partial(merge_idl, changes=_IDL),
    title="No operations for whole recurrent networks",
    source="webmachinelearning/webnn issue #689, which is open, as of its comment of 2024-07-02",
    summary="`lstm` and `gru` can be made of smaller operations, and no two backends compute the same activations and layouts in them.",
    errors=("`builder.lstm` and `builder.gru` are undefined: a call is a TypeError.",),
    program=(
        "Unroll the steps, with `lstmCell` or `gruCell` for each. Take each step's input with `slice` and `reshape`.",
        'For `direction: "both"`, make two networks, and concatenate their outputs.',
    ),
    decisions=(
        Decision(
            "What about `lstmCell` and `gruCell`?",
            "They stay: the title of the issue names the two others, and programs need the cells to unroll a network.",
        ),
        Decision("What becomes of `MLRecurrentNetworkDirection`?", "It goes: only the two operations have it."),
    ),
    tests=[Case("a network of two gruCell() is computed", _unrolled, _NUMBERS)],
    example="""import numpy as np
import webnn

context = webnn.ML(revision="2026-06+no-lstm-gru").createContextSync()
builder = webnn.MLGraphBuilder(context)
print(hasattr(builder, "gru"), hasattr(builder, "gruCell"))

steps, batch, size, hidden = 3, 1, 2, 4
x = builder.input("x", {"dataType": "float32", "shape": [steps, batch, size]})
weight = builder.constant({"dataType": "float32", "shape": [3 * hidden, size]}, np.full((3 * hidden, size), 0.5, np.float32))
recurrent = builder.constant({"dataType": "float32", "shape": [3 * hidden, hidden]}, np.full((3 * hidden, hidden), 0.25, np.float32))
state = builder.constant({"dataType": "float32", "shape": [batch, hidden]}, np.zeros((batch, hidden), np.float32))
for step in range(steps):
    now = builder.reshape(builder.slice(x, [step, 0, 0], [1, batch, size]), [batch, size])
    state = builder.gruCell(now, weight, recurrent, state, hidden)
graph = builder.buildSync({"state": state})
print([operator.operation for operator in graph.description.operators].count("gruCell"), state.shape)
""",
)
