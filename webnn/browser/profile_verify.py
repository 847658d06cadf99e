"""Compares a profile with a page: random calls, judged by both."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from webnn.browser.profile_calls import Call, Draws
from webnn.browser.profile_probe import Outcome, Page, judge
from webnn.context.profiles import Profile

__all__ = ["Disagreement", "compare_limits", "verify"]

#: How many of the calls differ in one place from a call that should be accepted.
_NEAR = 0.4
_CALLS = 250


@dataclass(slots=True)
class Disagreement:
    """A class of calls that the page and the profile judge differently: those of one operation with the same two verdicts.

    The first such call, its verdicts, and how many there were.
    """

    page: Outcome
    profile: Outcome
    call: Call
    count: int = 1

    def __str__(self) -> str:
        verdicts = f"the browser {_describe(self.page)}, the profile {_describe(self.profile)}"
        return f"{self.call['operation']} ({self.count}): {verdicts}\n  {call_text(self.call)}"


def verify(page: Page, profile: Profile, count: int, *, seed: int = 1, tell: Callable[[int], None] = lambda _: None) -> list[Disagreement]:
    """Judge ``count`` random calls of all operations, and return the classes that disagree, the largest first.

    The verdicts agree if both accept a call, or if both refuse it at the same time, in the call or in `build()`, with the same error.
    The same seed makes the same calls. ``tell`` is called with the number of calls that are done.
    """
    draws = Draws(profile, f"verify {seed}")
    found: dict[tuple[str, ...], Disagreement] = {}
    for start in range(0, count, _CALLS):
        tell(start)
        calls = [draws.draw(draws.dice.pick(draws.operations), near=_NEAR) for _ in range(min(_CALLS, count - start))]
        for call, theirs, ours in zip(calls, page.attempt(calls), judge(profile, calls), strict=True):
            if theirs[:2] != ours.outcome[:2]:
                key = (call["operation"], *theirs[:2], *ours.outcome[:2])
                if key in found:
                    found[key].count += 1
                else:
                    found[key] = Disagreement(theirs, ours.outcome, call)
    return sorted(found.values(), key=lambda each: -each.count)


def compare_limits(page: Page, profile: Profile) -> Iterator[str]:
    """Compare what ``opSupportLimits()`` returns in the page and for the profile; yield the paths that differ."""
    yield from _differences("", page.limits(), profile.limits())


def _differences(path: str, one: Any, other: Any) -> Iterator[str]:
    if isinstance(one, dict) and isinstance(other, dict):
        for name in dict.fromkeys([*one, *other]):
            yield from _differences(f"{path}.{name}" if path else name, one.get(name), other.get(name))
    elif one != other:
        yield path


def _describe(outcome: Outcome) -> str:
    if not outcome.at:
        return "accepts it"
    where = {"call": "refuses it", "build": "refuses it in build()", "page": "ends"}[outcome.at]
    message = outcome.message.splitlines()[0] if outcome.message else ""
    return f"{where} with {outcome.error} ({message})"


def call_text(call: Call) -> str:
    """Write a call for people: ``"gather(float32[2, 3], int32[4] constant, {axis: 1})"``."""
    return f"{call['operation']}({', '.join(_text(each) for each in call['arguments'])})"


def _text(value: Any) -> str:
    if isinstance(value, dict) and "$" in value:
        dataType, shape, constant = value["$"]
        return f"{dataType}{shape}{' constant' if constant else ''}"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{name}: {_text(each)}' for name, each in value.items())}}}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f"[{', '.join(_text(each) for each in value)}]"
    return repr(value)
