"""Hosts for the tests of `webnn.fuzz`: the emulator, and a second one with a planted fault in a browser's place."""

from __future__ import annotations

import functools

import webnn
from tests.support import CURRENT
from webnn.fuzz.campaign import Campaign
from webnn.fuzz.generate import Generator
from webnn.fuzz.hosts import Emulator
from webnn.fuzz.judges import Rebuilding

__all__ = ["REPLACE", "campaign", "emulator", "generator"]

#: Puts a function in the place of a method of an interface: it gets the method, the object and the arguments.
REPLACE = """
globalThis.replace = (holder, name, change) => {
  const method = holder.prototype[name];
  Object.defineProperty(holder.prototype, name, {value(...given) { return change(method.bind(this), given, this); }, configurable: true});
};
"""


@functools.cache
def generator(profile: str | None = None, operations: tuple[str, ...] = ()) -> Generator:
    """Return a generator with the seed 1."""
    return Generator(webnn.ML(revision=CURRENT, profile=profile), CURRENT, 1, operations)


def emulator(fault: str = "", *, profile: str | None = None) -> Emulator:
    """Return the emulator, with a script that plants a fault."""
    return Emulator(webnn.ML(revision=CURRENT, profile=profile), CURRENT, script=REPLACE + fault if fault else "")


def campaign(fault: str = "") -> Campaign:
    """Return a campaign; with a fault, there is a browser that has it."""
    ml = webnn.ML(revision=CURRENT)
    return Campaign(Emulator(ml, CURRENT), Rebuilding(ml), page=emulator(fault) if fault else None)
