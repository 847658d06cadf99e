"""Fixtures of the tests of the server."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from webnn.serve.options import Options
from webnn.serve.server import Server


@pytest.fixture
def server() -> Iterator[Server]:
    """A server without pages, in which nothing goes wrong."""
    faults: list[str] = []
    with Server(None, Options(), on_fault=faults.append) as running:
        yield running
    assert faults == []
