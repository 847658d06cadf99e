"""The result of a model. It can be written as JSON, and read again."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from tools.evidence.models.catalog import Model

__all__ = ["TOLERANCE", "Place", "Result", "Status", "Times", "find_fault"]

#: The largest error, as a part of the largest value of an output.
TOLERANCE = 1e-5
Status = Literal["ok", "sensitive", "wrong", "refused", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """Median CPU times, in seconds. The judge has none if it does not compute.

    Attributes:
        load: The import of the file.
        build: The build of the imported graph on the emulator.
        run: One inference on the emulator: writing the inputs, the run, reading the outputs.
        fast: The same with fast numerics.
        session: The judge reads the file.
        reference: One inference of the judge.
    """

    load: float
    build: float
    run: float
    fast: float
    session: float | None = None
    reference: float | None = None

    @property
    def ratios(self) -> tuple[float, float, float] | None:
        """The times of the import, of an inference and of a fast one against the judge's."""
        if not self.session or not self.reference:
            return None
        return self.load / self.session, self.run / self.reference, self.fast / self.reference

    @property
    def start(self) -> float | None:
        """The time of the import and the build against that of the judge's session."""
        return (self.load + self.build) / self.session if self.session else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """How a model builds with a device profile.

    Attributes:
        profile: The profile; empty without one.
        verdict: As `webnn check` gives it: "builds", "refused" and others.
        device: The device that the profile asks for.
        operators: How many operators the graph has.
        left: How many operators leave the device for the CPU, by the operation.
        why: Why it does not build.
    """

    profile: str
    verdict: str
    device: str = ""
    operators: int = 0
    left: Mapping[str, int] = field(default_factory=dict)
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The result of a model.

    Attributes:
        name: The model.
        status: ``"ok"``, ``"wrong"`` (an error above the tolerance), ``"sensitive"`` (such an error, but float64 is about as far from the
            judge), ``"refused"`` (by the import), or ``"failed"`` (any other exception, or the time or the memory was not enough).
        message: The error.
        difference: The largest error, as a part of the largest value of its output; None if there is no such number.
        spread: How far the judge's own outputs move if the inputs change in the last bit, measured in the same way; or, if an error is
            above the tolerance, if the weights change by up to a millionth.
        fast: The largest error with fast numerics.
        is_fast_right: The error with fast numerics is above the tolerance because of a kernel that they allow, or of sensitivity.
        ours: The largest error against what float64 gives, measured in the same way, if the error is above the tolerance.
        theirs: The same for the judge.
        largest: The largest value of an output, by the output's name.
        bytes: The size of the file.
        nodes: How many nodes the file has.
        folded: How many of them are known at import.
        operators: How many operators the graph has.
        times: The times; None if it was not timed.
        places: How it builds for a device of each kind.
        profiles: The number of device profiles for which it was built.
        refusals: Why it does not build, by the profile.
    """

    name: str
    status: Status
    message: str = ""
    difference: float | None = None
    spread: float | None = None
    fast: float | None = None
    is_fast_right: bool = False
    ours: float | None = None
    theirs: float | None = None
    largest: Mapping[str, float] = field(default_factory=dict)
    bytes: int = 0
    nodes: int = 0
    folded: int = 0
    operators: int = 0
    times: Times | None = None
    places: Sequence[Place] = ()
    profiles: int = 0
    refusals: Mapping[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON's values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> Result:
        """Read it from JSON's values. Raises `TypeError` if they are not those of a result."""
        times = None if row["times"] is None else Times(**row["times"])
        return cls(**{**row, "times": times, "places": tuple([Place(**each) for each in row["places"]])})


def find_fault(model: Model, result: Result) -> str:
    """Return why the result of a model is not what was expected; empty if it is."""
    known = model.known
    if known is None:
        if result.status not in ("ok", "sensitive"):
            return f"{result.status}: {result.message}"
        return _find_fast_fault(result, TOLERANCE)
    error = math.inf if result.status == "wrong" and result.difference is None else result.difference or 0
    fits = result.status == known.status or (known.status == "unsteady" and result.status in ("ok", "wrong"))
    if fits and known.message in result.message and error <= max(TOLERANCE, known.most):
        return "" if result.status == "refused" else _find_fast_fault(result, max(TOLERANCE, known.fast))
    found = f"{result.status}: {result.message}" if result.message else result.status
    most = f" and an error of at most {known.most:g}" if known.most else ""
    return f"must be {known.status} with {known.message!r} in the message{most}, because {known.reason} Got {found}"


def _find_fast_fault(result: Result, most: float) -> str:
    error = math.inf if result.fast is None else result.fast
    return "" if error <= most or result.is_fast_right else f"with fast numerics the error must be at most {most:g}, got {error:.1e}"
