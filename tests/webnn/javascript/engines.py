"""The JavaScript engines: tests that need one are skipped without it, and fail where it must be there (continuous integration)."""

from __future__ import annotations

import importlib.util
import os

import pytest

__all__ = ["needs_quickjs"]

_QUICKJS = importlib.util.find_spec("quickjs") is not None

#: Marks tests that need quickjs-ng.
needs_quickjs = pytest.mark.skipif(
    not _QUICKJS and not os.environ.get("WEBNN_REQUIRE_JS"), reason="the JavaScript engine quickjs-ng is not installed"
)
