"""The document of a page, its address, other windows, and messages. Each row is a subtest, and shows what a browser shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.webnn.javascript.engines import needs_quickjs
from tests.wpt_runner.checkouts import make_checkout
from webnn.wpt_runner.checkout import Checkout
from webnn.wpt_runner.harness import run_test
from webnn.wpt_runner.settings import Settings

pytestmark = needs_quickjs

HEAD = '<!doctype html><title>T</title><script src="/resources/testharness.js"></script><body id="whole" class="c"><p id="p">a <b>b</b></p>'
#: A frame that sends back each message, with what it knows of it.
ECHO = """<script>
addEventListener('message', event => {
  const {data, origin, source} = event, kind = Object.prototype.toString.call(event);
  source.postMessage({data, origin, isParent: source === parent, kind}, '*');
});
parent.postMessage('ready', '*');
</script>"""
#: Functions of the page.
HELP = """<script>
const REMOTE = 'https://www1.web-platform.test:8443', next = source => new Promise(resolve => {
  addEventListener('message', function listen(event) {
    if (source !== undefined && event.source !== source()) return;
    removeEventListener('message', listen);
    resolve(event);
  });
});
async function open(origin = '', attributes = {}) {
  const frame = document.createElement('iframe'), ready = next(() => frame.contentWindow);
  for (const [name, value] of Object.entries(attributes)) frame.setAttribute(name, value);
  frame.src = `${origin}/webnn/echo.html`;
  document.body.append(frame);
  await ready;
  return frame;
}
async function send(frame, ...values) {
  const answer = next(() => frame.contentWindow);
  frame.contentWindow.postMessage(...values);
  return (await answer).data;
}
const nameOf = body => { try { body(); return 'nothing'; } catch (error) { return error.name; } };
</script>"""

#: Expressions that are true, in an asynchronous function.
TRUE = [
    # The document.
    "document.title === '' && document.body.id === 'whole' && document.body.className === 'c'",
    "document.getElementById('p').textContent === 'a b' && document.getElementById('none') === null",
    "document.getElementsByTagName('b')[0].parentNode.localName === 'p'",
    "document.head.getElementsByTagName('title')[0].firstChild.data === 'T'",
    "document.defaultView === window && document.URL === location.href && 'allow' in HTMLIFrameElement.prototype",
    "self === window && window.window === window && frames === window && typeof Window === 'function'",
    "document.createElement('IFRAME') instanceof HTMLIFrameElement && document.createElement('iframe').contentWindow === null",
    # The address.
    "location.href === 'https://web-platform.test:8443/webnn/x.https.html' && String(document.location) === location.href",
    "location.origin === origin && location.host === 'web-platform.test:8443' && location.protocol === 'https:' && location.port"
    " === '8443'",
    "(location.hash = '#one', location.href.endsWith('#one')) && (location.href = '#two', location.hash === '#two')",
    "nameOf(() => { location.href = 'http://['; }) === 'SyntaxError'",
    # Windows.
    "parent === window && top === window && opener === null && frameElement === null && length === 0",
    "await open().then(frame => length === 1 && frame.contentWindow.parent === window && frame.contentWindow.top === top)",
    "await open().then(({contentWindow: other}) => other.self === other && other.window === other && other.frames === other &&"
    " !other.closed)",
    "await open(REMOTE).then(({contentWindow: other}) => nameOf(() => other.navigator) === 'SecurityError')",
    "await open(REMOTE).then(({contentWindow: other}) => nameOf(() => 'x' in other) === 'SecurityError' && 'postMessage' in other)",
    "await open(REMOTE).then(({contentWindow: other}) => nameOf(() => { other.x = 1; }) === 'SecurityError')",
    "await open(REMOTE).then(({contentWindow: other}) => nameOf(() => delete other.x) === 'SecurityError')",
    "await open(REMOTE).then(({contentWindow: other}) => nameOf(() => other.location.href) === 'SecurityError')",
    "await open(REMOTE).then(frame => frame.contentDocument === null)",
    "await open().then(frame => nameOf(() => frame.contentDocument) === 'SecurityError')",
    "await open(REMOTE).then(async ({contentWindow}) => (await contentWindow) === contentWindow)",
    "await open(REMOTE).then(({contentWindow: other}) => ['MLGraphBuilder', 'DOMException'].every(each => nameOf(() => other[each]) ==="
    " 'SecurityError'))",
    "await open().then(({contentWindow: other}) => other.DOMException === DOMException && other.MLGraphBuilder !== MLGraphBuilder &&"
    " other.MLGraphBuilder === other.MLGraphBuilder && other.MLGraphBuilder.name === 'MLGraphBuilder')",
    # A builder belongs to the document of its interface; the next one of the page does not.
    "await open().then(async frame => { const {MLGraphBuilder: Theirs} = frame.contentWindow, context = await navigator.ml.createContext();"
    " const before = nameOf(() => new Theirs(context)); frame.remove(); return before === 'nothing' && nameOf(() => new Theirs(context))"
    " === 'SecurityError' && new MLGraphBuilder(context) instanceof MLGraphBuilder; })",
    "await (async () => { const frame = document.createElement('iframe'); document.body.append(frame); const {MLGraphBuilder: Theirs} ="
    " frame.contentWindow, context = await navigator.ml.createContext(), builder = new Theirs(context); frame.srcdoc = ''; await new"
    " Promise(resolve => frame.addEventListener('load', resolve)); return nameOf(() => new Theirs(context)) === 'SecurityError' &&"
    " nameOf(() => new frame.contentWindow.MLGraphBuilder(context)) === 'nothing'; })()",
    "await (async () => { const frame = document.createElement('iframe'); frame.allow = \"webnn 'none'\"; document.body.append(frame);"
    " const context = await navigator.ml.createContext(); return nameOf(() => new frame.contentWindow.MLGraphBuilder(context)) ==="
    " 'SecurityError'; })()",
    "document.permissionsPolicy === document.featurePolicy && document.permissionsPolicy.features().join() === 'webnn' &&"
    " document.createElement('iframe').permissionsPolicy.allowsFeature('webnn')",
    "await open().then(frame => { const {contentWindow} = frame; frame.remove(); return contentWindow.closed &&"
    " frame.contentWindow === null; })",
    "await open().then(frame => frames.length === 1 && frame.contentWindow.length === 0)",
    "(() => { const frame = document.createElement('iframe'), asks = () => frame.featurePolicy.allowsFeature('webnn'), found = [asks()];"
    " frame.src = REMOTE; found.push(asks()); frame.allow = 'webnn'; found.push(asks()); frame.srcdoc = ''; frame.allow = \"webnn 'none'\";"
    " found.push(asks()); return found.join() === 'true,false,true,false' && frame.featurePolicy.features().join() === 'webnn'; })()",
    # Messages.
    "await open().then(frame => send(frame, 'a', '*')).then(({data, isParent}) => data === 'a' && isParent)",
    "await open(REMOTE).then(frame => send(frame, 1, REMOTE)).then(({data, origin}) => data === 1 && origin === location.origin)",
    "await open().then(frame => send(frame, 1, '/')).then(({data}) => data === 1)",
    "await open().then(frame => send(frame, 1)).then(({data}) => data === 1)",
    "await open(REMOTE).then(frame => send(frame, 2, {targetOrigin: '*'})).then(({kind}) => kind === '[object MessageEvent]')",
    "await open(REMOTE).then(frame => { frame.contentWindow.postMessage('lost', location.origin); return send(frame, 'got', '*'); })"
    ".then(({data}) => data === 'got')",
    "nameOf(() => postMessage(1, 'no address')) === 'SyntaxError' && nameOf(() => postMessage(1, 'http://[')) === 'SyntaxError'",
    "nameOf(() => postMessage(() => {}, '*')) === 'DataCloneError' && nameOf(() => postMessage(Symbol(), '*')) === 'DataCloneError'",
    "nameOf(() => postMessage(new SharedArrayBuffer(1), '*')) === 'DataCloneError'",
    "await (async () => { const got = next(() => window); postMessage('self'); const event = await got; return event.data === 'self'"
    " && event.origin === origin && event.isTrusted; })()",
    "await (async () => { const buffer = new ArrayBuffer(3), got = next(() => window); postMessage(buffer, '*', [buffer]);"
    " return buffer.byteLength === 0 && (await got).data.byteLength === 3; })()",
    "await (async () => { const buffer = new ArrayBuffer(3); nameOf(() => postMessage([buffer, () => {}], '*', [buffer]));"
    " return buffer.byteLength === 3; })()",
    "await open(REMOTE, {sandbox: 'allow-scripts'}).then(frame => send(frame, 1, '*')).then(({data, isParent}) => data === 1 && isParent)",
    # Events.
    "await new Promise(resolve => { const frame = document.createElement('iframe'); frame.onload = resolve; document.body.append(frame); })"
    ".then(({type, target}) => type === 'load' && target instanceof HTMLIFrameElement)",
    "await new Promise(resolve => { const frame = document.createElement('iframe'); frame.src = 'https://no.test/'; frame.onload = resolve;"
    " document.body.append(frame); }).then(() => true)",
    "await new Promise(resolve => { const script = document.createElement('script'); script.src = 'late.js'; script.onload = resolve;"
    " document.head.append(script); }).then(() => late === 7)",
    "await new Promise(resolve => { const script = document.createElement('script'); script.src = 'none.js'; script.onerror = resolve;"
    " document.head.append(script); }).then(() => true)",
    "(() => { const script = document.createElement('script'); script.text = 'var now = 8;'; document.body.append(script); return"
    " now === 8; })()",
]


def run_page(root: Path, page: str, files: dict[str, str]) -> list[tuple[str, str, str]]:
    checkout = Checkout(make_checkout(root, {"x.https.html": page, "echo.html": ECHO, "late.js": "var late = 7;", **files}))
    result = run_test(checkout, checkout.tests(["x.https.html"])[0], Settings())
    assert (result.status, result.message) == ("OK", "")
    return [(subtest.name, subtest.status.value, subtest.message) for subtest in result.subtests]


def test_a_page(tmp_path: Path) -> None:
    tests = "".join(
        f"promise_test(async () => {{ assert_true({each}); while (frames.length)"
        f" document.getElementsByTagName('iframe')[0].remove(); }}, '{index}');\n"
        for index, each in enumerate(TRUE)
    )
    outcomes = run_page(tmp_path, f"{HEAD}{HELP}<script>{tests}</script>", {})
    assert [(TRUE[int(name)], message) for name, status, message in outcomes if status != "PASS"] == []
    assert len(outcomes) == len(TRUE)


#: Expressions of values that arrive as they are, and of what the receiver sees of each.
VALUES = {
    "[undefined, null, true, NaN, -0, Infinity, -Infinity, 12n, 'a\\ud800\\0']": "v => v.length === 9 && v[0] === undefined &&"
    " Object.is(v[3], NaN)"
    " && Object.is(v[4], -0) && v[5] - 1 === Infinity && v[6] < 0 && v[7] === 12n && v[8].charCodeAt(1) === 0xd800 && v[8].length === 3",
    "(o => { o.me = o; return o; })({a: {b: [1, , 3]}})": "v => v.me === v && !(1 in v.a.b) && v.a.b.length === 3",
    "new Map([[1, new Set(['x'])]])": "v => v.get(1).has('x')",
    "new Date(5)": "v => v.getTime() === 5",
    "/a/gi": "v => v.flags === 'gi'",
    "[new Number(1), new String('s'), new Boolean(false), Object(2n)]": "v => v.every(each => typeof each === 'object') && v[3] +"
    " 1n === 3n",
    "new Uint8Array([9, 8, 7]).subarray(1)": "v => v.byteOffset === 1 && v.join() === '8,7' && v.buffer.byteLength === 3",
    "(b => [new Uint8Array(b), new DataView(b)])(new ArrayBuffer(2))": "v => v[0].buffer === v[1].buffer",
    "new RangeError('r')": "v => v instanceof RangeError && v.message === 'r'",
    "new DOMException('d', 'AbortError')": "v => v instanceof DOMException && v.code === 20",
    "{['__proto__']: 1}": "v => Object.hasOwn(v, '__proto__')",
}


def test_values_of_messages(tmp_path: Path) -> None:
    frame = (
        "<script>addEventListener('message', ({data: {value, test}}) => parent.postMessage(Function(`return ${test}`)()(value)));</script>"
    )
    tests = "".join(
        f"promise_test(() => new Promise(resolve => {{ onmessage = resolve;"
        f" frames[0].postMessage({{value: {value}, test: {test!r}}}); }}).then(({{data}}) => assert_true(data)), '{index}');\n"
        for index, (value, test) in enumerate(VALUES.items())
    )
    page = f"{HEAD}<iframe src=values.html></iframe><script>onload = () => {{}};{tests}</script>"
    outcomes = run_page(tmp_path, page, {"values.html": frame})
    assert [each for each in outcomes if each[1] != "PASS"] == []
    assert len(outcomes) == len(VALUES)


ORDERS = [
    (
        "<iframe src=y.html onload=''></iframe><script>document.getElementsByTagName('iframe')[0].onload = () =>"
        " seen.push('frame');</script>",
        "loading,interactive,said,frame,load,complete",
    ),
    ("<script src=a.js defer></script><script>seen.push('now')</script>", "loading,now,late,interactive,load,complete"),
]


@pytest.mark.parametrize(("parts", "order"), ORDERS, ids=range(len(ORDERS)))
def test_the_order_of_events(tmp_path: Path, parts: str, order: str) -> None:
    start = """<script>
    const seen = [document.readyState];
    document.addEventListener('DOMContentLoaded', () => seen.push(document.readyState));
    addEventListener('message', () => seen.push('said'));
    addEventListener('load', () => seen.push('load', document.readyState));
    </script>"""
    wait = "await new Promise(go => addEventListener('load', go));"
    end = f"<script>promise_test(async () => {{ {wait} assert_equals(seen.join(), '{order}'); }}, 'a')"
    files = {"y.html": "<script>parent.postMessage(1)</script>", "a.js": "seen.push('late')"}
    assert run_page(tmp_path, f"{HEAD}{start}{parts}{end}</script>", files) == [("a", "PASS", "")]
