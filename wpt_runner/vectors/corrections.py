"""Corrections of recorded cases, each with its reason: wrong data in a case, and cases that a later draft refuses.

A corrected case still runs and must pass with the right data, within its own tolerance; a refused one must fail with the error that the
correction names. The corrections of a level of web-platform-tests are the tables ``[[correction]]`` in ``expectations/<level>.toml``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Annotated

from pydantic import Field, model_validator

from webnn.wpt_runner.expectations import bundled
from webnn.wpt_runner.foreign import load_toml
from webnn.wpt_runner.vectors.cases import Outcome, Status
from webnn.wpt_runner.vectors.format import CaseError, Model, parse

__all__ = ["Correction", "check_corrections", "load_corrections", "read_corrections"]

_TABLE = "correction"
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


def load_corrections(level: str) -> dict[str, Correction]:
    """Read the corrections that belong to a level of web-platform-tests, for example ``"2024-06"``, by the case's name."""
    file = bundled().get(level)
    return {} if file is None else _read(file, file.name)


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
    try:
        text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{shown} is not TOML: {error}") from None
    content = load_toml(text, shown)
    tables = content.get(_TABLE, [])
    if not isinstance(tables, list):
        raise ValueError(f"{shown}: {_TABLE} must be an array of tables [[{_TABLE}]]")
    corrections: dict[str, Correction] = {}
    for number, table in enumerate(tables):
        try:
            correction = parse(Correction, table, f"{_TABLE}[{number}]")
        except CaseError as error:
            raise ValueError(f"{shown}: {error}") from None
        if correction.case in corrections:
            raise ValueError(f"{shown}: {_TABLE}[{number}]: there is one for the case {correction.case!r} already")
        corrections[correction.case] = correction
    return corrections
