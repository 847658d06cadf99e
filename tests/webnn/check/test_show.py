"""The output of `webnn check` for people."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

from webnn.check.report import Change, Fallback, Graph, Refusal, Report, Run, Totals, Verdict
from webnn.check.show import print_report, summary

POOL = Refusal(
    operation="maxPool2d",
    label="pool",
    argument="input",
    kind="dataType",
    given="int8",
    allowed=("float32", "float16"),
    profile="small",
    count=3,
    change=Change(text="cast input to float16", data_type="float16"),
)
RANK = Refusal(
    operation="softmax", label="", argument="input", kind="rank", given="6-D [1, 1, 1, 1, 1, 2]", allowed=(1, 5), profile="small"
)
GELU = Refusal(operation="gelu", label="", argument="", kind="operation", given="", allowed=(), profile="small")


def graph(name: str = "y", operators: int = 4, *fallbacks: Fallback, **more: Any) -> Graph:
    return Graph(name=name, profile=None, requested="npu", operators=operators, fallbacks=fallbacks, **more)


def report(*runs: Run, graphs: tuple[Graph, ...] = (graph(),)) -> Report:
    passed = sum(run.passed for run in runs)
    failed = tuple(str(run.profile) for run in runs if run.required and not run.passed)
    return Report(
        version="1",
        program="program.py",
        arguments=(),
        revision=None,
        device=None,
        baseline=Run(profile=None, verdict=Verdict.BUILDS, graphs=graphs),
        profiles=runs,
        totals=Totals(profiles=len(runs), passed=passed, failed_required=failed),
        seconds=1.25,
    )


def show(of: Report, width: int = 80, *, every: bool = False, encoding: str = "utf-8", terminal: bool = False) -> str:
    file = io.TextIOWrapper(io.BytesIO(), encoding=encoding, newline="")
    console = Console(file=file, width=width, highlight=False, force_terminal=terminal, color_system="truecolor" if terminal else None)
    print_report(console, of, every=every)
    file.seek(0)
    return file.read()


REFUSED = Run(profile="small", verdict=Verdict.REFUSED, refusals=(RANK, POOL, GELU), fatal=1, error="WebNNTypeError: pool")


def test_a_refusal() -> None:
    assert (
        show(report(REFUSED, Run(profile="large", verdict=Verdict.BUILDS, graphs=(graph(),))))
        == """\
profile  verdict  graphs  why, and what to change
(none)   builds        1
small    refused  0 of 1  maxPool2d [pool]: input is int8, allowed: float32,
                          float16
                          change: cast input to float16
                          and 2 more: --all prints them
large    builds        1

builds on 1 of 2 profiles in 1.2 s
"""
    )


def test_everything() -> None:
    twin = REFUSED.model_copy(update={"profile": "twin"})
    text = show(report(REFUSED, twin), every=True)
    assert (
        text.partition("\n\n")[2]
        == """\
refused by small, twin
  softmax: input is 6-D [1, 1, 1, 1, 1, 2], allowed: 1-D to 5-D
  maxPool2d [pool]: input is int8, allowed: float32, float16 (3 times)
    change: cast input to float16
  gelu: not there

builds on 0 of 2 profiles in 1.2 s
"""
    )


def test_another_way() -> None:
    runs = (
        Run(profile="two", verdict=Verdict.BUILDS_DIFFERENTLY, graphs=(graph(),), refusals=(POOL, RANK)),
        Run(profile="one", verdict=Verdict.BUILDS_DIFFERENTLY, graphs=(graph(),), refusals=(GELU,)),
        Run(profile="own", verdict=Verdict.BUILDS, graphs=(graph(),), notes=("the program chooses itself",)),
        Run(profile="broken", verdict=Verdict.ERROR, error="ValueError: own", required=True),
    )
    assert (
        show(report(*runs))
        == """\
profile  verdict      graphs  why, and what to change
(none)   builds            1
two      builds            1  after 2 refusals, the first:
         differently          maxPool2d [pool]: input is int8, allowed: float32,
                              float16
                              change: cast input to float16
one      builds            1  after 1 refusal, the first:
         differently          gelu: not there
own      builds            1  the program chooses itself
broken   error        0 of 1  ValueError: own

builds on 3 of 4 profiles in 1.2 s; required, and fails: broken
"""
    )


def test_a_column_for_each_graph() -> None:
    graphs = (graph("encoder"), graph("decoder"), graph("a very long name of an output"))
    some = Run(profile="small", verdict=Verdict.BUILDS_DIFFERENTLY, graphs=graphs[:1], refusals=(GELU,))
    wide = show(report(some, graphs=graphs), width=120).splitlines()
    assert wide[0].split("  ")[0] == "profile"
    assert "encoder  decoder  a very long name" in wide[0]
    assert wide[2].split()[:5] == ["small", "builds", "yes", "no", "no"]
    # Where that leaves too little room for the reasons, they are counted.
    assert "small    builds       1 of 3  after 1 refusal" in show(report(some, graphs=graphs))


GATHER = Fallback(operation="gather", label="", device="cpu", reason="not in the profile's native operations")


def test_what_falls_back() -> None:
    fallen = graph("y", 5, GATHER, GATHER, Fallback(operation="neg", label="", device="cpu", reason="native only with 2-D"))
    placed = fallen.model_copy(update={"partitions": 3, "transferred_bytes": 12345})
    run = Run(profile="small", verdict=Verdict.BUILDS, graphs=(placed,))
    assert (
        show(report(run))
        == """\
