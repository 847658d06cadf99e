"""Adds an operation to the newest draft: its row, method, IDL, limits, translation, reference, example and test.

    python -m tools.add_operation atan --family unary --types float32,float16 --onnx Atan --numpy arctan --says "the arc tangent"

The other tables of a family, such as those of exports and tolerances, have a default. docs/adding-an-op.md says what to check afterwards.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from tools.extract_idl import render
from webnn.validation.drafts import NEWEST
from webnn.validation.families import OPERATIONS

__all__ = ["add_unary", "main"]

ROOT = Path(__file__).resolve().parents[1]
_ANCHOR = "#api-mlgraphbuilder-unary"
_TABLE = "tensor-limits-elementwise-unary"

_METHOD = '''\
    @some_drafts
    def {name}(self, input: MLOperand, options: MLOperatorOptions | None = None, **members: Unpack[MLOperatorOptions]) -> MLOperand:
        """Return {says}, element by element. `{anchor}`.

        Since {draft}.

        Args:
            input: The operand, {types}, any shape.
            options: A label for messages.

        Raises:
            WebNNTypeError: The data type is not allowed.
        """
        return self._single("{name}", (input,), (), options, members)

'''
_EXAMPLE = '''\
[{name}]
formula = "y = {name}(x)"
example = """
x = tensor("x", [0, 0.5, 1])
show(builder.{name}(x))
"""
prints = """
{prints}
"""

'''


def add_unary(name: str, types: Sequence[str], onnx_name: str, numpy: str, says: str, root: Path = ROOT) -> list[str]:
    """Add a unary operation.

    Args:
        name: The operation.
        types: Its data types.
        onnx_name: The ONNX operator that computes it.
        numpy: The NumPy function that computes it.
        says: The result in words.
        root: The checkout.

    Returns:
        The paths of the changed files.
    """
    words = {"name": name, "says": says, "anchor": _ANCHOR, "draft": NEWEST, "types": _listed(types)}
    drafts = f"validation/drafts/{NEWEST}"
    changes: dict[str, Callable[[str], str]] = {
        "validation/unary.py": lambda text: _insert(text, r'        "(\w+)",\n', name, f'        "{name}",\n'),
        f"{drafts}.idl.json": lambda text: render(_add_idl(json.loads(text), name)),
        f"{drafts}.limits.json": lambda text: render(_add_limits(json.loads(text), name, types)),
        "builder/ops/unary.py": lambda text: _insert(
            text + "\n", r"    (?:@some_drafts\n    )?def (\w+)\(self(?:.*\n)+?\n(?=    (?:@|def)|\Z)", name, _METHOD.format(**words)
        ).removesuffix("\n"),
        "builder/onnx/unary.py": lambda text: _insert(text, r'    "(\w+)": "\w+",\n', name, f'    "{name}": "{onnx_name}",\n'),
        "webnn/reference/unary.py": lambda text: _insert(
            text, r'(?: {4}#.*\n)* {4}"(\w+)": each_element.*\n', name, f'    "{name}": each_element(np.{numpy}),\n'
        ),
        "docs/operations/unary.toml": lambda text: _insert(
            text + "\n", r"\[(\w+)\]\nformula(?:.*\n)+?\n(?=\[|\Z)", name, _EXAMPLE.format(**words, prints=_example(numpy))
        ).removesuffix("\n"),
        "tests/builder/onnx/test_unary.py": lambda text: _insert(text, r'    "(\w+)": [\de-]+,\n', name, f'    "{name}": 4e-7,\n'),
    }
    # All of it is made before anything is written.
    texts = {path: change(root.joinpath(path).read_text(encoding="utf-8")) for path, change in changes.items()}
    for path, text in texts.items():
        root.joinpath(path).write_text(text, encoding="utf-8", newline="\n")
    return [*texts]


def _listed(types: Sequence[str]) -> str:
    *others, last = types
    return f"{', '.join(others)} or {last}" if others else last


def _insert(text: str, pattern: str, name: str, entry: str) -> str:
    """Insert an entry into an ordered list: the entries match the pattern, whose group is their name."""
    entries = list(re.finditer(pattern, text))
    if not entries:
        raise ValueError(f"no entry {pattern!r} is where a new one belongs")
    later = [each for each in entries if each[1].lower() > name.lower()]
    place = later[0].start() if later else entries[-1].end()
    return text[:place] + entry + text[place:]


def _example(numpy: str) -> str:
    with np.printoptions(precision=4, suppress=True):
        return str(getattr(np, numpy)(np.array([0, 0.5, 1], np.float32)))


def _add_idl(idl: dict[str, Any], name: str) -> dict[str, Any]:
    """Add the method and its member of ``MLOpSupportLimits``, as those of ``tan``."""
    unary = {operation for operation, row in OPERATIONS.items() if row.anchor == _ANCHOR}
    for entries in (idl["dictionaries"]["MLOpSupportLimits"]["members"], idl["interfaces"]["MLGraphBuilder"]["operations"]):
        places = [place for place, entry in enumerate(entries) if entry["name"] in unary]
        place = next((each for each in places if entries[each]["name"].lower() > name.lower()), places[-1] + 1)
        entries.insert(place, {**next(each for each in entries if each["name"] == "tan"), "name": name})
    return idl


def _tables(limits: Mapping[str, Any]) -> dict[tuple[str, ...], dict[str, Any]]:
    """Return the first of the family's tables for each list of data types."""
    tables: dict[tuple[str, ...], dict[str, Any]] = {}
    for anchor, table in limits["tables"].items():
        types = table["operands"].get("input", {}).get("dataTypes")
        if anchor.startswith(f"{_TABLE}-") and isinstance(types, list):
            tables.setdefault(tuple(types), table)
    return tables


