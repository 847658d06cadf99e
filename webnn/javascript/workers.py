"""The dedicated workers of a program in Node, and the messages between them: `node_workers.js` has the other end.

The page and each worker are processes of their own. Each has a number, 0 is the page's; it asks here for what it wants, and its own host
(`node`) answers it, in a thread for each worker. Messages of a process are hostile until they are checked.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from webnn.javascript.channel import Bytes, ChannelError
from webnn.javascript.page_scripts import Script
from webnn.processes.walls.group import MOST_THREADS, close_group, count, open_group
from webnn.processes.walls.system import MissingError

__all__ = ["PAGE", "Worker", "Workers"]

PAGE = 0
#: A worker's name for its creator.
_PARENT = 0
_MOST_WORKERS = 16
#: The size of a letter beside its content, in bytes.
_OVERHEAD = 1024
#: How often a waiting process is looked after: it may have been killed.
_LOOK = 0.5
#: How often the memory of all processes is added up, in seconds.
_WATCH = 0.05


class Worker(NamedTuple):
    """The program of a worker: its number, its script, which names its address, and its own name."""

    number: int
    script: Script
    name: str


class _Letter(NamedTuple):
    """A message for a process: what it is, from whom, and its bytes."""

    head: dict[str, Any]
    content: Bytes

    @property
    def size(self) -> int:
        """The bytes that it takes while it waits, about."""
        return len(self.content) + 4 * len(self.head.get("message", "")) + _OVERHEAD


@dataclass(slots=True)
class _Party:
    """A process: its parent, its script's address, what waits for it, whether it waits for that, how it ended."""

    parent: int
    url: str
    child: subprocess.Popen[bytes] | None = None
    mail: deque[_Letter] = field(default_factory=deque)
    waits: bool = False
    ended: bool = False
    killed: bool = False


