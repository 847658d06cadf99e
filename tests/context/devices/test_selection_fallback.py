"""The answers to a fallback, of a context and of single operators."""

from __future__ import annotations

import _thread
import re
import threading
import warnings
from dataclasses import dataclass
from typing import Any

import pytest

from tests.context.devices.inventories import INVENTORIES, PREFERENCES, SELECTIONS, install
from tests.support import PATIENCE, each_row, refused
from webnn import ML, NotSupportedError, OperationError
from webnn.context.build import answer_placement
from webnn.context.devices.choice import select
from webnn.context.devices.selection import (
    DeviceFallbackWarning,
    FallbackPolicy,
    Selection,
    answer_selection,
    convert_policy,
)
from webnn.validation.caller import Caller, find_caller

POLICIES: list[FallbackPolicy] = ["allow", "silent", "deny"]


@pytest.mark.parametrize("policy", POLICIES)
def test_convert_policy(policy: str) -> None:
    assert convert_policy(policy, "fallback") == policy


@pytest.mark.parametrize("value", ["", "Allow", "never", None, True, ["deny"], {}])
@pytest.mark.parametrize("where", ["fallback", "WEBNN_FALLBACK"])
def test_wrong_policies(value: Any, where: str) -> None:
    with pytest.raises(ValueError, match=rf"^{where} must be one of \['allow', 'silent', 'deny'\], got {re.escape(repr(value))}$"):
        convert_policy(value, where)


# A whole context.


