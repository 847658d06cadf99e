"""Where tasks run: local processes and threads, Dask, Ray, or any other `concurrent.futures.Executor`; and values that tasks share."""

from __future__ import annotations

import mmap
import pickle
import re
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, InvalidStateError, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from webnn._extras import install_command
from webnn.context.devices.selection import usable_cores
from webnn.context.processes import end_with_parent
from webnn.processes.spawn import MOST_PROCESSES, Spawner, without_current_folder

__all__ = ["FORMS", "Stored", "Workers", "check_executor", "fetch", "open_workers"]

#: The executors that a text can name.
FORMS = "processes, processes:N, threads, threads:N, dask://HOST:PORT, ray or ray://HOST:PORT"
_LOCAL = re.compile(r"(processes|threads)(?::([1-9][0-9]{0,3}))?")
_DASK = re.compile(r"dask://(.+:[0-9]{1,5})")
_RAY = re.compile(r"ray(://.+:[0-9]{1,5})?")
#: How many tasks of an executor may be under way that does not say how many workers it has.
_GUESS = 32
#: How long a cluster that has lost a worker gets to notice it, and how long it may be without any worker, in seconds.
_MOMENT, _PATIENCE = 0.5, 120
#: How often tasks are looked for that a cluster has lost, in seconds.
_LOOK = 1.0
#: Arrays in files begin at multiples of this.
_ALIGNMENT = 64


