"""``python -m webnn`` and the program ``webnn``: the command line, if the package is whole."""

from __future__ import annotations

import sys

from webnn._installation import find_mixture, is_overwritten


def main() -> None:
    """Run the command line, or say why it cannot run."""
    if is_overwritten():
        sys.exit(f"webnn: {find_mixture()}")
    # Imported late: these modules need the package's own names.
    from webnn.commands.main import main as run  # noqa: PLC0415

    run()


if __name__ == "__main__":
    main()
