"""Find the differences between the logs of a program in the emulator and in the browser."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from typing import Any, Protocol

import numpy as np

from webnn.browser.watch import Log, WatchedCall
from webnn.reference import ulp_distance, unpack
from webnn.validation.descriptor import NUMPY_DTYPES, SMALL_TYPES

__all__ = ["AccuracyVerdict", "Array", "Difference", "Judge", "Kind", "elements", "find_differences", "show"]

Array = np.ndarray[Any, np.dtype[Any]]
#: The name of an object, with the number of the call that returned it.
_OBJECT = re.compile(r"(\w+@)(\d+)(.*)")
_LONGEST, _MOST_LEAVES = 160, 8
_MOST_PAIRS = 4_000_000
#: The data types of the views of `compute`, by their classes.
_VIEWS = {
    **{f"{name.capitalize()}Array": name for name in ("float32", "float16", "int32", "int8")},
    **{"Uint32Array": "uint32", "Uint8Array": "uint8", "BigInt64Array": "int64", "BigUint64Array": "uint64"},
}


class Kind(StrEnum):
    """The kinds of differences."""

    verdict = "accepted by one"
    error = "error class"
    type = "data type"
    shape = "shape"
    numbers = "numbers"
    value = "value"
    arguments = "arguments"
    calls = "made by one"
    console = "console"
    end = "end"


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One thing that differs, at a place: the call, or the console.

    The remark says how far numbers are apart, and who is right. ``counts`` tells that it is a difference of behaviour: numbers that both
    compute within the tolerance do not count.
    """

    kind: Kind
    place: str
    emulator: str
    browser: str
    remark: str = ""
    counts: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class AccuracyVerdict:
    """Say which side is accurate enough, and why."""

    emulator: bool
    browser: bool
    words: str


class Judge(Protocol):
    """Says which side is accurate enough."""

    def __call__(self, call: WatchedCall, output: str, emulator: Array, browser: Array, /) -> AccuracyVerdict | None:
        """Judge the elements of a result: of a call of the emulator, and of one of its outputs or ``""``; ``None`` for no opinion."""


def find_differences(emulator: Log, browser: Log, judge: Judge = lambda *_: None) -> list[Difference]:
    """Align the calls of two logs by their members, in order, and compare them; ``judge`` says who is right where numbers differ."""
    return list(_Comparison(emulator, browser, judge).find())