class Workers:
    """Runs tasks, here with an executor of which nothing is known. Tasks must be picklable.

    Attributes:
        count: How many tasks may run at once.
        threads: How many threads a task may use, so that the cores are busy and not more than that.
        generation: Changes when what was shared is lost.
        look: How often to `poll`, in seconds; ``None`` for never.
        costly: A task costs milliseconds beside its work.
        same_memory: Tasks run in this process.
        same_files: Tasks can open temporary files of this process.
    """

    costly = False
    same_memory = False
    same_files = False
    threads = 1
    generation = 0
    look: float | None = None

    def __init__(self, executor: Executor, count: int | None = None) -> None:
        self._executor = executor
        self.count = count or getattr(executor, "_max_workers", None) or _GUESS

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Start a task. An argument may be what `share` or `send` returned; the task receives the value, on which it must call `fetch`."""
        return self._executor.submit(function, *arguments)

    def share(self, value: object) -> object:
        """Return the argument that gives tasks a value that every task needs."""
        return value

    def send(self, value: object) -> object:
        """Return the argument that gives a task a value that it alone needs."""
        return value

    def poll(self) -> None:
        """Look for tasks whose futures do not say that they are lost; called every ``look`` seconds."""

    def renew(self) -> bool:
        """Make it usable again after tasks were lost; false if it is broken for good. Values must be shared and sent again."""
        self.generation += 1
        return True

    def close(self) -> None:
        """End what was opened for the tasks, and the tasks. An executor of the program stays open."""


class _Threads(Workers):
    """Threads of this process."""

    same_memory = same_files = True

    def __init__(self, executor: Executor, count: int | None = None, *, own: bool = False) -> None:
        super().__init__(executor, count)
        self._own = own

    def close(self) -> None:
        if self._own:
            self._executor.shutdown(cancel_futures=True)


class _Processes(Workers):
    """Processes of this machine, in a pool of the program."""

    same_files = True

    def __init__(self, executor: Executor, count: int | None = None) -> None:
        super().__init__(executor, count)
        self._folder = tempfile.TemporaryDirectory(prefix="webnn-shared-", ignore_cleanup_errors=True)
        self._stored = 0

    def share(self, value: object) -> object:
        self._stored += 1
        return Stored.write(value, Path(self._folder.name, str(self._stored)))

    def renew(self) -> bool:
        return False

    def close(self) -> None:
        self._folder.cleanup()


class _OwnProcesses(_Processes):
    """Processes of this machine, in a pool that is made again when one of them dies."""

    def __init__(self, count: int) -> None:
        self._spawner = Spawner()
        super().__init__(self._make(count), count)
        self.threads = max(1, usable_cores() // count)

    def _make(self, count: int) -> Executor:
        with without_current_folder():
            return ProcessPoolExecutor(count, self._spawner, _begin)

    def renew(self) -> bool:
        self._end()
        self._spawner = Spawner()
        self._executor = self._make(self.count)
        return True

    def close(self) -> None:
        self._end()
        super().close()

    def _end(self) -> None:
        self._spawner.kill()
        self._executor.shutdown(cancel_futures=True)


class _Dask(Workers):
    """Workers of Dask. Values go to them directly, not through the scheduler, where the network allows that."""

    costly = True
    look = _LOOK

    def __init__(self, executor: Any, *, own: bool = False) -> None:
        self._client = executor._client
        self._options = {**executor._kwargs, "pure": False}
        self._own = own
        self._running: dict[Future[Any], Any] = {}
        if not self._options.get("workers"):
            # All at once: a value that is shared goes from worker to worker, and each would load the packages when it comes.
            self._client.run(_load, wait=False, on_error="ignore")
        super().__init__(executor, sum(self._client.nthreads().values()))

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        # Not by the executor, whose futures may never end if a worker with their data has.
        task = self._client.submit(function, *arguments, **self._options)
        future: Future[Any] = Future()
        self._running[future] = task
        task.add_done_callback(partial(_hand_over, future))
        future.add_done_callback(self._forget)
        return future

    def _forget(self, future: Future[Any]) -> None:
        task = self._running.pop(future)
        if future.cancelled():
            task.cancel()

    def poll(self) -> None:
        for future, task in list(self._running.items()):
            if task.status == "cancelled":
                _settle(future, None, RuntimeError("a worker with its data has ended"))

    def share(self, value: object) -> object:
        return self._client.scatter(value, broadcast=True, hash=False)

    def send(self, value: object) -> object:
        return self._client.scatter(value, hash=False)

    def renew(self) -> bool:
        # The scheduler takes a moment to learn that a worker has ended, and a worker to be started again.
        time.sleep(_MOMENT)
        self._client.wait_for_workers(1, _PATIENCE)
        return super().renew()

    def close(self) -> None:
        if self._own:
            self._client.close()


class _Ray(Workers):
    """Workers of Ray. Values are in its object store."""

    costly = True

    def __init__(self, ray: Any, *, own: bool) -> None:
        self._ray = ray
        self._own = own
        self._functions: dict[Callable[..., Any], Any] = {}
        # Not an executor: `ObjectRef.future` is Ray's own way to a `concurrent.futures.Future`.
        self.count = int(ray.cluster_resources().get("CPU", 1))

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        if function not in self._functions:
            self._functions[function] = self._ray.remote(function)
        future: Future[Any] = self._functions[function].remote(*arguments).future()
        return future

    def share(self, value: object) -> object:
        return self._ray.put(value)

    send = share

    def close(self) -> None:
        if self._own:
            self._ray.shutdown()


async def _load() -> None:
    """Load what tasks need, in a worker."""
    from webnn.context import graph_builder, travel  # noqa: F401, PLC0415 (this process may need none of them)
    from webnn.context.engine import runtime  # noqa: PLC0415

    with suppress(Exception):  # a task says what is missing
        runtime.load()


def _hand_over(future: Future[Any], task: Any) -> None:
    """Give a task's outcome to a future, in a thread of Dask."""
    if task.status == "finished":
        try:
            _settle(future, task.result(), None)
        except Exception as error:  # the result was lost on its way
            _settle(future, None, error)
    else:
        _settle(future, None, task.exception() if task.status == "error" else RuntimeError("a worker with its data has ended"))


def _settle(future: Future[Any], result: Any, error: BaseException | None) -> None:
    # It may be cancelled, or settled by another thread.
    with suppress(InvalidStateError):
        if error is None:
            future.set_result(result)
        else:
            future.set_exception(error)


