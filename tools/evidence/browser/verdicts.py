"""Verdicts on the results of modules: built or refused, right or wrong, and whether that is known."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal

import numpy as np

import webnn
from tools.evidence.browser.chromium import Result

__all__ = ["KNOWN", "Known", "Status", "Verdict", "compare", "faults", "judge", "load_known"]

Array = np.ndarray[Any, np.dtype[Any]]
KNOWN = Path(__file__).resolve().with_name("known.toml")
Status = Literal["ok", "wrong", "refused", "failed"]
#: The largest difference that is right, as a part of the largest expected value; 0 for integers.
_TOLERANCES = {"float32": 1e-5, "float16": 4e-3}


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The verdict on a module.

    Attributes:
        name: The module.
        status: ``"ok"``, ``"wrong"`` (built, other numbers), ``"refused"`` (not built), or ``"failed"`` (built, not computed).
        message: The error.
        difference: The largest difference of a number from the one that is wanted, as a part of the largest value.
    """

    name: str
    status: Status
    message: str = ""
    difference: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """Modules that are known not to be ok.

    Attributes:
        modules: Their names, which may have ``*``.
        status: Their status.
        message: A part of their message.
        reason: Why.
    """

    modules: Sequence[str]
    status: Status
    message: str
    reason: str

    def fits(self, verdict: Verdict) -> bool:
        """Tell whether it explains a verdict."""
        named = any(fnmatchcase(verdict.name, each) for each in self.modules)
        return named and verdict.status == self.status and self.message in verdict.message


def judge(name: str, description: webnn.GraphDescription, expected: Mapping[str, Array], result: Result) -> Verdict:
    """Compare the result of a module with the numbers that it must have."""
    if not result.built:
        return Verdict(name=name, status="refused", message=result.error)
    if result.error:
        return Verdict(name=name, status="failed", message=result.error)
    known, worst, message = description.descriptors(), 0.0, ""
    for output, value in description.outputs.items():
        dataType, wanted = known[value].dataType, np.asarray(expected[output])
        content = result.outputs.get(output, b"")
        if len(content) != wanted.nbytes:
            return Verdict(name=name, status="wrong", message=f"{output} has {len(content)} bytes, not {wanted.nbytes}", difference=np.inf)
        found = np.frombuffer(content, wanted.dtype).reshape(wanted.shape)
        difference = compare(found, wanted)
        worst = max(worst, difference)
        if difference > _TOLERANCES.get(dataType, 0):
            message = message or f"{output} of {dataType} differs by {difference:.1e} of the largest value"
    return Verdict(name=name, status="wrong" if message else "ok", message=message, difference=worst)


def compare(found: Array, wanted: Array) -> float:
    """Return the largest difference as a part of the largest value; infinite where one is NaN or infinite and the other is not."""
    if found.dtype.kind != "f":
        return 0.0 if np.array_equal(found, wanted) else float("inf")
    exact, near = wanted.astype(np.float64), found.astype(np.float64)
    finite = np.isfinite(exact)
    if not np.array_equal(exact[~finite], near[~finite], equal_nan=True) or not np.isfinite(near[finite]).all():
        return float("inf")
    exact, near = exact[finite], near[finite]
    # A denormal number may become 0.
    largest = max(float(np.abs(exact).max(initial=0)), 1e-30)
    return float(np.abs(near - exact).max(initial=0)) / largest


def load_known(path: Path = KNOWN) -> list[Known]:
    """Read the expectations."""
    with path.open("rb") as stream:
        return [Known(**{"message": "", **each}) for each in tomllib.load(stream).get("known", [])]


def faults(verdicts: Iterable[Verdict], known: Sequence[Known], *, all_modules: bool) -> list[str]:
    """Return what was not expected: a module that is not ok for no known reason, and entries that explain none.

    Args:
        verdicts: The verdicts.
        known: The expectations.
        all_modules: The modules are all that the expectations are about: every entry must explain one.
    """
    lines, used = [], set[int]()
    for verdict in verdicts:
        fitting = {number for number, each in enumerate(known) if each.fits(verdict)}
        used |= fitting
        if verdict.status != "ok" and not fitting:
            lines.append(f"{verdict.name}: {verdict.status}: {verdict.message}")
    if all_modules:
        unused = [each for number, each in enumerate(known) if number not in used]
        lines += [f"the expectation {', '.join(each.modules)} ({each.status}) fits no module any more: {each.reason}" for each in unused]
    return lines
