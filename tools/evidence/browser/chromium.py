"""Runs modules of a folder in a Chromium with WebNN."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from webnn.browser.chromium import Chromium, PageCrashError, PageError, PageTimeoutError, read_below, serve
from webnn.javascript.files import File

__all__ = ["Modules", "Result", "open_folder"]

Array = np.ndarray[Any, np.dtype[Any]]

_RUN = """
async (name) => {
  globalThis.context ??= await navigator.ml.createContext();
  const module = await import(`/${name}.mjs`);
  const answer = await fetch(`/${name}.safetensors`);
  const graph = await module.build(context, answer.ok ? await answer.arrayBuffer() : undefined);
  const result = {error: '', outputs: {}};
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
      result.outputs[output] = new Uint8Array(await context.readTensor(tensor)).toBase64();
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
    """The result of a module in the browser.

    Attributes:
        built: The browser built the graph.
        outputs: The bytes of its outputs, if it computed them.
        error: Why it did not build or compute it.
    """

    built: bool
    outputs: Mapping[str, bytes] = field(default_factory=dict)
    error: str = ""


class Modules:
    """The modules of a folder as the browser's server has them, and as ``/-/=NAME`` the values of a module's inputs."""

    def __init__(self, folder: Path) -> None:
        self._read = read_below(folder)
        self._values: dict[str, bytes] = {}

    def read(self, path: str) -> File | None:
        """Return a value of an input, or a file."""
        content = self._values.get(path)
        return self._read(path) if content is None else File(content, "application/octet-stream")

    def run(self, browser: Chromium, name: str, inputs: Mapping[str, Array]) -> Result:
        """Build a module, and compute its graph."""
        self._values = {f"/-/={key}": np.ascontiguousarray(value).tobytes() for key, value in inputs.items()}
        try:
            found = browser.evaluate(_RUN, name)
        except (PageError, PageTimeoutError, PageCrashError) as error:
            return Result(built=False, error=_first_line(str(error)))
        outputs = {key: base64.b64decode(value) for key, value in found["outputs"].items()}
        return Result(built=True, outputs=outputs, error=_first_line(found["error"]))


@contextmanager
def open_folder(folder: Path, executable: Path, timeout: float) -> Iterator[tuple[Modules, Chromium]]:
    """Start a browser with an empty page beside the modules of a folder; ``timeout`` is in seconds for each module."""
    modules = Modules(folder)
    with serve(modules.read) as address, Chromium(executable, timeout=timeout) as browser:
        browser.open(address)
        yield modules, browser


def _first_line(text: str) -> str:
    return (text.strip().splitlines() or [""])[0]
