"""``webnn demo``: read handwritten digits, and print pictures of them and the figures of the run."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray
from rich.color import Color
from rich.console import Console
from rich.style import Style
from rich.text import Text

import webnn
from webnn.commands.choices import Device, FallbackOption, NumericsOption, set_numerics
from webnn.commands.failure import failure
from webnn.commands.progress import show_progress
from webnn.commands.rows import make_console
from webnn.context.engine import runtime
from webnn.demo import network
from webnn.demo.network import Report

__all__ = ["choose", "command", "draw", "print_cards", "print_figures"]

Image = NDArray[np.uint8]

_INK = 16
_HALF_BLOCK = "\N{UPPER HALF BLOCK}"
_BAR = "\N{BOX DRAWINGS HEAVY HORIZONTAL}"
_SHADES = " \N{LIGHT SHADE}\N{MEDIUM SHADE}\N{DARK SHADE}\N{FULL BLOCK}"
_ASCII_SHADES = " .:-=+*#%@"
_CAPTION = 7
_GAP = 2
#: The grey of paper and of ink, 0 is black: light ink on a dark tile.
_PAPER_GREY, _INK_GREY = 44, 255

_LOWEST_ACCURACY = 0.97


def command(
    *,
    device: Annotated[Device, typer.Option(help="The deviceType of the context.")] = Device.cpu,
    fallback: FallbackOption = None,
    numerics: NumericsOption = None,
    images: Annotated[int, typer.Option(min=0, help="How many digits to show; the misread ones are always among them.")] = 12,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """Read handwritten digits with a small network.

    It reads 300 images that its training has not seen, and shows some of them. Fails if it reads less than 97 % of them correctly.
    """
    set_numerics(numerics)
    console = make_console()
    digits = network.load_digits()
    with webnn.emulate(fallback=None if fallback is None else fallback.value), show_progress("reading digits"):
        report = network.recognise(digits, device.value)
    if as_json:
        typer.echo(json.dumps(_tell(report, device.value), indent=1))
    else:
        _print(console, digits.images, report, device.value, images)
    if report.accuracy < _LOWEST_ACCURACY:
        raise failure(f"the accuracy must be at least {_LOWEST_ACCURACY:.0%}, got {report.accuracy:.2%}", 1)


def _tell(report: Report, deviceType: str) -> dict[str, Any]:
    """Return what a machine reads of a run; times are in seconds."""
    times = {"load": report.load_seconds, "build": report.build_seconds, "compute": report.compute_seconds}
    figures = {"images": len(report.labels), "wrong": report.wrong, "accuracy": report.accuracy, "seconds": times}
    return {**figures, "deviceType": deviceType, "providers": list(report.providers), "note": report.note}


def _print(console: Console, images: Image, report: Report, deviceType: str, count: int) -> None:
    console.print(Text.assemble(("webnn demo", "bold"), "  handwritten digits, read by a small convolutional network"))
    console.print()
    print_cards(console, images, report, choose(report, count))
    print_figures(console, report, f"ONNX Runtime {runtime.version()}", deviceType)


def choose(report: Report, count: int) -> list[int]:
    """Choose images to show, by their numbers: as many different digits as possible, and after them every wrong one."""
    wrong = report.wrong
    seen = [0] * 10
    ranked = []
    for index, label in enumerate(report.labels):
        if index not in wrong:
            ranked.append((seen[label], int(label), index))
            seen[label] += 1
    # A first one of each digit, then a second one of each, ...
    right = [index for _, _, index in sorted(ranked)[: max(0, count - len(wrong))]]
    return right + wrong


def draw(image: Image, console: Console) -> list[Text]:
    """Draw an image in the finest way that the console knows, in lines of equal length.

    Half blocks in shades of grey (two pixels in a character) where there are at least 256 colours; else shaded blocks, or characters of
    ASCII where the encoding has no blocks (two characters for a pixel).
    """
    if _has_greys(console):
        greys = _PAPER_GREY + image.astype(int) * (_INK_GREY - _PAPER_GREY) // _INK
        pairs = zip(greys[0::2].tolist(), greys[1::2].tolist(), strict=True)
        return [
            Text.assemble(*((_HALF_BLOCK, Style(color=_grey(top), bgcolor=_grey(bottom))) for top, bottom in zip(*rows, strict=True)))
            for rows in pairs
        ]
    shades = _ASCII_SHADES if console.options.ascii_only else _SHADES
    levels = (image.astype(int) * (len(shades) - 1) + _INK // 2) // _INK
    return [Text("".join(shades[level] * 2 for level in row)) for row in levels.tolist()]


def print_cards(console: Console, images: Image, report: Report, chosen: Sequence[int]) -> None:
    """Print images side by side, each with what was read, what it shows, and how sure the network is."""
    cards = [_card(console, images[index], report, index) for index in chosen]
    if not cards:
        return
    width = cards[0][0].cell_len
    columns = max(1, (console.width + _GAP) // (width + _GAP))
    for start in range(0, len(cards), columns):
        for lines in zip(*cards[start : start + columns], strict=True):
            line = Text(" " * _GAP).join(lines)
            line.rstrip()
            console.print(line, no_wrap=True, overflow="crop", crop=True)
        console.print()


def print_figures(console: Console, report: Report, engine: str, deviceType: str) -> None:
    """Print accuracy, times and device."""
    count = len(report.labels)
    microseconds = "us" if console.options.ascii_only else "µs"
    rows = {
        "accuracy": (f"{report.accuracy:.2%}", f"{count - len(report.wrong)} of {count} images that the training has not seen"),
        "load": (f"{report.load_seconds:.2f} s", f"{engine} and the translation, once in a process"),
        "build": (f"{report.build_seconds * 1e3:.1f} ms", "the network, described and compiled"),
        "compute": (
            f"{report.compute_seconds * 1e3:.1f} ms",
            f"all {count} images, {report.compute_seconds / count * 1e6:.1f} {microseconds} for each",
        ),
        "device": (deviceType, f"runs on {', '.join(report.providers)}"),
    }
    width = max(len(value) for value, _ in rows.values())
    for name, (value, meaning) in rows.items():
        console.print(Text.assemble((f"{name:<10}", "cyan"), (f"{value:<{width}}", "bold"), "  ", (meaning, "dim")), soft_wrap=True)
    if report.note:
        note = Text(textwrap.fill(f"note      {report.note}", max(console.width, 40), subsequent_indent=" " * 10))
        note.stylize("yellow", 0, len("note"))
        console.print(note, soft_wrap=True)


def _card(console: Console, image: Image, report: Report, index: int) -> list[Text]:
    answer, label, confidence = int(report.answers[index]), int(report.labels[index]), float(report.confidence[index])
    color = "green" if answer == label else "red"
    caption = [
        Text(f"reads {answer}", f"bold {color}"),
        Text(f"shows {label}", "" if answer == label else "bold"),
        Text(f"{confidence:.1%}", "dim"),
    ]
    picture = draw(image, console)
    if _has_greys(console):
        filled = round(confidence * _CAPTION)
        caption.append(Text.assemble((_BAR * filled, color), (_BAR * (_CAPTION - filled), "bright_black")))
    elif answer != label:
        caption.append(Text("wrong"))
    above = (len(picture) - len(caption)) // 2
    rows = [Text()] * above + caption + [Text()] * (len(picture) - above - len(caption))
    card = [Text(" " * _GAP).join([left, right]) for left, right in zip(picture, rows, strict=True)]
    for line in card:
        line.align("left", picture[0].cell_len + _GAP + _CAPTION)
    return card


def _has_greys(console: Console) -> bool:
    return console.color_system in ("256", "truecolor") and not console.no_color and not console.options.ascii_only


def _grey(level: int) -> Color:
    return Color.from_rgb(level, level, level)
