"""A page that tries npu, then gpu, then cpu, and survives what goes wrong: under every policy and every fault, in both drafts.

The program is written once, as pages are written: it knows nothing of policies, faults and profiles, which come from outside.
"""

from __future__ import annotations

import asyncio
import time
import warnings
from typing import Any

import numpy as np
import pytest

from tests.context.devices.inventories import INVENTORIES, install
from tests.support import each_row
from webnn import (
    ML,
    DeviceFallbackWarning,
    InvalidStateError,
    MLContext,
    MLGraph,
    MLGraphBuilder,
    NotSupportedError,
    OperationError,
    UnknownError,
)
from webnn.context.devices.selection import FallbackPolicy
from webnn.context.emulation import emulate
from webnn.context.faults import Faults

SHAPE = [2, 3]
DELAY = 0.002
FORMER, CURRENT = "2024-06", "2026-06"


class Page:
    """The program: computes 2 * 1, 2 * 2 and 2 * 3.

    Args:
        revision: The draft that it is written for.
        asynchronous: It waits for promises; otherwise it uses the twins.

    Attributes:
        trace: The events: the device of each attempt, and the numbers or the trouble that it had.
    """

    def __init__(self, revision: str, *, asynchronous: bool) -> None:
        self.ml = ML(revision=revision)
        self.former = revision == FORMER
        self.asynchronous = asynchronous
        self.numbers: list[float] = []
        self.trace: list[str] = []

    async def run(self) -> None:
        for deviceType in ("npu", "gpu", "cpu"):
            # A context that is lost, or a computation that fails, is worth another context on the same device.
            for _ in range(2):
                self.trace.append(deviceType)
                trouble = await self.attempt(deviceType)
                if not trouble:
                    return
                self.trace[-1] += f" {trouble}"
                if trouble not in {"lost", "failed"}:
                    break

    async def attempt(self, deviceType: str) -> str:
        """Go on with the numbers; return what went wrong."""
        try:
            context = await self.call(self.ml, "createContext", {"deviceType": deviceType})
            tensors = [] if self.former else [await self.make_tensor(context, **{use: True}) for use in ("writable", "readable")]
            builder = MLGraphBuilder(context)
            x = builder.input("x", {"dataType": "float32", "dimensions" if self.former else "shape": SHAPE})
            graph = await self.call(builder, "build", {"y": builder.mul(x, builder.constant("float32", 2))})
            while len(self.numbers) < 3:
                array = await self.compute(context, graph, tensors, np.full(SHAPE, len(self.numbers) + 1, np.float32))
                (number,) = set(array.ravel().tolist())
                self.numbers.append(number)
                self.trace[-1] += f" {number:g}"
        except NotSupportedError:
            return "refused"
        except UnknownError:
            return "no memory"
        except OperationError as error:
            return "failed" if error.operation == "compute" else "build failed"
        except InvalidStateError:
            return "lost"
        return ""

    async def make_tensor(self, context: MLContext, **uses: bool) -> Any:
        return await self.call(context, "createTensor", {"dataType": "float32", "shape": SHAPE, **uses})

    async def compute(self, context: MLContext, graph: MLGraph, tensors: list[Any], array: Any) -> Any:
        if self.former:
            result = await self.call(context, "compute", graph, {"x": array}, {"y": np.empty(SHAPE, np.float32)})
            return result["outputs"]["y"]
        x, y = tensors
        context.writeTensor(x, array)
        context.dispatch(graph, {"x": x}, {"y": y})
        return await self.call(context, "readTensor", y)

    async def call(self, target: Any, method: str, *arguments: Any) -> Any:
        if self.asynchronous:
            return await getattr(target, method)(*arguments)
        return getattr(target, f"{method}Sync")(*arguments)


