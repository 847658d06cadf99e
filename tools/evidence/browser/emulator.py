"""Exported modules in the emulator: it builds them in Node, and computes their graphs."""

from __future__ import annotations

import io
import json
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import webnn
from webnn.commands import feeds
from webnn.javascript.files import ORIGIN, Files
from webnn.javascript.node import InstalledNode, NodeProgram, find_node, run_program
from webnn.javascript.page_scripts import Script

__all__ = ["BuiltModules", "build_modules", "compute", "values_for"]

Array = np.ndarray[Any, np.dtype[Any]]

_DRIVER = """
const weights = async (name) => {
  const answer = await fetch(`${location.origin}/${name}.safetensors`);
  return answer.ok ? answer.arrayBuffer() : undefined;
};
const context = await navigator.ml.createContext();
const results = {};
for (const name of NAMES) {
  try {
    const module = await import(`${location.origin}/${name}.mjs`);
    await module.build(context, await weights(name));
    results[name] = {inputs: Object.entries(module.inputs), outputs: Object.entries(module.outputs)};
  } catch (error) {
    results[name] = {error: `${error}`};
  }
}
console.log(JSON.stringify({results, globals: Object.keys(globalThis)}));
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltModules:
    """The results of modules in the emulator.

    Attributes:
        results: By the name of each module ``inputs`` and ``outputs``, its tables as pairs, or ``error``.
        descriptions: The descriptions of the graphs that were built, by the names of their modules.
        globals: The names of the enumerable properties of the global object, after all.
    """

    results: Mapping[str, Mapping[str, Any]]
    descriptions: Mapping[str, webnn.GraphDescription]
    globals: Sequence[str]


def build_modules(names: Sequence[str], folder: Path, *, dialect: str | None = None, node: InstalledNode | None = None) -> BuiltModules:
    """Build modules of the newest draft in the emulator, all in one process of Node.

    Args:
        names: The modules, without ``.mjs``.
        folder: Their folder, with the files of weights.
        dialect: The additions of browsers to the draft.
        node: The Node to run them in.

    Raises:
        RuntimeError: The process fails.
    """
    found: list[webnn.GraphDescription] = []
    stdout, stderr = io.BytesIO(), io.BytesIO()
    script = Script(url=f"{ORIGIN}/driver.mjs", kind="module", source=_DRIVER.replace("NAMES", json.dumps(list(names))))
    program = NodeProgram(
        scripts=[script], location=script.url, arguments=[], files=Files(folder, folder), revision="2026-06", dialect=dialect
    )
    with webnn.emulate(on_build=lambda description, _: found.append(description)):
        code = run_program(node or find_node(), program, stdout=stdout, stderr=stderr)
    if code:
        raise RuntimeError(f"the process ended with {code}: {stderr.getvalue().decode(errors='replace')}")
    answer = json.loads(stdout.getvalue())
    built = [name for name, result in answer["results"].items() if "error" not in result]
    return BuiltModules(results=answer["results"], descriptions=dict(zip(built, found, strict=True)), globals=answer["globals"])


def values_for(description: webnn.GraphDescription) -> dict[str, Array]:
    """Return values for the inputs of a graph, the same ones each time: small numbers; bytes for int4 and uint4."""
    return feeds.seeded_inputs(description.inputs, 0)


def compute(description: webnn.GraphDescription, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """Compute a graph over tensors; the outputs have the shapes that the description gives them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        context, graph = feeds.build(description)
    return feeds.compute(context, graph, inputs)
