"""`Faults`: its parameters, and which calls it hits."""

from __future__ import annotations

import itertools
import re
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tests.support import each_row
from webnn import ML
from webnn.context.faults import Faults

# The parameters

NUMBER = 'must be a number, several of them, or "all"'
SECONDS = "delay must be a number of seconds, from 0 to"
BAD: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"refuse": "tpu"}, ValueError, "refuse must name device types, of ['cpu', 'gpu', 'npu'], got 'tpu'"),
    ({"refuse": ["gpu", "NPU"]}, ValueError, "got 'NPU'"),
    ({"refuse": [["gpu"]]}, ValueError, "got ['gpu']"),
    ({"refuse": b"gpu"}, ValueError, "got 103"),
    ({"refuse": 1}, TypeError, "refuse must be a device type, several of them, or a mapping from them to messages, got 1"),
    ({"refuse": True}, TypeError, "got True"),
    ({"refuse": {"gpu": 3}}, TypeError, "refuse['gpu'] must be a message, a string, got 3"),
    ({"refuse": {"gpu": None}}, TypeError, "got None"),
    ({"failBuild": 0}, ValueError, f"failBuild {NUMBER}, at least 1, got 0"),
    ({"failBuild": -1}, ValueError, "got -1"),
    ({"failBuild": 1.5}, TypeError, f"failBuild {NUMBER} (an int), got 1.5"),
    ({"failBuild": True}, TypeError, "got True"),
    ({"failBuild": "none"}, TypeError, "got 'none'"),
    ({"failBuild": {1: "x"}}, TypeError, "got {1: 'x'}"),
    ({"failCompute": [1, 0]}, ValueError, f"failCompute {NUMBER}, at least 1, got 0"),
    ({"failCompute": [1, "2"]}, TypeError, "got '2'"),
    ({"failCompute": [True]}, TypeError, "got True"),
    ({"failCompute": float("nan")}, TypeError, "got nan"),
    ({"failCompute": range(3)}, ValueError, "got 0"),
    ({"failCompute": range(3, -1, -1)}, ValueError, "got 0"),
    ({"failCompute": itertools.count(1)}, ValueError, "failCompute must have at most 100000 numbers, or be a range"),
    ({"memoryLimit": -1}, ValueError, "memoryLimit must be a number of bytes, at least 0, got -1"),
    ({"memoryLimit": 1e6}, TypeError, "memoryLimit must be a number of bytes (an int), got 1000000.0"),
    ({"memoryLimit": "1 MB"}, TypeError, "got '1 MB'"),
    ({"memoryLimit": False}, TypeError, "got False"),
    ({"loseAfter": 0}, ValueError, "loseAfter must be a number of computations, at least 1, got 0"),
    ({"loseAfter": "all"}, TypeError, "loseAfter must be a number of computations (an int), got 'all'"),
    ({"loseAfter": [1]}, TypeError, "got [1]"),
    ({"delay": -0.1}, ValueError, SECONDS),
    ({"delay": float("nan")}, ValueError, SECONDS),
    ({"delay": float("inf")}, ValueError, SECONDS),
    ({"delay": 10**400}, ValueError, SECONDS),
    ({"delay": True}, TypeError, "delay must be a number of seconds, got True"),
    ({"delay": "1"}, TypeError, "got '1'"),
    ({"delay": 1j}, TypeError, "got 1j"),
]


@each_row(("parameters", "kind", "message"), BAD)
def test_what_is_no_parameter(parameters: dict[str, Any], kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=rf"^Faults: .*{re.escape(message)}"):
        Faults(**parameters)
    # The attribute asks for the same, and keeps what it had.
    faults, (name, bad) = Faults(), next(iter(parameters.items()))
    before = getattr(faults, name)
    with pytest.raises(kind, match=r"^Faults: "):
        setattr(faults, name, bad)
    assert getattr(faults, name) == before


GOOD: list[tuple[str, Any, Any]] = [
    ("refuse", "npu", {"npu": ""}),
    ("refuse", ("npu", "gpu", "npu"), {"npu": "", "gpu": ""}),
    ("refuse", {"gpu": "busy"}, {"gpu": "busy"}),
    ("refuse", [], {}),
    ("refuse", None, {}),
    ("failBuild", 3, 3),
    ("failBuild", np.int64(3), 3),
    ("failBuild", 10**30, 10**30),
    ("failBuild", [3, 1, 3], {1, 3}),
    ("failBuild", np.array([1, 2]), {1, 2}),
    ("failBuild", iter([1, 2]), {1, 2}),
    ("failBuild", [], set()),
    ("failCompute", range(1, 10**12), range(1, 10**12)),
    ("failCompute", range(0), range(0)),
    ("failCompute", "all", "all"),
    ("failCompute", None, None),
    ("memoryLimit", 0, 0),
    ("memoryLimit", 2**70, 2**70),
    ("loseAfter", np.int8(1), 1),
    ("delay", 0, 0.0),
    ("delay", Fraction(1, 4), 0.25),
    ("delay", np.float32(0.5), 0.5),
]