FAULTS: dict[str, dict[str, Any]] = {
    "none": {},
    "no npu": {"refuse": "npu"},
    "cpu only": {"refuse": ["npu", "gpu"]},
    "no device": {"refuse": {"npu": "gone", "gpu": "gone", "cpu": "gone"}},
    "first build": {"failBuild": 1},
    "every build": {"failBuild": "all"},
    "second computation": {"failCompute": 2},
    "first two computations": {"failCompute": range(1, 3)},
    "every computation": {"failCompute": "all"},
    # A tensor takes 24 bytes, the graph with its scalar 52.
    "no memory for a tensor": {"memoryLimit": 23},
    "no memory for the graph": {"memoryLimit": 51},
    "enough memory": {"memoryLimit": 52},
    "lost after one": {"loseAfter": 1},
    "lost after two": {"loseAfter": 2},
    "slow": {"delay": DELAY},
    "all at once": {"refuse": "npu", "failBuild": 1, "loseAfter": 1, "delay": DELAY},
}

ALL_REFUSED = "npu refused; gpu refused; cpu refused"
NO_BUILD = "npu build failed; gpu build failed; cpu build failed"
NO_BUILD_ON_CPU = "npu refused; gpu refused; cpu build failed"
NEVER = "npu {0}; npu {0}; gpu {0}; gpu {0}; cpu {0}; cpu {0}"
CPU = "npu refused; gpu refused; cpu 2 4 6"

#: On a machine without accelerators: for each fault what the page sees where it may fall back, in the draft of June 2024 and in the current
#: one (empty if it is the same), and how many contexts fell back, which is the number of warnings under the policy "allow"; then what it
#: sees under the policy "deny", likewise.
CPU_ONLY: list[tuple[str, str, str, int, str, str]] = [
    ("none", "npu 2 4 6", "", 1, CPU, ""),
    ("no npu", "npu refused; gpu 2 4 6", "", 1, CPU, ""),
    ("cpu only", CPU, "", 0, CPU, ""),
    ("no device", ALL_REFUSED, "", 0, ALL_REFUSED, ""),
    ("first build", "npu build failed; gpu 2 4 6", "", 2, NO_BUILD_ON_CPU, ""),
    ("every build", NO_BUILD, "", 2, NO_BUILD_ON_CPU, ""),
    (
        "second computation",
        "npu 2 failed; npu 4 6",
        "npu 2 lost; npu 4 6",
        2,
        "npu refused; gpu refused; cpu 2 failed; cpu 4 6",
        "npu refused; gpu refused; cpu 2 lost; cpu 4 6",
    ),
    (
        "first two computations",
        "npu failed; npu failed; gpu 2 4 6",
        "npu lost; npu lost; gpu 2 4 6",
        3,
        "npu refused; gpu refused; cpu failed; cpu failed",
        "npu refused; gpu refused; cpu lost; cpu lost",
    ),
    (
        "every computation",
        NEVER.format("failed"),
        NEVER.format("lost"),
        4,
        "npu refused; gpu refused; cpu failed; cpu failed",
        "npu refused; gpu refused; cpu lost; cpu lost",
    ),
    # The draft of June 2024 has no tensors: there, the build fails.
    (
        "no memory for a tensor",
        NO_BUILD,
        "npu no memory; gpu no memory; cpu no memory",
        2,
        NO_BUILD_ON_CPU,
        "npu refused; gpu refused; cpu no memory",
    ),
    ("no memory for the graph", NO_BUILD, "", 2, NO_BUILD_ON_CPU, ""),
    ("enough memory", "npu 2 4 6", "", 1, CPU, ""),
    # The last dispatch is gone with the context; compute() still answered.
    (
        "lost after one",
        "npu 2 lost; npu 4 6",
        "npu lost; npu 2 4 6",
        2,
        "npu refused; gpu refused; cpu 2 lost; cpu 4 6",
        "npu refused; gpu refused; cpu lost; cpu 2 4 6",
    ),
    (
        "lost after two",
        "npu 2 4 lost; npu 6",
        "npu 2 lost; npu 4 6",
        2,
        "npu refused; gpu refused; cpu 2 4 lost; cpu 6",
        "npu refused; gpu refused; cpu 2 lost; cpu 4 6",
    ),
    ("slow", "npu 2 4 6", "", 1, CPU, ""),
    (
        "all at once",
        "npu refused; gpu build failed; cpu 2 lost; cpu 4 6",
        "npu refused; gpu build failed; cpu lost; cpu 2 4 6",
        1,
        NO_BUILD_ON_CPU,
        "",
    ),
]

