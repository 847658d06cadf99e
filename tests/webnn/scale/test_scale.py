"""Whole data sets over processes: a worker that is killed, a job that is killed, memory; Dask and Ray."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import webnn
from tests.support import PATIENCE, wait_until
from tests.webnn.scale.graphs import data, expected, times

pytestmark = pytest.mark.processes

ROWS = data(400)
QUIET: dict[str, Any] = {"progress": False, "batchSize": 10}


def check(found: Any) -> None:
    np.testing.assert_allclose(found, expected(ROWS), rtol=1e-5, atol=1e-6)


class Unknown(Executor):
    """An executor of which nothing is known: everything travels with the tasks, as pickles."""

    def __init__(self) -> None:
        self.pool = ThreadPoolExecutor(1)
        self.bytes: list[int] = []

    def submit(self, fn: Any, /, *args: Any, **options: Any) -> Future[Any]:
        import pickle

        content = pickle.dumps((fn, args))
        self.bytes.append(len(content))
        function, arguments = pickle.loads(content)
        return self.pool.submit(function, *arguments)


@pytest.mark.parametrize("draft", ["2024-06", "2026-06"])
def test_local_processes(draft: str) -> None:
    check(webnn.batch(times(draft), ROWS, executor="processes:2", **QUIET).collect()["y"])


def test_any_executor(tmp_path: Path) -> None:
    executor = Unknown()
    check(webnn.batch(times(), ROWS, executor=executor, **QUIET).collect()["y"])
    np.save(tmp_path / "rows.npy", ROWS)
    inline, executor.bytes = executor.bytes, []
    check(webnn.batch(times(), tmp_path / "rows.npy", executor=executor, batchSize=200, progress=False).collect()["y"])
    # The rows of a file do not travel.
    assert max(executor.bytes) < min(inline) + 200 * 16
    executor.pool.shutdown()


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no SIGKILL")
@pytest.mark.parametrize("kept", [False, True])
def test_a_worker_that_is_killed(tmp_path: Path, kept: bool) -> None:
    """Nothing is lost, and nothing is there twice."""
    before = set(multiprocessing.active_children())
    found: list[Any] = []
    output = tmp_path if kept else None
    for number, part in enumerate(webnn.batch(times(), ROWS, executor="processes:2", output=output, **QUIET)):
        found.append(part["y"])
        if number in (1, 20):
            [victim, *_] = set(multiprocessing.active_children()) - before
            assert victim.pid is not None
            os.kill(victim.pid, signal.SIGKILL)
    assert [len(each) for each in found] == [10] * 40
    check(np.concatenate(found))
    if kept:
        assert len(list(tmp_path.glob("part-*"))) == 40
    assert set(multiprocessing.active_children()) <= before


JOB = """
    import sys
    import numpy as np
    import webnn

    builder = webnn.MLGraphBuilder(webnn.ML(revision="2026-06").createContextSync())
    x = builder.input("x", dataType="float32", shape=[1, 4])
    weights = builder.constant({"dataType": "float32", "shape": [4, 2]}, np.arange(8, dtype=np.float32).reshape(4, 2))
    description = webnn.describe({"y": builder.matmul(x, weights)})
    made = webnn.batch(description, "rows.npy", batchSize=10, executor=sys.argv[1], output="out", progress=False)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no SIGKILL")
