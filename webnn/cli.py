"""The command line: ``webnn demo``, ``webnn devices``, ``webnn run`` and ``webnn wpt``."""

from __future__ import annotations

import platform
import sys
from collections.abc import Sequence
from enum import StrEnum
from importlib import metadata
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

import webnn
from webnn.context import devices as device_selection
from webnn.context import engine
from webnn.demo import network, show
from webnn.wpt_runner import cli as wpt_runner
from webnn.wpt_runner.commands import program
from webnn.wpt_runner.commands.failure import failure

__all__ = ["app", "main"]

_LOWEST_ACCURACY = 0.97
_ENGINE = "onnxruntime"

app = typer.Typer(
    # Frames and colours for people, plain text for pipes.
    rich_markup_mode="rich" if sys.stdout.isatty() else None,
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.add_typer(wpt_runner.app, name="wpt")
app.command("run", context_settings=program.CONTEXT_SETTINGS)(program.command)


class Device(StrEnum):
    """The values of ``deviceType``."""

    cpu = "cpu"
    gpu = "gpu"
    npu = "npu"


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"webnn {webnn.__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    *,
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.", callback=_show_version, is_eager=True)] = False,
) -> None:
    """The W3C Web Neural Network API in Python."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command()
def demo(
    *,
    device: Annotated[Device, typer.Option(help="The deviceType of the context.")] = Device.cpu,
    images: Annotated[int, typer.Option(min=0, help="How many digits to show; the misread ones are always among them.")] = 12,
) -> None:
    """Read handwritten digits with a small network.

    It reads 300 images that its training has not seen, and shows some of them. Fails if it reads less than 97 % of them correctly.
    """
    console = _console()
    digits = network.load_digits()
    report = network.recognise(digits, device.value)
    console.print(Text.assemble(("webnn demo", "bold"), "  handwritten digits, read by a small convolutional network"))
    console.print()
    show.print_cards(console, digits.images, report, show.choose(report, images))
    show.print_figures(console, report, f"ONNX Runtime {engine.version()}", device.value)
    if report.accuracy < _LOWEST_ACCURACY:
        raise failure(f"the accuracy must be at least {_LOWEST_ACCURACY:.0%}, got {report.accuracy:.2%}", 1)


@app.command()
def devices() -> None:
    """Show what is installed, and what each deviceType runs on here."""
    console = _console()
    flavours = sorted(set(metadata.packages_distributions().get(_ENGINE, [])))
    rows = [
        ("webnn", webnn.__version__, ""),
        ("python", platform.python_version(), f"{platform.system()} {platform.machine()}"),
        *((package, _version(package), "") for package in ("numpy", "onnx", *(flavours or [_ENGINE]))),
    ]
    _print_rows(console, rows)
    available = engine.available_providers()
    console.print()
    _print_rows(console, [("providers", ", ".join(available), ""), *((device, *_describe(device, available)) for device in Device)])
    if len(flavours) > 1:
        console.print()
        raise failure(f"{' and '.join(flavours)} overwrite each other's files: uninstall all of them, then install one", 1)


def main() -> None:
    """Run the command line."""
    try:
        app()
    except webnn.DOMException as error:
        typer.echo(f"webnn: {error}", err=True)
        sys.exit(1)


def _console() -> Console:
    return Console(highlight=False)


def _describe(device: Device, available: list[str]) -> tuple[str, str]:
    """Return what a device type runs on, and a remark if that is not what it stands for."""
    selection = device_selection.select(device, available)
    wanted = [name for name, _ in selection.providers]
    found = wanted if len(wanted) == 1 else network.probe(device.value)
    remark = ""
    if selection.fallback:
        missing = " or ".join(name.removesuffix("ExecutionProvider") for name in device_selection.PREFERRED[device])
        remark = f"falls back: no {missing} provider here"
    elif found != wanted:
        remark = f"falls back: {wanted[0]} does not start"
    return ", ".join(found), remark


def _print_rows(console: Console, rows: Sequence[tuple[str, str, str]]) -> None:
    width = 2 + max(len(name) for name, _, _ in rows)
    for name, value, remark in rows:
        line = Text.assemble((f"{name:<{width}}", "cyan"), (value, "bold"), (f"  {remark}" if remark else "", "yellow"))
        console.print(line, soft_wrap=True)


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"
