"""Dedicated workers of programs in Node."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.webnn.javascript.node_support import Outcome, require_node, run
from webnn.javascript.channel import ChannelError
from webnn.javascript.node import OUT_OF_TIME
from webnn.javascript.workers import PAGE, Worker, Workers

# ---- In processes


def program(folder: Path, page: str, worker: str, **options: Any) -> Outcome:
    """Run a page that makes the worker ``worker.js``, a script, or ``worker.mjs``, a module."""
    for name in ("worker.js", "worker.mjs"):
        (folder / name).write_text(worker, encoding="utf-8")
    (folder / "part.js").write_text("var part = 'a part';", encoding="utf-8")
    return run(folder, page, node=require_node(), **options)


ECHO = "onmessage = ({data}) => postMessage(data);"

FILL = """onmessage = ({data}) => {
  self.kept = new Uint8Array(data).fill(1);
  postMessage(0);
};"""
# The memory is looked at from time to time: the program keeps it for a second.
FOUR = """let count = 0;
for (let number = 0; number < 4; number++) {
  const worker = new Worker('worker.js');
  worker.onmessage = () => { if (++count === 4) setTimeout(() => { console.log('all'); process.exit(0); }, 1000); };
  worker.postMessage(@SIZE@);
}"""


@pytest.mark.processes
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits memory")
@pytest.mark.parametrize(("size", "end"), [(1 << 20, (0, "all\n")), (1 << 28, (137, ""))])
def test_a_program_and_its_workers_share_the_limit_of_memory(tmp_path: Path, size: int, end: tuple[int, str]) -> None:
    outcome = program(tmp_path, FOUR.replace("@SIZE@", str(size)), FILL, memory=1 << 30)
    assert (outcome.code, outcome.stdout) == end, outcome.stderr
    assert ("used more than 1024 MiB of memory together" in outcome.stderr) == bool(end[0])


#: The page, the worker, and what they print.
PROGRAMS = {
    "echo": (
        "const w = new Worker('worker.js'); w.onmessage = ({data}) => console.log(data.get('a')[1]);"
        "w.postMessage(new Map([['a', [1, 2n]]]));",
        ECHO,
        "2n\n",
    ),
    "the scope": (
        "new Worker('./worker.mjs', {type: 'module', name: 'me'}).onmessage = ({data}) => console.log(...data);",
        "postMessage([name, typeof window, self === globalThis, self instanceof DedicatedWorkerGlobalScope, location.pathname,"
        "  navigator instanceof WorkerNavigator, navigator.ml instanceof ML, typeof Navigator, navigator.toString()]);",
        "me undefined true true /worker.mjs true true undefined [object WorkerNavigator]\n",
    ),
    "transfer": (
        "const w = new Worker('worker.js'), v = new Float32Array([1, 2]);"
        "w.onmessage = ({data}) => console.log(data.join(), v.length); w.postMessage(v, [v.buffer]);",
        ECHO,
        "1,2 0\n",
    ),
    "views share their buffer": (
        "const w = new Worker('worker.js'), b = new ArrayBuffer(8); w.onmessage = ({data: [x, y]}) => console.log(x.buffer === y.buffer);"
        "w.postMessage([new Uint8Array(b), new Float32Array(b)]);",
        ECHO,
        "true\n",
    ),
    "what cannot be sent": (
        "const w = new Worker('worker.js'), sent = [() => {}, navigator.ml, new SharedArrayBuffer(1), Symbol()];"
        "for (const each of sent) try { w.postMessage(each); } catch (error) { console.log(error.name); }",
        ECHO,
        "DataCloneError\n" * 4,
    ),
    "an error": (
        "const w = new Worker('worker.js'); w.onerror = ({message}) => console.log(message); w.onmessage = ({data}) => console.log(data);"
        "w.postMessage(1); w.postMessage(2);",
        "onmessage = ({data}) => { if (data === 1) throw new RangeError('one'); postMessage(data); };",
        "RangeError: one\n2\n",
    ),
    "a rejection": (
        "new Worker('worker.js').addEventListener('error', ({message}) => console.log(message));",
        "Promise.reject(new RangeError('no'));",
        "RangeError: no\n",
    ),
    "an error that the worker hears": (
        "const w = new Worker('worker.js');"
        "w.onerror = ({message}) => console.log('page', message); w.onmessage = ({data}) => console.log(data);"
        "for (const each of ['seen', 'handled', 'prevented']) w.postMessage(each);",
        "addEventListener('error', event => {"
        "  postMessage(`${event.error.name} ${event.message}`); if (event.message === 'Error: prevented') event.preventDefault(); });"
        "onerror = (message, filename, line, column, error) => message === 'Error: handled' && error instanceof Error;"
        "onmessage = ({data}) => { throw new Error(data); };",
        "Error Error: seen\npage Error: seen\nError Error: handled\nError Error: prevented\n",
    ),
    "an error of who hears errors": (
        "new Worker('worker.js').addEventListener('error', ({message}) => console.log(message));",
        "onerror = () => { throw new Error('second'); }; setTimeout(() => { throw new Error('first'); });",
        "Error: first\nError: second\n",
    ),
    "a rejection that the worker handles": (
        "const w = new Worker('worker.js'); w.onerror = () => console.log('page'); w.onmessage = ({data}) => console.log(data);",
        "onunhandledrejection = event => { event.preventDefault(); postMessage(event.reason); }; Promise.reject(7);",
        "7\n",
    ),
    "no such script": (
        "new Worker('none.js').onerror = event => console.log(event.type, event.message.includes('none.js'));",
        "",
        "error true\n",
    ),
    "of a blob": (
        f"const w = new Worker(URL.createObjectURL(new Blob([{json.dumps(ECHO)}]))); w.onmessage = ({{data}}) => console.log(data);"
        "w.postMessage('early');",
        "",
        "early\n",
    ),
    "importScripts": (
        "new Worker('worker.js').onmessage = ({data}) => console.log(data);",
        "importScripts('part.js'); postMessage(part); try { importScripts('none.js'); } catch (error) { postMessage(error.name); }",
        "a part\nNetworkError\n",
    ),
    "terminate": (
        "const w = new Worker('worker.js'); w.onmessage = () => { w.terminate(); console.log('ended'); };",
        "postMessage(1); for (;;);",
        "ended\n",
    ),
    "close": (
        "const w = new Worker('worker.js'); w.onmessage = ({data}) => { console.log(data); w.postMessage(2); }",
        "onmessage = ({data}) => postMessage(data); postMessage('last'); close();",
        "last\n",
    ),
    "while the page is busy": (
        "const w = new Worker('worker.js'); let ticks = 0; const timer = setInterval(() => { ticks++; w.postMessage(ticks); }, 5);"
        "w.onmessage = ({data}) => { if (data === 3) { clearInterval(timer); console.log('three'); } };",
        ECHO,
        "three\n",
    ),
    "of a worker": (
        "new Worker('worker.mjs', {type: 'module'}).onmessage = ({data}) => console.log(data);",
        "const inner = new Worker('data:text/javascript,onmessage=({data})=>postMessage(data+1)');"
        "inner.onmessage = ({data}) => postMessage(data); inner.postMessage(41);",
        "42\n",
    ),
    "two at once": (
        "let n = 0; for (const i of [1, 2]) { const w = new Worker('worker.js'); w.postMessage(i);"
        "w.onmessage = ({data}) => { n += data; if (n === 3) console.log(n); }; }",
        ECHO,
        "3\n",
    ),
    "bad arguments": (
        "for (const values of [[], ['http://'], ['worker.js', {type: 'x'}]])"
        "  try { new Worker(...values); } catch (error) { console.log(error.name); }",
        "",
        "TypeError\nSyntaxError\nTypeError\n",
    ),
}


@pytest.mark.processes
@pytest.mark.parametrize("name", PROGRAMS)
def test_program(tmp_path: Path, name: str) -> None:
    page, worker, printed = PROGRAMS[name]
    assert program(tmp_path, page, worker) == Outcome(0, printed, "")


@pytest.mark.processes
def test_a_worker_computes(tmp_path: Path) -> None:
    worker = """
        onmessage = async ({data}) => {
          const context = await navigator.ml.createContext(), builder = new MLGraphBuilder(context), d = {dataType: 'float32', shape: [2]};
          const x = builder.input('x', d), graph = await builder.build({y: builder.add(x, x)});
          const [a, b] = await Promise.all(['writable', 'readable'].map(usage => context.createTensor({...d, [usage]: true})));
          context.writeTensor(a, data);
          context.dispatch(graph, {x: a}, {y: b});
          postMessage(new Float32Array(await context.readTensor(b)));
        };
    """
    page = "const w = new Worker('worker.js'); w.onmessage = ({data}) => console.log(data.join()); w.postMessage(new Float32Array([1, 2]));"
    assert program(tmp_path, page, worker, revision="2026-06") == Outcome(0, "2,4\n", "")


@pytest.mark.processes
def test_an_error_that_nobody_hears_ends_the_page(tmp_path: Path) -> None:
    outcome = program(tmp_path, "new Worker('worker.js');", "throw new TypeError('inside');")
    assert (outcome.code, outcome.stdout) == (1, "")
    assert "in the worker https://app.test/worker.js: TypeError: inside" in outcome.stderr


@pytest.mark.processes
def test_a_page_that_waits_for_nothing(tmp_path: Path) -> None:
    outcome = program(tmp_path, "const w = new Worker('worker.js'); await new Promise(() => {});", "onmessage = () => {};")
    assert (outcome.code, outcome.stderr) == (13, "webnn: the program awaits something that will not happen\n")


@pytest.mark.processes
def test_time_is_up_for_workers_too(tmp_path: Path) -> None:
    outcome = program(tmp_path, "new Worker('worker.js');", "for (;;);", timeout=3.0)
    assert outcome.code == OUT_OF_TIME


@pytest.mark.processes
def test_there_are_not_too_many(tmp_path: Path) -> None:
    page = "for (let i = 0; i < 17; i++) new Worker('worker.js').onerror = ({message}) => { console.log(message); process.exit(0); };"
    assert program(tmp_path, page, ECHO).stdout == "a program can have 16 workers at a time\n"


@pytest.mark.processes
def test_workers_stand_behind_the_walls(tmp_path: Path) -> None:
    worker = "import('node:fs').catch(({message}) => postMessage([message.includes('no access'), typeof require, process.env.HOME]));"
    outcome = program(tmp_path, "new Worker('worker.js').onmessage = ({data}) => console.log(...data);", worker)
    assert outcome.stdout == "true undefined undefined\n"


# ---- The letters


def letters(workers: Workers, number: int, *, wait: bool = False) -> list[Any]:
    head, *contents = workers.answer(number, json.dumps({"do": "receive", "wait": wait}), [])
    return list(zip(json.loads(head)["messages"], contents, strict=True))


def ask(workers: Workers, number: int, *buffers: bytes, **question: Any) -> Any:
    return json.loads(workers.answer(number, json.dumps(question), buffers)[0])


@pytest.fixture
def workers() -> Any:
    """Workers that are processes which do nothing: 1 and 2 of the page, 3 of 1."""

    def serve(worker: Worker) -> None:
        with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]) as child:
            made.attach(worker.number, child)

    made = Workers(serve, memory=20_000)
    for parent in (PAGE, PAGE, 1):
        ask(made, parent, do="start", url="https://app.test/a.js", kind="classic", name="", source=None)
    yield made
    made.close()


@pytest.mark.processes
def test_letters_come_in_order_from_whom_they_are(workers: Workers) -> None:
    ask(workers, PAGE, b"a", do="post", to=1)
    ask(workers, 3, b"b", do="post", to=0)
    assert letters(workers, 1) == [({"from": 0, "type": "message"}, b"a"), ({"from": 3, "type": "message"}, b"b")]
    assert letters(workers, 1) == []
    ask(workers, 1, b"c", do="post", to=0)
    ask(workers, 2, message="no", do="error")
    assert letters(workers, PAGE, wait=True) == [
        ({"from": 1, "type": "message"}, b"c"),
        ({"from": 2, "type": "error", "message": "no", "filename": "https://app.test/a.js"}, b""),
    ]


@pytest.mark.processes
@pytest.mark.parametrize(
    ("number", "question", "buffers"),
    [
        (PAGE, {"do": "post", "to": 0}, [b""]),
        (PAGE, {"do": "post", "to": 3}, [b""]),
        (2, {"do": "post", "to": 1}, [b""]),
        (1, {"do": "post", "to": 9}, [b""]),
        (1, {"do": "post", "to": 0}, []),
        (PAGE, {"do": "terminate", "to": 0}, []),
        (2, {"do": "terminate", "to": 3}, []),
        (PAGE, {"do": "error", "message": ""}, []),
        (PAGE, {"do": "start", "url": 1, "kind": "classic", "name": "", "source": None}, []),
        (PAGE, {"do": "start", "url": "", "kind": "x", "name": "", "source": None}, []),
        (PAGE, {"do": "receive"}, []),
        (PAGE, [], []),
        (PAGE, {"do": "dance"}, []),
    ],
)
def test_questions_that_nobody_may_ask(workers: Workers, number: int, question: Any, buffers: list[bytes]) -> None:
    with pytest.raises(ChannelError):
        workers.answer(number, json.dumps(question), buffers)


@pytest.mark.processes
def test_letters_have_a_limit(workers: Workers) -> None:
    assert ask(workers, PAGE, b"x" * 12_000, do="post", to=1) == {}
    assert "at most 20000 bytes" in ask(workers, PAGE, b"x" * 12_000, do="post", to=2)["refused"]
    letters(workers, 1)
    assert ask(workers, PAGE, b"x" * 12_000, do="post", to=2) == {}


@pytest.mark.processes
def test_small_letters_and_errors_have_a_limit_too(workers: Workers) -> None:
    sent = [ask(workers, PAGE, b"", do="post", to=1) for _ in range(100)]
    assert 10 < sent.count({}) < 30
    for _ in range(100):
        ask(workers, 2, message="no", do="error")
    assert letters(workers, PAGE) == []
    assert len(letters(workers, 1)) == sent.count({})
    for _ in range(100):
        ask(workers, 2, message="x" * 1000, do="error")
    assert len(letters(workers, PAGE)) < 10
    ask(workers, PAGE, do="terminate", to=2)
    assert [head["type"] for head, _ in letters(workers, PAGE, wait=True)] == ["end"]


@pytest.mark.processes
def test_the_end_of_a_worker_is_told(workers: Workers) -> None:
    ask(workers, PAGE, do="terminate", to=1)
    told = letters(workers, PAGE, wait=True)
    assert told == [({"from": 1, "type": "end"}, b"")]
    assert ask(workers, PAGE, b"late", do="post", to=1) == {}