def answers(inventory: str, deviceType: str, preference: str, policy: FallbackPolicy) -> str:
    """Return what a policy does: the name of a warning or an error."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            answer_selection(select(deviceType, INVENTORIES[inventory], powerPreference=preference), policy, find_caller())
        except NotSupportedError as error:
            return f"{error.name} at {error.operation}"
    return " ".join(type(warning.message).__name__ for warning in caught)


@each_row(("inventory", "deviceType", "expected"), SELECTIONS)
def test_every_policy(inventory: str, deviceType: str, expected: str | tuple[str, ...]) -> None:
    texts = (expected,) * 3 if isinstance(expected, str) else expected
    for preference, text in zip(PREFERENCES, texts, strict=True):
        falls = not text.startswith(deviceType)
        assert answers(inventory, deviceType, preference, "allow") == ("DeviceFallbackWarning" if falls else "")
        assert answers(inventory, deviceType, preference, "silent") == ""
        assert answers(inventory, deviceType, preference, "deny") == ("NotSupportedError at createContext" if falls else "")


MESSAGES = [
    (
        "CUDA is broken",
        "gpu",
        'deviceType "gpu" {} on the CPU here{}: CUDAExecutionProvider does not load: libcublasLt.so.13: cannot open shared object file; '
        "OpenVINOExecutionProvider is not installed; WebGpuExecutionProvider is not installed; "
        "DmlExecutionProvider exists for Windows only",
    ),
    (
        "CUDA",
        "npu",
        'deviceType "npu" {} on the GPU (CUDAExecutionProvider) here{}: OpenVINOExecutionProvider is not installed; '
        "QNNExecutionProvider is not installed; DmlExecutionProvider exists for Windows only",
    ),
]


@pytest.mark.parametrize(("inventory", "deviceType", "message"), MESSAGES)
def test_messages(inventory: str, deviceType: str, message: str) -> None:
    selection = select(deviceType, INVENTORIES[inventory])
    with pytest.warns(DeviceFallbackWarning) as caught:
        answer_selection(selection, "allow", find_caller())
    assert [str(warning.message) for warning in caught] == [message.format("runs", "")]
    assert caught[0].filename == __file__
    with pytest.raises(NotSupportedError) as refused:
        answer_selection(selection, "deny", find_caller())
    refusal = message.format("would run", ', which the fallback policy "deny" refuses')
    assert str(refused.value) == f"createContext: {refusal}"


def test_one_warning_for_each_place(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, INVENTORIES["none"])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(3):
            ML(revision="2024-06").createContextSync(deviceType="gpu")
        ML(revision="2024-06").createContextSync(deviceType="gpu")
    lines = [warning.lineno for warning in caught if warning.filename == __file__]
    assert len(lines) == len(caught) == 2
    assert lines[1] - lines[0] == 1


async def test_an_asynchronous_request_warns_at_its_own_line(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, INVENTORIES["none"])
    here = find_caller()
    with pytest.warns(DeviceFallbackWarning) as caught:
        context = await ML(revision="2024-06").createContext(deviceType="npu")
    assert [(warning.filename, warning.lineno) for warning in caught] == [(__file__, here.lineno + 2)]
    assert repr(context).startswith('<MLContext deviceType="npu"')


async def test_an_asynchronous_request_is_refused_by_its_future(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, INVENTORIES["none"])
    future = ML(revision="2024-06", fallback="deny").createContext(deviceType="npu")
    with refused(NotSupportedError, rule="device", operation="createContext"):
        await future


# Operators of a graph.


@dataclass(frozen=True)
class Operator:
    operation: str
    label: str = ""
    device: str = "cpu"
    reason: str = ""


@dataclass(frozen=True)
class Placement:
    strays: list[Operator]
    requested: str = "gpu"


RELU = Operator("relu", "mine", reason="CUDAExecutionProvider has no kernel for it")
PLACEMENTS: list[tuple[Placement, str, str]] = [
    (
        Placement([RELU]),
        'build: 1 operator runs elsewhere in a graph for deviceType "gpu": [mine] relu on the CPU: '
        "CUDAExecutionProvider has no kernel for it",
        '[mine] build: relu would run on the CPU in a graph for deviceType "gpu", which the fallback policy "deny" refuses: '
        "CUDAExecutionProvider has no kernel for it",
    ),
    (
        Placement([Operator("add", device="gpu"), RELU, Operator("mul")], "npu"),
        'build: 3 operators run elsewhere in a graph for deviceType "npu": add on the GPU; [mine] relu on the CPU: '
        "CUDAExecutionProvider has no kernel for it; mul on the CPU",
        'build: add would run on the GPU in a graph for deviceType "npu", which the fallback policy "deny" refuses',
    ),
    (
        Placement([Operator("add")] * 1000),
        'build: 1000 operators run elsewhere in a graph for deviceType "gpu": add on the CPU; add on the CPU; add on the CPU; and 997 more',
        'build: add would run on the CPU in a graph for deviceType "gpu", which the fallback policy "deny" refuses',
    ),
]


@pytest.mark.parametrize(("placement", "message", "refusal"), PLACEMENTS)
def test_placements(placement: Placement, message: str, refusal: str) -> None:
    caller = Caller("program.py", 7, {})
    answer_placement(placement, "silent", caller)
    with pytest.warns(DeviceFallbackWarning) as caught:
        answer_placement(placement, "allow", caller)
    assert [(str(warning.message), warning.filename, warning.lineno) for warning in caught] == [(message, "program.py", 7)]
    with pytest.raises(OperationError) as refused:
        answer_placement(placement, "deny", caller)
    assert str(refused.value) == refusal
    first = placement.strays[0]
    assert (refused.value.operation, refused.value.label) == (first.operation, first.label)


@pytest.mark.parametrize("policy", POLICIES)
def test_a_graph_that_stays_is_no_fallback(policy: FallbackPolicy) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        answer_placement(Placement([]), policy, Caller("program.py", 7, {}))
    assert caught == []


def test_a_caller_is_warned_once_and_from_any_thread() -> None:
    callers = [find_caller() for _ in range(2)]
    assert [caller.filename for caller in callers] == [__file__] * 2

    def warn() -> None:
        for caller in callers:
            answer_placement(Placement([RELU]), "allow", caller)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        thread = threading.Thread(target=warn)
        thread.start()
        thread.join()
    assert [(warning.filename, warning.lineno) for warning in caught] == [(__file__, callers[0].lineno)]


def test_a_caller_further_up() -> None:
    def inner() -> Caller:
        return find_caller(2)

    here, there = find_caller(), inner()
    assert (there.filename, there.lineno) == (here.filename, here.lineno)
    assert there.namespace["__name__"] == __name__


@pytest.mark.parametrize("module", [{}, {"__name__": None}], ids=["no name", "None"])
def test_code_without_a_module(module: dict[str, Any]) -> None:
    found = module | {"find": find_caller}
    exec("caller = find()", found)
    caller = found["caller"]
    assert (caller.filename, caller.lineno) == ("<string>", 1)
    with pytest.warns(DeviceFallbackWarning):
        answer_placement(Placement([RELU]), "allow", caller)


def test_a_call_that_no_python_code_makes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as the first one of a thread, or one that `atexit` makes: there is no line to name."""
    install(monkeypatch, INVENTORIES["none"])
    found: list[Caller] = []
    done = threading.Event()

    def answer(_: Selection, __: FallbackPolicy, caller: Caller) -> None:
        found.append(caller)
        done.set()

    monkeypatch.setattr("webnn.context.ml.answer_selection", answer)
    _thread.start_new_thread(ML(revision="2024-06").createContextSync, ({"deviceType": "gpu"},))
    assert done.wait(PATIENCE)
    assert (found[0].filename, found[0].lineno) == ("<sys>", 0)
    with pytest.warns(DeviceFallbackWarning):
        answer_placement(Placement([RELU]), "allow", found[0])
