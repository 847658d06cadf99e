"""Runs a notebook in this process, without Jupyter, and writes what its cells show into it.

python -m tools.run_notebook examples/look_inside.ipynb            writes the outputs
python -m tools.run_notebook examples/look_inside.ipynb --check    fails if a cell does, or if texts differ from those in the file

Jupyter's own packages would bring some fifty others, a kernel process and sockets for what `exec` does: the cells use no magic commands.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import io
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

__all__ = ["main", "run", "texts"]

#: The width of the tables, wherever the notebook runs.
_COLUMNS = "100"


def run(source: str) -> dict[str, Any]:
    """Return a notebook with the outputs of its cells: what they print, and the value of the last line.

    Args:
        source: The notebook, in JSON.

    Raises:
        Exception: Whatever a cell raises.
    """
    notebook: dict[str, Any] = json.loads(source)
    namespace: dict[str, Any] = {"__name__": "__main__"}
    before = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = _COLUMNS
    try:
        codes = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
        for number, cell in enumerate(codes, start=1):
            cell["execution_count"] = number
            cell["outputs"] = _run_cell("".join(cell["source"]), f"cell {number}", number, namespace)
    finally:
        if before is None:
            del os.environ["COLUMNS"]
        else:
            os.environ["COLUMNS"] = before
    return notebook


def _run_cell(source: str, name: str, number: int, namespace: dict[str, Any]) -> list[dict[str, Any]]:
    tree = ast.parse(source, name)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    value: Any = None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, name, "exec"), namespace)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), name, "eval"), namespace)
    outputs: list[dict[str, Any]] = []
    if text := printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": text.splitlines(keepends=True)})
    if value is not None:
        data = {"text/plain": repr(value).splitlines(keepends=True)}
        if hasattr(value, "_repr_html_"):
            data["text/html"] = [value._repr_html_()]
        outputs.append({"data": data, "execution_count": number, "metadata": {}, "output_type": "execute_result"})
    return outputs


def texts(notebook: dict[str, Any]) -> list[list[str]]:
    """Return what each cell of code prints, and its value as plain text. Pictures differ from version to version of what draws them."""
    return [
        [*map("".join, [output.get("text", []) or output["data"]["text/plain"] for output in cell["outputs"]])]
        for cell in notebook["cells"]
        if cell["cell_type"] == "code"
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description="Run a notebook, and write its outputs into it.")
    parser.add_argument("notebook", type=Path)
    parser.add_argument("--check", action="store_true", help="only compare")
    options = parser.parse_args(arguments)
    source = options.notebook.read_text(encoding="utf-8")
    notebook = run(source)
    if not options.check:
        text = json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"
        options.notebook.write_text(text, encoding="utf-8", newline="\n")
        return 0
    for number, (own, shown) in enumerate(zip(texts(json.loads(source)), texts(notebook), strict=True), start=1):
        if own != shown:
            print(f"{options.notebook}: cell {number} shows {shown}, the file has {own}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
