"""Requests of a page that travel together, without a browser: their order, and the calls that wait all the same."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

import webnn
from tests.webnn.serve import test_page_host
from tests.webnn.serve.test_page_host import START, TENSORS, Page, faults, page
from webnn.javascript.channel import Bytes
from webnn.javascript.dispatch import Dispatcher
from webnn.serve.options import Options
from webnn.serve.script import make_script

__all__ = ["faults", "page"]  # fixtures


@pytest.fixture
def carried(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the members that are carried out, in order."""
    members: list[str] = []
    tell, begin = Dispatcher.tell, Dispatcher.begin

    def note(text: str) -> None:
        members.extend([text] if text == '"nothing"' else [json.loads(text)[1]])

    def tell_noted(self: Dispatcher, text: str, buffers: Sequence[Bytes]) -> None:
        note(text)
        tell(self, text, buffers)

    def begin_noted(self: Dispatcher, text: str, buffers: Sequence[Bytes], *, tells_lost: bool = True) -> object:
        note(text)
        return begin(self, text, buffers, tells_lost=tells_lost)

    monkeypatch.setattr(Dispatcher, "tell", tell_noted)
    monkeypatch.setattr(Dispatcher, "begin", begin_noted)
    return members


SESSION = """
globalThis.makeSession = async width => {
  const made = new MLGraphBuilder(context), descriptor = shape => ({dataType: 'float32', shape});
  const y = made.input('x', descriptor([3, width])), w = made.constant(descriptor([width, 5]), new Float32Array(5 * width).fill(1));
  const sums = made.reduceSum(made.softmax(made.matmul(y, w), 1), {axes: [1]});
  return [made, await made.build({y: made.reshape(sums, [1, 3])})];
};
await makeSession(2);
Object.assign(globalThis, {context, show, attempt});
"""


def test_a_session_with_new_sizes_makes_no_request(page: Page) -> None:
    page.run(START + SESSION)
    page.calls.clear()
    program = "for (const [, graph] of await Promise.all([4, 7, 9].map(makeSession))) show(graph.constructor.name);"
    assert page.run(program) == ["MLGraph"] * 3
    assert set(page.calls) == {"live"}


def test_errors_come_at_the_call(page: Page) -> None:
    """With the text that Python gives, and after all that went before."""
    page.run(START + SESSION)
    program = """
    const made = new MLGraphBuilder(context), y = made.input('x', {dataType: 'float32', shape: [4, 8]});
    for (const call of [
      () => made.matmul(y, made.constant({dataType: 'float32', shape: [9, 2]}, new Float32Array(18)), {label: 'product'}),
      () => made.constant({dataType: 'float32', shape: [9, 3]}, new Float32Array(18)),
      () => made.input('x', {dataType: 'float32', shape: [2]}),
      () => made.reshape(y, [3, 3]), () => made.softmax(y, 2), () => made.input('', {dataType: 'float32', shape: [2, 2]}),
      () => made.input('w', {dataType: 'float32', shape: Array.from({length: 9}, () => 1)}),
      () => made.input('z', {dataType: 'float32', shape: [2 ** 31 - 1, 2]}), () => made.reshape(made.softmax(y, 1), [2, 16]).shape.join(),
    ]) await attempt(call);
    await made.build({y: made.softmax(y, 1)});
    await attempt(() => made.softmax(y, 1));
    """
    assert page.run(program) == [
        "TypeError: [product] matmul: b must have 8 rows, the number of columns of a, got 9",
        "TypeError: constant: bufferView must have 108 bytes for float32 [9, 3], got 72 (a NumPy array of float32 [18])",
        "TypeError: input: name must be another one for each input of a builder, got 'x'",
        "TypeError: reshape: newShape must have 32 elements, as [4, 8] has, got [3, 3]",
        "TypeError: softmax: axis must be below the rank of input, 2, got 2",
        "TypeError: input: name must not be empty",
        "TypeError: input: descriptor must have at most 8 dimensions, got 9",
        "TypeError: input: descriptor must have at most 2147483647 bytes, got float32 [2147483647, 2] of 17179869176 bytes",
        "2,16",
        "InvalidStateError: softmax: the builder must not have built a graph yet: make a new one for each graph",
    ]


def test_calls_of_a_lost_context_wait(page: Page) -> None:
    page.run(START + SESSION)
    program = "const made = new MLGraphBuilder(context); context.destroy(); await attempt(() => new MLGraphBuilder(context));"
    lost = "the context must not be lost, but it is: destroy() was called"
    assert page.run(program + "await attempt(() => made.input('x', {dataType: 'float32', shape: [2, 2]}));") == [
        f"InvalidStateError: MLGraphBuilder: {lost}",
        f"InvalidStateError: input: {lost}",
    ]


def test_dispatches_travel_together(page: Page, carried: list[str]) -> None:
    page.run(
        START
        + TENSORS
        + (
            "globalThis.compute = async count => {"
            "  for (let value = 1; value <= count; value++) {"
            "    context.writeTensor(from, new Float32Array([value, -1])); context.dispatch(graph, {x: from}, {y: to});"
            "  }"
            "  return new Float32Array(await context.readTensor(to)).join(' ');"
            "}; await compute(1); Object.assign(globalThis, {context, show});"
        )
    )
    page.calls.clear()
    carried.clear()
    assert page.run("show(await compute(5));") == ["5 0"]
    assert page.calls == ["live"]
    assert carried == ["writeTensor", "dispatch"] * 5 + ["readTensor"]


