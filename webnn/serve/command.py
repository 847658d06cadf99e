"""``webnn serve``: pages in any browser, with the emulator as ``navigator.ml``."""

from __future__ import annotations

import threading
import webbrowser
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from webnn._extras import install_command
from webnn.commands.choices import (
    DialectOption,
    FallbackOption,
    NumericsOption,
    PageRevisionOption,
    PluginOption,
    ProfileOption,
    SimulatorsOption,
    set_devices,
)
from webnn.commands.failure import failing, failure
from webnn.commands.text import one_line
from webnn.serve.memory import MEMORY
from webnn.serve.options import Options, parse_faults

if TYPE_CHECKING:
    from webnn.serve.pages import Pages

__all__ = ["Warnings", "command"]

#: The exit codes of a wrong call, and of a user's Ctrl-C.
_WRONG, _INTERRUPTED = 2, 130
_LONGEST_LINE = 500
#: How many different warnings are printed.
_MOST_WARNINGS = 100


def command(
    page: Annotated[
        Path | None, typer.Argument(metavar="PAGE_OR_FOLDER", help="A page, whose folder is served, or a folder.", show_default=False)
    ] = None,
    *,
    proxy: Annotated[
        str | None, typer.Option(metavar="URL", help="Serve the pages of another server: http://localhost:5173.", show_default=False)
    ] = None,
    revision: PageRevisionOption = None,
    dialect: DialectOption = None,
    profile: ProfileOption = None,
    fallback: FallbackOption = None,
    faults: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="Failures on demand: failBuild=1,delay=0.5. docs/testing.md has all.", show_default=False),
    ] = None,
    numerics: NumericsOption = None,
    simulators: SimulatorsOption = None,
    plugins: PluginOption = None,
    isolate: Annotated[
        bool, typer.Option("--isolate", help="Isolate documents from other origins, which gives them SharedArrayBuffer.")
    ] = False,
    token: Annotated[
        bool, typer.Option("--token/--no-token", help="Show pages only to browsers that opened the printed address, of this user.")
    ] = True,
    memory_limit: Annotated[int, typer.Option(min=64, help="The most MiB that the calls of one page, frame or worker may hold.")] = MEMORY
    >> 20,
    lines: Annotated[bool, typer.Option("--lines", help="Note which line of a page's programs makes each operator.")] = False,
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 for one that is free.")] = 8000,
    open_page: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
) -> None:
    """Serve a page with the emulator as its navigator.ml.

    Any browser can show it.

    Only this user's programs can reach the server, and only the printed address opens the page. It ends at Ctrl-C.
    """
    set_devices(simulators, plugins)
    if (page is None) == (proxy is None):
        raise failure("give a page or a folder, or the address of a server with --proxy", _WRONG)
    try:
        from webnn.serve.record import Record  # noqa: PLC0415 (the inspections, which need time to load)
        from webnn.serve.reports import Sparing  # noqa: PLC0415 (as the next one)
        from webnn.serve.server import Server  # noqa: PLC0415 (an extra has what this imports)
    except ModuleNotFoundError as error:
        if error.name not in {"aiohttp", "multidict", "websockets", "yarl"}:
            raise
        raise failure(f"{error.name} is missing: {install_command('serve')}", _WRONG) from None
    with failing((TypeError, ValueError), _WRONG):
        pages, start = _find_pages(page, proxy)
        options = Options(
            revision=revision,
            dialect=dialect,
            profile=profile,
            fallback=None if fallback is None else fallback.value,
            faults=None if faults is None else parse_faults(faults),
            numerics=None if numerics is None else numerics.value,
            isolate=isolate,
            lines=lines,
            memory=memory_limit << 20,
        )
        warnings = Warnings()
        server = Server(
            pages,
            options,
            port=port,
            on_fault=Sparing(_print_fault),
            make_record=lambda _: Record(on_warning=warnings.tell),
            private=token,
            alone=True,
        )
    with ExitStack() as stack:
        try:
            stack.enter_context(server)
        except OSError as error:
            raise failure(f"the port {port} cannot be used ({error.strerror or error}): choose another with --port", 1) from None
        typer.echo(f"the page:   {server.address(start)}\nits status: {server.status_url}\nCtrl-C ends it.")
        if open_page:
            # Other users of the machine may see the arguments of the browser's process.
            webbrowser.open(server.address(start, once=True))
        try:
            # Without a time limit, Ctrl-C would not end the wait on Windows.
            while not threading.Event().wait(3600):
                pass
        except KeyboardInterrupt:
            raise typer.Exit(_INTERRUPTED) from None


def _find_pages(page: Path | None, proxy: str | None) -> tuple[Pages, str]:
    """Return the pages, and the path of the first one."""
    from webnn.serve.folder import Folder  # noqa: PLC0415 (an extra has what these import)
    from webnn.serve.proxy import Proxy  # noqa: PLC0415

    pages = Folder(page) if page is not None else Proxy(str(proxy))
    return pages, pages.start


def _print_fault(fault: str, left_out: int) -> None:
    last = next((line for line in reversed(fault.splitlines()) if line.strip()), "")
    more = f" ({left_out} more since the last line)" if left_out else ""
    typer.echo(f"webnn: the emulator failed, which is a fault of it: {one_line(last, _LONGEST_LINE)}{more}", err=True)


class Warnings:
    """Prints the warnings of all pages, each once. Any thread may use it."""

    def __init__(self) -> None:
        self._told: set[str] = set()
        self._lock = threading.Lock()

    def tell(self, message: str) -> None:
        """Print a warning, unless it was printed before."""
        with self._lock:
            if message in self._told or len(self._told) > _MOST_WARNINGS:
                return
            self._told.add(message)
            full = len(self._told) > _MOST_WARNINGS
        line = "there are more warnings: the status page has them" if full else f"warning: {one_line(message, _LONGEST_LINE)}"
        typer.echo(f"webnn: {line}", err=True)
