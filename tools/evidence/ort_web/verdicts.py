"""Verdicts on reports: whether the outputs are right, whether WebNN took part, and whether a failure is known."""

from __future__ import annotations

import base64
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tools.evidence.ort_web.cases import Array, Case, unpack
from tools.evidence.ort_web.processes import Report

__all__ = ["Known", "Verdict", "faults", "judge", "load_known"]

KNOWN = Path(__file__).resolve().with_name("known.toml")
FAILURES = ("wrong", "error", "hang", "crash")


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The verdict on a test.

    Attributes:
        name: The test.
        status: "ok", or one of `FAILURES`.
        message: The error.
        ms: How long it took, in milliseconds.
        calls: How often each method of WebNN was called, for example ``{"MLGraphBuilder.relu": 1}``.
        asked: Each time that the provider was asked about a graph: in how many partitions it took nodes, and of each node the operator, the
            name, and whether it was taken.
        claimed: The operators that ONNX Runtime Web gave to WebNN.
        left: The operators that it kept for itself.
        remarks: Its remarks on these and other operators.
        difference: The largest difference of a floating-point output from the expected one.
        createMs: How long a session took to make, of a test that is run several times.
        runMs: How long each run took.
    """

    name: str
    status: str
    message: str = ""
    ms: float = 0.0
    calls: Mapping[str, int] = field(default_factory=dict)
    asked: Sequence[Mapping[str, Any]] = ()
    claimed: Sequence[str] = ()
    left: Sequence[str] = ()
    remarks: Sequence[str] = ()
    difference: float = 0.0
    createMs: float = 0.0
    runMs: Sequence[float] = ()

    @property
    def reaches(self) -> bool:
        """Whether WebNN took part: it got an operator. A test that hangs or crashes counts, too, because that is unknown then."""
        return self.status in {"hang", "crash"} or bool(self.claimed) or any(call.startswith("MLGraphBuilder.") for call in self.calls)


_SAID = ("ms", "calls", "asked", "claimed", "left", "remarks", "createMs", "runMs")


def judge(case: Case, report: Report, data: bytes) -> Verdict:
    """Compare the outputs of a test with the expected ones.

    Args:
        case: The test.
        report: The report of the test.
        data: The bytes of the test's tensors.
    """
    status, message = report["status"], report.get("message", "")
    difference = 0.0
    if status == "ran":
        message, difference = _compare(case, report["outputs"], data)
        status = "wrong" if message else "ok"
    said = {name: report[name] for name in _SAID if name in report}
    return Verdict(name=case.name, status=status, message=message, difference=difference, **said)


def _compare(case: Case, outputs: Sequence[Mapping[str, Any]], data: bytes) -> tuple[str, float]:
    """Return what is wrong with outputs, or ``""``, and the largest difference of those that were compared."""
    given = {output["name"]: output for output in outputs}
    largest = 0.0
    for expected in case.expected:
        output = given.get(expected.name)
        if output is None:
            return f"{expected.name}: there is no such output, but {', '.join(given)}", largest
        if output["type"] != expected.type:
            return f"{expected.name}: the type must be {expected.type}, got {output['type']}", largest
        if tuple(output["dims"]) != expected.dims:
            return f"{expected.name}: the shape must be {list(expected.dims)}, got {output['dims']}", largest
        must = unpack(data[expected.offset : expected.offset + expected.size], expected.type, expected.dims)
        got = unpack(base64.b64decode(output["data"]), expected.type, expected.dims)
        message = _difference(must, got, case.rtol, case.atol)
        if message:
            return f"{expected.name}: {message}", largest
        if must.dtype.kind == "f":
            finite = np.isfinite(must)
            distances = np.abs(got[finite].astype(np.float64) - must[finite].astype(np.float64))
            largest = max(largest, float(distances.max(initial=0.0)))
    return "", largest


def _difference(must: Array, got: Array, rtol: float, atol: float) -> str:
    """Return where two arrays differ by more than is allowed, or ``""``. Integers may not differ."""
    if must.dtype.kind == "f":
        near = np.isclose(got.astype(np.float64), must.astype(np.float64), rtol=rtol, atol=atol, equal_nan=True)
    else:
        near = got == must
    if near.all():
        return ""
    place = tuple(int(index) for index in np.argwhere(~near)[0])
    count = int(np.count_nonzero(~near))
    return f"{count} of {near.size} elements differ, the first at {list(place)}: it must be {must[place]}, got {got[place]}"


# ---- What is known


@dataclass(frozen=True, slots=True)
class Known:
    """A known failure of a test.

    Attributes:
        status: Its status, one of `FAILURES`.
        reason: Why that is not the emulator's fault.
    """

    status: str
    reason: str


def load_known(path: Path = KNOWN) -> dict[str, Known]:
    """Read the known failures, by the name of the test.

    Raises:
        ValueError: An entry has no reason or no such status, or repeats a test.
    """
    known: dict[str, Known] = {}
    for entry in tomllib.loads(path.read_text(encoding="utf-8"))["known"]:
        status, reason = entry["status"], " ".join(entry["reason"].split())
        if status not in FAILURES or not reason:
            raise ValueError(f"{path.name}: an entry must have a reason, and a status of {', '.join(FAILURES)}, got {entry}")
        for name in entry["tests"]:
            if name in known:
                raise ValueError(f"{path.name}: {name} stands there twice")
            known[name] = Known(status, reason)
    return known


def faults(verdicts: Iterable[Verdict], alone: Mapping[str, Verdict], known: Mapping[str, Known]) -> list[str]:
    """Return what may be a fault of the emulator, or contradicts the known failures: one line each.

    A failure does not count if WebNN had no part in the test, or if the test also fails without WebNN.

    Args:
        verdicts: The verdicts on the tests.
        alone: The verdicts on some of them without WebNN.
        known: The known failures.
    """
    lines = []
    for verdict in verdicts:
        name, status = verdict.name, verdict.status
        expected = known[name].status if name in known else "ok"
        without = alone.get(name)
        if status != expected and not (status != "ok" and (not verdict.reaches or (without is not None and without.status != "ok"))):
            lines.append(f"{name}: {status}, must be {expected}" + (f": {verdict.message}" if verdict.message else ""))
    return lines
