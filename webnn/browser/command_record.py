"""``webnn profiles record``: the profile of a browser, or of a device of this machine."""

from __future__ import annotations

import platform
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from webnn.commands.choices import Device, SimulatorsOption, set_devices
from webnn.commands.completion import complete_profile
from webnn.commands.failure import failure
from webnn.commands.progress import show_progress
from webnn.context.profiles import Profile, ProfileError, load_profile, make_profile
from webnn.validation.errors import NotSupportedError

if TYPE_CHECKING:
    from webnn.browser.chromium import Chromium
    from webnn.browser.profile_probe import Page
    from webnn.validation.device_type import DeviceType

__all__ = ["command", "read_options"]


def command(
    *,
    browser: Annotated[
        Path | None,
        typer.Option(
            metavar="PROGRAM|NAME",
            help="The browser, or an installed one: chrome, msedge-dev; otherwise WEBNN_BROWSER.",
            show_default=False,
        ),
    ] = None,
    device: Annotated[Device | None, typer.Option(help="Record a device of this machine, not a browser.", show_default=False)] = None,
    simulators: SimulatorsOption = None,
    providerOption: Annotated[
        list[str] | None,
        typer.Option(
            "--provider-option",
            metavar="PROVIDER:NAME=VALUE",
            help="An option for an execution provider: QNNExecutionProvider:soc_model=60.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Where the profile goes; otherwise it is printed.")
    ] = None,
    profile: Annotated[
        str | None,
        typer.Option(metavar="NAME|FILE", help="Record nothing: verify this profile.", autocompletion=complete_profile, show_default=False),
    ] = None,
    verify: Annotated[int, typer.Option(metavar="N", min=0, help="Judge N random calls by the browser and the profile.")] = 0,
    probes: Annotated[int, typer.Option(metavar="N", min=1, help="How many calls of each operation are tried.")] = 300,
    seed: Annotated[int, typer.Option(metavar="N", help="The seed of the calls.")] = 1,
) -> None:
    """Record the profile of a browser, a GPU or an NPU.

    A device must be one of this machine.

    Some hundred calls of each operation show the refusals beyond the limits. The rules are the features that refused calls share.
    Of a browser that has the interfaces of WebNN but no backend, the interfaces are recorded.
    With --verify the exit status is 1 if the browser and the profile disagree about a call. With --device, graphs of one operation are
    built on the device, hardware or a simulator; the rules say which of them leave it.
    """
    if device is not None:
        set_devices(simulators, ())
        _record_device(device.value, output, probes, seed, read_options(providerOption or ()))
        return
    # Imported lazily: the browser's driver is an extra.
    from webnn.browser.chromium import BrowserError, Chromium, PageError, find_browser, serve  # noqa: PLC0415
    from webnn.browser.profile_probe import Page  # noqa: PLC0415

    def tell(text: str) -> None:
        typer.echo(text, err=True)

    try:
        subject = None if profile is None else load_profile(profile)
        with serve({}) as address, Chromium(find_browser(browser)) as chromium:
            chromium.open(address)
            page = Page(chromium.evaluate)
            if subject is None:
                subject = _record(page, chromium, output, probes, seed, tell)
            agrees = not verify or (subject is not None and _verify(page, subject, verify, seed))
    except (BrowserError, PageError, ProfileError) as error:
        raise failure(str(error), 2) from None
    if not agrees:
        raise typer.Exit(1)


