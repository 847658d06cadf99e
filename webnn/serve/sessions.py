"""The sessions of a server: they begin with the first word of a page, and end with its live connection."""

from __future__ import annotations

import re
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress

from webnn.serve.messages import MessageError
from webnn.serve.options import Options
from webnn.serve.record import Record
from webnn.serve.session import EndedError, Session, Visitor
from webnn.serve.turns import Turns

__all__ = ["FullError", "Sessions"]

#: The names that pages give to their sessions.
_NAME = re.compile(r"[0-9a-f-]{16,64}")
#: The most sessions at once, and how many names of ended ones are known: late requests must not begin them again.
_MOST_SESSIONS, _MOST_NAMES = 256, 65536
#: How long a session lives without a live connection and without a call, in seconds.
_IDLE = 10.0
#: The most workers whose scripts are announced and not fetched yet.
_MOST_WORKERS = 1024


class FullError(Exception):
    """There are too many sessions."""


class Sessions:
    """The sessions of a server. Only the server's thread changes them.

    Attributes:
        workers: The scripts of workers that are about to start: the type by the address, ``"classic"`` or ``"module"``.
    """

    def __init__(
        self, options: Options, on_fault: Callable[[str], None], make_record: Callable[[Visitor], Record] = lambda _: Record()
    ) -> None:
        self.options = options
        self.living: dict[str, Session] = {}
        self.begun = 0
        self.workers: OrderedDict[str, str] = OrderedDict()
        self._on_fault = on_fault
        self._make_record = make_record
        self._turns = Turns()
        self._ended: OrderedDict[str, None] = OrderedDict()

    def find(self, name: str) -> Session:
        """Return a living session. Raises `EndedError` if it has ended, or never was."""
        try:
            return self.living[name]
        except KeyError:
            raise EndedError from None

    def begin(self, name: str, visitor: Visitor) -> Session:
        """Return the session of a name, a new one if there is none.

        Raises:
            EndedError: It has ended.
            FullError: There are too many.
            MessageError: The name, or what the page says of itself, cannot be.
        """
        if name in self.living:
            return self.living[name]
        if _NAME.fullmatch(name) is None:
            raise MessageError("a session has a name of hexadecimal digits")
        if name in self._ended:
            raise EndedError
        if len(self.living) >= _MOST_SESSIONS:
            raise FullError(f"there are {_MOST_SESSIONS} sessions, which is the most")
        try:
            session = Session(name, visitor, self.options, self._on_fault, self._make_record(visitor), self._turns)
        except ValueError as error:
            raise MessageError(str(error)) from None
        self.living[name] = session
        self.begun += 1
        return session

    async def change(self, options: Options) -> None:
        """Use other options for later sessions, and for the later contexts of those that live.

        Raises `ValueError` if an option is invalid.
        """
        options.make_ml()
        self.options = options
        for session in list(self.living.values()):
            with suppress(EndedError):
                await session.change(options)

    def end(self, session: Session) -> None:
        """End a session. Its name stays known."""
        session.end()
        if self.living.pop(session.name, None) is not None:
            self._ended[session.name] = None
            if len(self._ended) > _MOST_NAMES:
                self._ended.popitem(last=False)

    def connect(self, session: Session) -> None:
        """Take note that a live connection has begun."""
        session.connections += 1

    def disconnect(self, session: Session) -> None:
        """Take note that a live connection has ended; the session ends with the last one."""
        session.connections -= 1
        if session.connections <= 0:
            self.end(session)

    def sweep(self) -> None:
        """End sessions whose pages never made a live connection, and are silent."""
        now = time.monotonic()
        for session in [each for each in self.living.values() if not each.connections and now - each.last > _IDLE]:
            self.end(session)

    def announce(self, url: str, kind: str) -> None:
        """Take note that a page is about to start a worker of a type."""
        # A browser fetches an address without its fragment.
        url = url.partition("#")[0]
        self.workers[url] = kind
        self.workers.move_to_end(url)
        if len(self.workers) > _MOST_WORKERS:
            self.workers.popitem(last=False)

    def close(self) -> None:
        """End all sessions, and wait for their threads."""
        sessions = list(self.living.values())
        for session in sessions:
            self.end(session)
        for session in sessions:
            session.join()
