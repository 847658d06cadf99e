"""A process of the program: its start, its end, and what it writes. `host` makes the requests.

A thread waits for each process. It reads what drivers write to standard error, and learns of the end first.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
from collections import deque
from pathlib import Path
from typing import Any

from webnn.context.engine.remote.channel import REQUEST, Channel, Operation
from webnn.context.processes import KEEPER, describe_code
from webnn.context.state import Loss

__all__ = ["Process", "abandon_spares", "find_spare"]

#: How many bytes at the end of what a process writes are kept, and how many characters of its last line a message has.
_KEPT, _LAST_LINE = 1 << 16, 300
#: The interpreter finds this package, but nothing else that is beside it, and nothing in the current folder.
_START = (
    "import sys; sys.path.append({root!r}); from webnn.context.engine.remote import confined; "
    "sys.path.pop(); confined.main({handle}, {parent}, {cache!r})"
)


class Process:
    """A process, once it is started. It does not refer to its host: the thread that waits for it must not keep that alive.

    Args:
        name: The words for the device in messages.
        loss: The context, which the end of the process loses.
        cache: The folder of optimized models, in which the process may write; empty if there is none.

    Attributes:
        ours: The end of the connection.
        name: As above.
        loss: As above.
        cache: As above.
        work: The work that is being done, in words.
        end: How it ended, in words that follow "the process"; empty while it runs.
        ended: Whether it ended.
        killed: Whether this program ended it.
        count: The number of the last request.
        busy: Whether a request may be on its way: an interrupt ended the wait for it.
        failed: Whether the engine failed, so that no other context gets the process.
        environment: The environment variables that it has.
    """

    def __init__(self, name: str, loss: Loss, cache: str = "") -> None:
        self.ours, theirs = Channel.pair()
        self._theirs: Channel | None = theirs
        self.name = name
        self.loss = loss
        self.cache = cache
        self._owner = os.getpid()
        self._process: subprocess.Popen[bytes] | None = None
        self._noise = bytearray()
        self.work = ""
        #: Why this program ended the process.
        self._why = ""
        self.killed = False
        self.count = 0
        self.busy = False
        self.failed = False
        self.environment = dict(os.environ)
        self.end = ""
        self.ended = threading.Event()
        #: Taken by the thread that starts it, or by whoever prevents that.
        self._unstarted = [None]

    def start(self) -> None:
        """Start it. After an interrupt it ends at once."""
        try:
            threading.Thread(target=self._keep, name=KEEPER, daemon=True).start()
        except BaseException:
            self.release()
            raise

    @property
    def pid(self) -> int:
        """The number of the process; 0 before it has started."""
        return 0 if self._process is None else self._process.pid

    @property
    def reason(self) -> str:
        """Why the context is lost."""
        return f"the process of the {self.name} {self.end or 'does not end'}"

    def noise(self) -> str:
        """Return the end of what it wrote to standard error and standard output."""
        return bytes(self._noise).decode("utf-8", "replace")

    def kill(self, why: str = "") -> None:
        """End it at once. Any thread may call this, at any time; a forked child does not end the process of its parent."""
        if self._owner == os.getpid():
            self._why = self._why or why
            self.killed = True
            if self._process is not None:
                self._process.kill()

    def release(self) -> None:
        """End it once nothing refers to its host."""
        self.kill()
        self.ours.close()
        if self._unstarted:
            with contextlib.suppress(IndexError):  # its thread begins now
                self._unstarted.pop()
                self._close()

    def retire(self) -> None:
        """Keep it for the next context, once nothing refers to its host. It ends if none comes soon."""
        if self._unstarted or self.busy or self.failed or self.killed or self.ended.is_set() or self._owner != os.getpid():
            self.release()
            return
        self.name, self.loss = "device", Loss()
        self._noise.clear()
        self.busy = True
        try:
            self.send(Operation.REST, b"")
        except OSError:
            self.release()
            return
        except BaseException:  # an interrupt, which Python cannot raise where objects end
            self.release()
            raise
        _SPARES.append(self)
        if len(_SPARES) > 1:
            with contextlib.suppress(IndexError):
                _SPARES.popleft().release()

    def send(self, operation: Operation, body: bytes, descriptor: int = -1) -> int:
        """Send a request; return its number."""
        self.count += 1
        number = self.count & 0xFFFFFFFF
        self.ours.send(REQUEST.pack(operation, number) + body, descriptor)
        return number

    def abandon(self) -> None:
        """Forget the process in a forked child: it is the parent's."""
        self.ours.close()
        if self._theirs is not None:
            self._theirs.close()
        if self._process is not None:
            # Otherwise its finalizer would complain that it still runs.
            self._process.returncode = 0
        self.end = "belongs to the program that forked this one"
        # Another thread may have held the lock of the event.
        self.ended = threading.Event()
        self.ended.set()

    def _keep(self) -> None:
        """Start the process, and wait for it. On Linux the process ends with the thread that started it."""
        try:
            self._unstarted.pop()
        except IndexError:  # an interrupt has ended it
            self.end = "was ended"
            self.ended.set()
            return
        try:
            process = self._start()
            stream = process.stderr
            assert stream is not None
            while content := os.read(stream.fileno(), 1 << 14):
                self._noise += content
                del self._noise[:-_KEPT]
            stream.close()
            self.end = self._describe(process.wait())
        except OSError as error:
            self.end = f"could not start: {error}"
        finally:
            self._close()
            self.end = self.end or "ended"
            self.ended.set()
        with contextlib.suppress(ValueError):
            _SPARES.remove(self)
            self.ours.close()
        self.loss.lose(self.reason)

    def _start(self) -> subprocess.Popen[bytes]:
        if not sys.executable or getattr(sys, "frozen", False):
            raise OSError("this program has no Python interpreter; isolate=False needs none")
        assert self._theirs is not None
        handle = self._theirs.fileno()
        # Of this package, which may lie apart from the folder `context` in a checkout.
        root = str(Path(str(sys.modules[__name__.partition(".")[0]].__file__)).resolve().parents[1])
        command = [sys.executable, "-P", "-c", _START.format(root=root, handle=handle, parent=self._owner, cache=self.cache)]
        options: dict[str, Any] = {}
        if sys.platform == "win32":
            os.set_handle_inheritable(handle, True)
            options["startupinfo"] = subprocess.STARTUPINFO(lpAttributeList={"handle_list": [handle]})
            options["creationflags"] = subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW
        else:
            options["pass_fds"] = [handle]
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                # The process sends its standard output there, too.
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                bufsize=0,
                # Ctrl-C reaches only the program.
                start_new_session=True,
                **options,
            )
        finally:
            self._close()
        if self.killed:
            self._process.kill()
        return self._process

    def _close(self) -> None:
        """Close the end of the process, so that the connection ends with it."""
        theirs, self._theirs = self._theirs, None
        if theirs is not None:
            theirs.close()

    def _describe(self, code: int) -> str:
        during = f" during {self.work}" if self.work else ""
        if self._why:
            return f"was ended{during}: {self._why}"
        ended = f"died of {describe_code(code)}" if code < 0 else f"ended with {describe_code(code)}"
        lines = [line for line in self.noise().splitlines() if line.strip()]
        last = f"; the last line that it wrote: {lines[-1].strip()[:_LAST_LINE]}" if lines else ""
        return f"{ended}{during}{last}"


#: The process of a context that ended well, for the next one.
_SPARES: deque[Process] = deque()


def abandon_spares() -> None:
    """Forget the processes of the parent in a forked child."""
    while _SPARES:
        _SPARES.popleft().abandon()


def find_spare(cache: str = "") -> Process | None:
    """Return a process for another context, with the variables of this program and this cache; ``None`` if there is none."""
    while _SPARES:
        with contextlib.suppress(IndexError):  # another thread has taken it
            process = _SPARES.popleft()
            if not process.ended.is_set() and process.environment == dict(os.environ) and cache in ("", process.cache):
                return process
            process.release()
    return None
