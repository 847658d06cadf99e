"""Members that belong to the other draft: refused, with what the context's own draft has in their place."""

from __future__ import annotations

from typing import Any

import pytest

from tests.context.tensors import add_graph, current, full, negation
from tests.support import make_context
from webnn import WebNNTypeError
from webnn.context.mixing import MEMBERS


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda context: context.createTensorSync(dataType="int8", shape=[]), "createTensor: .* it has compute"),
        (lambda context: context.createConstantTensorSync({"dataType": "int8", "shape": []}, b"1"), "createConstantTensor: .* compute"),
        (lambda context: context.dispatch(None, {}, {}), "dispatch: .* compute"),
        (lambda context: context.writeTensor(None, None), "writeTensor: .* compute"),
        (lambda context: context.readTensorSync(None), "readTensor: .* compute"),
        (lambda context: context.opSupportLimits(), 'opSupportLimits: .* ML\\(revision="2026-06"\\) has it'),
        (lambda context: context.destroy(), "MLContext.destroy: .* has it"),
        (lambda context: negation(context).destroy(), "MLGraph.destroy: .* has it"),
        (lambda context: context.lost, "lost: .* has it"),
        (lambda context: context.lostSync(), "lost: .* has it"),
        (lambda context: context.accelerated, "accelerated: .* takes deviceType in its place"),
    ],
)
def test_the_draft_of_june_2024_has_no_tensors(call: Any, message: str) -> None:
    with pytest.raises(WebNNTypeError, match=message) as caught:
        call(make_context())
    assert "the draft 2024-06" in str(caught.value)


async def test_promises_of_june_2024() -> None:
    former = make_context()
    for future in (
        former.createTensor(dataType="int8", shape=[]),
        former.createConstantTensor({"dataType": "int8", "shape": []}, b"1"),
        former.readTensor(None),
    ):
        with pytest.raises(WebNNTypeError, match="the draft 2024-06"):
            await future


async def test_the_current_draft_has_no_compute() -> None:
    context = current()
    graph = add_graph(context)
    with pytest.raises(WebNNTypeError, match=r"compute: .* createTensor\(\), writeTensor\(\), dispatch\(\) and readTensor\(\)"):
        context.computeSync(graph, {"x": full(0), "y": full(0)}, {"sum": full(0)})
    future = context.compute(graph, {}, {})
    with pytest.raises(WebNNTypeError, match=r"compute: the draft 2026-06.* dispatch\(\)"):
        await future


def test_the_table() -> None:
    assert all(anchor.startswith("#") and instead for anchor, instead in MEMBERS.values())
