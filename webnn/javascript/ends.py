"""How a program in Node may end other than by itself: the exit codes, and the memory that it may use."""

from __future__ import annotations

__all__ = ["ENDED_BY_USER", "FAULT", "MEMORY", "OUT_OF_TIME"]

#: Exit codes that are not the program's: those of `timeout`, of BSD's sysexits, and of a shell after Ctrl-C.
OUT_OF_TIME, FAULT, ENDED_BY_USER = 124, 70, 130
#: The most bytes of memory that a program may write to, where the system can limit it: Node itself begins with 0.6 GB, and the memory of
#: WebAssembly has at most 4.
MEMORY = 8 << 30
