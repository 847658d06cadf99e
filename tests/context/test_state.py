"""The state of a context: what refers to it, and what it does not keep alive."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest

from tests.context.tensors import add_graph, current, filled, make
from tests.support import CURRENT, make_context, wait_until
from webnn import ML, Faults, MLContext, MLGraphBuilder
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