def test_a_job_that_is_killed(tmp_path: Path) -> None:
    np.save(tmp_path / "rows.npy", ROWS)
    script, out = tmp_path / "job.py", tmp_path / "out"
    # It stops in the middle, with parts under way.
    script.write_text(textwrap.dedent(JOB) + "parts = iter(made)\nfor _ in range(9): next(parts)\ninput()\n")
    job = subprocess.Popen([sys.executable, str(script), "processes:2"], cwd=tmp_path, stdin=subprocess.PIPE)
    try:
        wait_until(lambda: len(list(out.glob("part-*.npz"))) >= 9 or job.poll() is not None)
        assert job.poll() is None
    finally:
        job.kill()
        job.communicate()
    kept = len(list(out.glob("part-*.npz")))
    script.write_text(textwrap.dedent(JOB) + "print(made.finish())\nnp.save('y.npy', made.collect()['y'])\n")
    run = [sys.executable, str(script), "processes:2"]
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.stderr == ""
    # Its workers may have finished a few more before they noticed.
    assert 40 - kept - 4 <= int(done.stdout) <= 40 - 9
    check(np.load(tmp_path / "y.npy"))
    assert len(list(out.glob("part-*.npz"))) == 40


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is something else there")
def test_a_job_that_is_interrupted(tmp_path: Path) -> None:
    np.save(tmp_path / "rows.npy", ROWS)
    script = tmp_path / "job.py"
    script.write_text(textwrap.dedent(JOB) + "for number, part in enumerate(made):\n    print(number, flush=True)\n    input()\n")
    job = subprocess.Popen(
        [sys.executable, str(script), "processes:2"],
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert job.stdout is not None
    assert job.stdout.readline() == "0\n"
    # The whole group gets it, as from a terminal.
    os.killpg(job.pid, signal.SIGINT)
    _, errors = job.communicate(timeout=PATIENCE)
    assert errors.splitlines()[-1] == "KeyboardInterrupt"
    assert "Process" not in errors
    assert job.returncode == -signal.SIGINT


def test_a_part_that_fails(tmp_path: Path) -> None:
    file = tmp_path / "rows.npy"
    np.save(file, ROWS)
    made = webnn.batch(times(), file, executor="processes:1", **QUIET)
    np.save(file, ROWS[:200])
    with pytest.raises(webnn.BatchError, match=r"^batch: rows 0 to 9: ValueError: mmap length is greater than file size") as caught:
        made.collect()
    assert caught.value.rows == range(10)
    import pickle

    assert pickle.loads(pickle.dumps(caught.value)).rows == range(10)


MEMORY = """
    import resource, sys
    from pathlib import Path
    import numpy as np
    import webnn

    builder = webnn.MLGraphBuilder(webnn.ML(revision="2026-06").createContextSync())
    x = builder.input("x", dataType="float32", shape=[1, 4096])
    description = webnn.describe({"y": builder.relu(x)})
    rows, size, executor, output = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]
    file = Path("rows.npy")
    np.lib.format.open_memmap(file, "w+", np.float32, (rows, 4096)).flush()
    made = webnn.batch(description, file, batchSize=size, executor=executor, output=output or None, progress=False)
    found = 0
    for part in made:
        found += len(part["y"])
    assert found == rows, found
    # Not by getrusage(): that counts what the parent had, too, from before this program began.
    [own] = [int(line.split()[1]) for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM:")]
    print(own >> 10, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10)
"""


def peaks(folder: Path, rows: int, size: int, executor: str, output: str = "") -> tuple[int, int]:
    """Return how many MiB of memory a job and its workers took at most. A row has 16 KiB."""
    folder.mkdir()
    arguments = [str(rows), str(size), executor, output]
    command = [sys.executable, "-c", textwrap.dedent(MEMORY), *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.stderr == ""
    own, workers = done.stdout.split()
    return int(own), int(workers)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the resident memory is counted in another way")
@pytest.mark.parametrize(("executor", "output"), [("threads:1", ""), ("processes:1", ""), ("processes:1", "out")])
def test_memory_is_bounded(tmp_path: Path, executor: str, output: str) -> None:
    """16 MiB of data and 128 MiB of data take the same memory; parts of 64 MiB take more than parts of 1 MiB."""
    small = peaks(tmp_path / "small", 1 << 10, 64, executor, output)
    large = peaks(tmp_path / "large", 1 << 13, 64, executor, output)
    coarse = peaks(tmp_path / "coarse", 1 << 13, 1 << 12, executor, output)
    for index in (0, 1):
        assert large[index] < small[index] + 32, (small, large)
    assert max(coarse) > max(large) + 64, (large, coarse)


# Clusters


@pytest.fixture(scope="module")
def dask() -> Iterator[Any]:
    """A scheduler of Dask with two workers, in processes."""
    distributed = pytest.importorskip("distributed", reason="the extra dask is not installed")
    import dask

    # How long data may be sent to a worker that has just ended.
    soon = dask.config.set({"distributed.comm.timeouts.connect": "3s"})
    with soon, distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0", silence_logs=50) as cluster:
        yield cluster


@pytest.mark.filterwarnings("ignore")
class TestDask:
    def test_its_address(self, dask: Any) -> None:
        check(webnn.batch(times(), ROWS, executor=dask.scheduler_address.replace("tcp", "dask"), **QUIET).collect()["y"])

    def test_its_executor(self, dask: Any, tmp_path: Path) -> None:
        from distributed import Client

        np.save(tmp_path / "rows.npy", ROWS)
        with Client(dask, set_as_default=False) as client:
            executor = client.get_executor()
            check(webnn.batch(times(), ROWS, executor=executor, **QUIET).collect()["y"])
            made = webnn.batch(times(), tmp_path / "rows.npy", executor=executor, output=tmp_path / "out", **QUIET)
            assert made.finish() == 40
            check(made.collect()["y"])
            only = [min(client.scheduler_info()["workers"])]
            check(webnn.batch(times(), ROWS, executor=client.get_executor(workers=only), **QUIET).collect()["y"])
            assert client.submit(abs, -3).result() == 3

    @pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no SIGKILL")
    @pytest.mark.parametrize("victims", [1, 2])
    def test_a_worker_that_is_killed(self, dask: Any, victims: int) -> None:
        """One worker, or all of them with everything that they held."""
        from distributed import Client

        address = dask.scheduler_address.replace("tcp", "dask")
        with Client(dask, set_as_default=False) as client:
            client.wait_for_workers(2)
            found = []
            for number, part in enumerate(webnn.batch(times(), ROWS, executor=address, **QUIET)):
                found.append(part["y"])
                if number == 5:
                    for pid in list(client.run(os.getpid).values())[:victims]:
                        os.kill(pid, signal.SIGKILL)
        assert [len(each) for each in found] == [10] * 40
        check(np.concatenate(found))

    def test_nobody_is_there(self) -> None:
        pytest.importorskip("distributed", reason="the extra dask is not installed")
        import dask

        with dask.config.set({"distributed.comm.timeouts.connect": "1s"}), pytest.raises(OSError, match="127\\.0\\.0\\.1"):
            webnn.batch(times(), ROWS, executor="dask://127.0.0.1:9", **QUIET).collect()


@pytest.mark.filterwarnings("ignore")
def test_ray(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="the extra ray is not installed")
    script = tmp_path / "job.py"
    np.save(tmp_path / "rows.npy", ROWS)
    script.write_text(
        textwrap.dedent(JOB) + "np.save('y.npy', made.collect()['y'])\n"
        "rows = np.load('rows.npy')\n"
        "again = webnn.batch(description, rows, batchSize=10, executor=sys.argv[1], progress=False).collect()\n"
        "np.testing.assert_array_equal(np.load('y.npy'), again['y'])\n"
    )
    done = subprocess.run([sys.executable, str(script), "ray"], cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    check(np.load(tmp_path / "y.npy"))
