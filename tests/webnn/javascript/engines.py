"""The JavaScript engines and their realms: tests that need one are skipped without it, and fail in continuous integration."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable
from importlib import metadata
from typing import Any

import pytest

import webnn
from webnn.javascript.library import TRIED
from webnn.javascript.realm import Address, Realm

__all__ = ["make_realm", "needs_quickjs", "needs_rejections"]

_QUICKJS = importlib.util.find_spec("quickjs") is not None

#: Marks tests that need quickjs-ng.
needs_quickjs = pytest.mark.skipif(
    not _QUICKJS and not os.environ.get("WEBNN_REQUIRE_JS"), reason="the JavaScript engine quickjs-ng is not installed"
)
#: Marks tests that need realms which notice rejections that nobody handles.
needs_rejections = pytest.mark.skipif(
    not _QUICKJS or sys.platform == "win32" or metadata.version("quickjs-ng") not in TRIED,
    reason="rejections are noticed with versions of quickjs-ng for which that was tried",
)


def make_realm(
    log: Callable[[str, str], object], revision: str = "2024-06", *, pathname: str = "/", memory: int = 1 << 28, **options: Any
) -> Realm:
    """Make a realm that finds no files, and whose programs emit nothing, unless the options say so."""
    usual = {"address": Address(pathname=pathname), "read": lambda _: None, "emit": lambda *_: None}
    if "ml" not in options:
        options["ml"] = webnn.ML(revision=revision)
    return Realm(log=log, revision=revision, memory=memory, **{**usual, **options})
