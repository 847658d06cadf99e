"""Corrections of recorded cases, and faults of providers, each with its reason.

A correction is for wrong data in a case, and for a case that a later draft refuses. A corrected case still runs and must pass with the
right data, within its own tolerance; a refused one must fail with the error that the correction names. The corrections of a level of
web-platform-tests are the tables ``[[correction]]`` in ``expectations/<level>.toml``.

A fault is for cases that a provider computes wrong. They still run, and must fail in the way that the fault names. The faults of a provider
are the tables ``[[fault]]`` in ``expectations/<level>.<provider>.toml``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field, model_validator

from webnn.context.devices.selection import Device
from webnn.wpt_runner.expectations import bundled
from webnn.wpt_runner.expectations.reading import find_provider_file
from webnn.wpt_runner.foreign import load_toml
from webnn.wpt_runner.vectors.cases import Outcome, Status
from webnn.wpt_runner.vectors.format import CaseError, Model, parse

__all__ = ["Correction", "Fault", "check_corrections", "check_faults", "load_corrections", "load_faults", "read_corrections"]

_TABLE, _FAULTS = "correction", "fault"
M = TypeVar("M", bound=Model)
_Text = Annotated[str, Field(pattern=r"\S")]


class Correction(Model):
    """A fault of a case: some of the values that it expects are wrong, or the draft refuses all of it.

    Attributes:
        file: The stem of the file that holds the case.
        output: The output at fault.
        elements: The right values by the index into the flattened output.
        error: A part of the error's message, if the draft refuses the case; there are no ``output`` and ``elements`` then.
    """

    case: str
    file: str
    reason: _Text
    output: str = ""
    elements: dict[Annotated[str, Field(pattern=r"^[0-9]{1,10}$")], float] = Field(default={}, min_length=1)
    error: _Text = ""

    @model_validator(mode="after")
    def _check(self) -> Correction:
        if bool(self.elements) == bool(self.error) or bool(self.output) != bool(self.elements):
            raise ValueError("must have either 'elements' or 'error', and 'output' with the former")
        return self

    @property
    def values(self) -> dict[int, float]:
        """The right values, by index."""
        return {int(index): value for index, value in self.elements.items()}


class Fault(Model):
    """A fault of a provider, which makes cases fail.

    Attributes:
        file: The stem of the file that holds the cases.
        cases: Their names.
        status: The way in which they fail.
        adapter: A part of the name of the devices that have the fault; empty if all have it.
        program: The program in the repository that shows the fault in ONNX Runtime alone.
    """

    file: str
    cases: Annotated[list[_Text], Field(min_length=1)]
    status: Literal["failed", "error", "crashed", "timeout"] = "failed"
    adapter: str = ""
    program: _Text
    reason: _Text


def load_corrections(level: str) -> dict[str, Correction]:
    """Read the corrections that belong to a level of web-platform-tests, for example ``"2024-06"``, by the case's name."""
    file = bundled().get(level)
    return {} if file is None else _read(file, file.name)


def load_faults(level: str, device: Device) -> dict[str, Fault]:
    """Read the faults that a device has in the cases of a level, by the case's name."""
    file = find_provider_file(level, device.provider)
    faults = [] if file is None else _read_tables(file, file.name, _FAULTS, Fault)
    return {name: fault for fault in faults if fault.adapter in device.name for name in fault.cases}


def read_corrections(path: Path) -> dict[str, Correction]:
    """Read the corrections of a TOML file, by the case's name.

    Raises:
        OSError: The file cannot be read.
        ValueError: It is not TOML, has no table ``[[correction]]``, or has an invalid one.
    """
    corrections = _read(path, str(path))
    if not corrections:
        raise ValueError(f"{path} has no table [[{_TABLE}]]")
    return corrections


def check_corrections(corrections: Mapping[str, Correction], outcomes: Iterable[Outcome]) -> list[str]:
    """Return the stale corrections: those of no case or of no element, or of a case that passes without them."""
    by_name = {outcome.case.name: outcome for outcome in outcomes}
    stale: list[str] = []
    for name, correction in corrections.items():
        if name not in by_name:
            stale.append(f"there is no case {name!r}")
        elif by_name[name].status is Status.PASSED:
            stale.append(f"the case {name!r} passes without its correction")
        else:
            stale += _check_elements(correction, by_name[name])
    return stale


def check_faults(faults: Mapping[str, Fault], outcomes: Iterable[Outcome]) -> list[str]:
    """Return the stale faults: those of no case, or of a case that passes."""
    by_name = {outcome.case.name: outcome for outcome in outcomes}
    stale = [f"there is no case {name!r}, of which a fault is expected" for name in faults if name not in by_name]
    return stale + [
        f"the case {name!r} passes, although a fault is expected" for name in faults if name in by_name and by_name[name].passed
    ]


def _check_elements(correction: Correction, outcome: Outcome) -> list[str]:
    if outcome.status is Status.ERROR or correction.error:
        return []
    outputs = outcome.case.graph["expectedOutputs"]
    if correction.output not in outputs:
        return [f"the case {correction.case!r} has no output {correction.output!r}"]
    data = outputs[correction.output]["data"]
    missing = [index for index in correction.values if isinstance(data, list) and index >= len(data)]
    return [f"the output {correction.output!r} of the case {correction.case!r} has no elements {missing}"] if missing else []


def _read(file: Traversable, shown: str) -> dict[str, Correction]:
    corrections: dict[str, Correction] = {}
    for number, correction in enumerate(_read_tables(file, shown, _TABLE, Correction)):
        if correction.case in corrections:
            raise ValueError(f"{shown}: {_TABLE}[{number}]: there is one for the case {correction.case!r} already")
        corrections[correction.case] = correction
    return corrections


def _read_tables(file: Traversable, shown: str, name: str, model: type[M]) -> list[M]:
    """Read the tables of a name."""
    try:
        text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{shown} is not TOML: {error}") from None
    tables: Any = load_toml(text, shown).get(name, [])
    if not isinstance(tables, list):
        raise ValueError(f"{shown}: {name} must be an array of tables [[{name}]]")
    try:
        return [parse(model, table, f"{name}[{number}]") for number, table in enumerate(tables)]
    except CaseError as error:
        raise ValueError(f"{shown}: {error}") from None
