"""Write the examples of the playground, webnn/playground/examples.json: programs of the folder examples that need no file.

python -m tools.playground_examples            writes the file
python -m tools.playground_examples --check    fails if it differs
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from tools.written import keep_pages

__all__ = ["main", "write"]

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "webnn" / "playground" / "examples.json"
#: The programs, with their titles.
EXAMPLES: Mapping[str, str] = MappingProxyType(
    {
        "js/add.mjs": "Add two tensors",
        "js/edges.mjs": "Edges of a picture",
        "js/attention.mjs": "Attention",
        "js/wrong.js": "Wrong calls and their errors",
        "add_and_multiply.py": "Add and multiply",
        "add_and_multiply_async.py": "Add and multiply, with await",
        "gather_pad_triangular.py": "Gather, pad and triangular",
        "several_outputs.py": "Several outputs",
        "activations_and_gru.py": "Activations and GRU",
        "int8_graph.py": "An int8 graph",
        "transformer_block.py": "A transformer block",
    }
)


def write() -> str:
    """Return the examples as JSON."""
    found = [
        {
            "title": title,
            "language": "python" if name.endswith(".py") else "javascript",
            "source": (ROOT / "examples" / name).read_text(encoding="utf-8"),
        }
        for name, title in EXAMPLES.items()
    ]
    return json.dumps(found, indent=1, ensure_ascii=False) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the file, or compare it; return an exit status."""
    parser = argparse.ArgumentParser(description="Write the examples of the playground.")
    parser.add_argument("--check", action="store_true", help="write nothing, fail if the file differs")
    options = parser.parse_args(arguments)
    return keep_pages({PAGE: write()}, "tools.playground_examples", check=options.check)


if __name__ == "__main__":
    sys.exit(main())
