"""The engine and the translation are loaded before the first page comes."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

PROGRAM = """
import json, sys
from webnn.serve.options import Options
from webnn.serve.server import Server
import webnn

names = ["onnxruntime", "onnx", "webnn.context.engine_backend"]
contexts = []
with webnn.emulate(on_context=contexts.append):
    before = [name in sys.modules for name in names]
    with Server(None, Options()):
        pass
    print(json.dumps([before, [name in sys.modules for name in names], len(contexts)]))
"""


@pytest.mark.processes
def test_the_engine_is_loaded_before_the_first_page() -> None:
    printed = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True).stdout
    before, after, contexts = json.loads(printed)
    assert (before, after, contexts) == ([False] * 3, [True] * 3, 0)


PROGRAM_ALONE = """
import gc, json, sys
from webnn.serve.options import Options
from webnn.serve.server import Server

found = []
for alone in (False, True):
    with Server(None, Options(), alone=alone) as server:
        server._warming.join()
        found.append([gc.get_freeze_count() > 50_000, sys.getswitchinterval() < 0.001])
found.append(sys.getswitchinterval() < 0.001)
print(json.dumps(found))
"""


@pytest.mark.processes
def test_a_process_that_only_serves() -> None:
    printed = subprocess.run([sys.executable, "-c", PROGRAM_ALONE], capture_output=True, text=True, check=True).stdout
    assert json.loads(printed) == [[False, False], [True, True], False]
