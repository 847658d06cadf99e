"""Placements in a terminal and in a notebook."""

from __future__ import annotations

import io
import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console

from tests.html_page import Page
from webnn.context.placement import OperatorPlacement, Partition, Placement, Transfer
from webnn.context.placement.show import tabulate

CPU = "CPUExecutionProvider"
PLACEMENT = Placement(
    requested="gpu",
    device="gpu",
    profile="toy",
    operators=(
        OperatorPlacement(index=1, operation="conv2d", label="stem", device="gpu", partition=0),
        OperatorPlacement(index=2, operation="reshape", label="", device=""),
        OperatorPlacement(index=4, operation="cumulativeSum", label="", device="cpu", partition=1, reason="not native"),
    ),
    partitions=(
        Partition(device="gpu", operators=(1,), inputBytes=2048, outputBytes=1024),
        Partition(device="cpu", operators=(4,), inputBytes=1024, outputBytes=1024),
    ),
    transfers=(
        Transfer(value="input 'x'", source="cpu", destination="gpu", bytes=2048),
        Transfer(value="conv2d#1", source="gpu", destination="cpu", bytes=1024),
    ),
    constantBytes=7,
)


@pytest.fixture(autouse=True)
def _width(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    # Neither makes plain text coloured.
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TTY_INTERACTIVE", "1")


def test_the_text() -> None:
    assert str(PLACEMENT).splitlines() == [
        'gpu requested, simulated by the device profile "toy"',
        "",
        "#  operation      label  device  partition  reason",
        "1  conv2d         stem   gpu             0",
        "2  reshape               -               -",
        "4  cumulativeSum         cpu             1  not native",
        "",
        "operators   3: 1 on the gpu, 1 on the cpu, 1 with nothing left to run",
        "partitions  2",
        "transfers   2 in each run, 3.00 KiB: 2.00 KiB cpu to gpu, 1.00 KiB gpu to cpu",
        "constants   7 bytes once, at the build",
    ]


def test_providers_instead_of_a_profile() -> None:
    operator = OperatorPlacement(
        index=1, operation="relu", label="", device="cpu", providers=("CUDAExecutionProvider", CPU), reason=f"left to {CPU}"
    )
    lines = str(Placement(requested="gpu", device="gpu", operators=(operator,))).splitlines()
    assert lines[0] == "gpu requested, as the engine assigned it"
    assert lines[2].split() == ["#", "operation", "device", "provider", "partition", "reason"]
    assert lines[3].split() == ["1", "relu", "cpu", "CUDA,", "CPU", "-", "left", "to", "CPU"]


def test_the_reason_of_the_context_stands_once() -> None:
    reason = "there is no GPU"
    operators = tuple(OperatorPlacement(index=index, operation="relu", label="", device="cpu", reason=reason) for index in (1, 2))
    text = str(Placement(requested="gpu", device="cpu", reason=reason, operators=operators))
    assert text.startswith("gpu requested, cpu here, as the engine assigned it: there is no GPU\n")
    assert text.count(reason) == 1
    assert "reason" not in text.splitlines()[2]


def test_a_placement_of_nothing() -> None:
    empty = Placement(requested="cpu", device="cpu")
    assert str(empty).splitlines() == ["cpu requested, as the engine assigned it", "", "operators   0", "partitions  0", "transfers   none"]
    assert "<table" not in empty._repr_html_()
    assert repr(empty) == "<Placement cpu requested: no operators; 0 partition(s), 0 bytes in 0 transfer(s)>"


def test_the_representation_is_one_line() -> None:
    assert repr(PLACEMENT) == (
        '<Placement gpu requested: 1 on gpu, 1 nowhere, 1 on cpu; 2 partition(s), 3072 bytes in 2 transfer(s), simulated by "toy">'
    )


@pytest.mark.parametrize("width", [20, 40, 80, 160, 500])
def test_no_line_is_wider_than_the_terminal(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    reason = "OpenVINOExecutionProvider left CumSum (int64) to CPUExecutionProvider"
    long = replace(PLACEMENT.operators[2], label="a/very/long/label/that/does/not/end/" * 5, reason=reason)
    lines = str(replace(PLACEMENT, operators=(long,))).splitlines()
    assert max(map(len, lines)) <= width
    # Text that does not fit is in the next line.
    assert "cumulativeSum" in lines[3] or width < 80


# Long graphs


def shown_rows(placement: Placement, *, every: bool = False) -> list[dict[str, str]]:
    table = tabulate(placement, every=every)
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


def long_placement(count: int, strays: Any) -> Placement:
    operators = tuple(
        OperatorPlacement(index=index, operation="relu", label="", device="cpu" if index in strays else "gpu", reason="")
        for index in range(1, count + 1)
    )
    return Placement(requested="gpu", device="gpu", operators=operators)


@pytest.mark.parametrize(
    ("count", "strays", "shown"),
    [
        (60, {30}, [*range(1, 61)]),
        (61, {}, [*range(1, 21), "21 more", *range(42, 62)]),
        (100, {1, 50, 51}, [*range(1, 21), "29 more", 50, 51, "29 more", *range(81, 101)]),
        # A gap of one operator is none.
        (100, {22}, [*range(1, 23), "58 more", *range(81, 101)]),
        (1000, range(1, 1001), [*range(1, 121), "860 more", *range(981, 1001)]),
    ],
)
def test_a_long_graph_is_shortened(count: int, strays: Any, shown: list[int | str]) -> None:
    placement = long_placement(count, strays)
    cells, marks = shown_rows(placement), tabulate(placement).marks
    found = [row["operation"] if row["#"] == "..." else int(row["#"]) for row in cells]
    assert found == shown
    hidden = sum(int(each.split()[0]) for each in shown if isinstance(each, str))
    assert hidden + sum(isinstance(each, int) for each in shown) == count
    marked = [place in marks for place, row in enumerate(cells) if row["#"].isdigit()]
    assert marked == [each in strays for each in shown if isinstance(each, int)]
    assert [row["#"] for row in shown_rows(placement, every=True)] == [str(index) for index in range(1, count + 1)]


def test_a_gap_says_what_it_hides() -> None:
    gap = next(row for row in shown_rows(long_placement(10_000, range(1, 10_001, 2))) if row["#"] == "..." and row["reason"])
    assert gap["operation"] == "9,761 more"
    assert gap["reason"] == "4,880 of them on the cpu"


# Labels of programs

LABELS = [
    ("<script>alert(1)</script>", "<script>alert(1)</script>"),
    ("[bold red]x[/]", "[bold red]x[/]"),
    ("a\x1b[31mb\nc\td", r"a\x1b[31mb\nc\td"),
    ("\u202eabc", r"\u202eabc"),
    ("\"&amp;'", "\"&amp;'"),
    ("größe/层", "größe/层"),
    ("x" * 100, "x" * 57 + "..."),
]


@pytest.mark.parametrize(("label", "shown"), LABELS, ids=range(len(LABELS)))
def test_a_label(label: str, shown: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    placement = replace(PLACEMENT, operators=(replace(PLACEMENT.operators[0], label=label, reason=label),))
    page = Page(placement._repr_html_())
    assert shown in page.texts("td")
    assert page.tags == {"div", "b", "table", "thead", "tbody", "tr", "th", "td", "span"}
    lines = str(placement).splitlines()
    assert shown[:24] in lines[3]
    assert all(line.isprintable() for line in lines)


def test_the_page() -> None:
    html = PLACEMENT._repr_html_()
    page = Page(html)
    assert [(tag, text) for tag, text in page.parts if tag in {"td", "span"}] == [
        *[("td", "1"), ("td", "conv2d"), ("td", "stem"), ("span", "gpu"), ("td", "0")],
        *[("td", "2"), ("td", "reshape"), ("td", "-"), ("td", "-")],
        *[("td", "4"), ("td", "cumulativeSum"), ("span", "cpu"), ("td", "1"), ("td", "not native")],
    ]
    assert page.count("td") == 3 * 6
    # One row is marked, what is in colour lets the background shine through, and nothing is loaded.
    assert html.count("inset 3px") == 1
    assert "http" not in html
    assert "color: inherit" in html
    for word in ("operators", "partitions", "transfers", "constants"):
        assert f"<b>{word}</b>" in html


def test_rich_has_colours() -> None:
    output = io.StringIO()
    Console(file=output, force_terminal=True, color_system="standard", width=100, legacy_windows=False).print(PLACEMENT)
    text = output.getvalue()
    assert "\x1b[32mgpu" in text
    assert "\x1b[1;33mcpu" in text
    assert "not native" in text


@pytest.mark.processes
def test_rich_is_loaded_when_something_is_shown() -> None:
    script = (
        "import sys\nfrom webnn.context.placement import Placement\n"
        "placement = Placement(requested='cpu', device='cpu')\nrepr(placement), placement._repr_html_()\nassert 'rich' not in sys.modules\n"
        "str(placement)\nassert 'rich' in sys.modules"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False, capture_output=True, text=True).stderr == ""


@pytest.mark.parametrize(("length", "shown"), [(60, "x" * 60), (61, "x" * 57 + "...")])
def test_long_labels_are_cut(length: int, shown: str) -> None:
    operator = replace(PLACEMENT.operators[0], label="x" * length)
    assert shown_rows(replace(PLACEMENT, operators=(operator,)))[0]["label"] == shown
