"""The globals of programs in Node, and the things that they cannot reach."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path

import pytest

from tests.webnn.javascript.node_support import Outcome, inline, require_node, run, run_scripts
from webnn.javascript import node as host
from webnn.javascript.node import run_program
from webnn.javascript.page_scripts import scripts_of_page
from webnn.processes.walls import table

pytestmark = pytest.mark.processes

# The globals of programs

#: Programs, and what they print.
SEEN: Mapping[str, tuple[str, str]] = {
    "order": (
        "process.stdout.write('a'); console.log('b'); console.info('c'); console.debug('d');"
        "process.stdout.write(new Uint8Array([101, 10]));",
        "ab\nc\nd\ne\n",
    ),
    "its emitter": (
        "const log = name => function (...values) { console.log(name, this === process, ...values); }, once = log('once');\n"
        "process.on('a', log('on')).once('a', once).prependListener('a', log('first'));\n"
        "const known = [process.listenerCount('a'), process.eventNames().includes('a'), process.listeners('a')[2] === once];\n"
        "console.log(...known, process.emit('a', 1));\n"
        "console.log(process.emit('a', 2), process.removeAllListeners('a').emit('a'));\n"
        "process.addListener('b', once); process.removeListener('b', once); console.log(process.emit('b'));\n"
        "try { process.emit('error', new RangeError('nobody')); } catch (error) { console.log(error.message); }",
        "first true 1\non true 1\nonce true 1\n3 true true true\nfirst true 2\non true 2\ntrue false\nfalse\nnobody\n",
    ),
    "its streams": (
        "process.stdout.write('62', 'hex'); process.stdout.write('a'.repeat(3 * 2 ** 20), () => { process.stdout.end('c\\n'); });"
        "try { process.stdout.write(1); } catch (error) { console.log(error.name); }",
        "b" + "a" * (3 << 20) + "TypeError\nc\n",
    ),
    "load": ("addEventListener('load', event => console.log(event.type)); console.log('first');", "first\nload\n"),
    "onload": ("globalThis.onload = event => console.log(event.type);", "load\n"),
    "ticks": (
        "process.nextTick(v => console.log(v), 1); queueMicrotask(() => console.log(2)); setImmediate(() => console.log(3));",
        "2\n1\n3\n",
    ),
    "modules": (
        "import {b} from './sub/b.mjs'; import c from '/sub/b.mjs'; import json from './sub/a.json' with {type: 'json'};"
        "console.log(b, c, json.x, import.meta.url, (await import('./sub/b.mjs')).b);",
        "2 3 1 https://app.test/program.mjs 2\n",
    ),
    "packages": ("import {name} from 'https://cdn.jsdelivr.net/npm/pkg@1.2/index.js'; console.log(name);", "pkg\n"),
}
#: Likewise, parts of one program.
SEEN_TOGETHER: Mapping[str, tuple[str, str]] = {
    "values": ("console.log({a: [1, new Float32Array([2, -0])]}, 'ü', NaN);", "{ a: [ 1, Float32Array(2) [ 2, -0 ] ] } ü NaN\n"),
    "arguments": ("console.log(process.argv.slice(2).join('|'), Object.keys(process.env).length);", "a b|--c 0\n"),
    "a page's names": (
        "console.log(self === globalThis, window === self, location.href, `${location}`, location.pathname,"
        "isSecureContext, typeof document, typeof document.querySelector);",
        "true true https://app.test/program.mjs https://app.test/program.mjs /program.mjs true object undefined\n",
    ),
    "navigator": (
        "console.log(navigator.ml === navigator.ml, navigator.ml instanceof ML, navigator instanceof Navigator,"
        "navigator.userAgent.slice(0, 4));",
        "true true true Node\n",
    ),
    "a clone of what cannot be cloned": (
        """
