"""Programs in realms of this process: one is the emulator, another one takes the browser's place and may have a fault."""

from __future__ import annotations

import time
from collections.abc import Callable

import webnn
from tests.webnn.javascript import engines
from webnn.browser.opinion import Witness
from webnn.browser.watch import LARGEST, Log, Watch
from webnn.javascript.idl import load_idl
from webnn.javascript.realm import Realm, ScriptError

DIALECT = "browsers-2026"


def make_realm(log: Callable[[str], object]) -> Realm:
    """Make a realm of the newest draft."""
    idl = load_idl("2026-06", DIALECT)
    return engines.make_realm(
        lambda _, text: log(text), "2026-06", pathname="/program.js", ml=webnn.ML(revision=idl.revision), dialect=DIALECT
    )


def watch_program(program: str, *, fault: str = "", largest: int = LARGEST, host: str = "a realm") -> tuple[Log, Witness]:
    """Run a program, the body of an asynchronous function, and watch it; a script may plant a fault before."""
    watch, witness = Watch(host, largest), Witness()
    with webnn.emulate(on_build=witness.on_build, on_compute=witness.on_compute):
        realm = make_realm(watch.hear)
        try:
            for script in (fault, watch.script, f"(async () => {{{program}}})();"):
                realm.evaluate(script)
        except ScriptError as error:
            realm.report(str(error))
        realm.run(lambda: False, time.monotonic() + 20)
    assert realm.faults == []
    return watch.log, witness
