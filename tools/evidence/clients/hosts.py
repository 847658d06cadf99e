"""Runs a client on a host."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.evidence.clients.catalog import Case, Host
from tools.evidence.clients.sites import Site
from tools.evidence.pages.serving import Reports, open_emulator
from webnn.browser.chromium import Chromium, PageCrashError, PageError, PageTimeoutError, Read, read_below, serve
from webnn.javascript.files import File
from webnn.serve.options import Options

__all__ = ["DIALECT", "Result", "Runner"]

DIALECT = "browsers-2026"
_PAGE = File(b"<!doctype html><meta charset=utf-8><title>a client</title><body></body>", "text/html")
_WORKER = "client-worker.js"
#: Runs a bundle in the page, or in a worker of it.
_RUN = """
async ({bundle, order, worker}) => {
  if (worker === null) return (await import(bundle)).default(order);
  const own = new Worker(worker);
  return new Promise((resolve, reject) => {
    own.onmessage = ({data}) => ('error' in data ? reject(new Error(data.error)) : resolve(data.value));
    own.onerror = ({message}) => reject(new Error(message));
    own.postMessage({order, bundle});
  });
}
"""
_LONGEST = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The result of a client on a host.

    Attributes:
        outputs: Its numbers, by name.
        calls: How often it called each method of WebNN.
        session: The milliseconds until it was ready.
        times: The milliseconds of each computation.
        error: Why there is none of this.
    """

    outputs: Mapping[str, Sequence[float]]
    calls: Mapping[str, int]
    session: float
    times: Sequence[float]
    error: str = ""


class Runner:
    """Runs the cases of a site; a context manager, which holds the browsers."""

    def __init__(self, site: Site, chromium: Path | None, *, runs: int, timeout: float) -> None:
        self._site = site
        self._chromium = chromium
        self._runs = runs
        self._timeout = timeout
        self._stack = ExitStack()
        self._browsers: dict[bool, Chromium] = {}
        self._addresses: dict[bool, str] = {}
        self._reports = Reports()

    def __enter__(self) -> Runner:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def run(self, case: Case, host: Host, device: str = "webnn") -> Result:
        """Compute a case with WebNN, or with the device ``"wasm"``."""
        order = {**case.order, "client": self._site.client.name, "device": device, "base": "/", "runs": self._runs}
        try:
            found = self._run_node(order) if host == "node" else self._run_page(order, host)
        except _FailedError as error:
            return Result(outputs={}, calls={}, session=0, times=[], error=str(error))
        return Result(outputs=found["outputs"], calls=found["calls"], session=found["create"], times=found["times"])

    def _run_node(self, order: Mapping[str, Any]) -> Mapping[str, Any]:
        program = self._site.folder / self._site.client.page / "main.mjs"
        command = [
            sys.executable,
            "-m",
            "webnn",
            "run",
            "--dialect",
            DIALECT,
            "--root",
            str(self._site.folder),
            str(program),
            json.dumps(order),
        ]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=self._timeout)
        except subprocess.TimeoutExpired:
            raise _FailedError(f"was not done within {self._timeout:g} s") from None
        line = next((each for each in done.stdout.splitlines() if each.startswith('{"outputs"')), None)
        if line is None:
            lines = [each for each in done.stderr.splitlines() if "Error" in each] or done.stderr.splitlines()[-1:]
            raise _FailedError(lines[-1][:_LONGEST] if lines else f"ended with {done.returncode}")
        result: Mapping[str, Any] = json.loads(line)
        return result

    def _run_page(self, order: Mapping[str, Any], host: Host) -> Mapping[str, Any]:
        native = host == "native"
        browser = self._open(native=native)
        order = {**order, **({"wasm": self._site.wasm} if self._site.wasm else {})}
        worker = f"/{self._site.client.worker}{_WORKER}" if host == "worker" else None
        argument = {"bundle": f"/bundles/{self._site.client.name}.mjs", "order": order, "worker": worker}
        try:
            browser.open(f"{self._addresses[native]}{self._site.client.page}page.html")
            found: Mapping[str, Any] = browser.evaluate(_RUN, argument)
        except (PageError, PageTimeoutError, PageCrashError) as error:
            raise _FailedError((str(error).strip().splitlines() or [type(error).__name__])[0][:_LONGEST]) from None
        return found

    def _open(self, *, native: bool) -> Chromium:
        if native not in self._browsers:
            if self._chromium is None:
                raise _FailedError("no browser is named: --chromium PROGRAM")
            read = _with_page(read_below(self._site.folder), (self._site.folder / "programs" / "worker.js").read_bytes())
            if native:
                self._addresses[native] = self._stack.enter_context(serve(read))
            else:
                server = self._stack.enter_context(open_emulator(read, Options(dialect=DIALECT), self._reports))
                self._addresses[native] = f"{server.url}/"
            self._browsers[native] = self._stack.enter_context(Chromium(self._chromium, timeout=self._timeout, native=native))
        return self._browsers[native]

    @property
    def faults(self) -> Sequence[str]:
        """The errors of the emulator itself in pages."""
        return self._reports.faults


class _FailedError(Exception):
    """A client ended with an error."""


def _with_page(read: Read, worker: bytes) -> Read:
    """Return a function that reads files, the page in any folder, and the script of a worker in any folder."""
    own = {"page.html": _PAGE, _WORKER: File(worker, "text/javascript")}
    return lambda path: own.get(path.rpartition("/")[2]) or read(path)
