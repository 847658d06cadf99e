"""The table of a terminal."""

from __future__ import annotations

from tests.tools.evidence.models.toys import RELU
from tools.evidence.models.report import make_table
from tools.evidence.models.result import Result, Times


def test_a_ratio_above_its_bar_has_a_star() -> None:
    times = Times(load=2, build=1, run=1.2, fast=1.05, session=1, reference=1)
    results = [
        Result(name="relu", status="ok", difference=0.0, fast=1e-7, nodes=3, operators=2, times=times, profiles=4, refusals={"a": "no"}),
        Result(name="relu", status="refused", nodes=3),
    ]
    table = make_table({"relu": RELU}, results)
    rows = list(zip(*(column.cells for column in table.columns), strict=True))
    assert rows[0][:7] == ("relu", "ok", "3", "0", "2", "0.0e+00", "")
    assert rows[0][7:] == ("1.0e-07", "2000", "1000.00", "2.00*", "1200.00", "1000.00", "1.20*", "1.05 ", "3/4")
    assert rows[1] == ("relu", "refused", "3", *[""] * 13)