class _Comparison:
    """The state of one `find_differences`."""

    def __init__(self, emulator: Log, browser: Log, judge: Judge) -> None:
        self._emulator, self._browser, self._judge = emulator, browser, judge
        #: The numbers of the emulator's calls by those of the browser's.
        self._numbers: dict[int, int] = {}
        #: Numbers have differed: what the program makes of them may differ as well.
        self._drifted = False

    def find(self) -> Iterator[Difference]:
        """Yield the differences, in the order of the program."""
        for ours, theirs in _align(self._emulator.calls, self._browser.calls):
            if ours and theirs:
                for our, their in zip(ours, theirs, strict=True):
                    self._numbers[their.number] = our.number
                    yield from self._compare(our, their)
            else:
                yield from _alone(ours, theirs)
        yield from self._compare_ends()

    def _compare(self, our: WatchedCall, their: WatchedCall) -> Iterator[Difference]:
        """Compare one call."""
        place = _place(our)
        arguments = [(self._strip(our.arguments)), self._strip(self._rename(their.arguments))]
        if arguments[0] != arguments[1]:
            yield Difference(kind=Kind.arguments, place=place, emulator=show(arguments[0]), browser=show(arguments[1]))
        if (our.error is None, our.ended) != (their.error is None, their.ended):
            yield Difference(kind=Kind.verdict, place=place, emulator=our.verdict, browser=their.verdict)
        elif our.error is not None and their.error is not None:
            if our.error[0] != their.error[0]:
                yield Difference(kind=Kind.error, place=place, emulator=our.verdict, browser=their.verdict)
        else:
            yield from self._compare_values(place, our, their)

    def _compare_values(self, place: str, our: WatchedCall, their: WatchedCall) -> Iterator[Difference]:
        other: list[tuple[str, Any, Any]] = []
        pairs = [*_leaves("", our.value, self._rename(their.value)), *_leaves("", our.filled, their.filled)]
        for path, mine, yours in pairs:
            member = path.rpartition(".")[2].partition("[")[0]
            if isinstance(mine, Mapping) and isinstance(yours, Mapping) and "bytes" in mine and mine.get("bytes") == yours.get("bytes"):
                yield self._compare_numbers(place, our, path, mine, yours)
            elif member in ("dataType", "shape") and our.member != "MLContext.opSupportLimits":
                kind = Kind.type if member == "dataType" else Kind.shape
                yield Difference(kind=kind, place=place, emulator=show(mine), browser=show(yours))
            else:
                other.append((path, mine, yours))
        for path, mine, yours in other[:_MOST_LEAVES]:
            yield Difference(kind=Kind.value, place=f"{place}{path and ': ' + path.strip('.')}", emulator=show(mine), browser=show(yours))
        if len(other) > _MOST_LEAVES:
            more = f"{len(other) - _MOST_LEAVES} more"
            yield Difference(kind=Kind.value, place=place, emulator=more, browser=more)

    def _compare_numbers(self, place: str, call: WatchedCall, path: str, mine: Mapping[str, Any], yours: Mapping[str, Any]) -> Difference:
        """Compare results of one size whose bytes differ."""
        self._drifted = True
        # The tensor that was read, if one was.
        tensor = call.arguments[0] if call.arguments and isinstance(call.arguments[0], dict) else {}
        dataType: Any = tensor.get("dataType") or _VIEWS.get(mine["kind"])
        place += f" {path.rpartition('.')[2]}" if path else ""
        if dataType is None or "data" not in mine or "data" not in yours:
            remark = "too large to be compared" if dataType else "bytes without a type"
            return Difference(kind=Kind.numbers, place=place, emulator=show(mine), browser=show(yours), remark=remark)
        # The last byte of small integers may be half empty.
        count = math.prod(tensor["shape"]) if isinstance(tensor.get("shape"), list) else None
        ours, theirs = (elements(each["data"], dataType)[:count] for each in (mine, yours))
        distances = ulp_distance(theirs, ours.astype(np.float64) if ours.dtype.kind == "f" else ours, dataType)
        worst = int(distances.argmax())
        different = int(((ours != theirs) & ~((ours != ours) & (theirs != theirs))).sum())  # noqa: PLR0124 (NaN)
        remark = f"{different} of {ours.size} elements differ, at most {distances[worst]:.4g} ULP (element {worst})"
        verdict = self._judge(call, path.rpartition(".")[2], ours, theirs)
        counts = different > 0
        if verdict is not None:
            remark += f"; {verdict.words}"
            counts = not (verdict.emulator and verdict.browser)
        return Difference(
            kind=Kind.numbers, place=place, emulator=str(ours[worst]), browser=str(theirs[worst]), remark=remark, counts=counts
        )

    def _compare_ends(self) -> Iterator[Difference]:
        ours, theirs = self._emulator, self._browser
        if [name for name, _ in ours.uncaught] != [name for name, _ in theirs.uncaught]:
            texts = ["; ".join(f"{name}: {message}" for name, message in each.uncaught) or "none" for each in (ours, theirs)]
            yield Difference(kind=Kind.error, place="errors that were not caught", emulator=texts[0], browser=texts[1])
        if ours.end or theirs.end:
            yield Difference(kind=Kind.end, place="the end", emulator=ours.end or "done", browser=theirs.end or "done")
        if ours.console != theirs.console:
            # The emulator's warnings are lines of their own, which a browser has not.
            texts = ["\n".join(text for _, text in each.console) for each in (ours, theirs)]
            remark = "it may follow from the numbers" if self._drifted else ""
            yield Difference(
                kind=Kind.console, place="the console", emulator=texts[0], browser=texts[1], remark=remark, counts=not self._drifted
            )

    def _rename(self, value: Any) -> Any:
        """Return a value of the browser's with the emulator's names of objects."""
        if isinstance(value, list):
            return [self._rename(each) for each in value]
        if not isinstance(value, dict):
            return value
        renamed = {key: self._rename(each) for key, each in value.items() if key != "object"}
        if "object" in value:
            match = _OBJECT.fullmatch(value["object"])
            assert match is not None
            renamed["object"] = f"{match[1]}{self._numbers.get(int(match[2]), '?')}{match[3]}"
        return renamed

    def _strip(self, value: Any) -> Any:
        """Return arguments without facts of objects, which are compared elsewhere, and without contents that may follow from numbers."""
        if isinstance(value, list | tuple):
            return [self._strip(each) for each in value]
        if not isinstance(value, dict):
            return value
        if "object" in value:
            return value["object"]
        dropped = {"data", "digest"} if self._drifted else {"data"}
        return {key: self._strip(each) for key, each in value.items() if key not in dropped}


