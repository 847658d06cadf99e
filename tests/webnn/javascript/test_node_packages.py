"""Programs that import packages, and the part of a document that libraries load themselves with."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.webnn.javascript.node_support import Outcome, run, run_scripts
from webnn.javascript.page_scripts import import_maps_of_page, scripts_of_page

pytestmark = pytest.mark.processes

#: The files of the site.
FILES: Mapping[str, str] = {
    "node_modules/esm/package.json": '{"exports": {"node": "./node.mjs", "default": "./page.js"}}',
    "node_modules/esm/node.mjs": "export default 'for Node';",
    "node_modules/esm/page.js": (
        "import {part} from './part'; import data from './data.json'; export default `for pages ${part} ${data.x}`;"
    ),
    "node_modules/esm/part.js": "export const part = 1;",
    "node_modules/esm/data.json": '{"x": 2}',
    "node_modules/common/package.json": '{"main": "index.js", "browser": {"fs": false, "./heavy.js": "./light.js"}}',
    "node_modules/common/index.js": (
        "exports.fs = Object.keys(require('fs')).length; exports.weight = require('./heavy.js'); exports.file = __filename;"
        "exports.self = this === exports && module.exports === exports; exports.data = require('./data');"
        "exports.cycle = require('./cycle');"
        "exports.later = () => import('esm');"
    ),
    "node_modules/common/heavy.js": "module.exports = 'heavy';",
    "node_modules/common/light.js": "module.exports = 'light';",
    "node_modules/common/data.json": '{"y": 3}',
    "node_modules/common/cycle.js": "module.exports = Object.keys(require('.')).join();",
    "node_modules/transpiled/package.json": "{}",
    "node_modules/transpiled/index.js": "exports.__esModule = true; exports.default = 'its default'; exports['not an identifier'] = 4;",
    "node_modules/function/package.json": "{}",
    "node_modules/function/index.js": "module.exports = () => 5;",
    "node_modules/thrower/package.json": "{}",
    "node_modules/thrower/index.js": "throw new RangeError('as it is loaded');",
    "node_modules/asker/package.json": "{}",
    "node_modules/asker/index.js": "require('esm');",
    "classic.js": "var loaded = document.currentScript?.src ?? 'none';",
    "broken.js": "throw new Error('in the script');",
    "text.txt": "ä text",
    "sub/own.mjs": "export {default} from 'esm';",
}
#: Programs, and what they print.
PROGRAMS: Mapping[str, tuple[str, str]] = {
    "a module": ("import esm from 'esm'; console.log(esm);", "for pages 1 2\n"),
    "from a folder below": ("console.log((await import('./sub/own.mjs')).default);", "for pages 1 2\n"),
    "by the network's address": (
        "import a from 'https://cdn.jsdelivr.net/npm/esm'; import b from 'esm'; console.log(a === b);",
        "true\n",
    ),
    "CommonJS": (
        "import * as all from 'common'; import common, {weight} from 'common';"
        "console.log(all.fs, weight, all.file, all.self, all.data.y, all.cycle, common.weight, (await all.later()).default);",
        "0 light /node_modules/common/index.js true 3 fs,weight,file,self,data light for pages 1 2\n",
    ),
    "CommonJS that was a module": (
        "import value, {'not an identifier' as other} from 'transpiled'; console.log(value, other);",
        "its default 4\n",
    ),
    "CommonJS that is a function": ("import make from 'function'; console.log(make());", "5\n"),
    "CommonJS that throws": (
        "for (const name of ['thrower', 'thrower', 'asker']) await import(name).catch(error => console.log(error.name, error.message));",
        "RangeError as it is loaded\nRangeError as it is loaded\n"
        "Error require: https://app.test/node_modules/esm/page.js is a module, which a CommonJS module can only import()\n",
    ),
    "a script element": (
        "const script = document.createElement('script'), events = [];\n"
        "script.src = 'classic.js'; script.onload = ({type}) => events.push(type);\n"
        "script.addEventListener('load', () => events.push(loaded));\n"
        "document.head.appendChild(script);\n"
        "console.log(typeof loaded, script.isConnected, document.getElementsByTagName('script').length);\n"
        "setTimeout(() => console.log(...events, document.currentScript), 20);",
        "undefined true 1\nload https://app.test/classic.js null\n",
    ),
    "a script that is not there": (
        "const script = Object.assign(document.createElement('script'), {src: 'none.js', onerror: ({type}) => console.log(type)});"
        "document.body.append(script);",
        "error\n",
    ),
    "a script with a text": (
        "const script = document.createElement('script'); script.textContent = 'var inline = 6'; document.body.append(script);"
        "console.log(inline);",
        "6\n",
    ),
    "a script from a blob": (
        "const script = document.createElement('script'); script.src = URL.createObjectURL(new Blob(['var blob = 7']));"
        "script.onload = () => console.log(blob); document.body.append(script);",
        "7\n",
    ),
    "a script that is a module": (
        "const script = Object.assign(document.createElement('script'), {type: 'module', src: 'sub/own.mjs'});"
        "script.onload = () => console.log('loaded'); document.body.append(script);",
        "loaded\n",
    ),
    "elements": (
        "const [a, b] = ['div', 'p'].map(name => document.createElement(name)); a.id = 'a'; b.innerText = 'text'; a.append(b, 'more');"
        "document.body.prepend(a); console.log(a.textContent, document.getElementById('a') === a, b.parentNode === a, a.tagName);"
        "b.remove(); console.log(a.textContent, b.isConnected); try { a.append(a); } catch (error) { console.log(error.name); }",
        "textmore true true DIV\nmore false\nHierarchyRequestError\n",
    ),
    "the document is read": (
        "console.log(document.readyState); document.addEventListener('DOMContentLoaded', () => console.log('read'));"
        "addEventListener('load', () => console.log(document.readyState));",
        "loading\nread\ncomplete\n",
    ),
    "a request": (
        "const request = new XMLHttpRequest(); request.responseType = 'arraybuffer'; request.open('GET', 'text.txt');\n"
        "request.onreadystatechange = () => console.log(request.readyState);\n"
        "request.onload = () => console.log(request.status, request.response.byteLength, request.getResponseHeader('Content-Type'));\n"
        "request.send(); console.log('sent');",
        "sent\n2\n3\n4\n200 7 text/plain\n",
    ),
    "a request that waits": (
        "const request = new XMLHttpRequest(); request.open('GET', 'text.txt', false); request.send();"
        "console.log(request.status, request.responseText, request.responseURL);",
        "200 ä text https://app.test/text.txt\n",
    ),
    "requests of other kinds": (
        "const ask = (url, type) => new Promise(resolve => { const request = new XMLHttpRequest(); request.open('GET', url);"
        "request.responseType = type; request.onloadend = () => resolve(request); request.send(); });\n"
        "console.log((await ask('node_modules/esm/data.json', 'json')).response.x, (await ask('data:,abc', 'text')).responseText,"
        "(await (await ask('text.txt', 'blob')).response.text()).length, (await ask('text.txt', 'json')).response);\n"
        "const request = new XMLHttpRequest(); for (const act of [() => request.send(), () => request.open('GET', 'http://'),"
        "() => { request.responseType = 'blob'; request.open('GET', 'text.txt', false); }])"
        "try { act(); } catch (error) { console.log(error.name); }",
        "2 abc 6 null\nInvalidStateError\nSyntaxError\nInvalidAccessError\n",
    ),
    "one thread": ("console.log(navigator.hardwareConcurrency);", "1\n"),
}


@pytest.fixture
def site(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(site: Path, name: str) -> None:
    source, printed = PROGRAMS[name]
    assert run(site, source) == Outcome(0, printed, "")


def test_requests_that_find_nothing_are_told(site: Path) -> None:
    ask = "const r = new XMLHttpRequest(); r.open('GET', 'none.wasm', false); r.send(); console.log(r.status);"
    source = f"{{ {ask} }} {{ {ask} }}"
    told = f"webnn: 404: https://app.test/none.wasm: there is no file {site / 'none.wasm'}\n"
    assert run(site, source) == Outcome(0, "404\n404\n", told)


@pytest.mark.parametrize("request_", ["fetch('https://elsewhere.test/')", "open('https://elsewhere.test/')", "open('..%2foutside')"])
def test_requests_reach_nothing_else(site: Path, request_: str) -> None:
    opener = "const open = url => { const r = new XMLHttpRequest(); r.open('GET', url, false); r.send(); return r.responseText; };"
    outcome = run(site, f"{opener} try {{ console.log(await {request_}); }} catch (error) {{ console.log(error.message); }}")
    assert "no access to the network" in outcome.stdout or "outside the folder" in outcome.stdout


def test_import_maps(site: Path) -> None:
    table = {
        "imports": {"mapped": "./sub/own.mjs", "parts/": "./node_modules/esm/", "esm": "/sub/own.mjs", "nothing": None},
        "scopes": {"/sub/": {"esm": "./node_modules/esm/node.mjs"}},
    }
    text = f"""<script type="importmap">{json.dumps(table)}</script><script type="module">
        import a from 'mapped'; import b from 'esm'; import {{part}} from 'parts/part.js'; import common from 'common';
        console.log(a, b, part, common.weight, await import('nothing').catch(error => error.message.includes('import map')));</script>"""
    url = "https://app.test/page.html"
    outcome = run_scripts(site, scripts_of_page(text, url), url, import_maps=import_maps_of_page(text))
    assert outcome == Outcome(0, "for Node for Node 1 light true\n", "")


def test_an_import_map_that_cannot_be_read(site: Path) -> None:
    text = '<script type="importmap">{</script><script>1</script>'
    url = "https://app.test/page.html"
    outcome = run_scripts(site, scripts_of_page(text, url), url, import_maps=import_maps_of_page(text))
    assert outcome.code == 1
    assert "the import map cannot be read" in outcome.stderr


def test_workers_have_packages_and_requests_too(site: Path) -> None:
    (site / "worker.js").write_text(
        "(async () => { const {default: esm} = await import('esm'), r = new XMLHttpRequest(); r.open('GET', 'text.txt', false);"
        "r.responseType = 'arraybuffer'; r.send(); postMessage([esm, r.response.byteLength, typeof document]); })();",
        encoding="utf-8",
    )
    source = "const worker = new Worker('worker.js'); worker.onmessage = ({data}) => console.log(...data);"
    assert run(site, source) == Outcome(0, "for pages 1 2 7 undefined\n", "")


def test_what_only_a_page_has(site: Path) -> None:
    outcome = run(site, "document.querySelector('p');")
    assert outcome.code == 1
    assert outcome.stderr.endswith("webnn: a program has no document.querySelector(): use `webnn serve`\n")


def test_a_program_without_a_document(site: Path) -> None:
    """testharness.js takes a global object without one for a shell."""
    assert run(site, "console.log(typeof document, typeof XMLHttpRequest);", elements=False) == Outcome(0, "undefined function\n", "")
