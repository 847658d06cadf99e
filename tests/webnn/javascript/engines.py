"""The JavaScript engines: tests that need one are skipped without it, and fail where it must be there (continuous integration)."""

from __future__ import annotations

import importlib.util
import os
import sys
from importlib import metadata

import pytest

from webnn.javascript.library import TRIED

__all__ = ["needs_quickjs", "needs_rejections"]

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
