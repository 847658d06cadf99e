"""Progress bars in notebooks."""

from __future__ import annotations

from typing import Any

import IPython.display
import numpy as np
import pytest

import webnn
from tests.support import CURRENT, make_context
from webnn.notebook import progress


class Bar:
    """Stands for a bar of IPython."""

    made: list[Bar]

    def __init__(self, total: int) -> None:
        self.total, self.shown = total, list[int]()
        self.made.append(self)

    def display(self) -> None:
        self.shown.append(0)

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "progress":
            self.shown.append(value)
        else:
            super().__setattr__(name, value)


@pytest.fixture
def bars(monkeypatch: pytest.MonkeyPatch) -> list[Bar]:
    monkeypatch.setattr(Bar, "made", [], raising=False)
    monkeypatch.setattr(IPython.display, "ProgressBar", Bar)
    return Bar.made


def test_a_bar_is_not_drawn_for_every_step(bars: list[Bar], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_INTERVAL", 3600)
    advance = progress.start_bar(1000)
    for _ in range(1000):
        advance(1)
    [bar] = bars
    assert (bar.total, bar.shown) == (1000, [0, 1000])


def test_each_step_is_drawn_if_there_is_time(bars: list[Bar], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_INTERVAL", 0)
    advance = progress.start_bar(3)
    for _ in range(3):
        advance(1)
    assert bars[0].shown == [0, 1, 2, 3]


@pytest.mark.parametrize(("wanted", "count"), [(None, 1), (True, 1), (False, 0)])
def test_a_batch_in_a_notebook(bars: list[Bar], monkeypatch: pytest.MonkeyPatch, wanted: bool | None, count: int) -> None:
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    builder = webnn.MLGraphBuilder(make_context(CURRENT))
    x = builder.input("x", dataType="float32", shape=[1, 2])
    description = webnn.describe({"y": builder.relu(x)})
    rows = np.arange(20, dtype=np.float32).reshape(10, 2)
    found = webnn.batch(description, rows, executor="threads:1", progress=wanted).collect()
    assert np.array_equal(found["y"], rows)
    assert len(bars) == count
    assert all(bar.shown[-1] == bar.total == 10 for bar in bars)