const context = await navigator.ml.createContext(), builder = new MLGraphBuilder(context);
const x = builder.input('x', {dataType: 'float32', shape: [2]}), graph = await builder.build({y: builder.relu(x)});
const tried = act => { try { act(); return 'cloned'; } catch (error) { return `${error instanceof DOMException} ${error.name}`; } };
for (const object of [navigator.ml, context, builder, x, graph, [{graph}]]) console.log(tried(() => structuredClone(object)));
console.log(tried(() => new MessageChannel().port1.postMessage(context)), tried(() => structuredClone({a: 1})));
""",
        "true DataCloneError\n" * 6 + "true DataCloneError cloned\n",
    ),
    "data modules": ("console.log((await import('data:text/javascript,export default 3')).default);", "3\n"),
    "data and blobs": (
        "const text = async url => (await fetch(url)).text();\n"
        "console.log(await text('data:,abc'), await text(URL.createObjectURL(new Blob(['xyz']))));",
        "abc xyz\n",
    ),
    "fetch": (
        "const r = await fetch('sub/a.json'); console.log(r.status, r.ok, r.url, r.headers.get('content-type'), await r.json());",
        "200 true https://app.test/sub/a.json application/json { x: 1 }\n",
    ),
    "fetch of what is not there": (
        "const r = await fetch('none'); console.log(r.status, r.ok, await r.text() === '');",
        "404 false true\n",
    ),
    "fetch of a folder": ("console.log((await fetch('sub')).status);", "404\n"),
    "fetch a head": (
        "const r = await fetch(new URL('sub/a.json', location), {method: 'HEAD'});"
        "console.log(r.status, r.headers.get('content-length'), await r.text() === '');",
        "200 7 true\n",
    ),
    "fetch by post": (
        "console.log((await fetch(new Request('https://app.test/sub/a.json', {method: 'POST', body: 'x'}))).status);",
        "405\n",
    ),
    "fetch that was aborted": ("await fetch('x', {signal: AbortSignal.abort()}).catch(error => console.log(error.name));", "AbortError\n"),
    "a stream": (
        "let size = 0; for await (const chunk of (await fetch('sub/a.json')).body) size += chunk.length; console.log(size);",
        "7\n",
    ),
    "WebAssembly": ("console.log((await WebAssembly.instantiateStreaming(fetch('add.wasm'))).instance.exports.add(2, 3));", "5\n"),
}
ADD = bytes.fromhex("0061736d0100000001070160027f7f017f030201000707010361646400000a09010700200020016a0b")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/a.json").write_text('{"x":1}', encoding="utf-8")
    (tmp_path / "sub/a.txt").write_text("export default 1", encoding="utf-8")
    (tmp_path / "sub/b.mjs").write_text("export const b = 2; export default 3;", encoding="utf-8")
    (tmp_path / "node_modules/pkg").mkdir(parents=True)
    (tmp_path / "node_modules/pkg/index.js").write_text("export const name = 'pkg';", encoding="utf-8")
    (tmp_path / "add.wasm").write_bytes(ADD)
    return tmp_path


@pytest.mark.parametrize("name", SEEN)
def test_what_a_program_sees(folder: Path, name: str) -> None:
    source, stdout = SEEN[name]
    assert run(folder, source) == Outcome(0, stdout, "")


def test_what_one_program_sees(folder: Path) -> None:
    outcome = run(folder, "".join(f"console.log({f'=== {name}'!r});\n{{\n{source}\n}}\n" for name, (source, _) in SEEN_TOGETHER.items()))
    missing = "".join(f"webnn: 404: https://app.test/{name}: there is no file {folder / name}\n" for name in ("none", "sub"))
    assert (outcome.code, outcome.stderr) == (0, missing)
    seen = dict(part.split("\n", 1) for part in outcome.stdout.split("=== ")[1:])
    assert seen == {name: stdout for name, (_, stdout) in SEEN_TOGETHER.items()}


def test_errors_and_output_keep_their_order(tmp_path: Path) -> None:
    both = BytesIO()
    source = "console.log(1); console.error(2); console.log(3); console.warn(4);process.stderr.write('5\\n'); process.emitWarning('six');"
    program = inline(tmp_path, source)
    assert run_program(require_node(), program, stdout=both, stderr=both) == 0
    assert both.getvalue() == b"1\n2\n3\n4\n5\nwarning: six\n"


# Things that programs cannot reach

REFUSED: Mapping[str, tuple[str, str]] = {
    **{
        f"fetch {url}": (f"await fetch({url!r})", message)
        for url, message in {
            "https://example.test/": "no access to the network",
            "http://app.test/sub/a.json": "no access to the network",
            "//example.test/x": "no access to the network",
            "file:///etc/hosts": "no access to the network",
            "..%2foutside": "outside the folder",
            "%2e%2e%2f%2e%2e%2foutside": "outside the folder",
            "sub/..%2f..%2foutside": "outside the folder",
        }.items()
    },
    **{
        f"import {name}": (f"await import({name!r})", message)
        for name, message in {
            "node:fs": "no access to the modules of Node",
            "node:process": "no access to the modules of Node",
            "fs": "there is no node_modules/fs",
            "file:///etc/hosts": "no access to file:",
            "https://example.test/x.js": "no access to the network",
            "./..%2foutside": "outside the folder",
            "./sub/a.txt": "its type must be text/javascript, not text/plain",
            "./sub/a.json": "its type must be text/javascript, not application/json",
            "data:text/javascript,import 'node:fs'": "no access to the modules of Node",
        }.items()
    },
    "undici": ("globalThis[Symbol.for('undici.globalDispatcher.1')].dispatch({}, {})", "no access to the network"),
}


def test_what_a_program_cannot_reach(folder: Path) -> None:
    attempt = (
        "try {{ {}; console.log('reached'); }} catch (error) {{ console.log(JSON.stringify(`${{error.name}} ${{error.message}}`)); }}\n"
    )
    outcome = run(folder, "".join(attempt.format(source) for source, _ in REFUSED.values()))
    assert outcome.code == 0, outcome.stderr
    told = dict(zip(REFUSED, outcome.stdout.splitlines(), strict=True))
    wrong = {
        name: told[name] for name, (_, message) in REFUSED.items() if not told[name].startswith('"TypeError ') or message not in told[name]
    }
    assert wrong == {}


def test_names_that_are_not_there(tmp_path: Path) -> None:
    names = [
        *("require", "module", "WebSocket", "EventSource", "Worker.prototype.unref"),
        *("process.binding", "process._linkedBinding", "process.dlopen", "process.getBuiltinModule", "process.mainModule"),
        *("process.kill", "process.report", "process.stdin", "process.versions.node"),
    ]
    for kind in ("module", "classic"):
        checks = "\n".join(f"console.log({name!r}, typeof {name});" for name in names)
        outcome = run(tmp_path, checks, kind)
        assert outcome.stdout.splitlines() == [f"{name} undefined" for name in names], outcome.stderr


def test_the_process_itself_has_no_access(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second wall, behind the first: a program that got hold of Node's modules could read, start and load nothing."""
    monkeypatch.setenv("NODE_OPTIONS", "--allow-child-process --allow-fs-read=*")
    monkeypatch.setattr(host, "_obstacle", lambda: "a test of this wall")
    (tmp_path / "secret.txt").write_text("secret", encoding="utf-8")
    attempts = [f"fs.readFileSync({str(tmp_path / 'secret.txt')!r})", f"fs.writeFileSync({str(tmp_path / 'new.txt')!r}, '')"]
    attempts += ["child.spawnSync('node', ['-v'])", "new workers.Worker('1', {eval: true})"]
    source = "const fs = process.getBuiltinModule('fs'), child = process.getBuiltinModule('child_process');\n"
    source += "const workers = process.getBuiltinModule('worker_threads'), codes = [];\n"
    source += "".join(f"try {{ {attempt}; codes.push('done'); }} catch (error) {{ codes.push(error.code); }}\n" for attempt in attempts)
    script = tmp_path / "host.mjs"
    script.write_text(f"{source}process.stderr.write(codes.join(' ')); process.exit(5);", encoding="utf-8")
    monkeypatch.setattr(host, "_HOST", script.resolve())
    outcome = run(tmp_path, "")
    assert (outcome.code, outcome.stderr) == (5, "ERR_ACCESS_DENIED ERR_ACCESS_DENIED ERR_ACCESS_DENIED ERR_ACCESS_DENIED\n")


