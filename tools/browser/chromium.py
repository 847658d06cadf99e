"""Runs modules in a Chromium with WebNN, which playwright drives; a local server gives it the files."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np

__all__ = ["Chromium", "Exchange", "Result", "serve"]

Array = np.ndarray[Any, np.dtype[Any]]

#: WebNN without a GPU, without a sandbox (containers), in few processes, and nothing that asks another machine.
_FLAGS = (
    "--enable-features=WebMachineLearningNeuralNetwork",
    "--enable-experimental-web-platform-features",
    "--no-sandbox",
    "--no-zygote",
    "--in-process-gpu",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-quic",
    "--disable-sync",
    "--no-first-run",
)
_PAGE = b"<!doctype html><meta charset=utf-8><title>WebNN</title>"
_RUN = """
async (name) => {
  globalThis.context ??= await navigator.ml.createContext();
  const module = await import(`/${name}.mjs`);
  const answer = await fetch(`/${name}.safetensors`);
  const graph = await module.build(context, answer.ok ? await answer.arrayBuffer() : undefined);
  const result = {error: ''};
  const inputs = {}, outputs = {};
  try {
    for (const [input, descriptor] of Object.entries(module.inputs)) {
      inputs[input] = await context.createTensor({...descriptor, writable: true});
      context.writeTensor(inputs[input], await (await fetch(`/-/=${encodeURIComponent(input)}`)).arrayBuffer());
    }
    for (const [output, descriptor] of Object.entries(module.outputs)) {
      outputs[output] = await context.createTensor({...descriptor, readable: true});
    }
    context.dispatch(graph, inputs, outputs);
    for (const [output, tensor] of Object.entries(outputs)) {
      await fetch(`/-/=${encodeURIComponent(output)}`, {method: 'POST', body: await context.readTensor(tensor)});
    }
  } catch (error) {
    result.error = String(error);
  }
  for (const each of [...Object.values(inputs), ...Object.values(outputs), graph]) each.destroy();
  return result;
}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What became of a module in the browser.

    Attributes:
        built: The browser built the graph.
        outputs: The bytes of its outputs, if it computed them.
        error: Why it did not build or compute it.
    """

    built: bool
    outputs: Mapping[str, bytes] = field(default_factory=dict)
    error: str = ""


class Exchange(dict[str, bytes]):
    """The values of the inputs of a module while it runs, and then of its outputs, by ``"/-/=NAME"``."""


class _Handler(http.server.SimpleHTTPRequestHandler):
    """Serves a folder, an empty page in it, and the values of inputs; receives those of outputs."""

    extensions_map = {**http.server.SimpleHTTPRequestHandler.extensions_map, ".mjs": "text/javascript"}  # noqa: RUF012 (the base's)

    def __init__(self, exchange: Exchange, *arguments: Any, **options: Any) -> None:
        self._exchange = exchange
        super().__init__(*arguments, **options)

    def log_message(self, format: str, *args: object) -> None:
        """Write nothing."""

    def do_GET(self) -> None:
        """Send a page, a value or a file."""
        content = _PAGE if self.path == "/" else self._exchange.get(unquote(self.path))
        if content is None:
            super().do_GET()
        else:
            self._send(content, "text/html" if self.path == "/" else "application/octet-stream")

    def do_POST(self) -> None:
        """Receive a value."""
        self._exchange[unquote(self.path)] = self.rfile.read(int(self.headers["Content-Length"]))
        self._send(b"", "text/plain")

    def _send(self, content: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


@contextmanager
def serve(folder: Path) -> Iterator[tuple[str, Exchange]]:
    """Serve a folder to this machine only; yield the address, which has an empty page, and what is exchanged."""
    exchange = Exchange()
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, exchange, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/", exchange
        finally:
            server.shutdown()
            thread.join()


class Chromium:
    """A browser with one page; it starts again after a module that ends it.

    Args:
        executable: The program.
        address: The address of an empty page beside the modules.
        exchange: The values that the server exchanges with the page.
        timeout: After how many seconds a module is given up.
    """

    def __init__(self, executable: Path, address: str, exchange: Exchange, timeout: float) -> None:
        self._executable = executable
        self._address = address
        self._exchange = exchange
        self._timeout = timeout
        self._stack = ExitStack()
        self._playwright: Any = None
        self._page: Any = None
        self.version = ""

    def __enter__(self) -> Chromium:
        # An extra dependency of this tool alone.
        from playwright.sync_api import sync_playwright  # noqa: PLC0415

        self._playwright = self._stack.enter_context(sync_playwright())
        self._start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()
        self._stack.close()

    def _start(self) -> None:
        self._browser = self._playwright.chromium.launch(executable_path=str(self._executable), headless=True, args=list(_FLAGS))
        self.version = self._browser.version
        self._page = self._browser.new_page()
        self._page.set_default_timeout(self._timeout * 1000)
        self._page.goto(self._address)
        if not self._page.evaluate("'ml' in navigator"):
            raise RuntimeError(f"{self._executable} {self.version} has no navigator.ml")

    def _stop(self) -> None:
        from playwright.sync_api import Error  # noqa: PLC0415

        with suppress(Error):
            self._browser.close()

    def run(self, name: str, inputs: Mapping[str, Array]) -> Result:
        """Build a module, and compute its graph."""
        from playwright.sync_api import Error  # noqa: PLC0415

        self._exchange.clear()
        self._exchange.update({f"/-/={key}": np.ascontiguousarray(value).tobytes() for key, value in inputs.items()})
        try:
            found = self._wait(name)
        except Error as error:
            return Result(built=False, error=_first_line(str(error)))
        except (TimeoutError, ConnectionError) as error:
            self._stop()
            self._start()
            return Result(built=False, error=str(error))
        outputs = {path.removeprefix("/-/="): value for path, value in self._exchange.items()}
        return Result(built=True, outputs=outputs, error=_first_line(found["error"]))

    def _wait(self, name: str) -> Any:
        """Run a module in the page."""
        from playwright.sync_api import Error  # noqa: PLC0415

        # `evaluate` has no limit of time of its own.
        limit = f"new Promise((_, stop) => setTimeout(() => stop(new Error('timeout')), {self._timeout * 1000:.0f}))"
        try:
            return self._page.evaluate(f"(given) => Promise.race([({_RUN})(given), {limit}])", name)
        except Error as error:
            if "Error: timeout" in str(error):
                raise TimeoutError(f"it was not done after {self._timeout:g} s") from None
            if not self._browser.is_connected() or "crash" in str(error).lower() or "closed" in str(error).lower():
                raise ConnectionError(f"the browser ended: {_first_line(str(error))}") from None
            raise


def _first_line(text: str) -> str:
    lines: Sequence[str] = text.strip().splitlines()
    return lines[0].removeprefix("Page.evaluate: ") if lines else ""
