"""The command line: ``webnn demo``, ``webnn devices``, ``webnn profiles``, ``webnn run``, ``webnn check`` and ``webnn wpt``."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterator, Sequence
from importlib import metadata
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

import webnn
from webnn.check import command as check
from webnn.context import devices as device_selection
from webnn.context import discovery, emulation, engine, requirement
from webnn.demo import network, show
from webnn.validation.profiles import PROFILES, Profile, ProfileError, load_profile
from webnn.wpt_runner import cli as wpt_runner
from webnn.wpt_runner.commands import program
from webnn.wpt_runner.commands.choices import Device, Fallback
from webnn.wpt_runner.commands.failure import failure

__all__ = ["LOWEST_TYPER", "app", "main"]

_LOWEST_ACCURACY = 0.97
_ENGINE = "onnxruntime"
#: The lower limit in pyproject.toml. With a recent click, typer 0.12 takes `--version` as given, and ends every command with success.
LOWEST_TYPER = (0, 16, 0)

#: A name, its value and a remark.
Row = tuple[str, str, str]

app = typer.Typer(
    # Frames and colours for people, plain text for pipes.
    rich_markup_mode="rich" if sys.stdout.isatty() else None,
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.add_typer(wpt_runner.app, name="wpt")
app.command("run", context_settings=program.CONTEXT_SETTINGS)(program.command)
app.command("check")(check.command)


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
        return
    try:
        # What the environment says holds for every context; what is wrong with it is said before there is one.
        emulation.ambient()
    except ProfileError as error:
        raise failure(f"{emulation.PROFILE_VARIABLE}: {error}", 2) from None
    except ValueError as error:
        raise failure(str(error), 2) from None


@app.command()
def demo(
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
    console = _console()
    digits = network.load_digits()
    with webnn.emulate(fallback=None if fallback is None else fallback.value):
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
    inventory = discovery.discover()
    console.print()
    _print_rows(console, [row for provider in inventory.providers for row in _describe_provider(provider, inventory)])
    console.print()
    _print_rows(console, [row for device in Device for row in _describe_selection(device_selection.select(device, inventory))])
    if len(flavours) > 1:
        console.print()
        raise failure(f"{' and '.join(flavours)} overwrite each other's files: uninstall all of them, then install one", 1)


@app.command()
def profiles(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME|FILE", help="Profiles, by their names or as files of yours.", show_default=False)
    ] = None,
) -> None:
    """Show the device profiles: whose limits they are, and what they are certain of.

    Without a name, every profile that is shipped. It also checks files: the exit status is 2 if one is no profile.
    """
    try:
        found = [load_profile(name) for name in names or PROFILES]
    except ProfileError as error:
        raise failure(str(error), 2) from None
    _print_rows(_console(), [(profile.name, profile.summary, _describe_devices(profile)) for profile in found])


def main() -> None:
    """Run the command line."""
    if requirement.is_older(typer.__version__, LOWEST_TYPER):
        needed = ".".join(map(str, LOWEST_TYPER))
        sys.exit(f"webnn: typer {needed} or newer is needed, found {typer.__version__}: run 'python -m pip install --upgrade typer'")
    try:
        app()
    except webnn.DOMException as error:
        typer.echo(f"webnn: {error}", err=True)
        sys.exit(1)


def _console() -> Console:
    return Console(highlight=False)


def _describe_devices(profile: Profile) -> str:
    """Say which requests a profile runs elsewhere, and what falls back."""
    moved = [f"{requested} on the {device}" for requested, device in profile.devices.items() if device != requested]
    native = "" if profile.native is None else f"{len(profile.native)} native operations"
    return "; ".join(filter(None, [", ".join(moved), native]))


def _describe_provider(provider: str, inventory: device_selection.Inventory) -> Iterator[Row]:
    """Yield what a provider can be used for, and why not for more."""
    devices = [device for device in inventory.devices if device.provider == provider]
    failures = [(device, failure) for device in devices if (failure := inventory.failure(device))]
    failed = [device for device, _ in failures]
    remarks = [failure if len(devices) == 1 else f"{device.type}: {failure}" for device, failure in failures]
    if provider in inventory.missing:
        remarks.append(inventory.missing[provider])
    value = ", ".join(_describe_device(device) for device in devices if device not in failed)
    if not devices and not remarks:
        remarks.append("used only if an order names it")
    yield provider, value or "-", remarks[0] if remarks else ""
    yield from (("", "", remark) for remark in remarks[1:])


def _describe_device(device: device_selection.Device) -> str:
    kinds = {True: "discrete", False: "integrated", None: ""}
    facts = [fact for fact in (device.vendor, kinds[device.discrete], "plug-in" if device.plugin else "") if fact]
    return f"{device.type} ({', '.join(facts)})" if facts else device.type


def _describe_selection(selection: device_selection.Selection) -> Iterator[Row]:
    """Yield what a device type runs on, and why, if that is not what it stands for."""
    providers = ", ".join(name for name, _ in selection.providers)
    yield selection.requested, providers, f"falls back to the {selection.device.upper()}:" if selection.fallback else ""
    if selection.fallback:
        yield from (("", "", reason) for reason in selection.reasons)


def _print_rows(console: Console, rows: Sequence[Row]) -> None:
    width = 2 + max(len(name) for name, _, _ in rows)
    for name, value, remark in rows:
        gap = "  " if value and remark else ""
        line = Text.assemble((f"{name:<{width}}", "cyan"), (value, "bold"), gap, (remark, "yellow"))
        console.print(line, soft_wrap=True)


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"
