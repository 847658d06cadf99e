"""Compares random models of each operator of the domain com.microsoft with ONNX Runtime.

python -m tools.evidence.onnx_contrib                          200 of each kind
python -m tools.evidence.onnx_contrib --count 20 MoE QMoE      20 of two kinds
python -m tools.evidence.onnx_contrib --page                   writes the table in docs/onnx.md
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import numpy as np

from tools.evidence.onnx_contrib.cases import compare
from tools.evidence.onnx_contrib.kinds import KINDS
from tools.evidence.onnx_contrib.page import PAGE, page
from tools.written import keep_pages


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("kinds", nargs="*", help="the kinds; by default all")
    parser.add_argument("--count", type=int, default=200, help="the cases of each kind (default: %(default)s)")
    parser.add_argument("--page", action="store_true", help="run nothing, and write the table in docs/onnx.md")
    options = parser.parse_args(arguments)
    if options.page:
        return keep_pages({PAGE: page()}, "tools.evidence.onnx_contrib --page", check=False)
    faults = 0
    for name in options.kinds or KINDS:
        worst, problems = 0.0, dict[str, list[int]]()
        for seed in range(options.count):
            try:
                part = compare(KINDS[name](np.random.default_rng(seed)))
            except Exception as error:  # it is reported, and the next case is tried
                problems.setdefault(f"{type(error).__name__}: {error}"[:300], []).append(seed)
                continue
            worst = max(worst, part)
            if part > 1:
                problems.setdefault("above the tolerance", []).append(seed)
        faults += len(problems)
        for problem, seeds in problems.items():
            print(f"{name}, seeds {seeds[:8]}, {len(seeds)} in all: {problem}")
        print(f"{name}: {options.count} cases, at most {worst:.2g} of the tolerance", flush=True)
    return int(faults > 0)


if __name__ == "__main__":
    sys.exit(main())
