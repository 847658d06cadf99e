"""The demo: the network reads digits, and what it prints fits the terminal."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from tests.context.devices.inventories import INVENTORIES, install
from webnn.demo import command as show
from webnn.demo import network

CPU = "CPUExecutionProvider"


@pytest.fixture(scope="module")
def digits() -> network.Digits:
    return network.load_digits()


@pytest.fixture(scope="module")
def report(digits: network.Digits) -> network.Report:
    return network.recognise(digits, "cpu")


def make_console(width: int = 80, *, encoding: str = "utf-8", color: Any = None) -> Console:
    file = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    return Console(
        file=file,
        width=width,
        force_terminal=color is not None,
        color_system=color,
        highlight=False,
        no_color=False,
        legacy_windows=False,
        _environ={},
    )


def printed(console: Console) -> str:
    file = console.file
    assert isinstance(file, io.TextIOWrapper)
    file.flush()
    assert isinstance(file.buffer, io.BytesIO)
    return file.buffer.getvalue().decode(file.encoding)


def test_data(digits: network.Digits) -> None:
    assert digits.images.shape == (300, 8, 8)
    assert digits.images.max() == 16
    assert sorted(set(digits.labels.tolist())) == list(range(10))
    assert sorted(digits.weights) == sorted(
        [f"conv{layer}_{part}" for layer in (1, 2, 3) for part in ("filter", "bias")] + ["dense_weight", "dense_bias"]
    )


def test_reads_the_digits(report: network.Report) -> None:
    assert report.accuracy == pytest.approx(298 / 300)
    assert [(int(report.answers[index]), int(report.labels[index])) for index in report.wrong] == [(9, 3), (8, 2)]
    assert report.confidence.min() > 0.1
    assert report.confidence.max() <= 1 + 1e-6
    assert min(report.load_seconds, report.build_seconds, report.compute_seconds) > 0
    assert report.providers == [CPU]
    assert report.note == ""


@pytest.mark.parametrize(
    ("inventory", "reason"), [("none", "DmlExecutionProvider exists for"), ("CUDA is broken", "does not load: libcublas")]
)
def test_notes_a_missing_device(monkeypatch: pytest.MonkeyPatch, digits: network.Digits, inventory: str, reason: str) -> None:
    install(monkeypatch, INVENTORIES[inventory])
    report = network.recognise(digits, "npu")
    assert report.providers == [CPU]
    assert 'deviceType "npu" runs on the CPU here' in report.note
    assert reason in report.note


@pytest.mark.parametrize(("count", "expected"), [(0, 2), (1, 2), (2, 2), (3, 3), (12, 12), (300, 300), (1000, 300)])
def test_chooses_as_many_as_wanted(report: network.Report, count: int, expected: int) -> None:
    chosen = show.choose(report, count)
    assert len(set(chosen)) == len(chosen) == expected
    assert chosen[-2:] == report.wrong


def test_chooses_each_digit_once_before_any_twice(report: network.Report) -> None:
    labels = report.labels[show.choose(report, 22)]
    assert labels[:20].tolist() == [*range(10), *range(10)]


def test_draws_shades(digits: network.Digits) -> None:
    image = np.array([[0, 4, 8, 12, 16]] * 2, np.uint8)
    assert [line.plain for line in show.draw(image, make_console())] == ["  ░░▒▒▓▓██"] * 2
    assert [line.plain for line in show.draw(image, make_console(encoding="ascii"))] == ["  ::++##@@"] * 2
    assert {line.cell_len for line in show.draw(digits.images[0], make_console())} == {16}


@pytest.mark.parametrize("color", ["truecolor", "256"])
def test_draws_greys(color: str) -> None:
    console = make_console(color=color)
    [line] = show.draw(np.array([[0, 16], [16, 0]], np.uint8), console)
    assert line.plain == "▀▀"
    colors = [(span.style.color.triplet, span.style.bgcolor.triplet) for span in line.spans]  # type: ignore[union-attr]
    assert colors == [((44, 44, 44), (255, 255, 255)), ((255, 255, 255), (44, 44, 44))]


@pytest.mark.parametrize(("color", "encoding"), [("standard", "utf-8"), ("truecolor", "ascii")])
def test_draws_no_greys_where_they_would_be_lost(color: str, encoding: str) -> None:
    lines = show.draw(np.zeros((8, 8), np.uint8), make_console(color=color, encoding=encoding))
    assert [line.plain for line in lines] == [" " * 16] * 8


@pytest.mark.parametrize("width", [20, 40, 80, 120, 200])
@pytest.mark.parametrize(("color", "encoding"), [(None, "utf-8"), (None, "ascii"), ("truecolor", "utf-8")])
def test_cards_fit(digits: network.Digits, report: network.Report, width: int, color: str | None, encoding: str) -> None:
    console = make_console(width, color=color, encoding=encoding)
    with console.capture() as capture:
        show.print_cards(console, digits.images, report, show.choose(report, 12))
    lines = [console.render_str(line) for line in capture.get().splitlines()] if color is None else []
    assert all(line.cell_len <= width for line in lines)
    assert ("\x1b" in capture.get()) == (color is not None)
    if width >= 40:
        for text in ("reads 0", "reads 9", "shows 3", "90.5%", "54.0%"):
            assert text in capture.get()


def test_no_cards(digits: network.Digits, report: network.Report) -> None:
    console = make_console()
    show.print_cards(console, digits.images, report, [])
    assert printed(console) == ""


@pytest.mark.parametrize(("encoding", "unit"), [("utf-8", "µs"), ("ascii", "us")])
def test_figures(report: network.Report, encoding: str, unit: str) -> None:
    console = make_console(encoding=encoding)
    show.print_figures(console, report, "Engine 1.2", "cpu")
    text = printed(console)
    for fragment in ("99.33%", "298 of 300 images", "Engine 1.2", f"{unit} for each", f"runs on {CPU}"):
        assert fragment in text
    assert [line.split()[0] for line in text.splitlines()] == ["accuracy", "load", "build", "compute", "device"]
