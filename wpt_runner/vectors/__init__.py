"""Conformance cases of web-platform-tests as data: recorded as JSON, replayed through the public API."""

from __future__ import annotations

from webnn.wpt_runner.vectors.cases import Case, Outcome, Status, load_cases
from webnn.wpt_runner.vectors.comparison import Difference, distance
from webnn.wpt_runner.vectors.corrections import Correction, check_corrections, load_corrections
from webnn.wpt_runner.vectors.files import bundled_archives
from webnn.wpt_runner.vectors.replay import run_case

__all__ = [
    "Case",
    "Correction",
    "Difference",
    "Outcome",
    "Status",
    "bundled_archives",
    "check_corrections",
    "distance",
    "load_cases",
    "load_corrections",
    "run_case",
]
