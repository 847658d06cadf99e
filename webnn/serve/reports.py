"""Errors of the server itself: they are told as faults of the emulator, unless a client has caused them."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
import traceback
from collections.abc import Callable
from typing import Any

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

__all__ = ["Sparing", "exception_handler", "make_logger"]

#: How often a fault is told, in seconds.
_INTERVAL = 1.0
#: Errors of connections that end too early, and of bytes that are not HTTP. The client has its answer, if it can still read one.
_BY_CLIENTS = (ConnectionError, HttpProcessingError, web.RequestPayloadError, web.PayloadAccessError)

_Tell = Callable[[str], None]

# aiohttp writes some warnings about clients to loggers of its own. They go where a program wants them, and not to the terminal by default.
logging.getLogger("aiohttp").addHandler(logging.NullHandler())


class Sparing:
    """Passes a text on at most once a second; the next one says how many were left out. Any thread may call it.

    ``tell`` gets the text, and how many others came since the last one.
    """

    def __init__(self, tell: Callable[[str, int], None]) -> None:
        self._tell = tell
        self._lock = threading.Lock()
        self._next = -_INTERVAL
        self._left_out = 0

    def __call__(self, text: str) -> None:
        """Pass a text on, unless another one was passed on less than a second ago."""
        with self._lock:
            now = time.monotonic()
            if now < self._next:
                self._left_out += 1
                return
            self._next = now + _INTERVAL
            left_out, self._left_out = self._left_out, 0
        self._tell(text, left_out)


class _Handler(logging.Handler):
    def __init__(self, on_fault: _Tell) -> None:
        super().__init__()
        self._on_fault = on_fault

    def emit(self, record: logging.LogRecord) -> None:
        """Tell of an error with its traceback."""
        if record.exc_info is None or not isinstance(record.exc_info[1], _BY_CLIENTS):
            self._on_fault(self.format(record))


def make_logger(on_fault: _Tell) -> logging.Logger:
    """Return a logger for aiohttp. It has no parent, so nothing reaches the handlers of the program, or the terminal."""
    logger = logging.Logger("webnn.serve", logging.WARNING)
    logger.addHandler(_Handler(on_fault))
    return logger


def exception_handler(on_fault: _Tell) -> Callable[[asyncio.AbstractEventLoop, dict[str, Any]], None]:
    """Return what an event loop calls with an error that no task waits for."""

    def handle(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if not isinstance(error, _BY_CLIENTS):
            lines = [] if error is None else traceback.format_exception(error)
            on_fault("".join([f"{context['message']}\n", *lines]))

    return handle
