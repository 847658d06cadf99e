"""The state of a context: what refers to it, and what it does not keep alive."""

from __future__ import annotations

import gc
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterator

import pytest

from tests.context.tensors import add_graph, current, filled, full, make, scale_graph, value
from tests.support import CURRENT, make_context, wait_until
from webnn import ML, Faults, MLContext, MLGraphBuilder, emulate
from webnn.context.engine import session
from webnn.context.faults.injection import FaultyBuildSteps, FaultyComputeSteps, FaultyTensorSteps
from webnn.context.graph_steps import BuildSteps, ComputeSteps
from webnn.context.tensor_steps import TensorSteps


@pytest.fixture
def without_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def test_graphs_tensors_and_builders_have_the_state_of_their_context() -> None:
    context, other = current(), current()
    parts = (add_graph(context), make(context), MLGraphBuilder(context))
    assert all(part._state is context._state for part in parts)
    assert context._state is not other._state


@pytest.mark.usefixtures("without_collector")
def test_graphs_and_tensors_do_not_keep_their_context() -> None:
    context = current()
    graph, tensor = add_graph(context), make(context)
    state, reference = context._state, weakref.ref(context)
    del context
    assert reference() is None
    assert graph._state is tensor._state is state


@pytest.mark.usefixtures("without_collector")
@pytest.mark.parametrize("faults", [None, Faults()], ids=["plain", "faulty"])
def test_a_state_ends_with_the_last_object_that_has_it(faults: Faults | None) -> None:
    context = ML(revision=CURRENT, faults=faults).createContextSync()
    graph, inputs = add_graph(context), {name: filled(context, 1) for name in ("x", "y")}
    outputs = {name: make(context) for name in ("sum", "difference")}
    context.dispatch(graph, inputs, outputs)
    context.readTensorSync(outputs["sum"])
    reference = weakref.ref(context._state)
    del context, graph, inputs
    assert reference() is not None
    del outputs
    # The timeline's worker may still look at the last job.
    wait_until(lambda: reference() is None)


def test_steps_are_chosen_when_a_context_is_made() -> None:
    plain, faulty = make_context(), ML(revision="2024-06", faults=Faults()).createContextSync()
    kinds: dict[MLContext, list[type]] = {
        plain: [BuildSteps, ComputeSteps, TensorSteps],
        faulty: [FaultyBuildSteps, FaultyComputeSteps, FaultyTensorSteps],
    }
    for context, expected in kinds.items():
        assert [type(each) for each in (context._buildSteps, context._computeSteps, context._tensorSteps)] == expected


Hook = Callable[..., None]


def hooked(hook: Hook) -> MLContext:
    """Make a context with a hook of the program."""
    with emulate(on_compute=hook):
        return current()


def watched(hook: Hook, faults: Faults | None = None) -> MLContext:
    """Make a context with a hook of the emulator itself."""
    ml = ML(revision=CURRENT, faults=faults)
    ml._watch(lambda *_: None, hook)
    return ml.createContextSync()


@pytest.mark.parametrize(
    ("make_it", "isPrompt"),
    [
        (watched, True),
        (lambda hook: watched(hook, Faults()), True),
        (lambda hook: watched(hook, Faults(delay=0.001)), False),
        (hooked, False),
    ],
    ids=["its own", "with faults", "with a delay", "a program's"],
)
def test_quick_work_with_a_hook_is_done_at_once(
    monkeypatch: pytest.MonkeyPatch, make_it: Callable[[Hook], MLContext], isPrompt: bool
) -> None:
    """In the thread of the call, unless the hook is a program's, which may take long, or something delays the work."""
    monkeypatch.setattr(session, "QUICK", 3600)
    threads: list[int] = []
    context = make_it(lambda *_: threads.append(threading.get_ident()))
    graph, x, y = scale_graph(context, 2), filled(context, 3), make(context)
    for _ in range(2):
        context.dispatch(graph, {"x": x}, {"y": y})
        wait_until(lambda: threads)
        assert (threads.pop() == threading.get_ident()) is isPrompt
    assert value(context, y) == 6


async def test_a_short_read_with_a_hook_is_answered_at_once() -> None:
    context = watched(lambda *_: None)
    tensor = filled(context, 3)
    early = context.readTensor(tensor)
    assert context._state.timeline._pending == deque()
    context.writeTensor(tensor, full(4))
    assert (await early).tolist() == full(3).tolist()
