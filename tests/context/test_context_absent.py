"""Members that belong to the other draft: refused, with what the context's own draft has in their place."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.context.tensors import add_graph, current, full, negation
from tests.support import CURRENT, each_row, make_context
from webnn import ML, MLContext, MLGraphBuilder, WebNNTypeError
from webnn.validation.drafts import DEFAULT, find_revision


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
    """A missing method does not reject a promise: a page gets a TypeError at the call, too."""
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


def operand(context: MLContext, *shape: int) -> Any:
    builder = MLGraphBuilder(context)
    return builder.input("x", {"dataType": "float32", builder._revision.shape: shape or (2, 3)})  # type: ignore[misc]


def argMin(context: MLContext, *arguments: Any, **options: Any) -> object:
    x = operand(context)
    return x._builder.argMin(x, *arguments, **options)


def pool(context: MLContext, **options: Any) -> object:
    x = operand(context, 1, 1, 2, 2)
    return x._builder.maxPool2d(x, **options)


#: A draft, a program for another one, the operation and the argument of the error, and the switch to that draft.
SWITCHES: list[tuple[str, Callable[[MLContext], object], tuple[str, str], str]] = [
    (CURRENT, lambda context: context.compute, ("compute", ""), f'ML(revision="{DEFAULT}") or ML(revision="2024-06")'),
    (DEFAULT, lambda context: operand(context)._builder.relu(), ("relu", "input"), 'ML(revision="2024-06")'),
    (DEFAULT, lambda context: operand(context).dataType(), ("dataType", ""), 'ML(revision="2024-06")'),
    (DEFAULT, lambda context: operand(context).shape(), ("shape", ""), 'ML(revision="2024-06")'),
    (DEFAULT, argMin, ("argMin", "axis"), 'ML(revision="2024-06")'),
    (DEFAULT, lambda context: argMin(context, keepDimensions=True), ("argMin", "axis"), 'ML(revision="2024-06")'),
    (DEFAULT, lambda context: argMin(context, {"axes": [1]}), ("argMin", "options.axes"), 'ML(revision="2024-06")'),
    (DEFAULT, lambda context: pool(context, roundingType="ceil"), ("maxPool2d", "options.roundingType"), 'ML(revision="2024-06")'),
    (
        CURRENT,
        lambda context: MLGraphBuilder(context).input("x", dataType="int8", dimensions=[2]),
        ("input", "descriptor.shape"),
        f'ML(revision="{DEFAULT}") or ML(revision="2024-06")',
    ),
    ("2024-06", lambda context: context.createTensor, ("createTensor", ""), 'ML(revision="2026-06")'),
    ("2024-06", lambda context: context.lostSync, ("lost", ""), 'ML(revision="2026-06")'),
    ("2024-06", lambda context: operand(context)._builder.tile, ("tile", ""), 'ML(revision="2026-06")'),
    ("2024-06", lambda context: operand(context).shape[0], ("shape", ""), 'ML(revision="2026-06")'),
    ("2024-06", lambda context: argMin(context, 1), ("argMin", "options"), 'ML(revision="2026-06")'),
    ("2024-06", lambda _: ML(revision="2024-06").createContextSync(accelerated=True), ("createContext", "options.accelerated"), "2026-06"),
]


@each_row(("revision", "program", "fields", "switch"), SWITCHES)
def test_an_error_names_the_switch(revision: str, program: Callable[[MLContext], object], fields: tuple[str, str], switch: str) -> None:
    with pytest.raises(WebNNTypeError) as caught:
        program(make_context(revision))
    assert (caught.value.operation, caught.value.argument) == fields
    assert switch in str(caught.value)
    last = switch.rpartition("ML(revision=")[2].strip('")')
    assert f"WEBNN_REVISION={last} " in str(caught.value)


def test_the_switch_works() -> None:
    """Each draft that an error names takes the program."""
    for revision, program, _, switch in SWITCHES:
        for name in re.findall(r'ML\(revision="([^"]+)"\)', switch):
            program(make_context(find_revision(name)))
            assert name != revision
