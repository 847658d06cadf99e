"""Members that belong to the other draft: refused, with what the context's own draft has in their place."""

from __future__ import annotations

from typing import Any

import pytest

from tests.context.tensors import add_graph, current, full, negation
from tests.support import make_context
from webnn import WebNNTypeError


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda context: context.createTensorSync(dataType="int8", shape=[]), "createTensorSync: .* it has compute"),
        (lambda context: context.createConstantTensorSync({"dataType": "int8", "shape": []}, b"1"), "createConstantTensorSync: .* compute"),
        (lambda context: context.dispatch(None, {}, {}), "dispatch: .* compute"),
        (lambda context: context.writeTensor(None, None), "writeTensor: .* compute"),
        (lambda context: context.readTensorSync(None), "readTensorSync: .* compute"),
        (lambda context: context.opSupportLimits(), 'opSupportLimits: .* ML\\(revision="2026-06"\\) has it'),
        (lambda context: context.destroy(), "destroy: .* has it"),
        (lambda context: negation(context).destroy(), "destroy: .* has it"),
        (lambda context: context.lost, "lost: .* has it"),
        (lambda context: context.lostSync(), "lostSync: .* has it"),
        (lambda context: context.accelerated, "accelerated: .* takes deviceType in its place"),
    ],
)
def test_the_draft_of_june_2024_has_no_tensors(call: Any, message: str) -> None:
    with pytest.raises(WebNNTypeError, match=message) as caught:
        call(make_context())
    assert "the draft 2024-06" in str(caught.value)


async def test_promises_of_june_2024() -> None:
    """What is not there rejects no promise: a page gets a TypeError at the call, too."""
    former = make_context()
    for call in (
        lambda: former.createTensor(dataType="int8", shape=[]),
        lambda: former.createConstantTensor({"dataType": "int8", "shape": []}, b"1"),
        lambda: former.readTensor(None),
    ):
        with pytest.raises(WebNNTypeError, match="the draft 2024-06"):
            call()


async def test_the_current_draft_has_no_compute() -> None:
    context = current()
    graph = add_graph(context)
    with pytest.raises(WebNNTypeError, match=r"computeSync: .* createTensor\(\), writeTensor\(\), dispatch\(\) and readTensor\(\)"):
        context.computeSync(graph, {"x": full(0), "y": full(0)}, {"sum": full(0)})
    with pytest.raises(WebNNTypeError, match=r"compute: the draft 2026-06.* dispatch\(\)"):
        context.compute(graph, {}, {})
