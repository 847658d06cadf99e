"""``python -m webnn`` and the program ``webnn``: the command line, if the package is whole."""

from __future__ import annotations

import os
import sys

from webnn._installation import find_mixture, is_overwritten
from webnn._version import __version__


def main() -> None:
    """Run the command line, or say why it cannot run."""
    if is_overwritten():
        sys.exit(f"webnn: {find_mixture()}")
    if sys.argv[1:] == ["--version"]:
        # The command line takes longer to load than Python.
        print(f"webnn {__version__}")
        return
    # Imported late: these modules need the package's own names.
    from webnn.commands.main import main as run  # noqa: PLC0415

    run()


if __name__ == "__main__":
    # `python -m` looks for modules in the current folder first. Only what Python itself needed came from there until now.
    if sys.path[:1] == [os.getcwd()]:
        del sys.path[0]
    main()
