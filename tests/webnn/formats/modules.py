"""Runs exported JavaScript modules in the emulator's Node, many in one process, and describes what they build."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import webnn
from tests.webnn.javascript.node_support import run

__all__ = ["build_in_node", "export"]

_DRIVER = """
const bytes = async (name) => {
  const answer = await fetch(`https://app.test/${name}.safetensors`);
  return answer.ok ? answer.arrayBuffer() : undefined;
};
const context = await navigator.ml.createContext();
const results = {};
for (const name of NAMES) {
  try {
    const module = await import(`https://app.test/${name}.mjs`);
    await module.build(context, await bytes(name));
    results[name] = {inputs: Object.entries(module.inputs), outputs: Object.entries(module.outputs)};
  } catch (error) {
    results[name] = {error: `${error}`};
  }
}
console.log(JSON.stringify({results, marks: Object.keys(globalThis).filter((name) => name.startsWith('pwned'))}));
"""


def export(descriptions: Sequence[webnn.GraphDescription], folder: Path) -> list[str]:
    """Save each as a module; return their names."""
    names = [f"graph{number}" for number in range(len(descriptions))]
    for name, description in zip(names, descriptions, strict=True):
        description.save(folder / f"{name}.mjs")
    return names


def build_in_node(
    names: Sequence[str], folder: Path, dialect: str | None = None
) -> tuple[Mapping[str, Mapping[str, object]], list[webnn.GraphDescription]]:
    """Build modules of the newest draft in one process.

    Returns:
        For each module its tables, or the error. And the descriptions of the graphs, in order; they have no draft.
    """
    built: list[webnn.GraphDescription] = []
    with webnn.emulate(on_build=lambda description, _: built.append(replace(description, draft=""))):
        outcome = run(folder, _DRIVER.replace("NAMES", json.dumps(names)), revision="2026-06", dialect=dialect)
    assert outcome.code == 0, outcome.stderr
    answer = json.loads(outcome.stdout)
    assert answer["marks"] == []
    return answer["results"], built