#: On a device that has everything, whatever the policy: the same without the warnings and without the refusals of "deny".
EVERYTHING = {fault: (former, current or former) for fault, former, current, *_ in CPU_ONLY}

VARIANTS = [(revision, asynchronous) for revision in (FORMER, CURRENT) for asynchronous in (False, True)]
POLICIES: list[FallbackPolicy] = ["allow", "silent", "deny"]
#: Every policy with every variant; in continuous integration "silent", which differs from "allow" in the warnings only, with two of them.
ALL = [(policy, *variant) for policy in POLICIES for variant in VARIANTS]
SOME = [visited for visited in ALL if visited[0] != "silent" or visited[1:] in {(FORMER, True), (CURRENT, False)}]
#: Where no policy has anything to say, one of them with every variant, and each other one with one.
NEARLY_NONE = [("allow", CURRENT, False), ("silent", FORMER, True), *[("deny", *variant) for variant in VARIANTS]]


def visit(revision: str, *, asynchronous: bool, **settings: Any) -> tuple[Page, list[str]]:
    """Run the page with these settings from outside; return it, with the warnings."""
    page = Page(revision, asynchronous=asynchronous)
    with emulate(**settings), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        asyncio.run(page.run())
    assert [each.category for each in caught] == [DeviceFallbackWarning] * len(caught)
    # A warning names the line of the program.
    assert {each.filename for each in caught} <= {__file__}
    return page, [str(each.message) for each in caught]


def numbers_of(trace: str) -> list[float]:
    return [float(word) for word in trace.replace(";", "").split() if word.isdigit()]


def test_the_tables_are_whole() -> None:
    assert [row[0] for row in CPU_ONLY] == list(FAULTS)
    # Every parameter of the faults is used.
    assert {name for each in FAULTS.values() for name in each} == {
        "refuse",
        "failBuild",
        "failCompute",
        "memoryLimit",
        "loseAfter",
        "delay",
    }


@pytest.mark.parametrize("row", CPU_ONLY, ids=list(FAULTS))
@each_row(("policy", "revision", "asynchronous"), SOME)
def test_without_accelerators(
    monkeypatch: pytest.MonkeyPatch,
    row: tuple[str, str, str, int, str, str],
    policy: FallbackPolicy,
    revision: str,
    asynchronous: bool,
) -> None:
    check_without_accelerators(monkeypatch, row, policy, revision, asynchronous=asynchronous)


@pytest.mark.slow
@pytest.mark.parametrize("row", CPU_ONLY, ids=list(FAULTS))
@each_row(("policy", "revision", "asynchronous"), ALL)
def test_without_accelerators_at_length(
    monkeypatch: pytest.MonkeyPatch,
    row: tuple[str, str, str, int, str, str],
    policy: FallbackPolicy,
    revision: str,
    asynchronous: bool,
) -> None:
    check_without_accelerators(monkeypatch, row, policy, revision, asynchronous=asynchronous)