def _add_limits(limits: dict[str, Any], name: str, types: Sequence[str]) -> dict[str, Any]:
    _tables(limits)[tuple(types)]["operations"].append(name)
    return limits


def _problems(name: str, types: Sequence[str], onnx_name: str, numpy: str) -> list[str]:
    """Return the reasons why the arguments make no operation."""
    problems = []
    if not re.fullmatch(r"[a-z]\w*", name) or name in OPERATIONS:
        problems.append(f"NAME must be a name that no operation has, got {name!r}")
    known = _tables(json.loads(ROOT.joinpath(f"validation/drafts/{NEWEST}.limits.json").read_text(encoding="utf-8")))
    if tuple(types) not in known:
        problems.append(f"--types must be those of another unary operation, {' or '.join(map(','.join, known))}, got {','.join(types)!r}")
    schema = onnx.defs.get_schema(onnx_name) if onnx.defs.has(onnx_name) else None
    if schema is None or (len(schema.inputs), len(schema.outputs)) != (1, 1):
        problems.append(f"--onnx must be an ONNX operator with one input and one output, got {onnx_name!r}")
    if getattr(getattr(np, numpy, None), "nin", 0) != 1:
        problems.append(f"--numpy must be a NumPy function of one array, got {numpy!r}")
    return problems


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tools.add_operation", description="Add an operation to the newest draft.")
    parser.add_argument("name", metavar="NAME", help="the operation, for example atan")
    parser.add_argument("--family", choices=["unary"], required=True, help="the family that it belongs to")
    parser.add_argument("--types", default="float32,float16", help="its data types (default: %(default)s)")
    parser.add_argument("--onnx", metavar="OPERATOR", help="the ONNX operator that computes it (default: the name with a capital letter)")
    parser.add_argument("--numpy", metavar="FUNCTION", help="the NumPy function that computes it (default: the name)")
    parser.add_argument("--says", metavar="WORDS", help="the result in words, for the documentation (default: the name)")
    given = parser.parse_args(arguments)
    name, types = given.name, [each.strip() for each in given.types.split(",")]
    onnx_name, numpy = given.onnx or name[:1].upper() + name[1:], given.numpy or name
    if problems := _problems(name, types, onnx_name, numpy):
        parser.error("; ".join(problems))
    changed = add_unary(name, types, onnx_name, numpy, given.says or f"the {name}")
    print("\n".join(changed))
    return 0


if __name__ == "__main__":
    sys.exit(main())
