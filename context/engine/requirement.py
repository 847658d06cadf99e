"""Which ONNX Runtime is needed, and what to say of another one, of none, and of its errors."""

from __future__ import annotations

import re
from importlib import metadata

__all__ = ["LOWEST", "broken", "is_older", "missing", "one_line", "too_old"]

#: The lower limit in pyproject.toml. Older versions lack functions and kernels, and compute wrong values (docs/install.md).
LOWEST = (1, 31, 0)
_NEEDED = ".".join(map(str, LOWEST))
_ONE = "onnxruntime or onnxruntime-gpu"
#: The engine's name for an error's kind, the place in its source that CUDA's errors begin with, and what follows the text of one.
_DECORATION = re.compile(r"^.*?(?=CUDA failure \d+: )|\[ONNXRuntimeError\] : \d+ : \w+ : | ; GPU=.*")
#: Of a longer text, what stands at its two ends: functions and places in the engine's source come first, what happened comes last.
_LONGEST_REASON, _BEGINNING = 300, 100


def is_older(version: str, lowest: tuple[int, int, int]) -> bool:
    """Tell whether a version such as ``"1.31.0"`` is older than another one; not if it has no numbers to compare."""
    numbers = re.match(r"(\d+)\.(\d+)(?:\.(\d+))?", version)
    return numbers is not None and tuple(int(number or 0) for number in numbers.groups()) < lowest


def one_line(error: BaseException) -> str:
    """Return the text of an exception of the engine, or of a package, as a part of a line; its class if it has none."""
    text = " ".join(_DECORATION.sub("", " ".join(str(error).split())).split()) or type(error).__name__
    return text if len(text) <= _LONGEST_REASON else f"{text[:_BEGINNING]}...{text[_BEGINNING - _LONGEST_REASON :]}"


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
