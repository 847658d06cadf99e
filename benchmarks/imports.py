"""The cost of importing the public names of ``webnn``, above that of the packages that they need."""

from __future__ import annotations

import os
import subprocess
import sys

__all__ = ["DEPENDENCIES", "seconds"]

DEPENDENCIES = "numpy, pydantic"


def seconds(modules: str) -> float:
    """Import modules in a fresh process.

    Args:
        modules: The text behind ``import``.

    Returns:
        How long the statement took, in seconds.
    """
    # The bytecode of the first import must be kept, so that later imports do not compile.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    code = f"import time; start = time.perf_counter(); import {modules}; print(time.perf_counter() - start)"
    return float(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, env=environment).stdout)
