"""Which ONNX Runtime is needed, and the messages about a missing or unsuitable one and about its errors."""

from __future__ import annotations

import re
from importlib import metadata

__all__ = ["LOWEST", "broken", "is_older", "missing", "one_line", "too_old"]

#: The lower limit in pyproject.toml. Older versions lack functions and kernels, and compute wrong values (docs/install.md).
LOWEST = (1, 31, 0)
_NEEDED = ".".join(map(str, LOWEST))
_ONE = "onnxruntime or onnxruntime-gpu"
#: Parts to remove from messages: the engine's name for the kind of error, and what stands before and after the text of a CUDA error.
_DECORATION = re.compile(r"^.*?(?=CUDA failure \d+: )|\[ONNXRuntimeError\] : \d+ : \w+ : | ; GPU=.*")
#: A longer text is cut in its middle: it begins with places in the engine's source and ends with what happened.
_LONGEST_REASON, _BEGINNING = 300, 100


def is_older(version: str, lowest: tuple[int, int, int]) -> bool:
    """Tell whether a version such as ``"1.31.0"`` is older than another one; false if it has no numbers to compare."""
    numbers = re.match(r"(\d+)\.(\d+)(?:\.(\d+))?", version)
    return numbers is not None and tuple(int(number or 0) for number in numbers.groups()) < lowest


def one_line(error: BaseException) -> str:
    """Return the text of an exception of the engine, or of a package, on one line; its class if it has no text."""
    text = " ".join(_DECORATION.sub("", " ".join(str(error).split())).split()) or type(error).__name__
    return text if len(text) <= _LONGEST_REASON else f"{text[:_BEGINNING]}...{text[_BEGINNING - _LONGEST_REASON :]}"


def missing() -> str:
    """Return the message for a missing module ``onnxruntime``."""
    return f"webnn needs ONNX Runtime: install {_ONE}, {_NEEDED} or newer"


def broken(reason: str) -> str:
    """Return the message for a module that cannot be imported or is empty.

    Args:
        reason: Why, as a part of a line.
    """
    return (
        f"webnn needs ONNX Runtime {_NEEDED} or newer, and the one that is installed is broken ({reason}): "
        f"uninstall all its flavours, then install {_ONE}"
    )


def too_old(version: str) -> str:
    """Return the message for a version that is too old; an empty string if it is new enough.

    Args:
        version: The module's version.
    """
    if not is_older(version, LOWEST):
        return ""
    # Two variants overwrite each other's files, so neither name can be recommended.
    flavours = sorted(set(metadata.packages_distributions().get("onnxruntime", [])))
    name = flavours[0] if len(flavours) == 1 else "onnxruntime"
    return f"webnn needs ONNX Runtime {_NEEDED} or newer, found {name} {version}: run 'python -m pip install --upgrade {name}'"
