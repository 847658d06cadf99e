"""Explains errors of programs that use what only another draft has.

A member that the draft lacks is absent in JavaScript, too: its call fails in the engine, which knows nothing of drafts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial

from webnn.validation.drafts import DRAFTS, explain_absence, explain_switch, find_revision
from webnn.validation.drafts.idl import Idl, IdlOperation
from webnn.validation.revision import Revision

__all__ = ["explain_failure", "write_switches"]

_NAMED = re.compile(r'ML\(revision="([^"]+)"\)')
_VARIABLE = re.compile(r" \(WEBNN_REVISION=\S+ makes it the default\)")

#: Errors of the engine, and of conversion.js: an absent method, and forms of a call that the draft does not have.
_METHOD = re.compile(r"TypeError: [^\n]*?\b(\w+) is not a function")
_COUNT = re.compile(r"TypeError: (\w+) needs \d+ arguments?, got (\d+)")
_ARGUMENT = re.compile(r"TypeError: (\w+): (\w+) must be a finite number, got an object")
_MEMBER = re.compile(r"TypeError: \w+: \w+ must have the member (\w+) \((\w+)\)")


def write_switches(message: str) -> str:
    """Return a message of the package with the options of commands in the place of Python's arguments."""
    return _VARIABLE.sub("", _NAMED.sub(r"--revision \1", message))


def explain_failure(revision: Revision, report: str) -> str:
    """Say which draft has what a program used.

    The sentence names the option for that draft; it is empty if the error has another reason.
    """
    if found := _METHOD.search(report):
        name = found[1]
        owner = next((owner for draft in DRAFTS for owner, _ in _operations(find_revision(draft).idl(), name)), "")
        method = f"{owner}.{name}"
        return _explain(revision, f"method {method}", partial(_has_method, name), explain_absence(revision, method))
    if found := _COUNT.search(report):
        count = int(found[2])
        return _explain(revision, f"{found[1]}() with {count or 'no'} argument{'s' * (count > 1)}", partial(_takes_count, found[1], count))
    if found := _ARGUMENT.search(report):
        return _explain(revision, f"{found[1]}() without {found[2]}", partial(_takes_others, found[1], found[2]))
    if found := _MEMBER.search(report):
        return _explain(revision, f"{found[2]} without {found[1]}", partial(_is_not_required, found[2], found[1]))
    return ""


def _explain(revision: Revision, form: str, has: Callable[[Idl], bool], instead: str = "") -> str:
    switch = "" if has(revision.idl()) else explain_switch(lambda other: has(other.idl()))
    return f"the draft {revision.name} has no {form}: {'; '.join(filter(None, [instead, write_switches(switch)]))}" if switch else ""


def _operations(idl: Idl, name: str) -> Iterator[tuple[str, IdlOperation]]:
    """Yield the overloads of operations with a name, with their interfaces."""
    for owner, interface in idl["interfaces"].items():
        for operation in interface.get("operations", ()):
            if operation["name"] == name:
                yield owner, operation


def _has_method(name: str, idl: Idl) -> bool:
    return any(_operations(idl, name))


def _takes_count(name: str, count: int, idl: Idl) -> bool:
    """Tell whether an operation takes a number of arguments."""
    every = [each["arguments"] for _, each in _operations(idl, name)]
    return any(sum(not each.get("optional", False) for each in arguments) <= count <= len(arguments) for arguments in every)


def _takes_others(name: str, argument: str, idl: Idl) -> bool:
    """Tell whether an operation has a form without an argument."""
    return any(argument not in [each["name"] for each in operation["arguments"]] for _, operation in _operations(idl, name))


def _is_not_required(dictionary: str, member: str, idl: Idl) -> bool:
    """Tell whether a dictionary needs no such member."""
    found = idl["dictionaries"].get(dictionary)
    return found is not None and not any(each["name"] == member and each.get("required", False) for each in found["members"])
