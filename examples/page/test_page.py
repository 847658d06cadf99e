"""The page of this folder in a browser, with the emulator: on any device, on Core ML, and when the device is lost.

It needs webnn[serve], pytest-playwright and a browser: docs/pages.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

import webnn
from webnn.serve.playwright import Emulator


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The address of the page. Any server will do."""
    handler = partial(SimpleHTTPRequestHandler, directory=str(Path(__file__).parent))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


def status_of(page: Any) -> str:
    page.wait_for_function("document.querySelector('#run').disabled === false && document.querySelector('#status').textContent !== ''")
    return str(page.locator("#status").text_content())


def test_the_edges(webnn_page: Any, address: str) -> None:
    webnn_page.goto(address)
    assert "from uint8 pixels" in status_of(webnn_page)
    assert webnn_page.locator("#notes li").count() == 0


@pytest.mark.webnn(profile="coreml", fallback="deny")
def test_core_ml_has_no_uint8(webnn_page: Any, address: str) -> None:
    webnn_page.goto(address)
    assert "computed on an accelerator from float32 pixels" in status_of(webnn_page)
    assert "falls back from uint8 pixels" in webnn_page.locator("#notes").text_content()


@pytest.mark.webnn(profile="coreml", faults=webnn.Faults(failCompute=1))
def test_a_lost_device(webnn_page: Any, webnn_emulator: Emulator, address: str) -> None:
    webnn_page.goto(address)
    assert "It does not work" in status_of(webnn_page)
    assert len(webnn_emulator.lost) == 1
    webnn_page.click("#run")
    assert "from float32 pixels" in status_of(webnn_page)