def test_the_environment_is_empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("WEBNN_SECRET", "NODE_OPTIONS", "NODE_EXTRA_CA_CERTS", "HOME", "PATH"):
        monkeypatch.setenv(name, "a secret")
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    script = tmp_path / "host.mjs"
    script.write_text("process.stderr.write(Object.keys(process.env).join(' ')); process.exit(5);", encoding="utf-8")
    monkeypatch.setattr(host, "_HOST", script.resolve())
    outcome = run(tmp_path, "")
    assert outcome.code == 5
    names = set(outcome.stderr.split())
    assert "TZ" in names
    assert {name.upper() for name in names} <= set(host._ENVIRONMENT)


def test_the_walls_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = run(tmp_path, "console.log('on');", verbose=True)
    lines = outcome.stderr.splitlines()
    assert (outcome.code, outcome.stdout) == (0, "on\n")
    assert [line.split(": ")[2] for line in lines] == list(table.WALLS)
    assert all(line.startswith("webnn: wall: ") for line in lines)
    monkeypatch.setattr(host, "_obstacle", lambda: "not in a test")
    outcome = run(tmp_path, "console.log('on');", verbose=True)
    assert (outcome.code, outcome.stdout) == (0, "on\n")
    assert outcome.stderr.splitlines() == [f"webnn: wall: {name}: absent: not in a test" for name in table.WALLS]


