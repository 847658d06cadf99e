"""Records a profile of a page's WebNN: its limits, members and devices, and by probing the calls that it refuses within its limits."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from webnn.browser.profile_calls import Call, Draws, operand
from webnn.browser.profile_probe import Outcome, Page, judge
from webnn.browser.profile_rules import Example, find_rules
from webnn.context.limits import CONTEXT, TensorLimits, operand_names
from webnn.context.profiles import Profile, make_profile
from webnn.context.profiles.rules import CONSTANT, Facts
from webnn.validation.drafts import for_devices

__all__ = ["PROBES", "ROUNDS", "Recorded", "record", "record_interfaces", "write"]

#: How many calls of each operation are tried.
PROBES = 300
#: The most rounds of calls of an operation, while there are refusals that no rule explains.
ROUNDS = 5
#: How many of the calls differ in one place from a call that should be accepted: these find most reasons for refusals.
_NEAR = 0.3
#: The sizes of constants that are tried, in bytes: the smallest and the largest.
_SIZES = (2**20, 2**29)
_INTERFACES = ("ML", "MLContext", "MLGraph", "MLGraphBuilder", "MLOperand", "MLTensor")


class Recorded(NamedTuple):
    """The content of a profile's file, how many calls were tried, and by operation the messages that no rule explains, with the counts."""

    data: dict[str, Any]
    probes: int
    unexplained: Mapping[str, Mapping[str, int]]


def record(
    page: Page,
    source: Mapping[str, Any],
    *,
    seed: int = 1,
    probes: int = PROBES,
    tell: Callable[[str, int, int], None] = lambda operation, done, total: None,
) -> Recorded:
    """Record a profile by ``probes`` calls of each operation. The same seed makes the same probes.

    ``source`` becomes its member ``_source``: where it comes from. ``tell`` is called with each operation before it is probed, with the
    number of operations that are done, and that of all.
    """
    limits = page.limits()
    known = {name: limits[name] for name in (*CONTEXT, *operand_names(for_devices())) if name in limits}
    profile = make_profile("the browser", known)
    draws = Draws(profile, f"record {seed}")
    rules: dict[str, list[Any]] = {}
    unexplained: dict[str, dict[str, int]] = {}
    count = 0
    total = len(draws.operations) + 1
    for done, operation in enumerate(draws.operations):
        tell(operation, done, total)
        attempts: list[_Attempt] = []
        for _ in range(ROUNDS):
            calls = [draws.draw(operation, near=_NEAR) for _ in range(probes)]
            judged = zip(page.attempt(calls), judge(profile, calls), strict=True)
            attempts += [_Attempt(verdict.facts, outcome) for outcome, verdict in judged if verdict.facts is not None]
            count += probes
            found, left = _find_rules(attempts, profile.operations[operation])
            if not left:
                break
        if found:
            rules[operation] = found
        for each in left:
            messages = unexplained.setdefault(operation, {})
            messages[each.message] = messages.get(each.message, 0) + 1
    tell(CONSTANT, total - 1, total)
    rules |= _find_largest_constant(page, profile)
    devices = page.devices(draws.draw("identity")) if "identity" in draws.operations else {}
    data = {"_source": dict(source), "_devices": devices, "_members": _find_members(page, draws), **known, "_build": rules}
    return Recorded({name: value for name, value in data.items() if value}, count, unexplained)


def record_interfaces(page: Page, source: Mapping[str, Any]) -> dict[str, Any]:
    """Record the interfaces of a browser without a backend. The result lacks the limits, so it is not a profile."""
    return {"_source": dict(source), "_members": page.interfaces(_INTERFACES)}


class _Attempt(NamedTuple):
    """A call that the emulator's builder takes, and its outcome in the page."""

    facts: Facts
    outcome: Outcome

    def example(self, *places: str) -> Example:
        """Return the call as an example: a refused one if it failed in one of these places."""
        fails = self.outcome.at in places
        return Example(self.facts, self.outcome.error if fails else "", self.outcome.message if fails else "")


def _find_rules(attempts: Sequence[_Attempt], limits: Mapping[str, TensorLimits]) -> tuple[list[Mapping[str, Any]], list[Example]]:
    """Find the rules of calls, and those of `build()` for the calls that the page takes; and the refusals that no rule explains."""
    refused, unexplained = find_rules([each.example("call") for each in attempts], limits)
    found, left = find_rules([each.example("build", "page") for each in attempts if each.outcome.at != "call"], limits)
    # Web IDL: a call fails with a TypeError, or not at all.
    return [{**each.rule, "at": "call"} for each in refused if each.rule["error"] == "TypeError"] + [
        each.rule for each in found
    ], unexplained + left


def _find_largest_constant(page: Page, profile: Profile) -> dict[str, list[Any]]:
    """Find the largest constant that a graph can have, if it is smaller than the largest tensor."""
    if "float32" not in profile.constant.data_types or "slice" not in profile.operations:
        return {}

    def attempt(size: int) -> tuple[str, str]:
        call = {"operation": "slice", "arguments": [operand("float32", [size // 4], constant=True), [0], [1], {}]}
        [outcome] = page.attempt([call])
        return outcome.error, outcome.message

    low, high = _SIZES[0], min(_SIZES[1], profile.max_byte_length) // 4 * 4
    error, message = attempt(high)
    if not error or high <= low or attempt(low)[0]:
        return {}
    while high - low > 4:
        middle = (low + high) // 8 * 4
        failed = attempt(middle)
        if failed[0]:
            high, (error, message) = middle, failed
        else:
            low = middle
    return {CONSTANT: [{"must": {CONSTANT: {"maxByteLength": low}}, "error": error, "says": message}]}


def _find_members(page: Page, draws: Draws) -> dict[str, dict[str, list[str]]]:
    """Find the members of the interfaces, and of the dictionaries that the draft has."""
    calls: dict[str, Call] = {}
    for each in for_devices().idl()["interfaces"]["MLGraphBuilder"]["operations"]:
        if each["name"] in draws.operations:
            calls.setdefault(str(each["arguments"][-1]["type"]), draws.draw(each["name"]))
    return page.members(_INTERFACES, calls)


def write(data: Mapping[str, Any]) -> str:
    """Write a profile's file: each operand, each rule and each list of members on a line of its own."""
    members = [f"  {json.dumps(name)}: {_write(value, 2 if name.startswith('_') else 1)}" for name, value in data.items()]
    return "{\n" + ",\n".join(members) + "\n}\n"


def _write(value: Any, depth: int, indent: str = "  ") -> str:
    """Write a value, with lines of its own for the members of ``depth`` levels."""
    isNested = isinstance(value, dict) and any(isinstance(each, dict | list) for each in value.values())
    if depth == 0 or not (isNested or (isinstance(value, list) and any(isinstance(each, dict) for each in value))):
        return json.dumps(value, ensure_ascii=False)
    inner = f"{indent}  "
    if isinstance(value, dict):
        lines = [f"{inner}{json.dumps(name)}: {_write(each, depth - 1, inner)}" for name, each in value.items()]
        return "{\n" + ",\n".join(lines) + f"\n{indent}}}"
    return "[\n" + ",\n".join(f"{inner}{_write(each, depth - 1, inner)}" for each in value) + f"\n{indent}]"
