"""``webnn demo``: read handwritten digits."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.text import Text

import webnn
from webnn.commands.choices import Device, Fallback
from webnn.commands.failure import failure
from webnn.commands.rows import make_console
from webnn.context.engine import runtime
from webnn.demo import network, show

__all__ = ["command"]

_LOWEST_ACCURACY = 0.97


def command(
    *,
    device: Annotated[Device, typer.Option(help="The deviceType of the context.")] = Device.cpu,
    fallback: Annotated[
        Fallback | None,
        typer.Option(help="What to do where the device is not there.", envvar="WEBNN_FALLBACK", show_default="allow"),
    ] = None,
    images: Annotated[int, typer.Option(min=0, help="How many digits to show; the misread ones are always among them.")] = 12,
) -> None:
    """Read handwritten digits with a small network.

    It reads 300 images that its training has not seen, and shows some of them. Fails if it reads less than 97 % of them correctly.
    """
    console = make_console()
    digits = network.load_digits()
    with webnn.emulate(fallback=None if fallback is None else fallback.value):
        report = network.recognise(digits, device.value)
    console.print(Text.assemble(("webnn demo", "bold"), "  handwritten digits, read by a small convolutional network"))
    console.print()
    show.print_cards(console, digits.images, report, show.choose(report, images))
    show.print_figures(console, report, f"ONNX Runtime {runtime.version()}", device.value)
    if report.accuracy < _LOWEST_ACCURACY:
        raise failure(f"the accuracy must be at least {_LOWEST_ACCURACY:.0%}, got {report.accuracy:.2%}", 1)