def check_without_accelerators(
    monkeypatch: pytest.MonkeyPatch,
    row: tuple[str, str, str, int, str, str],
    policy: FallbackPolicy,
    revision: str,
    *,
    asynchronous: bool,
) -> None:
    fault, former, current, fallen, former_denied, current_denied = row
    install(monkeypatch, INVENTORIES["none"])
    faults = Faults(**FAULTS[fault])
    began = time.perf_counter()
    page, warned = visit(revision, asynchronous=asynchronous, fallback=policy, faults=faults)
    took = time.perf_counter() - began
    here, there = (former_denied, current_denied) if policy == "deny" else (former, current)
    expected = here if revision == FORMER else there or here
    assert "; ".join(page.trace) == expected
    assert page.numbers == numbers_of(expected)
    assert len(warned) == (fallen if policy == "allow" else 0)
    # The counters know every attempt, and every number that was computed or not.
    assert faults.contexts == len(page.trace)
    answers = faults.contexts + faults.builds + faults.computes
    assert took >= (faults.delay or 0) * answers


@pytest.mark.parametrize("fault", FAULTS)
@each_row(("policy", "revision", "asynchronous"), NEARLY_NONE)
def test_on_a_device_that_has_everything(fault: str, policy: FallbackPolicy, revision: str, asynchronous: bool) -> None:
    check_on_a_device_that_has_everything(fault, policy, revision, asynchronous=asynchronous)


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
@each_row(("policy", "revision", "asynchronous"), ALL)
def test_on_a_device_that_has_everything_at_length(fault: str, policy: FallbackPolicy, revision: str, asynchronous: bool) -> None:
    check_on_a_device_that_has_everything(fault, policy, revision, asynchronous=asynchronous)


def check_on_a_device_that_has_everything(fault: str, policy: FallbackPolicy, revision: str, *, asynchronous: bool) -> None:
    """Of a profile whose backend runs all device types: no policy has anything to say."""
    page, warned = visit(revision, asynchronous=asynchronous, fallback=policy, profile="coreml", faults=Faults(**FAULTS[fault]))
    assert "; ".join(page.trace) == EVERYTHING[fault][revision == CURRENT]
    assert warned == []


#: Machines, and what the page sees there under each policy, without a fault: the trace, and what the warnings begin with.
MACHINES: list[tuple[str, FallbackPolicy, str, list[str]]] = [
    ("none, Windows", "allow", "npu 2 4 6", ['deviceType "npu" runs on the CPU here']),
    ("none, Windows", "deny", CPU, []),
    ("CUDA is broken", "allow", "npu 2 4 6", ['deviceType "npu" runs on the CPU here']),
    ("CUDA is broken", "silent", "npu 2 4 6", []),
    ("CUDA is broken", "deny", CPU, []),
    ("plug-ins without a device", "allow", "npu 2 4 6", ['deviceType "npu" runs on the CPU here']),
    ("plug-ins without a device", "deny", CPU, []),
]


@each_row(("machine", "policy", "expected", "warning"), MACHINES)
def test_on_other_machines(
    monkeypatch: pytest.MonkeyPatch, machine: str, policy: FallbackPolicy, expected: str, warning: list[str]
) -> None:
    install(monkeypatch, INVENTORIES[machine])
    for revision, asynchronous in VARIANTS:
        page, warned = visit(revision, asynchronous=asynchronous, fallback=policy)
        assert "; ".join(page.trace) == expected
        assert [text.split(":")[0] for text in warned] == warning


#: Profiles of browsers, likewise.
BROWSERS: list[tuple[str, FallbackPolicy, str]] = [
    # Everything runs on the CPU there.
    ("tflite", "silent", "npu 2 4 6"),
    ("tflite", "deny", CPU),
    # The old versions of DirectML run what asks for an NPU on the GPU.
    ("dml-fl4_0", "silent", "npu 2 4 6"),
    ("dml-fl4_0", "deny", "npu refused; gpu 2 4 6"),
    ("dml", "deny", "npu 2 4 6"),
    ("ort", "deny", "npu 2 4 6"),
]


@each_row(("profile", "policy", "expected"), BROWSERS)
def test_in_other_browsers(profile: str, policy: FallbackPolicy, expected: str) -> None:
    for revision, asynchronous in VARIANTS:
        page, warned = visit(revision, asynchronous=asynchronous, fallback=policy, profile=profile)
        assert "; ".join(page.trace) == expected
        assert warned == []
