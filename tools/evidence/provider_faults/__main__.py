"""Runs the programs and prints the table."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import numpy as np

_PROVIDERS = ("webgpu", "qnn")


def show(provider: str, name: str) -> str:
    """Run one program in this process; return what differs."""
    module = import_module(f"tools.evidence.provider_faults.{provider}")
    fault = next(each for each in module.FAULTS if each.__name__ == name)
    try:
        got, expected = fault()
    except Exception as error:  # the engine's exceptions have no common class
        return f"error: {str(error).splitlines()[0]}"
    near = 2e-6 if expected.dtype.kind == "f" else 0
    wrong = ~np.isclose(got, expected, rtol=near, atol=near, equal_nan=True)
    if not wrong.any():
        return "right"
    return f"got {got[wrong].ravel()[0]}, expected {expected[wrong].ravel()[0]}: {wrong.sum()} of {wrong.size}"


def main(*providers: str) -> None:
    """Run the programs of some providers, by default all, each in a process of its own."""
    for provider in providers or _PROVIDERS:
        for fault in import_module(f"tools.evidence.provider_faults.{provider}").FAULTS:
            command = [sys.executable, "-m", "tools.evidence.provider_faults", provider, fault.__name__]
            ended = subprocess.run(command, capture_output=True, text=True, check=False)
            lines = ended.stdout.splitlines()
            result = f"the process ended with {ended.returncode}" if ended.returncode or not lines else lines[-1]
            print(f"{provider:7} {fault.__name__:36} {result}\n{'':8}{fault.__doc__}")


if __name__ == "__main__":
    if len(sys.argv) == 3:
        print(show(*sys.argv[1:]))
    else:
        main(*sys.argv[1:])