@dataclass(frozen=True, slots=True)
class Stored:
    """A value in a file, for processes of this machine. Arrays in it are mapped: all processes share the memory."""

    path: str

    @classmethod
    def write(cls, value: object, path: Path) -> Stored:
        """Write a value to a new file."""
        buffers: list[pickle.PickleBuffer] = []
        content = pickle.dumps(value, 5, buffer_callback=buffers.append)
        pieces = [memoryview(content), *(buffer.raw() for buffer in buffers)]
        sizes = [piece.nbytes for piece in pieces]
        with path.open("xb") as stream:
            pickle.dump(sizes, stream)
            for piece in pieces:
                stream.write(bytes(-stream.tell() % _ALIGNMENT))
                stream.write(piece)
        return cls(str(path))

    def load(self) -> Any:
        """Return the value; its arrays cannot be written to."""
        with Path(self.path).open("rb") as stream:
            sizes = pickle.load(stream)
            position = stream.tell()
            memory = memoryview(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ))
        pieces = []
        for size in sizes:
            position += -position % _ALIGNMENT
            pieces.append(memory[position : position + size])
            position += size
        return pickle.loads(pieces[0], buffers=pieces[1:])


def fetch(value: Any) -> Any:
    """Return a value that was shared, in a task."""
    return value.load() if isinstance(value, Stored) else value


@contextmanager
def open_workers(executor: Executor | str | None, where: str = "executor") -> Iterator[Workers]:
    """Open what runs tasks; what was opened ends with the block.

    Raises:
        TypeError: It is neither an executor nor a text.
        ValueError: The text names no executor.
        ImportError: The package of the extra ``dask`` or ``ray`` is not installed.
        OSError: The cluster does not answer.
    """
    check_executor(executor, where)
    workers = _open(executor)
    try:
        yield workers
    finally:
        workers.close()


def check_executor(executor: object, where: str) -> None:
    """Raise an error if `open_workers` would refuse this, without opening anything."""
    if isinstance(executor, str):
        if not any(form.fullmatch(executor) for form in (_LOCAL, _DASK, _RAY)):
            raise ValueError(f"{where} must be one of {FORMS}, got {executor!r}")
    elif executor is not None and not isinstance(executor, Executor):
        raise TypeError(f"{where} must be a concurrent.futures.Executor, or one of {FORMS}, got {type(executor).__name__}")


def _open(executor: Executor | str | None) -> Workers:
    if executor is None or isinstance(executor, str):
        return _open_text(executor or "processes")
    if isinstance(executor, ThreadPoolExecutor):
        return _Threads(executor)
    if isinstance(executor, ProcessPoolExecutor):
        return _Processes(executor)
    is_dask = type(executor).__module__.partition(".")[0] == "distributed"
    return _Dask(executor) if is_dask else Workers(executor)


def _open_text(text: str) -> Workers:
    local, dask = _LOCAL.fullmatch(text), _DASK.fullmatch(text)
    if local is not None:
        count = int(local[2] or usable_cores())
        return _Threads(ThreadPoolExecutor(count), count, own=True) if local[1] == "threads" else _OwnProcesses(min(count, MOST_PROCESSES))
    return _open_ray(None if text == "ray" else text) if dask is None else _open_dask(f"tcp://{dask[1]}")


def _open_dask(address: str) -> Workers:
    # Imported when it is used: it is heavy, and an extra.
    try:
        from distributed import Client  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise ImportError(f"Dask needs the package distributed: {install_command('dask')}") from error
    client = Client(address, set_as_default=False, direct_to_workers=True)
    if not client.nthreads():
        client.close()
        raise OSError(f"the Dask scheduler {address} has no workers")
    return _Dask(client.get_executor(pure=False), own=True)


def _open_ray(address: str | None) -> Workers:
    try:
        import ray  # noqa: PLC0415 (as above)
    except ModuleNotFoundError as error:
        raise ImportError(f"Ray needs the package ray: {install_command('ray')}") from error
    started = ray.is_initialized()
    if not started:
        try:
            ray.init(address, include_dashboard=False, log_to_driver=False) if address is None else ray.init(address)
        except (ConnectionError, RuntimeError) as error:
            raise OSError(f"Ray does not start: {error}") from error
    return _Ray(ray, own=not started)


def _begin() -> None:
    """Prepare a process of a pool."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent()
