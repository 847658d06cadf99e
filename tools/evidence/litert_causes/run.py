"""Computes models with the LiteRT that is imported, in a process of its own: ``python run.py FOLDER``. It needs no other file."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from ai_edge_litert.interpreter import Interpreter

__all__ = ["main"]


def main(folder: Path) -> None:
    """Compute each model ``*.tflite`` from the inputs beside it (``*.in.npz``); write the outputs (``*.out.npz``) if there are some."""
    for path in sorted(folder.glob("*.tflite")):
        try:
            # Chromium's number of threads does not change the bits: docs/litert.md.
            interpreter = Interpreter(model_content=path.read_bytes(), num_threads=1)
            interpreter.allocate_tensors()
            with np.load(path.with_suffix(".in.npz")) as inputs:
                for each in interpreter.get_input_details():
                    interpreter.set_tensor(each["index"], inputs[each["name"]].reshape(each["shape"]))
            interpreter.invoke()
        except (RuntimeError, ValueError) as error:
            print(f"{path.name}: {error}", file=sys.stderr)
            continue
        found = {each["name"]: interpreter.get_tensor(each["index"]) for each in interpreter.get_output_details()}
        np.savez(path.with_suffix(".out.npz"), **found)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
