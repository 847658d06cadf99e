"""Near-valid programs: values at the borders of Web IDL, several faults at once, objects that are destroyed or lost.

They ask whether two hosts accept the same programs, and which fault each of them reports first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from webnn.calls.dice import Dice
from webnn.calls.maker import places
from webnn.fuzz.maker import Maker
from webnn.fuzz.mutations import mutate, own_arguments
from webnn.fuzz.programs import SHARED, is_reference
from webnn.validation.descriptor import DATA_TYPES, SMALL_TYPES

__all__ = ["NEAR_OBJECTS", "mutate_near"]

#: Numbers at the borders of the types of Web IDL and of operands.
_NUMBERS: tuple[Any, ...] = (
    *(0, 1, -1, 0.5, 1.5, 2.5, -0.5, 3.5, 7.5, 8, 127, 128, 255, 256, 2049, 65504, 65519, 65520),
    *(2**31 - 1, 2**31, -(2**31), -(2**31) - 1, 2**32 - 1, 2**32, 2**53 - 1, 2**53, -(2**53)),
    *(1e-8, 6e-8, 1e-40, 1e-46, 16777217, 3.4028234663852886e38, 3.4028235e38, 3.5e38, -3.5e38, 1e300, 5e-324),
    *({"$number": each} for each in ("NaN", "Infinity", "-Infinity", "-0")),
)
_BIGINTS: tuple[Any, ...] = tuple(
    {"$bigint": f"{each}"}
    for each in (0, 1, -1, 3, 127, 128, 255, 256, 2**31, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1, 2**64, -(2**63), 2**300)
)
_OTHERS: tuple[Any, ...] = (
    *(None, True, False, "", "abc", "3", " 2 ", "0x10", "1e400", {}, [], [3], [[1]], {"$undefined": True}, {"$symbol": "s"}),
    *({"$boxed": each} for each in (3, "2", "nchw", "float32", True, {"$bigint": "3"}, 1.5)),
    *({"$valueOf": each} for each in (2, "1", {"$bigint": "3"}, {"$number": "NaN"}, "int8")),
    *({"$throws": each} for each in ("RangeError", "EvalError")),
)
_TYPES: tuple[Any, ...] = (
    *(*DATA_TYPES, *SMALL_TYPES, "float64", "INT8"),
    *({"$boxed": "int8"}, {"$boxed": "float32"}, {"$valueOf": "int32"}, ["int8"], ["float32"], {"$throws": "RangeError"}, None, 8),
    {"$undefined": True},
)
_NAMES: tuple[Any, ...] = (
    "a",
    "b",
    "a",
    "",
    "\ud83d\ude00",
    "\ud800",
    None,
    5,
    "__proto__",
    "toString",
    {"$boxed": "a"},
    {"$undefined": True},
)
_FLOATS = {"dataType": "float32", "shape": [2]}


def _odd(dice: Dice) -> Any:
    return dice.pick(dice.pick((_NUMBERS, _NUMBERS, _BIGINTS, _OTHERS)))


def mutate_near(m: Maker, name: str, members: Mapping[str, Any]) -> None:
    """Change one or two values of the last step; see `mutate`."""
    dice = m.dice
    for _ in range(1 + dice.chance(0.2)):
        if dice.chance(0.3):
            mutate(m, name, members)
            continue
        args = own_arguments(m.steps[-1])
        if dice.chance(0.3) and members:
            if not args or not isinstance(args[-1], dict) or any(key.startswith("$") for key in args[-1]):
                args.append({})
            args[-1][dice.pick(sorted(members))] = _odd(dice)
        elif dice.chance(0.15):
            args.append(_odd(dice))
        elif found := list(places(args)):
            container, key = dice.pick(found)
            container[key] = _wrapped(dice, container[key]) if dice.chance(0.4) else _odd(dice)


def _wrapped(dice: Dice, value: Any) -> Any:
    """Return another value that Web IDL may convert to the same one."""
    if isinstance(value, list):
        return dice.pick(
            ({"$iterable": value}, {f"{key}": each for key, each in enumerate(value)}, {"length": len(value), "0": 1}, f"{value}")
        )
    if is_reference(value):
        return dice.pick(([value], {"$valueOf": 1}, {"dataType": "float32", "shape": [1]}))
    if isinstance(value, dict):
        return dice.pick(([value], {"$undefined": True}, None, {**value, "bogus": 1}, {**value, "label": {"$boxed": "x"}}, 1))
    return dice.pick(({"$boxed": value}, {"$valueOf": value}, [value], f"{value}", {"$valueOf": f"{value}"}))


def _descriptor(dice: Dice) -> Any:
    """Make a descriptor, which is mostly valid."""
    found: dict[str, Any] = {"dataType": dice.pick(DATA_TYPES), "shape": dice.shape(0, 3, 12)}
    kind = dice.integer(0, 15)
    if kind == 0:
        found["dataType"] = dice.pick(_TYPES)
    elif kind == 1:
        found["shape"] = dice.pick((_odd(dice), [_odd(dice)], [2, _odd(dice)], {"$iterable": [2]}, [1] * 9, [2**20, 2**12], [2**31]))
    elif kind == 2:
        del found[dice.pick(("dataType", "shape"))]
    elif kind == 3:
        return _odd(dice)
    elif kind == 4:
        found[dice.pick(("dimensions", "usage", "readable", "writable", "label"))] = _odd(dice)
    return found


def _view(dice: Dice) -> Any:
    kind = dice.pick((*DATA_TYPES, "float64", "uint16"))
    return {"$view": kind, "values": ["1" if "64" in kind and kind != "float64" else 1] * dice.integer(0, 4)}


def _scalars(m: Maker) -> None:
    """Make scalar constants of odd numbers, and read them."""
    dice = m.dice
    types = DATA_TYPES if dice.chance(0.85) else _TYPES
    made = m.step("constant", dice.pick(types), dice.pick(dice.pick((_NUMBERS, _NUMBERS, _BIGINTS, _OTHERS))), on=m.builder)
    result = m.step("identity", made, on=m.builder)
    outputs = {"y": result}
    m.compute(m.build(outputs), outputs, {})


def _names(m: Maker) -> None:
    """Give inputs and outputs odd names, also the same one twice."""
    dice = m.dice
    inputs = [m.step("input", dice.pick(_NAMES), _descriptor(dice) if dice.chance(0.2) else _FLOATS, on=m.builder) for _ in range(3)]
    total = m.step("add", *inputs[:2], on=m.builder)
    results = [total, m.step("mul", total, inputs[2], on=m.builder), inputs[0]]
    names = [each for each in _NAMES if isinstance(each, str)]
    outputs = {dice.pick(names): dice.pick(results) for _ in range(dice.integer(1, 2))}
    given = outputs if dice.chance(0.8) else dice.pick(([total], {"y": [total]}, _odd(dice), total, {"y": None}, {}))
    graph = m.step("build", given, on=m.builder)
    tensors = {dice.pick(names): m.step("createTensor", {**_FLOATS, "readable": True, "writable": True}, on=SHARED) for _ in range(4)}
    m.step(
        "dispatch", graph, tensors, {name: m.step("createTensor", {**_FLOATS, "readable": True}, on=SHARED) for name in outputs}, on=SHARED
    )


def _options(m: Maker) -> None:
    """Make a context with odd options."""
    dice = m.dice
    options: dict[str, Any] = {}
    if dice.chance():
        options["powerPreference"] = dice.pick(("default", "high-performance", "low-power", {"$boxed": "low-power"}, _odd(dice)))
    if dice.chance():
        options["deviceType"] = dice.pick(("cpu", "gpu", "npu", "GPU", {"$boxed": "npu"}, ["cpu"], _odd(dice)))
    if dice.chance(0.3):
        options["accelerated"] = _odd(dice)
    context = m.step("createContext", *([options] if dice.chance(0.8) else [_odd(dice), *([1] if dice.chance() else [])]))
    m.step("createTensor", _descriptor(dice), on=context)
    m.step("MLGraphBuilder", dice.pick((context, context, _odd(dice))))


def _states(m: Maker) -> None:
    """Use objects that are destroyed, lost or used up, with arguments that are wrong or not."""
    dice = m.dice
    context = m.step("createContext") if dice.chance(0.7) else SHARED
    spare = m.step("MLGraphBuilder", context)
    builder = m.step("MLGraphBuilder", context)
    x = m.step("input", "x", _FLOATS, on=builder)
    y = m.step("relu", x, on=builder)
    graph = m.step("build", {"y": y}, on=builder)
    flags = {name: dice.chance(0.85) for name in ("readable", "writable")}
    tensors = [m.step("createTensor", {**_FLOATS, **flags}, on=context) for _ in range(2)]
    foreign = m.step("createTensor", {**_FLOATS, "readable": True, "writable": True}, on=m.step("createContext"))

    def tensor() -> Any:
        return dice.pick((*tensors, *tensors, *tensors, foreign, graph, context, None, _odd(dice)))

    def view() -> Any:
        if dice.chance(0.1):
            made = m.step("view", _view(dice))
            m.step("transfer", made)
            return made
        return {"$view": "float32", "values": [1, 2]} if dice.chance(0.6) else dice.pick((_view(dice), _odd(dice)))

    def named(name: str) -> Any:
        kind = dice.integer(0, 9)
        if kind == 0:
            return dice.pick(({}, _odd(dice), {"z": tensor()}, {name: tensor(), "z": tensor()}, [tensor()]))
        return {name: tensor()}

    def operand() -> Any:
        return dice.pick((x, y, y, None, _odd(dice)))

    uses: list[Callable[[], Any]] = [
        lambda: m.step("writeTensor", tensor(), view(), on=context),
        lambda: m.step("readTensor", tensor(), *([view()] if dice.chance() else []), on=context),
        lambda: m.step("dispatch", dice.pick((graph, graph, graph, _odd(dice))), named("x"), named("y"), on=context),
        lambda: m.step("createTensor", _descriptor(dice), on=context),
        lambda: m.step("createConstantTensor", _descriptor(dice), view(), on=context),
        lambda: m.step("MLGraphBuilder", context),
        lambda: m.step("input", dice.pick(_NAMES), _descriptor(dice), on=dice.pick((spare, builder))),
        lambda: m.step("constant", _descriptor(dice), view(), on=dice.pick((spare, builder))),
        lambda: m.step("constant", dice.pick(_TYPES), _odd(dice), on=dice.pick((spare, builder))),
        lambda: m.step("constant", tensor(), on=dice.pick((spare, builder))),
        lambda: m.step(
            dice.pick(("relu", "neg", "softmax")), operand(), *([_odd(dice)] if dice.chance(0.3) else []), on=dice.pick((spare, builder))
        ),
        lambda: m.step("build", dice.pick(({"y": operand()}, {}, _odd(dice))), on=dice.pick((spare, builder))),
        lambda: m.step("opSupportLimits", on=context),
        lambda: m.step("destroy", on=dice.pick((*tensors, graph))),
    ]
    ends: list[Callable[[], Any]] = [
        lambda: m.step("destroy", on=dice.pick((*tensors, graph))),
        lambda: m.step("destroy", on=graph),
        *([lambda: m.step("destroy", on=context)] if context is not SHARED else []),
    ]
    for _ in range(dice.integer(0, 3)):
        dice.pick(uses)()
    if dice.chance(0.8):
        dice.pick(ends)()
    for _ in range(dice.integer(1, 4)):
        dice.pick(uses)()


#: The kinds of programs about objects.
NEAR_OBJECTS: Mapping[str, Callable[[Maker], None]] = {"scalar": _scalars, "name": _names, "options": _options, "state": _states}