def test_dispatches_begin_without_a_read(page: Page, carried: list[str]) -> None:
    program = TENSORS + (
        "context.writeTensor(from, new Float32Array([3, -1]));"
        "for (let count = 0; count < 3; count++) context.dispatch(graph, {x: from}, {y: to});"
        "await undefined; Object.assign(globalThis, {context, to, show});"
    )
    page.run(START + program)
    assert carried.count("dispatch") == 3
    assert page.run("show(...new Float32Array(await context.readTensor(to)));") == ["3 0"]


def test_a_dispatch_that_fails_among_others(page: Page, faults: webnn.Faults, carried: list[str]) -> None:
    faults.failCompute = 3
    program = TENSORS + (
        "for (let count = 0; count < 5; count++) context.dispatch(graph, {x: from}, {y: to});"
        "await attempt(() => context.readTensor(to)); show((await context.lost).message);"
        "await attempt(() => new MLGraphBuilder(context));"
    )
    reason = "dispatch: an injected fault (failCompute=3)"
    read, lost, builder = page.run(START + program)
    assert read.startswith("InvalidStateError: ")
    assert (lost, builder) == (reason, f"InvalidStateError: MLGraphBuilder: the context must not be lost, but it is: {reason}")
    assert carried.count("dispatch") == 5


MUCH = """
const descriptor = shape => ({dataType: 'float32', shape}), size = 1 << 11;
const sum = (made, count) => {
  let value = made.input('x', descriptor([1]));
  for (let index = 1; index <= count; index++) {
    // Each has its frame, and more than that.
    const each = made.constant(descriptor([size + index]), new Float32Array(size + index).fill(index));
    value = made.add(value, made.reduceMax(each, {keepDimensions: true}));
  }
  return value;
};
const compute = async graph => {
  const y = await context.createTensor({...descriptor([1]), readable: true});
  const input = await context.createTensor({...descriptor([1]), writable: true});
  context.writeTensor(input, new Float32Array([0.5]));
  context.dispatch(graph, {x: input}, {y});
  return new Float32Array(await context.readTensor(y))[0];
};
"""


#: The lengths of page_host.js, and those of these tests.
LENGTHS = {"FRAME = 1 << 18, LARGEST_FRAME = 1 << 22": "FRAME = 1 << 12, LARGEST_FRAME = 1 << 17", "WINDOW = 1 << 21": "WINDOW = 1 << 16"}


@pytest.fixture
def brief(faults: webnn.Faults, monkeypatch: pytest.MonkeyPatch) -> Iterator[Page]:
    """Return a page to which a little is much."""
    make = make_script

    def make_brief(*arguments: Any, **options: Any) -> str:
        script = make(*arguments, **options)
        for long, short in LENGTHS.items():
            assert script.count(long) == 1
            script = script.replace(long, short)
        return script

    monkeypatch.setattr(test_page_host, "make_script", make_brief)
    made = Page(Options(revision="2026-06", faults=faults))
    yield made
    made.close()
    assert made.faults == []


@pytest.fixture
def sent(brief: Page, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return how many bodies had been sent each time that the page took answers."""
    counts, push = list[int](), brief._push

    def note() -> None:
        counts.append(len(brief.calls))
        push()

    monkeypatch.setattr(brief, "_push", note)
    return counts


def test_much_is_sent_as_it_is_carried_out(brief: Page, sent: list[int]) -> None:
    """At most a window and a frame are on their way, and the program waits for nothing."""
    brief.run(START + "Object.assign(globalThis, {context, show});")
    brief.calls.clear()
    sent.clear()
    program = (
        "const made = new MLGraphBuilder(context), y = sum(made, 20); const graph = await made.build({y}); show(await compute(graph));"
    )
    assert brief.run(MUCH + program) == ["210.5"]
    assert set(brief.calls) == {"live"}
    assert len(brief.calls) > 40
    assert next(count for count in sent if count > 1) < 20


def test_what_waits_is_sent_whatever_follows(brief: Page) -> None:
    """A message that the live connection cannot take waits for the next request, and nothing before it waits for that."""
    program = """
    const made = new MLGraphBuilder(context), y = sum(made, 12), building = made.build({y});
    const other = new MLGraphBuilder(context), large = 1 << 15, told = other.constant(descriptor([large]), new Float32Array(large).fill(3));
    show(await compute(await building));
    const value = other.add(other.input('x', descriptor([1])), other.reduceMax(told, {keepDimensions: true}));
    show(await compute(await other.build({y: value})));
    """
    assert brief.run(START + MUCH + program) == ["78.5", "3.5"]
    assert "call" in brief.calls


def test_a_request_in_the_middle_of_much(brief: Page, carried: list[str]) -> None:
    """It takes along all that was not carried out; each call is carried out once, in its order."""
    program = """
    const made = new MLGraphBuilder(context), y = sum(made, 12), building = made.build({y});
    await attempt(() => new MLGraphBuilder(context).relu(made.input('z', descriptor([2]))));
    show(await compute(await building));
    """
    refused, result = brief.run(START + MUCH + program)
    assert refused.startswith("InvalidStateError: input: the builder must not have built a graph yet")
    assert result == "78.5"
    assert [carried.count(each) for each in ("constant", "reduceMax", "add", "build")] == [12, 12, 12, 1]
