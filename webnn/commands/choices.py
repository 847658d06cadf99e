"""The values of options that several commands have."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

__all__ = ["Device", "Fallback", "FormerDialect", "choose_dialect"]

#: ``--profile``, the name of ``--dialect`` until 0.1. Since then a profile is a device's.
FormerDialect = Annotated[str | None, typer.Option("--profile", hidden=True)]


class Device(StrEnum):
    """The values of ``deviceType``."""

    cpu = "cpu"
    gpu = "gpu"
    npu = "npu"


class Fallback(StrEnum):
    """The fallback policies of `webnn.ML`."""

    allow = "allow"
    silent = "silent"
    deny = "deny"


def choose_dialect(dialect: str | None, former: str | None) -> str | None:
    """Return the dialect that a command was given; warn if it was given by the name of the option until 0.1."""
    if former is not None:
        typer.echo("webnn: --profile is now called --dialect: the old name will go", err=True)
    return dialect or former
