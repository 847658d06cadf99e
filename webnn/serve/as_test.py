"""The settings of a server as a test with Playwright, for a person to copy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import webnn
from webnn.context.profiles import PROFILES
from webnn.serve.options import FAULTS, Options

__all__ = ["write_test"]


def write_test(options: Options, address: str) -> str:
    """Return a program in Python: a test with the fixture ``webnn_page`` that opens an address with these options.

    A profile that is not one of the package's is a comment, because the status page names no files.
    """
    profile = options.profile
    isKnown = isinstance(profile, str) and profile in PROFILES
    settings = {
        "revision": options.revision,
        "dialect": options.dialect,
        "profile": profile if isKnown else None,
        "fallback": options.fallback,
        "numerics": options.numerics,
    }
    keywords = [f"{name}={value!a}" for name, value in settings.items() if value is not None]
    faults = _write_faults(options.faults)
    lines = ["import pytest", *(["import webnn"] if faults else []), "", ""]
    if profile is not None and not isKnown:
        lines.append("# Add profile=..., the path of the profile's file.")
    keywords += [f"faults=webnn.Faults({faults})"] if faults else []
    return "\n".join(
        [
            *lines,
            f"@pytest.mark.webnn({', '.join(keywords)})",
            "def test_the_page(webnn_page, webnn_emulator):",
            f"    webnn_page.goto({address!a})",
            "    # Wait for what the page shows, such as:",
            '    webnn_page.wait_for_load_state("networkidle")',
            "    assert webnn_emulator.warnings == []",
            "",
        ]
    )


def _write_faults(faults: webnn.Faults | None) -> str:
    """Return the arguments of `webnn.Faults`; empty if none is set."""
    values = {} if faults is None else {name: getattr(faults, name) for name in FAULTS}
    return ", ".join(f"{name}={_write(value)}" for name, value in values.items() if value is not None and value != {})


def _write(value: Any) -> str:
    if isinstance(value, Mapping):
        return ascii(dict(value)) if any(value.values()) else ascii(sorted(value))
    return ascii(sorted(value)) if isinstance(value, frozenset | set) else ascii(value)
