"""The pytest plug-in that records which test reaches which step: ``-p tools.steps.plugin``.

It writes the record (`tools.steps.recording`) to a file of the folder ``WEBNN_STEPS_FOLDER``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tools.steps.recording import Recorder

_FOLDER = Path(os.environ["WEBNN_STEPS_FOLDER"])
_recorder = Recorder(json.loads(os.environ["WEBNN_STEPS_FILES"]))


def pytest_configure() -> None:
    """Begin to record."""
    _recorder.start()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Name the test of errors that its fixtures make, too. Without the parameters, which may be many."""
    _recorder.switch(item.nodeid.partition("[")[0], context="")
    try:
        return (yield)
    finally:
        _recorder.switch("")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Name the test of lines that run."""
    name = item.nodeid.partition("[")[0]
    _recorder.switch(name)
    try:
        return (yield)
    finally:
        _recorder.switch(name, context="")


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish() -> None:
    """Write the record before a process of `pytest-xdist` reports that it is done, because then it may be ended."""
    (_FOLDER / f"{os.getpid()}.json").write_text(json.dumps(_recorder.stop()), encoding="utf-8")
