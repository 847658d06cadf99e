"""Checks of the folder of this package: links may be missing, and files of another package may be there.

A checkout has links such as ``webnn/builder`` -> ``../builder``. Where Windows does not let git make links, it writes text files in their
place; the sdist has nothing there.

Another distribution, such as pywebnn, may install a folder ``webnn`` too. pip writes the files of both into one folder, and `pip check`
does not notice. Which package ``import webnn`` finds depends on which one was installed last, and uninstalling one of them deletes the
``__init__.py`` of the other. Imported by every `import webnn`: nothing heavy here.
"""

from __future__ import annotations

import os
import sys
import warnings

__all__ = ["MODULES", "check_layers", "find_mixture", "is_overwritten", "warn_of_mixture"]

#: The modules in this folder itself.
MODULES = frozenset(
    {
        *("__init__.py", "__init__.pyi", "__main__.py", "_api.py", "_batch.py", "_extras.py", "_installation.py", "_names.py"),
        *("_version.py", "ignored.py", "pytest_plugin.py"),
    }
)
#: The file name endings of modules, for Python or a type checker.
_SUFFIXES = (".py", ".pyi", ".so", ".pyd")


def is_overwritten() -> bool:
    """Tell whether the imported package has no ``__init__.py``, or one that is not ours."""
    return vars(sys.modules[__name__.partition(".")[0]]).get("warn_of_mixture") is not warn_of_mixture


def find_mixture(folder: str = os.path.dirname(__file__)) -> str:
    """Return what is wrong with the files of this package and what to do, as one sentence; an empty string if nothing is wrong."""
    try:
        present = {name for name in os.listdir(folder) if name.endswith(_SUFFIXES) and not name.startswith(".")}
    except OSError:
        present = set()
    if os.path.basename(__file__) not in present:
        # In an archive, or compiled: there are no files to compare.
        return ""
    foreign, missing = sorted(present - MODULES), sorted(MODULES - present)
    wrong = [f"{what} {', '.join(names)}" for what, names in (("holds foreign files:", foreign), ("lacks", missing)) if names]
    if is_overwritten() and not missing:
        wrong.append("has the __init__.py of another package")
    if not wrong:
        return ""
    return (
        f"the folder {folder} {', and '.join(wrong)} (pywebnn, for one, installs a folder webnn too): "
        "run 'python -m pip uninstall pywebnn webnn', then install the one that you want"
    )


def warn_of_mixture() -> None:
    """Warn of what `find_mixture` finds."""
    mixture = find_mixture()
    if mixture:
        warnings.warn(f"webnn: {mixture}", stacklevel=3)


def check_layers(folder: str = os.path.dirname(__file__)) -> None:
    """Raise `ImportError` if the folders beside this package belong to it, and Python cannot find them."""
    root = os.path.dirname(folder)
    isBeside = not os.path.isdir(os.path.join(folder, "builder")) and os.path.isdir(os.path.join(root, "builder"))
    if not isBeside:
        return
    # Imported lazily: few have such a folder.
    from importlib.util import find_spec  # noqa: PLC0415

    # An editable installation finds them without links.
    if find_spec(f"{__name__.partition('.')[0]}.builder") is None:
        raise ImportError(
            f"webnn: the folder {root} has no symbolic links in webnn, as a checkout on Windows and an unpacked sdist: "
            "run 'python -m pip install -e .' in it"
        )
