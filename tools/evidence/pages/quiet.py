"""A browser without a debugger: it is started by hand, and its page reports."""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tools.evidence.pages.serving import Reports
from webnn.browser.launch import flags

__all__ = ["open_page"]

#: How many seconds a page has.
_PATIENCE = 120.0


@contextmanager
def open_page(browser: Path, url: str, reports: Reports, *, native: bool = False) -> Iterator[Any]:
    """Open a page in a browser, and yield what it sends to ``/-/report``. The browser ends afterwards. ``native``: it has its own WebNN.

    Raises:
        TimeoutError: It has sent nothing.
    """
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        command = [str(browser), "--headless=new", f"--user-data-dir={folder}", *flags(native=native, sandboxed=False), url]
        quiet = subprocess.DEVNULL
        with subprocess.Popen(command, stdout=quiet, stderr=quiet) as process:
            try:
                end = time.monotonic() + _PATIENCE
                while not reports.bodies:
                    if time.monotonic() > end:
                        raise TimeoutError(f"the page has not reported after {_PATIENCE:g} s")
                    # A process that sleeps for long is woken late on some machines.
                    time.sleep(0.01)
                yield json.loads(reports.bodies[0])
            finally:
                process.kill()
