"""Values of options that a shell completes: ``autocompletion`` of `typer.Option`.

The names are imported lazily: these functions run when somebody presses Tab.
"""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["complete_dialect", "complete_output", "complete_profile", "complete_revision", "complete_switch"]


def complete_profile(incomplete: str) -> list[str]:
    """Return the shipped device profiles, and their other names."""
    from webnn.context.profiles.load import ALIASES, PROFILES  # noqa: PLC0415

    return _fitting((*PROFILES, *ALIASES), incomplete)


def complete_revision(incomplete: str) -> list[str]:
    """Return the drafts, the default of Python, and what browsers have beyond the newest draft."""
    from webnn.validation.drafts import DEFAULT, DRAFTS, for_devices  # noqa: PLC0415

    return _fitting((*DRAFTS, DEFAULT, for_devices().name), incomplete)


def complete_dialect(incomplete: str) -> list[str]:
    """Return what browsers, or tests, have beside a draft."""
    from webnn.javascript.idl import load_dialects  # noqa: PLC0415

    return _fitting(load_dialects(), incomplete)


def complete_output(incomplete: str) -> list[str]:
    """Return the file with the suffix of each format that can be written, once it has a name."""
    from webnn.formats import WRITERS  # noqa: PLC0415

    stem = incomplete.partition(".")[0]
    return _fitting((f"{stem}{suffix}" for suffix in WRITERS), incomplete) if stem else []


def complete_switch(incomplete: str) -> list[str]:
    """Return the switches of the semantics with their values."""
    from webnn.builder.semantics import SWITCHES  # noqa: PLC0415

    return _fitting((f"{name}={value}" for name, switch in SWITCHES.items() for value in switch.values), incomplete)


def _fitting(names: Iterable[str], incomplete: str) -> list[str]:
    return sorted(name for name in names if name.startswith(incomplete))
