"""The engine's library: scripts that are parsed once, and the memory of arrays; with and without it, programs see the same."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.webnn.javascript.engines import make_realm, needs_quickjs, needs_rejections
from webnn.javascript import library
from webnn.javascript.bytecode import compile_script
from webnn.javascript.library import find_engine
from webnn.javascript.realm import Realm, ScriptError

pytestmark = needs_quickjs


def _make(memory: int = 1 << 28) -> tuple[Realm, list[str]]:
    console: list[str] = []
    realm = make_realm(lambda _, text: console.append(text), pathname="/test.html", memory=memory)
    return realm, console


@pytest.fixture(params=["with", "without"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Realms use the library, or do not."""
    if request.param == "without":
        monkeypatch.setattr(library, "TRIED", ())
    library.load_library.cache_clear()
    compile_script.cache_clear()
    yield request.param
    library.load_library.cache_clear()
    compile_script.cache_clear()


#: Scripts that run one after another, each in the same way, and what they write.
SCRIPTS = {
    "declarations": (
        ["const a = 1; let b = 2; var c = 3; function d() { return a + b + c; }", "console.log(d(), typeof globalThis.c)"],
        ["6 number"],
    ),
    "strict": (["'use strict'; try { undeclared = 1; } catch (e) { console.log(e.name); }", "alsoUndeclared = 1;"], ["ReferenceError"]),
    "declared twice": (["let a = 1;", "console.log(a); let a = 2;"], ["throws SyntaxError: redeclaration of 'a'"]),
    "this": (["console.log(this === globalThis)"], ["true"]),
    "text of functions": (["function f(a) { /* kept */ }", "console.log(f.toString())"], ["function f(a) { /* kept */ }"]),
    "syntax": (["console.log(1); ) ("], ["throws SyntaxError: unexpected token in expression: ')'"]),
    "error": (["\n\nthrow new RangeError('far')"], ["throws RangeError: far"]),
    "thrown number": (["throw 3"], ["throws 3"]),
    "thrown undefined": (["throw undefined"], ["throws undefined"]),
    "no memory": (
        ["const all = []; for (;;) all.push(new Uint8Array(1 << 20));", "console.log('next')"],
        ["throws InternalError: out of memory", "next"],
    ),
    "no stack": (["(function f() { f(); })()", "console.log('next')"], ["throws RangeError: Maximum call stack size exceeded", "next"]),
    "an end": (["throw new Error('\\u0000 \\ud800'.toWellFormed().slice(2))"], ["throws Error: \ufffd"]),
    "Promise replaced": (
        ["Promise.reject = Promise = Reflect.apply = null;", "console.log('runs')", "throw new Error('told')"],
        ["runs", "throws Error: told"],
    ),
    "rejected within": (["Promise.reject(1).catch(e => console.log('caught', e)); console.log('first');"], ["first", "caught 1"]),
    "calls of Python": (["console.log(1); console.log(performance.now() >= 0); setTimeout(() => console.log(2), 0);"], ["1", "true", "2"]),
    "expressions": (
        ["console.log(/\\p{L}+/u.exec('1\u00e9')[0], 2n ** 70n, ((s, ...v) => s.raw[0])`a\\n${1}`)"],
        ["\u00e9 1180591620717411303424 a\\n"],
    ),
    "classes": (
        ["class A { #x = 1; static y = 2; get x() { return this.#x; } async *g() { yield 1; } }", "console.log(new A().x, A.y)"],
        ["1 2"],
    ),
}


def _run(*scripts: str) -> list[str]:
    realm, console = _make()
    for script in scripts:
        try:
            realm.run_script(script)
        except ScriptError as error:
            console.append(f"throws {str(error).splitlines()[0]}")
        realm.run(lambda: False, realm.worked() + 5)
    return console


@pytest.mark.parametrize(("scripts", "written"), SCRIPTS.values(), ids=SCRIPTS)
def test_scripts(way: str, scripts: list[str], written: list[str]) -> None:
    # The second realm finds what the first one has parsed.
    assert [_run(*scripts), _run(*scripts)] == [written, written]


@needs_rejections
def test_a_script_is_parsed_once() -> None:
    script = "globalThis.count = (globalThis.count ?? 0) + 1; console.log(count)"
    first, second = _make(), _make()
    before = compile_script.cache_info().misses
    for realm, _ in (first, first, second):
        realm.run_script(script)
    assert (first[1], second[1]) == (["1", "2"], ["1"])
    assert compile_script.cache_info().misses == before + 1
    second[0].run_script(script + " ")
    assert compile_script.cache_info().misses == before + 2


def test_places_in_stacks(way: str) -> None:
    realm, _ = _make()
    with pytest.raises(ScriptError, match=r"Error: here\n +at inner \(<input>:4:\d+\)\n +at <(eval|anonymous)> \(<input>:6:\d+\)"):
        realm.run_script("\n\nfunction inner() {\n  throw new Error('here');\n}\ninner();")


def test_a_script_that_does_not_fit_into_the_memory(way: str) -> None:
    realm, _ = _make(memory=6 << 20)
    with pytest.raises(ScriptError, match=r"InternalError|null"):
        realm.run_script("const a = [" + "{a: 1, b: [2]}, " * 60_000 + "];")


