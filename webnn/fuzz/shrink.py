"""Smaller programs with the same finding: fewer steps, options, sizes, and simpler values, one change at a time."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

from webnn.fuzz.programs import FuzzProgram, Step, is_reference, references, rewrite

__all__ = ["remove_steps", "shrink"]

#: Returns the place of the first program of several that has the finding, `None` if none has.
Holds = Callable[[Sequence[FuzzProgram]], int | None]
Steps = list[Step]

#: How many programs are tried at once.
_TOGETHER = 8


def shrink(program: FuzzProgram, holds: Holds, limit: int = 400, together: int = _TOGETHER) -> FuzzProgram:
    """Return the smallest program found that still has the finding, within a limit of trials."""
    changed = True
    while changed and limit > 0:
        changed = False
        for candidates in (_fewer_steps, _fewer_members, _smaller_sizes, _one_type, _simpler_values, _simpler_numbers):
            waiting = candidates([*program.steps])
            while limit > 0:
                batch = [FuzzProgram(program.name, steps) for steps in islice(waiting, min(together, limit))]
                if not batch:
                    break
                limit -= len(batch)
                found = holds(batch)
                if found is not None:
                    program, changed = batch[found], True
                    waiting = candidates([*program.steps])
    return program


def remove_steps(steps: Sequence[Step], removed: set[int]) -> Steps:
    """Return a program without some steps and the steps that need them. Members and elements that refer to them are removed alone."""
    gone = set(removed)
    kept: list[tuple[int, Step]] = []
    for number, step in enumerate(steps):
        if number in gone:
            continue
        arguments = [_without(each, gone) for each in step["args"]]
        if any(each in gone for each in references(step.get("on"))) or any(each is _GONE for each in arguments):
            gone.add(number)
        else:
            kept.append((number, {**step, "args": arguments}))
    places = {number: place for place, (number, _) in enumerate(kept)}

    def renumber(value: Any) -> Any:
        return {**value, "$step": places[value["$step"]]} if is_reference(value) else value

    return [rewrite(step, renumber) for _, step in kept]


_GONE = object()


def _without(value: Any, gone: set[int]) -> Any:
    if is_reference(value):
        return _GONE if value["$step"] in gone else value
    if isinstance(value, dict):
        found = {name: _without(each, gone) for name, each in value.items()}
        if found.get("$like") is _GONE:
            return _GONE
        return {name: each for name, each in found.items() if each is not _GONE}
    if isinstance(value, list):
        return [each for each in (_without(each, gone) for each in value) if each is not _GONE]
    return value


def _fewer_steps(steps: Steps) -> Iterator[Steps]:
    if len(steps) > 8:
        yield remove_steps(steps, set(range(len(steps) // 2, len(steps))))
    for number in reversed(range(len(steps))):
        yield remove_steps(steps, {number})
    # Replace an operation by one of its operands.
    for number, step in enumerate(steps):
        operands = [each for each in _references(step["args"]) if steps[each["$step"]]["call"] not in ("MLGraphBuilder", "build")]
        if "on" in step and step["call"] not in ("createTensor", "build", "dispatch") and operands:
            for operand in operands:
                yield remove_steps(_replace(steps, number, operand), {number})


def _references(value: Any) -> Iterator[Any]:
    if is_reference(value):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _references(each)


def _replace(value: Any, number: int, other: Any) -> Any:
    """Replace the references to the result of a step by another one."""
    return rewrite(value, lambda each: other if each.get("$step") == number else each)


def _fewer_members(steps: Steps) -> Iterator[Steps]:
    for number, step in enumerate(steps):
        for place, argument in enumerate(step["args"]):
            if isinstance(argument, dict) and not any(name.startswith("$") and name != "$like" for name in argument):
                for name in [name for name in argument if name != "$like"]:
                    changed = _copy(steps)
                    del changed[number]["args"][place][name]
                    yield changed
        if step["args"] and step["args"][-1] == {}:
            changed = _copy(steps)
            changed[number]["args"].pop()
            yield changed


def _smaller_sizes(steps: Steps) -> Iterator[Steps]:
    shapes = {number: _shape(step) for number, step in enumerate(steps) if _shape(step)}
    for size in sorted({size for shape in shapes.values() for size in shape if size > 1}, reverse=True):
        for smaller in sorted({1, 2, size // 2, size - 1} - {0, size}):
            if smaller < size:
                for everywhere in (False, True):
                    for tail in (False, True):
                        yield _fit(_resize(steps, size, smaller, everywhere=everywhere), tail=tail)
    for number, shape in shapes.items():
        for axis, size in enumerate(shape):
            for smaller in {1, size - 1} - {0, size}:
                changed = _copy(steps)
                _shape(changed[number])[axis] = smaller
                yield _fit(changed, tail=False)


def _shape(step: Step) -> Any:
    """Return the shape that a step gives, if it is one."""
    for argument in step["args"]:
        shape = argument.get("shape") if isinstance(argument, dict) else None
        if isinstance(shape, list) and all(type(size) is int and 0 < size < 1000 for size in shape):
            return shape
    return []


def _resize(steps: Steps, size: int, smaller: int, *, everywhere: bool) -> Steps:
    def change(value: Any) -> Any:
        if isinstance(value, list):
            return [change(each) for each in value]
        return smaller if value == size and type(value) is int else value

    changed = _copy(steps)
    for step in changed:
        shape = _shape(step)
        shape[:] = change(shape)
        if everywhere and step["call"] not in ("input", "constant"):
            step["args"] = [
                {name: each if name.startswith("$") else change(each) for name, each in argument.items()}
                if isinstance(argument, dict)
                else change(argument)
                for argument in step["args"]
            ]
    return changed


def _fit(steps: Steps, *, tail: bool) -> Steps:
    """Give each view as many elements as the shape that it is for has: the first ones or the last ones."""
    for step in steps:
        wanted = step
        if step["call"] == "writeTensor" and is_reference(step["args"][0]):
            wanted = steps[step["args"][0]["$step"]]
            like = wanted["args"][0].get("$like") if wanted["args"] and isinstance(wanted["args"][0], dict) else None
            wanted = steps[like["$step"]] if like is not None and is_reference(like) else wanted
        elif step["call"] not in ("constant", "createConstantTensor"):
            continue
        for argument in step["args"]:
            if isinstance(argument, dict) and "$view" in argument and argument["values"]:
                count, values = math.prod(_shape(wanted)), argument["values"]
                kept = values[-count:] if tail else values
                argument["values"] = [kept[place % len(kept)] for place in range(count)]
    return steps


def _one_type(steps: Steps) -> Iterator[Steps]:
    """Write float32 for other types, everywhere."""

    def change(value: Any, name: str) -> Any:
        if isinstance(value, dict):
            if value.get("$view") == name:
                return {**value, "$view": "float32"}
            return {key: "float32" if key == "dataType" and each == name else change(each, name) for key, each in value.items()}
        return [change(each, name) for each in value] if isinstance(value, list) else value

    for name in ("float16", "int32", "int8", "uint8"):
        changed: Steps = change(steps, name)
        if changed != steps:
            yield changed


def _simpler_values(steps: Steps) -> Iterator[Steps]:
    for number, step in enumerate(steps):
        for place, argument in enumerate(step["args"]):
            if not isinstance(argument, dict) or not argument.get("values"):
                continue
            values = argument["values"]
            for simpler in _simpler(values):
                if simpler != values:
                    changed = _copy(steps)
                    changed[number]["args"][place]["values"] = simpler
                    yield changed


def _simpler(values: Sequence[Any]) -> Iterator[list[Any]]:
    """Yield elements that are simpler: all alike, whole numbers, a single one replaced by 0."""
    whole = [each for each in values if isinstance(each, str) and each != "-0" and each.lstrip("-").isdigit()]
    plain: list[Any] = ["0", "1"] if whole else [0, 1]
    alike = [*plain, *dict.fromkeys(values[:24])]
    if len(set(values)) > 1 or values[0] not in alike[:2]:
        for each in alike[: None if len(set(values)) > 1 else 2]:
            yield [each for _ in values]
    yield [round(each) if isinstance(each, float) else each for each in values]
    for place, each in enumerate(values[:12]):
        if each not in plain:
            yield [*values[:place], plain[0], *values[place + 1 :]]


def _simpler_numbers(steps: Steps) -> Iterator[Steps]:
    for step in steps:
        if step["call"] not in ("input", "constant", "createTensor", "writeTensor"):
            for container, key in _numbers(step["args"]):
                value = container[key]
                for simpler in [each for each in (0, 1, value // 2, value - 1) if 0 <= each < value]:
                    container[key] = simpler
                    changed = _copy(steps)
                    container[key] = value
                    yield changed


def _numbers(value: Any) -> Iterator[tuple[Any, Any]]:
    pairs: Any = value.items() if isinstance(value, dict) else enumerate(value)
    for key, each in list(pairs):
        if isinstance(each, dict | list) and not (isinstance(each, dict) and any(name.startswith("$") for name in each)):
            yield from _numbers(each)
        elif type(each) in (int, float):
            yield value, key


def _copy(steps: Steps) -> Steps:
    return copy.deepcopy(steps)
