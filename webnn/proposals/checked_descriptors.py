"""Every descriptor is checked, also that of a whole sequence which no operand has: issue #949, pull request #955."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from webnn.proposals.proposal import Case, Decision, Proposal
from webnn.validation.descriptor import OperandDescriptor
from webnn.validation.operation import Call, find_unsupported

__all__ = ["PROPOSAL"]


def _check_sequence(call: Call, outputs: tuple[OperandDescriptor, ...], input: OperandDescriptor, *rest: Any) -> None:
    """Check the outputs of all steps together, ``[steps, numDirections, batchSize, hiddenSize]``, whatever ``returnSequence`` says."""
    sequence = OperandDescriptor(input.dataType, (input.dimensions[0], *outputs[0].dimensions))
    reason = find_unsupported(call.revision, sequence)
    if reason:
        raise call.error("output", f"of all steps {reason}", rule="limit")


# Tests for implementations. No tensor of these sizes is made: the builder refuses the calls.

_STEPS, _BATCH, _HIDDEN = 2**16, 2**9, 2**7


def _network(name: str, gates: int, builder: Any, **options: Any) -> None:
    """Make a recurrent network whose operands are small, and whose whole sequence has 2**32 elements of float16."""

    def operand(name: str, *shape: int) -> Any:
        return builder.input(name, {"dataType": "float16", "shape": list(shape)})

    weights = operand("weight", 1, gates * _HIDDEN, 1), operand("recurrentWeight", 1, gates * _HIDDEN, _HIDDEN)
    getattr(builder, name)(operand("input", _STEPS, _BATCH, 1), *weights, _STEPS, _HIDDEN, **options)


def _half(builder: Any, name: str, rank: int) -> Any:
    """Make an input of 2**30 elements, of which two do not fit into a tensor."""
    return builder.input(name, {"dataType": "int8", "shape": [2**30, *[1] * (rank - 1)]})


def _concat(builder: Any) -> None:
    builder.concat([_half(builder, "a", 1), _half(builder, "b", 1)], 0)


def _pad(builder: Any) -> None:
    builder.pad(_half(builder, "a", 1), [2**30], [0])


def _pool(builder: Any) -> None:
    x = builder.input("x", {"dataType": "float16", "shape": [2**20, 1, 1, 1]})
    builder.maxPool2d(x, windowDimensions=[1, 1], padding=[0, 2**10, 0, 2**10])


_NETWORKS: Mapping[str, int] = {"gru": 3, "lstm": 4}

PROPOSAL = Proposal(
    name="checked-descriptors",
    since="2026-06",
    changed={name: {"checks": (_check_sequence,)} for name in _NETWORKS},
    title="Every descriptor is checked",
    source=(
        "webmachinelearning/webnn pull request #955, description of 2026-09-11 and preview of 2026-09-14, which follows issue #949 and the "
        "resolution of the meeting of 2026-09-10"
    ),
    summary=(
        "A descriptor that an operation creates is checked at once, so no backend gets a shape that is too large. `gru` and `lstm` are "
        "refused if the outputs of all steps together are too large: some backends compute these even if nobody asks for them."
    ),
    errors=(
        "`gru`, `lstm`: the sequence [steps, numDirections, batchSize, hiddenSize] has valid dimensions, and its size is supported, "
        "whatever `returnSequence` says.",
    ),
    program=(
        "Split a sequence that is refused, and pass the state of one part to the next as `initialHiddenState` and `initialCellState`.",
    ),
    decisions=(
        Decision(
            "Which other operations change?",
            "None. The text moves the check of the dimensions into the creation of a descriptor, for all operations, and rewrites "
            "`concat`, `pad` and pools for it. Here each output was checked before. The tests of the proposal have such operations, too.",
        ),
        Decision(
            "What is the largest sequence?",
            "As large as any operand: at most `maxTensorByteLength` of `opSupportLimits()`, which is 2,147,483,647 bytes here. The text "
            "has no limit of its own.",
        ),
        Decision(
            "What do browsers do?",
            "Chromium 153 takes such networks, as the draft does: measured on its CPU backend. The issue refers to a change that it lacks.",
        ),
        Decision("What about `gruCell` and `lstmCell`?", "They have one step, and their output is checked in the draft."),
    ),
    tests=[
        *(
            Case(f"{name} is refused for the outputs of all steps{text}", partial(_network, name, gates, **options), error="TypeError")
            for name, gates in _NETWORKS.items()
            for text, options in (("", {}), (" that are not returned", {"returnSequence": False}))
        ),
        Case("concat is refused for its output", _concat, error="TypeError"),
        Case("pad is refused for its output", _pad, error="TypeError"),
        Case("maxPool2d is refused for its output", _pool, error="TypeError"),
    ],
    example="""import webnn

context = webnn.ML(revision="2026-06+checked-descriptors").createContextSync()
steps, batch, hidden = 4096, 1024, 256


def network(steps):
    builder = webnn.MLGraphBuilder(context)
    shapes = {"input": [steps, batch, 1], "weight": [1, 3 * hidden, 1], "recurrentWeight": [1, 3 * hidden, hidden]}
    operands = [builder.input(name, {"dataType": "float32", "shape": shape}) for name, shape in shapes.items()]
    return builder.gru(*operands, steps, hidden)[0].shape


try:
    network(steps)
except webnn.WebNNTypeError as error:
    print(error)
print(network(steps // 4))
""",
)
