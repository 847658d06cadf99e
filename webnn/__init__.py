"""The W3C Web Neural Network API in Python.

    >>> from webnn import MLGraphBuilder, navigator
    >>> context = navigator.ml.createContextSync()
    >>> builder = MLGraphBuilder(context)

The names are the specification's own. Each method that returns a promise there returns an `asyncio.Future` here and has a twin with the
suffix ``Sync``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from webnn._installation import check_layers, warn_of_mixture
from webnn._version import __version__ as __version__

#: Packages that a program uses by their names, and that load when it does: ``webnn.onnx.load``.
_PACKAGES = ("onnx",)

if TYPE_CHECKING:
    from webnn import onnx as onnx
    from webnn._api import *  # noqa: F403 (what there is, `__all__` says)
    from webnn._api import __all__ as __all__
else:
    # Type checkers must not see it: they would take any name for one of the package.
    def __getattr__(name: str) -> Any:
        if name in _PACKAGES:
            return import_module(f"{__name__}.{name}")
        if not name.startswith("_") or name == "__all__":
            names = _load()
            if name in names:
                return names[name]
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_load(), *_PACKAGES})


def _load() -> dict[str, Any]:
    """Load the public names when the first of them is used: NumPy takes most of the time of a short command."""
    api = import_module("webnn._api")
    names = {name: getattr(api, name) for name in api.__all__}
    names["__all__"] = [*names, "__version__"]
    globals().update(names)
    return names


def load_ipython_extension(shell: object) -> None:
    """Define what notebooks get with ``%load_ext webnn``: cells in JavaScript. docs/jupyter.md."""
    import_module(f"{__name__}.notebook.magic").register(shell)


check_layers()
warn_of_mixture()