def _record(page: Page, browser: Chromium, output: Path | None, probes: int, seed: int, tell: Callable[[str], None]) -> Profile | None:
    """Record a profile, write it, and return it; without a backend, record the interfaces."""
    # Imported lazily: the browser's driver is an extra.
    from webnn.browser.chromium import PageError  # noqa: PLC0415
    from webnn.browser.profile_record import record, record_interfaces, write  # noqa: PLC0415

    source = {
        "summary": f"{browser.title} {browser.version.partition('.')[0]} on {platform.system()}, measured",
        "certainty": "measured in a running browser",
        "browser": f"{browser.title} {browser.version}, {platform.system()} {platform.machine()}",
        "how": f"webnn profiles record: the default context, and at least {probes} calls of each operation, seed {seed}",
        "when": datetime.now(UTC).date().isoformat(),
    }
    try:
        page.limits()
    except PageError as error:
        if error.name != "NotSupportedError":
            raise
        tell(f"{browser.name}: has the interfaces of WebNN, but no backend here, so only the interfaces are recorded: {error}")
        source["how"] = "webnn profiles record: the interfaces only, because the browser has no backend"
        _write(write(record_interfaces(page, source)), output)
        return None
    with show_progress("probing", 1) as bar:

        def show(operation: str, done: int, total: int) -> None:
            bar.reach(done, total)
            bar.tell(f"probing {operation}")

        recorded = record(page, source, probes=probes, seed=seed, tell=show)
    _write(write(recorded.data), output)
    tell(f"{recorded.probes} probes, {sum(map(len, recorded.data.get('_build', {}).values()))} rules")
    for operation, messages in recorded.unexplained.items():
        for message, count in messages.items():
            tell(f"no rule explains {count} refusals of {operation}: {message}")
    return make_profile("the recorded profile", recorded.data)


def read_options(texts: Iterable[str]) -> dict[str, dict[str, str]]:
    """Read options for execution providers, by the names of the providers."""
    options: dict[str, dict[str, str]] = {}
    for text in texts:
        found = re.fullmatch(r"(\w+):([^=\s]+)=(.*)", text)
        if found is None:
            raise typer.BadParameter(f"must be PROVIDER:NAME=VALUE, not {text!r}", param_hint="--provider-option")
        options.setdefault(found[1], {})[found[2]] = found[3]
    return options


def _record_device(
    deviceType: DeviceType, output: Path | None, probes: int, seed: int, providerOptions: Mapping[str, Mapping[str, str]]
) -> None:
    """Record the profile of a device of this machine, and write it."""
    # Imported lazily because it loads the engine.
    from webnn.browser.device_record import describe_device, record_device  # noqa: PLC0415
    from webnn.browser.profile_record import write  # noqa: PLC0415

    try:
        name = describe_device(deviceType, providerOptions)
        source = {
            "summary": f"{name}, measured",
            "certainty": "measured on the provider",
            "provider": f"{name}, {platform.system()} {platform.machine()}",
            "how": f"webnn profiles record --device {deviceType}: at least {probes} calls of each operation, seed {seed}",
            "when": datetime.now(UTC).date().isoformat(),
        }
    except NotSupportedError as error:
        raise failure(str(error), 2) from None
    with show_progress("probing") as bar:
        recorded = record_device(deviceType, source, probes=probes, seed=seed, providerOptions=providerOptions, tell=bar.tell)
    _write(write(recorded.data), output)
    rules = sum(map(len, recorded.data["_nativeRules"].values()))
    typer.echo(f"{recorded.probes} probes, {len(recorded.data['_native'])} native operations, {rules} rules", err=True)
    for operation, messages in recorded.unexplained.items():
        for message, count in messages.items():
            typer.echo(f"no rule explains why {count} calls of {operation} leave the device: {message}", err=True)


def _write(text: str, output: Path | None) -> None:
    """Write a profile to a file, or print it."""
    if output is None:
        typer.echo(text, nl=False)
    else:
        output.write_text(text, encoding="utf-8")


def _verify(page: Page, profile: Profile, count: int, seed: int) -> bool:
    """Compare a profile with the page, print what differs, and return whether nothing does."""
    from webnn.browser.profile_verify import compare_limits, verify  # noqa: PLC0415 (as above)

    limits = list(compare_limits(page, profile))
    with show_progress("comparing calls", count) as bar:
        found = verify(page, profile, count, seed=seed, tell=bar.reach)
    for path in limits:
        typer.echo(f"opSupportLimits() differs: {path}", err=True)
    for each in found:
        typer.echo(str(each), err=True)
    wrong = sum(each.count for each in found)
    same = "the same opSupportLimits()" if not limits else f"{len(limits)} differences of opSupportLimits()"
    classes = f", in {len(found)} classes" if found else ""
    typer.echo(f"{profile.name}: {same}; {count - wrong} of {count} calls are judged alike; {wrong} are not{classes}", err=True)
    return not limits and not found
