"""The script that puts the emulator behind `navigator.ml` of a document or worker."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources

from webnn.javascript.idl import BindingIdl
from webnn.javascript.realm import load_script

__all__ = ["make_script"]

#: How many bytes of calls go in one request: a debugger that sees requests holds each in a text of at most 512 MiB.
_PIECE = 1 << 25
_BINDING = ("conversion", "binding", "foresight", "navigator")


@cache
def _read(name: str) -> str:
    return (resources.files("webnn.serve") / name).read_text(encoding="utf-8")


def make_script(endpoint: str, idl: BindingIdl, policy: str = "", piece: int = _PIECE) -> str:
    """Return the script. It may run several times; the first one counts. ``piece`` is the number of bytes of calls in one request."""
    setup = json.dumps({"endpoint": endpoint, "policy": policy, "piece": piece})[:-1] + f', "idl": {idl.text}}}'
    sources = ",\n".join(_binding())
    return f"({_read('page_host.js').strip()})(globalThis, {setup}, [{sources}], {json.dumps(_read('relay.js'))});\n"


@cache
def _binding() -> tuple[str, ...]:
    return tuple(load_script(f"{name}.js").strip() for name in _BINDING)