def test_a_program_cannot_speak_of_its_walls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A message that says which walls stand counts only where none could be told before."""
    script = tmp_path / "host.mjs"
    text = '{"files": "forged"}'
    message = f"WNW\\0\\x01\\0\\0\\0\\x{len(text):02x}" + "\\0" * 7 + text
    script.write_text(f"process.stdout.write(Buffer.from('{message}', 'latin1')); process.exitCode = 3;", encoding="utf-8")
    monkeypatch.setattr(host, "_HOST", script.resolve())
    monkeypatch.setattr(host, "_obstacle", lambda: "a test")
    outcome = run(tmp_path, "", verbose=True)
    assert (outcome.code, "forged" in outcome.stderr) == (3, False)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits memory")
def test_a_limit_of_memory(tmp_path: Path) -> None:
    source = "try { console.log(new ArrayBuffer(2 ** 31).byteLength); } catch (error) { console.log(error.name); }"
    if "memory" in missing_walls(tmp_path):
        pytest.skip("this system does not limit memory")
    assert run(tmp_path, source, memory=3 << 29) == Outcome(0, "RangeError\n", "")
    assert run(tmp_path, source) == Outcome(0, "2147483648\n", "")


def missing_walls(folder: Path) -> list[str]:
    return [line.split(": ")[2] for line in run(folder, "", verbose=True).stderr.splitlines() if ": absent: " in line]


def test_a_call_with_too_much_text(tmp_path: Path) -> None:
    source = "const c = await navigator.ml.createContext(), b = new MLGraphBuilder(c);\n"
    source += "try { b.input('x'.repeat(2 ** 26 + 1), {dataType: 'float32', shape: []}); } catch (e) { console.log(e.name, e.message); }"
    outcome = run(tmp_path, source)
    assert outcome.stdout.startswith("RangeError a call must have at most 67108864 bytes of text, got 671")


# Scripts and pages


@pytest.mark.parametrize(
    ("source", "module"),
    [
        ("", False),
        ("console.log(import('data:,'))", False),
        ("import 'data:text/javascript,1'", True),
        ("export default 1", True),
        ("import.meta.url", True),
        ("await 1", True),
    ],
)
def test_a_file_js_is_a_module_if_it_makes_sense_as_one_only(tmp_path: Path, source: str, module: bool) -> None:
    # Only in a script is `this` the global object.
    outcome = run(tmp_path, f"{source}\n;console.log(this === undefined);", "unknown")
    assert outcome.stdout.splitlines()[-1:] == ["true" if module else "false"], outcome.stderr


def test_a_script_has_a_script_s_scope(folder: Path) -> None:
    outcome = run(
        folder, "var a = 1; console.log(globalThis.a, this === globalThis); import('./sub/b.mjs').then(({b}) => console.log(b));", "classic"
    )
    assert outcome == Outcome(0, "1 true\n2\n", "")


def test_syntax_of_a_script(tmp_path: Path) -> None:
    outcome = run(tmp_path, "let a;\nlet b = (;", "unknown")
    assert outcome.code == 1
    assert outcome.stderr.startswith("https://app.test/program.js:2\nlet b = (;\n")


def page(folder: Path, text: str) -> Outcome:
    url = "https://app.test/page.html"
    return run_scripts(folder, scripts_of_page(text, url), url)


def test_a_page(folder: Path) -> None:
    (folder / "s.js").write_text("console.log('s', a)", encoding="utf-8")
    text = """<!doctype html>
<script type="module">import {b} from './sub/b.mjs'; console.log('module', a, b, location.pathname); globalThis.seen = 1;</script>
<script>const a = 1; addEventListener('load', () => console.log('load'));</script>
<script src="s.js"></script>
<script type="module" src="m.mjs"></script>
"""
    (folder / "m.mjs").write_text("console.log('m', seen)", encoding="utf-8")
    assert page(folder, text) == Outcome(0, "s 1\nmodule 1 2 /page.html\nm 1\nload\n", "")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\n\n<script>\nthrow Error('x')</script>", "https://app.test/page.html:4\n"),
        ("<script src=none.js></script>", "Failed to load https://app.test/none.js: there is no such file"),
        ("<script type=module src=none.js></script>", "Failed to load https://app.test/none.js: there is no such file"),
        ("<script src=sub/a.txt></script>", "its type must be text/javascript, not text/plain"),
    ],
)
def test_a_page_that_fails(folder: Path, text: str, message: str) -> None:
    outcome = page(folder, f"{text}<script type=module>console.log('never')</script>")
    assert (outcome.code, outcome.stdout) == (1, "")
    assert message in outcome.stderr
