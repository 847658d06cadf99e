"""Walls of the operating system around a process: limits that it gives to itself, and that its program cannot lift again.

- `table` names the walls and puts them up; the other modules are one kind of wall each.
- `start` is the program through which Node is started.
- `python` puts walls up around a Python that runs.

The modules import the standard library only, and little of it: walls stand before anything that starts a thread is loaded.
"""