@each_row(("name", "given", "read"), GOOD)
def test_parameters_are_attributes(name: str, given: Any, read: Any) -> None:
    faults = Faults(**{name: given})
    assert getattr(faults, name) == read


def test_the_refusals_are_read_only() -> None:
    refused = {"gpu": ""}
    faults = Faults(refuse=refused)
    refused["npu"] = ""
    assert dict(faults.refuse) == {"gpu": ""}
    with pytest.raises(TypeError):
        faults.refuse["npu"] = ""  # type: ignore[index]


def test_parameters_have_names() -> None:
    with pytest.raises(TypeError):
        Faults("npu")  # type: ignore[misc]
    with pytest.raises(TypeError, match=r"^ML: faults must be a webnn\.Faults, got 'npu'$"):
        ML(faults="npu")


def test_what_is_armed_can_be_read() -> None:
    faults = Faults(refuse=["npu", "gpu"], failBuild="all", failCompute=[2, 1], memoryLimit=10, loseAfter=3, delay=1)
    assert repr(faults) == (
        "<Faults refuse=['npu', 'gpu'], failBuild=\"all\", failCompute=[1, 2], loseAfter=3, memoryLimit=10, delay=1.0; "
        "contexts=0, builds=0, computes=0>"
    )
    assert repr(Faults()) == "<Faults nothing armed; contexts=0, builds=0, computes=0>"
    # Faults that have happened are not armed any more.
    faults = Faults(failCompute=range(2, 0, -1), loseAfter=2)
    for armed in ("failCompute=range(2, 0, -1), loseAfter=2", "failCompute=range(2, 0, -1), loseAfter=2", "nothing armed"):
        assert repr(faults).startswith(f"<Faults {armed};")
        faults._judgeCompute("compute", lambda: 0)
    # No machine counts to the end of this one.
    faults = Faults(failBuild=range(1, 10**30, 2))
    faults._judgeBuild(lambda: 0)
    assert repr(faults).startswith(f"<Faults failBuild=range(1, {10**30}, 2);")


# Which calls are hit

HITS: list[tuple[Any, str]] = [
    (None, "....."),
    (1, "x...."),
    (3, "..x.."),
    (9, "....."),
    ([1, 4], "x..x."),
    ([], "....."),
    (range(2, 4), ".xx.."),
    (range(1, 10**15, 2), "x.x.x"),
    (range(0), "....."),
    ("all", "xxxxx"),
]


@each_row(("which", "expected"), HITS)
@each_row("setting", ["failBuild", "failCompute"])
def test_which_calls_fail(setting: str, which: Any, expected: str) -> None:
    faults = Faults()
    judge = faults._judgeBuild if setting == "failBuild" else (lambda size: faults._judgeCompute("compute", size))
    # The numbers begin when it is armed, not when the object is made.
    judge(lambda: 0)
    setattr(faults, setting, which)
    for _ in range(2):
        assert "".join("." if judge(lambda: 0).error is None else "x" for _ in expected) == expected
        # And again after a reset, which keeps what is armed.
        faults.reset()
        assert (faults.contexts, faults.builds, faults.computes) == (0, 0, 0)


def test_a_loss_comes_once() -> None:
    faults = Faults(loseAfter=2)
    assert [bool(faults._judgeCompute("compute", lambda: 0).loses) for _ in range(5)] == [False, True, False, False, False]


def test_threads_share_the_numbers() -> None:
    faults = Faults(failCompute=range(1, 1001, 2))

    def judge(_: int) -> list[str]:
        errors = []
        for _ in range(250):
            errors.append(faults._judgeCompute("compute", lambda: 0).error)
            faults.memoryLimit = None
        return [str(error) for error in errors if error is not None]

    with ThreadPoolExecutor(4) as threads:
        failed = [text for texts in threads.map(judge, range(4)) for text in texts]
    assert faults.computes == 1000
    # Each number was given out once.
    assert sorted(failed) == sorted(f"compute: an injected fault (failCompute={number})" for number in range(1, 1001, 2))
