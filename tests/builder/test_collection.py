"""The garbage collector during a translation."""

from __future__ import annotations

import gc
import os
import sys
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Any
from unittest.mock import Mock

import pytest

from tests.support import PATIENCE, make_context
from webnn import MLContext, MLGraphBuilder
from webnn.builder import collection
from webnn.builder.collection import without_collection
from webnn.builder.onnx import translate
from webnn.builder.onnx.emitter import Emitter, Op, Translation


@pytest.fixture(autouse=True)
def enabled() -> Iterator[None]:
    """Leave the collector as it was."""
    before = gc.isenabled()
    gc.enable()
    yield
    (gc.enable if before else gc.disable)()


def build(context: MLContext, count: int = 1) -> None:
    builder = MLGraphBuilder(context)
    x = value = builder.input("x", dataType="float32", dimensions=[2])
    for _ in range(count):
        value = builder.relu(builder.add(value, x))
    builder.buildSync({"y": value})


def translate_relu_by(monkeypatch: pytest.MonkeyPatch, emit: Any) -> None:
    monkeypatch.setattr(translate, "TRANSLATIONS", {**translate.TRANSLATIONS, "relu": Translation(emit=emit)})


@pytest.fixture
def collections() -> Iterator[list[str]]:
    """Collect often; record each collection."""
    begun: list[str] = []
    threshold = gc.get_threshold()

    def note(phase: str, _: dict[str, int]) -> None:
        if phase == "start":
            begun.append(phase)

    gc.callbacks.append(note)
    gc.set_threshold(10, 2, 2)
    yield begun
    gc.set_threshold(*threshold)
    gc.callbacks.remove(note)


def test_no_collection_begins_in_a_translation(monkeypatch: pytest.MonkeyPatch, collections: list[str]) -> None:
    counts: list[int] = []

    def emit(e: Emitter, op: Op) -> str:
        counts.append(len(collections))
        kept: list[list[int]] = [[] for _ in range(1000)]
        counts.append(len(collections))
        del kept
        return e.node("Relu", [op["input"]])

    translate_relu_by(monkeypatch, emit)
    build(make_context(), 3)
    assert len(counts) == 6
    assert len(set(counts)) == 1
    # The same lists elsewhere do start collections.
    before = len(collections)
    _ = [[] for _ in range(1000)]
    assert len(collections) > before


@pytest.mark.parametrize("before", [True, False])
def test_the_state_that_was_found_is_restored(before: bool) -> None:
    if not before:
        gc.disable()
    build(make_context())
    assert gc.isenabled() is before
    with without_collection(), without_collection():
        assert not gc.isenabled()
    assert gc.isenabled() is before


def test_a_translation_that_fails_restores_it(monkeypatch: pytest.MonkeyPatch) -> None:
    translate_relu_by(monkeypatch, Mock(side_effect=RuntimeError("mine")))
    with pytest.raises(RuntimeError, match="mine"):
        build(make_context())
    assert gc.isenabled()


def test_a_nested_block_does_not_end_the_outer_one() -> None:
    with without_collection():
        with without_collection():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()


def interrupt(at: int) -> bool:
    """Interrupt the beginning of a block before one of its lines, and return whether it has this number."""
    left = at

    def trace(frame: FrameType, event: str, _: object) -> Any:
        nonlocal left
        if frame.f_code.co_filename != collection.__file__:
            return None
        if event == "line":
            left -= 1
            if left < 0:
                raise KeyboardInterrupt
        return trace

    sys.settrace(trace)
    try:
        with without_collection():
            sys.settrace(None)
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(None)
    return False


def test_an_interrupt_in_the_beginning_restores_it() -> None:
    lines = 0
    while interrupt(lines):
        lines += 1
        assert gc.isenabled()
        with without_collection():
            assert not gc.isenabled()
        assert gc.isenabled()
    assert lines > 5


@pytest.mark.parametrize("first_ends_first", [True, False])
def test_overlapping_builds_leave_it_enabled(monkeypatch: pytest.MonkeyPatch, first_ends_first: bool) -> None:
    """Two builds at once in two contexts, which end in either order."""
    inside = [threading.Event(), threading.Event()]
    leave = [threading.Event(), threading.Event()]
    numbers: dict[int, int] = {}

    def emit(e: Emitter, op: Op) -> str:
        number = numbers[threading.get_ident()]
        inside[number].set()
        assert leave[number].wait(PATIENCE)
        return e.node("Relu", [op["input"]])

    translate_relu_by(monkeypatch, emit)
    contexts = [make_context(), make_context()]

    def work(number: int) -> None:
        numbers[threading.get_ident()] = number
        build(contexts[number])

    threads = [threading.Thread(target=work, args=(number,)) for number in range(2)]
    for thread, event in zip(threads, inside, strict=True):
        thread.start()
        assert event.wait(PATIENCE)
        assert not gc.isenabled()
    for number in (0, 1) if first_ends_first else (1, 0):
        leave[number].set()
        threads[number].join(PATIENCE)
        assert not threads[number].is_alive()
    assert gc.isenabled()
    with without_collection():
        assert not gc.isenabled()
    assert gc.isenabled()


@pytest.mark.processes
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_child_that_was_forked_meanwhile_collects() -> None:
    inside, leave = threading.Event(), threading.Event()

    def work() -> None:
        with without_collection():
            inside.set()
            assert leave.wait(PATIENCE)

    thread = threading.Thread(target=work)
    thread.start()
    assert inside.wait(PATIENCE)
    try:
        child = os.fork()
        if child == 0:
            enabled = gc.isenabled()
            with without_collection():
                enabled = enabled and not gc.isenabled()
            os._exit(0 if enabled and gc.isenabled() else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert not gc.isenabled()
    finally:
        leave.set()
        thread.join(PATIENCE)
    assert gc.isenabled()
