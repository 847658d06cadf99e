"""The W3C Web Neural Network API in Python.

    >>> from webnn import MLGraphBuilder, navigator
    >>> context = navigator.ml.createContextSync()
    >>> builder = MLGraphBuilder(context)

The names are the specification's own. Each method that returns a promise there returns an `asyncio.Future` here and has a twin with the
suffix ``Sync``.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from webnn._installation import check_layers, warn_of_mixture
from webnn._version import __version__ as __version__

#: Packages that `dir` shows beside the API. Every package loads when a program uses it by its name: ``webnn.onnx.load``.
_PACKAGES = ("inspect", "onnx", "reference", "stablehlo", "tflite", "torch")


# Type checkers read __init__.pyi: with this function, they would take any name for one of the package.
def __getattr__(name: str) -> Any:
    if not name.startswith("_") or name == "__all__":
        names = _load()
        if name in names:
            return names[name]
        if name.isidentifier() and _is_package(f"{__name__}.{name}"):
            return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*_load()["__all__"], *_PACKAGES})


def _is_package(name: str) -> bool:
    """Tell whether there is such a package. A module is none: the pytest plug-in, for one, needs a library that may be missing."""
    # Imported lazily: programs seldom ask for a package this way.
    from importlib.util import find_spec  # noqa: PLC0415

    spec = find_spec(name)
    return spec is not None and spec.submodule_search_locations is not None


def _load() -> dict[str, Any]:
    """Load the public names when the first of them is used: NumPy takes most of the time of a short command."""
    api = import_module("webnn._api")
    names = {name: getattr(api, name) for name in api.__all__}
    names["__all__"] = [*names, "__version__"]
    globals().update(names)
    return names


def load_ipython_extension(shell: object) -> None:
    """Define what notebooks get with ``%load_ext webnn``: cells in JavaScript. docs/jupyter.md."""
    # Imported lazily: only notebooks need it.
    from webnn.validation import extras  # noqa: PLC0415

    extras.load("ipython", "%load_ext webnn")(shell)


check_layers()
warn_of_mixture()