class Workers:
    """The workers of one program.

    Args:
        run: Runs a worker in the calling thread until it ends; it calls `attach` as soon as there is a process.
        memory: The most bytes that messages may hold while they wait, and that all processes may use together.

    Attributes:
        over: The processes used more than that, and were ended.
        group: The folder of the group that the processes join, or why there is none (`webnn.processes.walls.group`).
    """

    def __init__(self, run: Callable[[Worker], None], memory: int) -> None:
        self._run = run
        self._memory = memory
        self._changed = threading.Condition()
        self._parties = {PAGE: _Party(parent=PAGE, url="")}
        self._threads: list[threading.Thread] = []
        self._waiting = 0
        self._closed = False
        self._over = threading.Event()
        self.over = False
        self.group = ""

    def answer(self, number: int, text: str, buffers: Sequence[Bytes]) -> list[bytes | Bytes]:
        """Answer a question of a process: the parts of the answer. Raises `ChannelError` if it is not a question."""
        try:
            question = json.loads(text)
            match question:
                case {
                    "do": "start",
                    "url": str(url),
                    "kind": "classic" | "module" as kind,
                    "name": str(name),
                    "source": str() | None as source,
                }:
                    return [_encode(self._start(number, Script(url=url, kind=kind, source=source), name))]
                case {"do": "post", "to": int(to)} if len(buffers) == 1:
                    return [_encode(self._post(number, to, buffers[0]))]
                case {"do": "receive", "wait": bool(wait)}:
                    letters = self._receive(number, wait)
                    return [_encode({"messages": [each.head for each in letters]}), *(each.content for each in letters)]
                case {"do": "error", "message": str(message)} if number != PAGE:
                    with self._changed:
                        party = self._parties[number]
                        self._put(party.parent, _Letter({"from": number, "type": "error", "message": message, "filename": party.url}, b""))
                    return [b"{}"]
                case {"do": "terminate", "to": int(to)}:
                    with self._changed:
                        _end(self._parties[self._find(number, to)])
                    return [b"{}"]
        except (ValueError, RecursionError):
            pass
        raise ChannelError("a question about workers must be one of those that are known")

    def attach(self, number: int, child: subprocess.Popen[bytes]) -> None:
        """Say which process is the page's, or a worker's."""
        with self._changed:
            party = self._parties[number]
            party.child = child
            if self._closed or party.killed:
                _end(party)

    def was_killed(self, number: int) -> bool:
        """Tell whether a process was ended from here."""
        return self._parties[number].killed

    def stop(self) -> None:
        """End all processes."""
        with self._changed:
            self._closed = True
            for party in self._parties.values():
                _end(party)
            self._changed.notify_all()

    def watch(self, tell: Callable[[str], None]) -> None:
        """End all processes once they use too much together, and tell what; on Linux. Each has limits of its own, too (`walls`)."""
        if sys.platform == "linux":
            try:
                self.group = open_group(self._memory, MOST_THREADS)
            except MissingError as error:
                self.group = f"{error}; it is counted {round(1 / _WATCH)} times a second"
            thread = threading.Thread(target=self._watch, args=[tell], daemon=True)
            self._threads.append(thread)
            thread.start()

    def _watch(self, tell: Callable[[str], None]) -> None:
        while not self._over.wait(_WATCH):
            with self._changed:
                children = [party.child for party in self._parties.values() if party.child is not None and not party.ended]
            memory, threads = map(sum, zip((0, 0), *(count(child.pid) for child in children), strict=True))
            if memory > self._memory or threads > MOST_THREADS:
                self.over = True
                tell(f"{self._memory >> 20} MiB of memory" if memory > self._memory else f"{MOST_THREADS} threads")
                self.stop()
                return

    def close(self) -> None:
        """End all processes, and wait for the workers' end."""
        self._over.set()
        self.stop()
        for thread in self._threads:
            # An interrupt may have come before its start.
            if thread.is_alive():
                thread.join()
        close_group(self.group)

    def _start(self, parent: int, script: Script, name: str) -> dict[str, Any]:
        with self._changed:
            if self._closed or sum(not party.ended for party in self._parties.values()) > _MOST_WORKERS:
                return {"refused": f"a program can have {_MOST_WORKERS} workers at a time"}
            number = len(self._parties)
            self._parties[number] = _Party(parent=parent, url=script.url)
            # The system ends a worker with the thread that has started it, so that thread stays until then.
            thread = threading.Thread(target=self._serve, args=[Worker(number, script, name)], daemon=True)
            self._threads.append(thread)
            thread.start()
        return {"number": number}

    def _serve(self, worker: Worker) -> None:
        party = self._parties[worker.number]
        try:
            self._run(worker)
        finally:
            with self._changed:
                party.ended = True
                # Whom nobody can hear any more has no workers either.
                for other in self._parties.values():
                    if other.parent == worker.number:
                        _end(other)
                self._take(party)
                self._put(party.parent, _Letter({"from": worker.number, "type": "end"}, b""))

    def _find(self, number: int, to: int) -> int:
        """Return the process that another one calls by a number: a worker of its own, or its parent."""
        if to == _PARENT and number != PAGE:
            return self._parties[number].parent
        party = self._parties.get(to)
        if to == PAGE or party is None or party.parent != number:
            raise ChannelError(f"a process must speak of its own workers, not of number {to}")
        return to

    def _post(self, number: int, to: int, content: Bytes) -> dict[str, Any]:
        with self._changed:
            receiver = self._find(number, to)
            sender = _PARENT if self._parties[receiver].parent == number and receiver != PAGE else number
            if not self._put(receiver, _Letter({"from": sender, "type": "message"}, content)):
                return {"refused": f"messages that wait must have at most {self._memory} bytes together"}
        return {}

    def _put(self, receiver: int, letter: _Letter) -> bool:
        """Put a letter to those that wait for a process, if it still runs; return whether there was room."""
        party = self._parties[receiver]
        # The end of a worker always has room: it comes once.
        if self._waiting + letter.size > self._memory and letter.head["type"] != "end":
            return False
        if not party.ended:
            self._waiting += letter.size
            party.mail.append(letter)
        self._changed.notify_all()
        return True

    def _take(self, party: _Party) -> list[_Letter]:
        letters = [*party.mail]
        party.mail.clear()
        self._waiting -= sum(each.size for each in letters)
        return letters

    def _receive(self, number: int, wait: bool) -> list[_Letter]:
        """Return what has come; wait for it if anything may still come."""
        party = self._parties[number]
        with self._changed:
            party.waits = True
            self._changed.notify_all()
            while wait and not (party.mail or self._closed or _is_over(party) or (number == PAGE and self._is_quiet())):
                self._changed.wait(_LOOK)
            party.waits = False
            return self._take(party)

    def _is_quiet(self) -> bool:
        """All workers wait, and nothing is on its way to them: nothing more will come from them."""
        return all(party.ended or (party.waits and not party.mail) for number, party in self._parties.items() if number != PAGE)


def _is_over(party: _Party) -> bool:
    return party.child is not None and party.child.poll() is not None


def _end(party: _Party) -> None:
    party.killed = True
    if party.child is not None and not party.ended:
        party.child.kill()


def _encode(answer: object) -> bytes:
    return json.dumps(answer).encode()
