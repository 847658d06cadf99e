"""Addresses as browsers read them (https://url.spec.whatwg.org), for a realm: questions and answers are JSON."""

from __future__ import annotations

import json

__all__ = ["change", "parse"]

_PARTS = ("href", "origin", "protocol", "username", "password", "host", "hostname", "port", "pathname", "search", "hash")


def parse(question: str) -> str:
    """Return the components of an address, given as ``[text, base]``; the base may be missing. ``null`` if it is not an address."""
    import ada_url  # noqa: PLC0415 (few programs need it)

    try:
        return _components(ada_url.URL(*filter(lambda part: part is not None, json.loads(question))))
    except ValueError:
        return "null"


def change(question: str) -> str:
    """Return the components of an address with one of them changed: ``[address, name, value]``.

    As in a browser, a value that is not possible changes nothing, but an impossible ``href`` is ``null``.
    """
    import ada_url  # noqa: PLC0415

    address, name, value = json.loads(question)
    try:
        changed = ada_url.replace_url(address, **{name: value})
    except ValueError:
        if name == "href":
            return "null"
        changed = address
    return _components(ada_url.URL(changed))


def _components(url: object) -> str:
    return json.dumps({name: getattr(url, name) for name in _PARTS})