profile  verdict  graphs  falls back  why, and what to change
(none)   builds        1
small    builds        1  3 of 5

falls back on small: 3 of 5 operators; 3 partitions, 12,345 bytes between
devices in a run
  gather to the cpu (2 times): not in the profile's native operations
  neg to the cpu: native only with 2-D

builds on 1 of 1 profile in 1.2 s
"""
    )


def test_what_is_computed_in_another_way() -> None:
    graphs = (graph("y", semantics=("castNaN=largest",)), graph("z", semantics=("castNaN=largest", "signNaN=nan")))
    runs = (Run(profile="small", verdict=Verdict.BUILDS, graphs=graphs), Run(profile="large", verdict=Verdict.BUILDS, graphs=(graph(),)))
    section = show(report(*runs), every=True).split("\n\n")[1]
    assert section == "computed in another way, see webnn semantics\n  small: castNaN=largest, signNaN=nan"
    assert "another way" not in show(report(*runs))
    assert "another way" not in show(report(runs[1]), every=True)


def test_everything_falls_back() -> None:
    run = Run(profile="small", verdict=Verdict.BUILDS, graphs=(graph("y", 1, GATHER, partitions=1),))
    section = show(report(run)).split("\n\n")[1]
    assert (
        section
        == """\
falls back on small: 1 of 1 operator; 1 partition, 0 bytes between devices in a
run
  all of them to the cpu: not in the profile's native operations"""
    )


def test_the_same_falls_back_on_several_profiles() -> None:
    """The reason may name the profile, which the title does."""
    runs = []
    for name in ("one", "two", "other"):
        reason = f'the device profile "{name}" runs npu contexts on the {"cpu" if name == "other" else "gpu"}'
        fallback = Fallback(operation="neg", label="", device="gpu", reason=reason)
        runs.append(Run(profile=name, verdict=Verdict.BUILDS, graphs=(graph("y", 1, fallback, partitions=1),)))
    assert (
        "\n\n".join(show(report(*runs), width=120).split("\n\n")[1:3])
        == """\
falls back on one, two: 1 of 1 operator; 1 partition, 0 bytes between devices in a run
  all of them to the gpu: the profile runs npu contexts on the gpu

falls back on other: 1 of 1 operator; 1 partition, 0 bytes between devices in a run
  all of them to the gpu: the profile runs npu contexts on the cpu"""
    )


def test_much_falls_back() -> None:
    fallen = [Fallback(operation=f"op{number}", label="", device="cpu", reason="so") for number in range(10)]
    run = Run(profile="small", verdict=Verdict.BUILDS, graphs=(graph("y", 20, *fallen),))
    few = show(report(run)).split("\n\n")[1].splitlines()
    assert few[-2:] == ["  op6 to the cpu: so", "  and 3 more: --all prints them"]
    assert show(report(run), every=True).split("\n\n")[1].splitlines()[-1] == "  op9 to the cpu: so"


@pytest.mark.parametrize("width", [40, 80, 200])
@pytest.mark.parametrize("every", [False, True])
def test_widths(width: int, every: bool) -> None:
    fallen = Run(profile="fallen", verdict=Verdict.BUILDS, graphs=(graph("y", 5, GATHER),))
    text = show(report(REFUSED, fallen), width=width, every=every)
    assert max(map(len, text.splitlines())) <= width
    assert not any(line.endswith(" ") for line in text.splitlines())
    assert "refused" in text


def test_what_a_terminal_would_obey() -> None:
    odd = POOL.model_copy(update={"label": "\x1b[31mred\x07 [bold]ä\u2028€"})
    run = Run(profile="\x1b[2J", verdict=Verdict.REFUSED, refusals=(odd,), fatal=0, error="x")
    text = show(report(run), width=200, encoding="ascii")
    assert text.isascii()
    assert "\x1b" not in text
    assert "maxPool2d [\\x1b[31mred\\x07 [bold]\\xe4 \\u20ac]: input is int8" in text
    assert "\\x1b[2J" in text


def test_colours() -> None:
    text = show(report(REFUSED), terminal=True)
    assert "\x1b[31mrefused" in text
    assert "\x1b[32mbuilds" in text


@pytest.mark.parametrize(
    ("runs", "expected"),
    [
        ((), "builds on 0 of 0 profiles in 1.2 s"),
        ((REFUSED.model_copy(update={"required": True}),), "builds on 0 of 1 profile in 1.2 s; required, and fails: small"),
    ],
)
def test_summary(runs: tuple[Run, ...], expected: str) -> None:
    assert summary(report(*runs)) == expected
