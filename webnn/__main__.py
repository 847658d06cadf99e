"""``python -m webnn``: the command line."""

from webnn.cli import main

if __name__ == "__main__":
    main()
