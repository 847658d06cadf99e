"""Modules in a folder, each with the values of its inputs, and with results if another judge than the emulator knows them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

import webnn
from tools.evidence.browser.emulator import compute, values_for

__all__ = ["expect", "load_inputs", "save_module"]

Array = np.ndarray[Any, np.dtype[Any]]


def save_module(
    description: webnn.GraphDescription, folder: Path, name: str, inputs: Mapping[str, Array], outputs: Mapping[str, Array] | None = None
) -> None:
    """Write a graph as a module, with its weights and values.

    Args:
        description: The graph.
        folder: Where the files go; it is made if it does not exist.
        name: The name of the module.
        inputs: The values of its inputs, and of others.
        outputs: The values of its outputs that the browser must compute; without them those of the emulator.
    """
    folder.mkdir(parents=True, exist_ok=True)
    description.save(folder / f"{name}.mjs")
    values = {f"input {key}": inputs[key] for key in description.inputs}
    values |= {f"output {key}": value for key, value in (outputs or {}).items()}
    np.savez(folder / f"{name}.npz", allow_pickle=False, **values)


def load_inputs(folder: Path, name: str, description: webnn.GraphDescription) -> Mapping[str, Array]:
    """Return the values of a module's inputs; small random numbers if there is no file."""
    path = folder / f"{name}.npz"
    if not path.exists():
        return values_for(description)
    with np.load(path, allow_pickle=False) as arrays:
        return {key: arrays[f"input {key}"] for key in description.inputs}


def expect(folder: Path, name: str, description: webnn.GraphDescription, inputs: Mapping[str, Array]) -> Mapping[str, Array]:
    """Return what a module must compute: the results in its file, otherwise those of the emulator."""
    path = folder / f"{name}.npz"
    if path.exists():
        with np.load(path, allow_pickle=False) as arrays:
            if any(key.startswith("output ") for key in arrays):
                return {key: arrays[f"output {key}"] for key in description.outputs}
    return compute(description, inputs)
