"""The script that watches a program: what it records, and that the program does not notice it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.webnn.browser.support import make_realm, watch_program
from webnn.browser.watch import Watch

GRAPH = """
  const context = await navigator.ml.createContext();
  const builder = new MLGraphBuilder(context), d = {dataType: 'float32', shape: [2]};
  const x = builder.input('x', d), y = builder.sigmoid(x);
  const graph = await builder.build({y});
  const input = await context.createTensor({...d, writable: true}), output = await context.createTensor({...d, readable: true});
  context.writeTensor(input, new Float32Array([0, 1]));
  context.dispatch(graph, {x: input}, {y: output});
"""


def test_calls_and_results() -> None:
    log, _ = watch_program(
        f"{GRAPH} console.log(y.shape, 'é', -0); const view = new Float32Array(2); await context.readTensor(output, view);"
    )
    assert [call.member.partition(".")[2] for call in log.calls] == [
        *("createContext", "constructor", "input", "sigmoid", "build", "createTensor", "createTensor"),
        *("writeTensor", "dispatch", "shape", "readTensor"),
    ]
    assert [call.number for call in log.calls] == list(range(1, 12))
    assert all(call.ended and call.error is None for call in log.calls)
    sigmoid, shape, read = log.calls[3], log.calls[9], log.calls[10]
    assert (sigmoid.self, sigmoid.value) == ("MLGraphBuilder@2", {"object": "MLOperand@4", "dataType": "float32", "shape": [2]})
    assert (shape.self, shape.value) == ("MLOperand@4", [2])
    assert read.value == {"undefined": True}
    assert bytes.fromhex(read.filled["data"])[:4] == b"\0\0\0\x3f"
    assert log.console == [("log", "[2] é -0")]
    assert (log.uncaught, log.end, log.size) == ([], "", 12)


def test_errors_thrown_and_rejected() -> None:
    log, _ = watch_program(
        "const c = await navigator.ml.createContext(); const b = new MLGraphBuilder(c);"
        "try { b.relu(7); } catch (e) { console.warn(e.name); } await b.build({}).catch(e => console.error(e));"
    )
    assert [call.error and call.error[0] for call in log.calls] == [None, None, "TypeError", "TypeError"]
    assert [level for level, _ in log.console] == ["warn", "error"]
    assert log.console[0][1] == "TypeError"
    assert log.console[1][1].startswith("TypeError: build: ")


VALUES: list[tuple[str, Any]] = [
    ("undefined", {"undefined": True}),
    ("null", None),
    ("NaN", {"number": "NaN"}),
    ("-0", {"number": "-0"}),
    ("1.5", 1.5),
    ("5n", {"bigint": "5"}),
    ("'\\ud800'", "\ud800"),
    ("'a'.repeat(300)", {"text": "a" * 200, "length": 300}),
    ("Symbol()", {"kind": "symbol"}),
    ("[1, , {a: true}]", [1, {"kind": "hole"}, {"members": {"a": True}}]),
    ("{get a() { throw new Error('it is called'); }}", {"members": {"a": {"kind": "accessor"}}}),
    ("{['__proto__']: 1}", {"members": {"__proto__": 1}}),
    ("new Float32Array([1]).buffer", {"kind": "ArrayBuffer", "bytes": 4, "digest": 458782360}),
    ("(() => { const b = new ArrayBuffer(4); b.transfer(); return b; })()", {"kind": "ArrayBuffer", "detached": True}),
    ("(() => { const v = new DataView(new ArrayBuffer(4)); v.buffer.transfer(); return v; })()", {"kind": "DataView", "detached": True}),
    ("new TypeError('no')", {"error": ["TypeError", "no"]}),
]


@pytest.mark.parametrize(("source", "described"), VALUES)
def test_how_values_are_described(source: str, described: Any) -> None:
    log, _ = watch_program(f"const b = new MLGraphBuilder(await navigator.ml.createContext()); try {{ b.relu({source}); }} catch {{}}")
    assert log.calls[2].arguments == [described]


def test_large_results_have_a_digest_only() -> None:
    log, _ = watch_program(f"{GRAPH} await context.readTensor(output);", largest=7)
    assert "data" not in log.calls[-1].value
    assert log.calls[-1].value["bytes"] == 8


# The program sees the same without the watch.
VIEWS = [
    "MLGraphBuilder.name + MLGraphBuilder.length + MLGraphBuilder.prototype.add.name + MLGraphBuilder.prototype.add.length",
    "new MLGraphBuilder(c).constructor === MLGraphBuilder && new MLGraphBuilder(c) instanceof MLGraphBuilder",
    "JSON.stringify(Object.getOwnPropertyDescriptor(MLOperand.prototype, 'shape')) + Object.keys(globalThis).join()",
    "c.lost === c.lost",
    "Object.getPrototypeOf(c.createTensor({dataType: 'float32', shape: []})) === Promise.prototype",
    "(() => { try { MLGraphBuilder(c); } catch (e) { return e.name + e.message; } })()",
    "(() => { try { MLGraphBuilder.prototype.add.call({}, 1, 2); } catch (e) { return e.name + e.message; } })()",
    "(() => { class B extends MLGraphBuilder { x = 5 } const b = new B(c); return b.x + b.constructor.name + (b instanceof B); })()",
    "await c.readTensor({}).catch(e => e.name)",
    "Object.prototype.toString.call(new MLGraphBuilder(c))",
    "typeof Math.random() + Math.random.name + console.log.name + console.log.length",
]


@pytest.mark.parametrize("view", VIEWS)
def test_the_program_does_not_notice(view: str) -> None:
    import time

    seen = []
    for watched in (False, True):
        watch, found = Watch("a realm"), list[str]()

        def hear(text: str, watch: Watch = watch, found: list[str] = found) -> None:
            if not watch.hear(text):
                found.append(text)

        realm = make_realm(hear)
        realm.evaluate(watch.script if watched else "")
        realm.evaluate(f"(async () => {{ const c = await navigator.ml.createContext(); console.log(String({view})); }})();")
        realm.run(lambda: False, time.monotonic() + 20)
        assert len(found) == 1
        seen.append(found)
    assert seen[0] == seen[1]


def test_random_numbers_are_the_same_in_each_run() -> None:
    program = "console.log(Math.random(), Math.random());"
    first, second = (watch_program(program)[0].console[0][1] for _ in range(2))
    assert first == second
    one, two = map(float, first.split())
    assert one != two
    assert 0 <= one < 1


def test_a_program_cannot_write_records() -> None:
    log, _ = watch_program('console.debug(\'webnn-0000000000000000{"call": 1}\'); console.log(\'{"uncaught": ["a", "b"]}\');')
    assert log.calls == []
    assert log.uncaught == []
    assert len(log.console) == 2
