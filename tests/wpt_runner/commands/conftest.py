"""Fixtures of the tests of the commands of the test runner."""

from __future__ import annotations

import pytest

from tests.webnn.processes.pools import run_tasks_here
from webnn.wpt_runner import runner
from webnn.wpt_runner.vectors import batch


@pytest.fixture
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run tests and cases in this process, where a test is about what a run says and not about processes."""
    for module in (runner, batch):
        monkeypatch.setattr(module, "run_tasks", run_tasks_here)
