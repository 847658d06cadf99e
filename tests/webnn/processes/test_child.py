from __future__ import annotations

import contextlib
import gc
import os
import subprocess
import sys

import pytest

from webnn.processes.child import Child

#: Waits for a line.
WAITS = "print('started', flush=True); input()"
#: Starts such a process, which has the same output.
STARTS = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {WAITS!r}])"


@pytest.mark.processes
@pytest.mark.parametrize(("program", "session"), [(WAITS, False), (STARTS, True)], ids=["alone", "with another one"])
def test_a_child_ends_with_its_object(program: str, session: bool) -> None:
    child = Child([sys.executable, "-c", program], session=session, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert child.stdout is not None
    assert child.stdout.readline().strip() == b"started"
    output = os.dup(child.stdout.fileno())
    del child
    gc.collect()
    # The output ends with the last process that has it.
    with open(output, "rb") as left:
        assert left.read() == b""


@pytest.mark.processes
@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows does not fork")
def test_a_forked_child_leaves_it_alone() -> None:
    child = Child([sys.executable, "-c", WAITS], session=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert child.stdout is not None
    assert child.stdout.readline().strip() == b"started"
    forked = os.fork()
    if forked == 0:
        with contextlib.suppress(BaseException):
            child.__del__()
        os._exit(0)
    os.waitpid(forked, 0)
    assert child.poll() is None
    child.communicate(b"\n")
    assert child.returncode == 0


@pytest.mark.processes
def test_a_child_that_has_ended() -> None:
    with Child([sys.executable, "-c", "raise SystemExit(3)"]) as child:
        assert child.wait() == 3
        child.end()
    assert child.returncode == 3


@pytest.mark.processes
def test_a_command_that_does_not_exist() -> None:
    with pytest.raises(FileNotFoundError):
        Child(["webnn has no such program"])
    gc.collect()
