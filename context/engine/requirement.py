"""Which ONNX Runtime is needed, and what to say where there is another one or none."""

from __future__ import annotations

import re
from importlib import metadata

__all__ = ["LOWEST", "broken", "is_older", "missing", "too_old"]

#: The lower limit in pyproject.toml. Older versions lack functions and kernels, and compute wrong values (docs/install.md).
LOWEST = (1, 31, 0)
_NEEDED = ".".join(map(str, LOWEST))
_ONE = "onnxruntime or onnxruntime-gpu"


def is_older(version: str, lowest: tuple[int, int, int]) -> bool:
    """Tell whether a version such as ``"1.31.0"`` is older than another one; not if it has no numbers to compare."""
    numbers = re.match(r"(\d+)\.(\d+)(?:\.(\d+))?", version)
    return numbers is not None and tuple(int(number or 0) for number in numbers.groups()) < lowest


def missing() -> str:
    """Return what to say where the module ``onnxruntime`` is not installed."""
    return f"webnn needs ONNX Runtime: install {_ONE}, {_NEEDED} or newer"


def broken(reason: str) -> str:
    """Return what to say where the module does not import, or is empty.

    Args:
        reason: Why, as a part of a line.
    """
    return (
        f"webnn needs ONNX Runtime {_NEEDED} or newer, and the one that is installed is broken ({reason}): "
        f"uninstall all its flavours, then install {_ONE}"
    )


def too_old(version: str) -> str:
    """Return what to say of a version; an empty string if it is new enough.

    Args:
        version: What the module says that it is.
    """
    if not is_older(version, LOWEST):
        return ""
    # Of two flavours, which overwrite each other's files, neither name says more.
    flavours = sorted(set(metadata.packages_distributions().get("onnxruntime", [])))
    name = flavours[0] if len(flavours) == 1 else "onnxruntime"
    return f"webnn needs ONNX Runtime {_NEEDED} or newer, found {name} {version}: run 'python -m pip install --upgrade {name}'"
