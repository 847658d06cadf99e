"""Frames and workers of a page: how they begin, go on and end."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.webnn.javascript.engines import needs_quickjs
from tests.wpt_runner.checkouts import make_checkout
from webnn.wpt_runner.checkout import Checkout
from webnn.wpt_runner.harness import run_test
from webnn.wpt_runner.settings import Settings

pytestmark = needs_quickjs

HEAD = '<!doctype html><script src="/resources/testharness.js"></script><body>'
FILES = {
    "echo.js": "onmessage = ({data}) => postMessage(data);",
    "name.js": "postMessage([name, location.pathname, typeof window, self instanceof DedicatedWorkerGlobalScope, typeof navigator.ml]);",
    "throws.js": "throw new TypeError('in the worker');",
    "later.js": "setTimeout(() => { throw new RangeError('later'); });",
    "close.js": "postMessage('first'); close(); setTimeout(() => postMessage('second'));",
    "import.js": "importScripts('/webnn/resources/part.js'); postMessage(part);",
    "resources/part.js": "var part = 3;",
    "json.js": "fetch('resources/d.json').then(answer => answer.json()).then(postMessage);",
    "resources/d.json": '{"a": [1]}',
    "nested.js": "new Worker('echo.js').onmessage = ({data}) => postMessage(data + 1); onmessage = null;"
    " const inner = new Worker('/webnn/echo.js'); inner.onmessage = ({data}) => postMessage(data + 1); inner.postMessage(1);",
    "count.js": "let count = 0; onconnect = ({ports: [port]}) => { count++; port.addEventListener('message', () =>"
    " port.postMessage(count));"
    " port.start(); };",
    "say.html": "<script>parent.postMessage(location.href, '*')</script>",
    "deep.html": "<iframe src=say.html></iframe><script>onmessage = ({data}) => parent.postMessage(['deep', data], '*')</script>",
    "scriptless.html": "<script>parent.postMessage('no', '*')</script>",
    "busy.html": "<script>setInterval(() => parent.postMessage('tick', '*'), 5)</script>",
    "insecure.html": "<script>parent.postMessage([isSecureContext, 'ml' in navigator], '*')</script>",
}
#: Bodies of asynchronous functions: `from(target)` is the next message of a worker, a port or this window.
BODIES = {
    "a worker answers": "const worker = new Worker('echo.js'); worker.postMessage({a: 1}); assert_equals((await from(worker)).a, 1);",
    "its scope": "assert_equals((await from(new Worker('name.js', {name: 'n'}))).join(), 'n,/webnn/name.js,undefined,true,object');",
    "an error in it": "const {message} = await new Promise(go => { new Worker('throws.js').onerror = go; });"
    " assert_true(message.includes('in the worker'));",
    "a later error": "assert_true((await new Promise(go => { new Worker('later.js').onerror = go; })).message.includes('later'));",
    "no such script": "const event = await new Promise(go => { new Worker('none.js').onerror = go; });"
    " assert_equals(event.message, 'there is no file /webnn/none.js in the checkout');",
    "another origin": "assert_throws_dom('SecurityError', () => new Worker('https://www1.web-platform.test:8443/webnn/echo.js'));",
    "a module": "assert_throws_dom('NotSupportedError', () => new Worker('echo.js', {type: 'module'}));",
    "importScripts": "assert_equals(await from(new Worker('import.js')), 3);",
    "fetch in a worker": "assert_equals((await from(new Worker('json.js'))).a[0], 1);",
    "a worker of a worker": "assert_equals(await from(new Worker('nested.js')), 2);",
    "close": "const worker = new Worker('close.js'), got = []; worker.onmessage = ({data}) => got.push(data);"
    " await pause(); assert_equals(got.join(), 'first');",
    "terminate": "const worker = new Worker('echo.js'), got = []; worker.onmessage = ({data}) => got.push(data); worker.postMessage(1);"
    " await from(worker); worker.terminate(); worker.postMessage(2); await pause(); assert_equals(got.join(), '1');",
    "a shared worker": "const ask = async name => { const {port} = new SharedWorker('count.js', name); port.postMessage(0);"
    " return from(port); };"
    " assert_equals(`${await ask('x')}${await ask('x')}${await ask('y')}`, '121');",
    "a message to a worker that cannot be cloned": "const worker = new Worker('echo.js'), context = await navigator.ml.createContext();"
    " assert_throws_dom('DataCloneError', () => worker.postMessage(context)); worker.postMessage(1); assert_equals(await from(worker), 1);",
    "a frame": "show({src: 'say.html'}); assert_equals(await from(), `${origin}/webnn/say.html`);",
    "a frame in a frame": "show({src: 'deep.html'}); assert_equals((await from())[1], `${origin}/webnn/say.html`);",
    "srcdoc": "show({srcdoc: '<script>parent.postMessage([location.href, document.URL, origin], \"*\")<\\/script>'});"
    " assert_equals((await from()).join(), `about:srcdoc,about:srcdoc,${origin}`);",
    "srcdoc before src": "show({src: 'say.html', srcdoc: '<script>parent.postMessage(1)<\\/script>'}); assert_equals(await from(), 1);",
    "a sandbox": "show({src: 'say.html', sandbox: 'allow-scripts'}); const event = await event_(); assert_equals(event.origin, 'null');",
    "a sandbox without scripts": "show({src: 'scriptless.html', sandbox: ''}); show({src: 'say.html'});"
    " assert_equals(await from(), `${origin}/webnn/say.html`);",
    "another address": "const frame = show({src: 'say.html'}); await from(); frame.src = 'say.html?2'; assert_true((await"
    " from()).endsWith('?2'));"
    " frame.contentWindow.location = '/webnn/say.html?3'; assert_true((await from()).endsWith('?3'));"
    " frame.contentWindow.location.href = '/webnn/say.html?4'; assert_true((await from()).endsWith('?4'));"
    " frame.contentWindow.location.replace('/webnn/say.html?5'); assert_true((await from()).endsWith('?5'));",
    "a frame that was removed is silent": "const frame = show({src: 'busy.html'}); await from(); frame.remove(); let count = 0;"
    " onmessage = () => { count++; }; await pause(); const before = count; await pause(); assert_equals(count, before);",
    "a frame that was removed before it began": "show({src: 'busy.html'}).remove(); onmessage = () => assert_unreached('a message');"
    " await pause(); onmessage = null;",
    "a frame that moves begins again": "const frame = show({src: 'say.html'}); await from(); document.body.append(frame); await from();",
    "not HTTPS": "show({src: 'http://web-platform.test:8000/webnn/insecure.html'}); assert_equals((await from()).join(), 'false,false');",
    "the policy in the frame": "show({src: 'https://www1.web-platform.test:8443/webnn/policy.html'}); assert_false(await from());"
    " show({src: 'https://www1.web-platform.test:8443/webnn/policy.html', allow: 'webnn'}); assert_true(await from());",
}
FILES["policy.html"] = "<script>parent.postMessage(document.featurePolicy.allowsFeature('webnn'), '*')</script>"
HELP = """
const event_ = (target = window) => new Promise(go => target.addEventListener('message', go, {once: true}) ?? target.start?.());
const from = async target => (await event_(target)).data, pause = () => new Promise(go => setTimeout(go, 40));
function show(attributes) {
  const frame = document.createElement('iframe');
  for (const [name, value] of Object.entries(attributes)) frame.setAttribute(name, value);
  document.body.append(frame);
  return frame;
}
"""


@pytest.mark.parametrize("name", BODIES)
def test_frames_and_workers(tmp_path: Path, name: str) -> None:
    page = f"{HEAD}<script>{HELP} promise_test(async () => {{ {BODIES[name]} }}, 'it')</script>"
    checkout = Checkout(make_checkout(tmp_path, {"x.https.html": page, **FILES}))
    result = run_test(checkout, checkout.tests(["x.https.html"])[0], Settings())
    assert [(each.name, each.status, each.message) for each in result.subtests] == [("it", "PASS", "")], (result.message, result.output)
    assert result.status == "OK"