def _align(ours: Sequence[WatchedCall], theirs: Sequence[WatchedCall]) -> Iterator[tuple[Sequence[WatchedCall], Sequence[WatchedCall]]]:
    """Yield runs of calls of the same members in both, and between them runs of one host, the other side being empty."""
    same = next((index for index, pair in enumerate(zip(ours, theirs, strict=False)) if pair[0].member != pair[1].member), None)
    same = min(len(ours), len(theirs)) if same is None else same
    yield ours[:same], theirs[:same]
    ours, theirs = ours[same:], theirs[same:]
    names = [[each.member for each in calls] for calls in (ours, theirs)]
    # The time grows with the product; such long logs have nothing more in common.
    far = len(ours) * len(theirs) > _MOST_PAIRS
    opcodes = (
        SequenceMatcher(None, names[0], names[1], autojunk=False).get_opcodes() if not far else [("replace", 0, len(ours), 0, len(theirs))]
    )
    for tag, begin, end, start, stop in opcodes:
        if tag == "equal":
            yield ours[begin:end], theirs[start:stop]
        else:
            yield ours[begin:end], []
            yield [], theirs[start:stop]


def _alone(ours: Sequence[WatchedCall], theirs: Sequence[WatchedCall]) -> Iterator[Difference]:
    """Yield the calls that only one host got. All calls of a host are one difference: they follow from the first one."""
    for calls in (ours, theirs):
        if calls:
            remark = f"and the next {len(calls) - 1} calls" if len(calls) > 1 else ""
            texts = ["no such call" if each is not calls else calls[0].verdict for each in (ours, theirs)]
            yield Difference(kind=Kind.calls, place=_place(calls[0]), emulator=texts[0], browser=texts[1], remark=remark)


def _leaves(path: str, ours: Any, theirs: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yield the places where two values differ, with what is there."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        if "digest" in ours and "digest" in theirs:
            if ours["digest"] != theirs["digest"] or ours["bytes"] != theirs["bytes"]:
                yield path, ours, theirs
            return
        for key in {**ours, **theirs}:
            yield from _leaves(path if key == "members" else f"{path}.{key}", ours.get(key), theirs.get(key))
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs) and any(isinstance(each, dict) for each in ours):
        for index, pair in enumerate(zip(ours, theirs, strict=True)):
            yield from _leaves(f"{path}[{index}]", *pair)
    elif ours != theirs:
        yield path, ours, theirs


def elements(data: str, dataType: Any) -> Array:
    """Return the elements of a result, one number for each."""
    content = np.frombuffer(bytes.fromhex(data), np.uint8 if dataType in SMALL_TYPES else NUMPY_DTYPES[dataType])
    return unpack(content, dataType, (2 * content.size,))


def _place(call: WatchedCall) -> str:
    return f"call {call.number}, {call.member}({', '.join(show(each, 40) for each in call.arguments)})"


def show(value: Any, longest: int = _LONGEST) -> str:
    """Write a value that watch.js described as a program would, cut to a sane length."""
    text = _show(value)
    return text if len(text) <= longest else f"{text[: longest - 3]}..."


def _show(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case list():
            return f"[{', '.join(map(_show, value))}]"
        case {"undefined": True}:
            return "undefined"
        case {"object": str(name)}:
            return name
        case {"kind": str(kind), "bytes": size}:
            return f"{kind} of {size} bytes"
        case {"kind": str(kind), "detached": True}:
            return f"detached {kind}"
        case {"members": dict(members)}:
            return f"{{{', '.join(f'{key}: {_show(each)}' for key, each in members.items())}}}"
        case {"number": text} | {"bigint": text} | {"kind": text}:
            return str(text)
        case Sequence() if not isinstance(value, str):
            return f"[{', '.join(map(_show, value))}]"
        case dict():
            return "; ".join(f"{key} {_show(each)}" for key, each in value.items())
        case str():
            return f"'{value}'"
    return str(value)
