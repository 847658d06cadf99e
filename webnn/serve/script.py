"""The script that puts the emulator behind `navigator.ml` of a document or worker."""

from __future__ import annotations

import json
from functools import cache

from webnn.display.pages import read
from webnn.javascript.idl import BindingIdl
from webnn.javascript.realm import load_script

__all__ = ["make_script"]

#: How many bytes of calls go in one request: a debugger that sees requests holds each in a text of at most 512 MiB.
_PIECE = 1 << 25
_BINDING = ("conversion", "binding", "foresight", "navigator", "webgpu")


def make_script(endpoint: str, idl: BindingIdl, policy: str = "", piece: int = _PIECE, *, lines: bool = False) -> str:
    """Return the script. It may run several times; the first one counts.

    Args:
        endpoint: The address of the server, with the prefix of its own paths.
        idl: The IDL that documents see.
        policy: The policy of the document.
        piece: The number of bytes of calls in one request.
        lines: Tell the line of the program that makes the next calls.
    """
    setup = json.dumps({"endpoint": endpoint, "policy": policy, "piece": piece, "lines": lines})[:-1] + f', "idl": {idl.text}}}'
    sources = ",\n".join(_binding())
    return f"({read('webnn.serve/page_host.js').strip()})(globalThis, {setup}, [{sources}], {json.dumps(read('webnn.serve/relay.js'))});\n"


@cache
def _binding() -> tuple[str, ...]:
    return tuple(load_script(f"{name}.js").strip() for name in _BINDING)