#: Programs that carry bytes, and what they write. The third one replaces what a program can replace.
ROUND_TRIP = """
(async () => {
  const context = await navigator.ml.createContext();
  const builder = new MLGraphBuilder(context);
  const a = builder.input('a', {dataType: 'float32', dimensions: [SIZE]});
  const graph = await builder.build({b: builder.neg(a)});
  const buffer = new ArrayBuffer(4 * SIZE + 8), view = new Float32Array(buffer, 4, SIZE).fill(2);
  view[SIZE - 1] = 3;
  REPLACED
  const {inputs, outputs} = await context.compute(graph, {a: view}, {b: new Float32Array(SIZE)});
  console.log(view.length, inputs.a[SIZE - 1], outputs.b[0], outputs.b[SIZE - 1], outputs.b.length);
})().catch(error => console.log(`${error}`));
"""
_LYING = "for (const name of ['length', 'byteLength', 'byteOffset', 'buffer', 'set', 'subarray', 'toHex'])"
_DECEIVED = f"{_LYING} Object.defineProperty(Object.getPrototypeOf(Uint8Array.prototype), name, {{get: () => 2 ** 30}});"


@pytest.mark.parametrize("size", [1, 7, 100_000])
def test_bytes_there_and_back(way: str, size: int) -> None:
    assert _run(ROUND_TRIP.replace("SIZE", str(size)).replace("REPLACED", "")) == [f"0 3 {-3 if size == 1 else -2} -3 {size}"]


@needs_rejections
def test_a_program_cannot_deceive_about_the_size_of_its_memory() -> None:
    assert _run(ROUND_TRIP.replace("SIZE", "7").replace("REPLACED", f"const {{log}} = console; {_DECEIVED}")) == [
        "1073741824 3 -2 -3 1073741824"
    ]


@needs_rejections
def test_a_program_that_replaces_how_lists_are_read() -> None:
    # The object in the place of the arrays has no memory.
    each = "for (let i = 0; i < this.length; i++) yield this[i] instanceof Uint8Array ? {length: 9} : this[i];"
    replaced = f"Array.prototype[Symbol.iterator] = function* () {{ {each} }};"
    assert _run(ROUND_TRIP.replace("SIZE", "7").replace("REPLACED", replaced)) == ["TypeError: the bytes could not be copied"]


class _Arrays:
    """The arrays that a script makes, as the engine hands them over, and the library's view of the engine."""

    def __init__(self, script: str) -> None:
        import quickjs

        self.owner = quickjs.Context()
        self.array: Any = self.owner.eval(script)
        self.engine = find_engine(self.owner)
        assert self.engine is not None

    def read(self, array: object) -> bytes:
        assert self.engine is not None
        with self.engine.memory(array) as memory:
            return bytes(memory)


#: Arrays, and what lies in them.
READ = {
    "whole": ("new Uint8Array([1, 2, 3])", b"\1\2\3"),
    "part": ("new Uint8Array(new Uint8Array([1, 2, 3, 4]).buffer, 1, 2)", b"\2\3"),
    "empty": ("new Uint8Array()", b""),
    "nothing behind the end": ("new Uint8Array(new ArrayBuffer(4), 4, 0)", b""),
    "shared": ("new Uint8Array(new SharedArrayBuffer(2)).fill(7)", b"\7\7"),
    "own length": ("Object.defineProperty(new Uint8Array(2), 'length', {value: 1e6})", b"\0\0"),
}


@needs_rejections
@pytest.mark.parametrize(("script", "content"), READ.values(), ids=READ)
def test_memory(script: str, content: bytes) -> None:
    arrays = _Arrays(script)
    assert arrays.read(arrays.array) == content
    assert arrays.engine is not None
    with arrays.engine.memory(arrays.array) as memory:
        memory[:] = b"\5" * len(content)
    assert arrays.read(arrays.array) == b"\5" * len(content)


#: Objects without such memory, and the reasons.
REFUSED = {
    "other type": ("new Float32Array(2)", "must be a Uint8Array"),
    "buffer": ("new ArrayBuffer(2)", "must be a Uint8Array"),
    "imitation": ("Object.create(new Uint8Array(2))", "must be a Uint8Array"),
    "proxy": ("new Proxy(new Uint8Array(2), {})", "must be a Uint8Array"),
    "function": ("(() => {})", "must be a Uint8Array"),
    "symbol": ("Symbol()", "must be a Uint8Array"),
    "detached": ("(a => { a.buffer.transfer(); return a; })(new Uint8Array(2))", "must be a Uint8Array that is not detached"),
    "out of bounds": (
        "(b => { const a = new Uint8Array(b, 4, 4); b.resize(6); return a; })(new ArrayBuffer(8, {maxByteLength: 8}))",
        "must be a Uint8Array that is not detached",
    ),
    "number": ("3", "must be an object of this engine"),
    "text": ("'a'", "must be an object of this engine"),
}


@needs_rejections
@pytest.mark.parametrize(("script", "message"), REFUSED.values(), ids=REFUSED)
def test_what_has_no_memory(script: str, message: str) -> None:
    arrays = _Arrays(script)
    with pytest.raises(TypeError, match=message):
        arrays.read(arrays.array)
    # The engine does not remember the error.
    assert arrays.owner.eval("1 + 1") == 2


@needs_rejections
def test_memory_of_another_engine() -> None:
    one, other = _Arrays("new Uint8Array(2)"), _Arrays("new Uint8Array(2)")
    with pytest.raises(TypeError, match="must be an object of this engine"):
        one.read(other.array)
