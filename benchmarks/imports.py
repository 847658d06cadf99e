"""What ``import webnn`` costs above the packages that it needs at once."""

from __future__ import annotations

import subprocess
import sys

__all__ = ["DEPENDENCIES", "seconds"]

DEPENDENCIES = "numpy, pydantic"


def seconds(modules: str) -> float:
    """Import modules in a fresh process.

    Args:
        modules: What stands behind ``import``.

    Returns:
        How long the statement took, in seconds.
    """
    code = f"import time; start = time.perf_counter(); import {modules}; print(time.perf_counter() - start)"
    return float(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout)
