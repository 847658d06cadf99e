"""Programs from a seed: calls of one operation, graphs, and uses of tensors, builders and contexts."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import webnn
from webnn.calls.dice import Dice
from webnn.calls.maker import Limits, options_of
from webnn.calls.operations import CALLS
from webnn.fuzz.maker import Maker, held_types
from webnn.fuzz.mutations import mutate
from webnn.fuzz.near import NEAR_OBJECTS, mutate_near
from webnn.fuzz.programs import SHARED, FuzzProgram, references
from webnn.validation.descriptor import DATA_TYPES
from webnn.validation.drafts import find_revision

__all__ = ["Generator"]

#: How many of the calls are valid by construction, and how many of all are programs of tensors, builders and contexts.
_VALID, _OBJECTS = 0.6, 0.1
#: Changes values of the last step of a program: a call of an operation, whose options have these types.
Mutation = Callable[[Maker, str, Mapping[str, Any]], None]


class Generator:
    """Makes programs for the draft and the limits of an emulator. The same seed makes the same programs, each independent of the others.

    Each method makes as many programs as ``count`` says, without the first ones that ``skip`` counts.

    Raises:
        ValueError: There is no such operation, or the draft has no tensors.
    """

    def __init__(self, ml: webnn.ML, revision: str, seed: int, operations: Sequence[str] = ()) -> None:
        self._draft = draft = find_revision(revision)
        if not draft.tensors:
            raise ValueError(f"the draft must have tensors, which {revision} has not")
        self._context = ml.createContextSync()
        self._limits: Limits = self._context.opSupportLimits()
        # A device may allow some types inside graphs only.
        known = [
            name
            for name in draft.operations
            if name in self._limits and all(held_types(self._limits, name, each) for each in draft.operations[name].operands)
        ]
        wrong = sorted(set(operations) - set(known))
        if wrong:
            raise ValueError(f"there is no operation {', '.join(wrong)} in the draft {revision} on this device")
        #: The operations, in the draft's order.
        self.operations: list[str] = [name for name in known if name in operations or not operations]
        self._all = len(self.operations) == len(known)
        self._seed = seed
        self._empty = draft.min_dimension == 0
        self._options = {name: options_of(draft.idl(), name) for name in self.operations}

    def calls(self, count: int, skip: int = 0) -> Iterator[FuzzProgram]:
        """Make programs of one call; and those of tensors, builders and contexts, unless operations were chosen."""
        for index in range(skip, count):
            dice = self._dice(f"call/{index}")
            if self._all and dice.chance(_OBJECTS):
                kind, make = dice.pick(sorted(_OBJECT_PROGRAMS.items()))
                maker = self._maker(dice)
                make(maker)
                yield maker.finish(f"{kind}/{index}")
            else:
                yield self.call(dice, dice.pick(self.operations), f"call/{index}", mutation=None if dice.chance(_VALID) else mutate)

    def near(self, count: int, skip: int = 0) -> Iterator[FuzzProgram]:
        """Make programs of one near-valid call: `mutate_near`."""
        for index in range(skip, count):
            dice = self._dice(f"near/{index}")
            yield self.call(dice, dice.pick(self.operations), f"near/{index}", mutation=mutate_near)

    def objects(self, count: int, skip: int = 0) -> Iterator[FuzzProgram]:
        """Make near-valid programs of scalars, names, contexts, tensors and graphs."""
        for index in range(skip, count):
            dice = self._dice(f"object/{index}")
            kind, make = dice.pick([*NEAR_OBJECTS.items(), ("state", NEAR_OBJECTS["state"]), *_OBJECT_PROGRAMS.items()])
            maker = self._maker(dice)
            make(maker)
            yield maker.finish(f"{kind}/{index}")

    def graphs(self, count: int, skip: int = 0) -> Iterator[FuzzProgram]:
        """Make programs of a graph of several operations."""
        for index in range(skip, count):
            yield self.graph(self._dice(f"graph/{index}"), f"graph/{index}")

    def call(self, dice: Dice, name: str, title: str, *, mutation: Mutation | None = None) -> FuzzProgram:
        """Make a call of an operation, valid or with changed values, and compute it."""
        m = self._maker(dice)
        try:
            arguments, options = CALLS[name](m)
        except (IndexError, ZeroDivisionError):  # an empty operand leaves nothing to choose from: draw others
            dice.empty = False
            m = self._maker(dice)
            arguments, options = CALLS[name](m)
        results = m.call(name, arguments, options)
        reference = {"$step": len(m.steps) - 1}
        if mutation is not None:
            mutation(m, name, self._options[name])
            reference = {"$step": len(m.steps) - 1}
        outputs = {f"y{index}": {**reference, "item": index} for index in range(len(results))}
        if not results or "item" not in results[0].reference:
            outputs = {"y": reference}
        inputs = {feed: (dict(value.reference), view) for feed, (value, view) in m.feeds.items()}
        m.compute(m.build(outputs), outputs, inputs)
        return m.finish(title)

    def graph(self, dice: Dice, title: str) -> FuzzProgram:
        """Make a graph; its outputs are the last result alone, or all results."""
        m = self._maker(dice, chained=True)
        made: list[Any] = []
        wanted = dice.integer(2, 7)
        for number in range(4 * wanted):
            if len(made) >= wanted:
                break
            name = dice.pick(self.operations)
            before = len(m.steps), len(m.values), dict(m.feeds)
            try:
                arguments, options = CALLS[name](m)
                results = m.call(name, arguments, options, label=f"{name}_{number}")
            except (IndexError, ZeroDivisionError):  # as in `call`
                results = []
            if results and all(math.prod(each.shape) <= 300 for each in results):
                made.append(results)
            else:
                # Remove its steps. The builder keeps the operands, and no later call takes them.
                del m.steps[before[0] :], m.values[before[1] :]
                m.feeds = before[2]
        if not made:
            return self.call(dice, dice.pick(self.operations), title)
        kept = [each for results in made for each in results] if dice.chance() else made[-1][-1:]
        outputs = {f"y{index}": dict(each.reference) for index, each in enumerate(kept)}
        needed = _needed(m, outputs)
        inputs = {feed: (dict(value.reference), view) for feed, (value, view) in m.feeds.items() if value.reference["$step"] in needed}
        m.compute(m.build(outputs), outputs, inputs)
        return m.finish(title)

    def _dice(self, name: str) -> Dice:
        return Dice(f"{self._seed}/{name}", empty=self._empty)

    def _maker(self, dice: Dice, *, chained: bool = False) -> Maker:
        return Maker(dice, self._context, self._draft, self._limits, chained=chained)


def _needed(m: Maker, outputs: Mapping[str, Any]) -> set[int]:
    """Return the steps that some values need."""
    found: set[int] = set()
    open_ = [reference["$step"] for reference in outputs.values()]
    while open_:
        step = open_.pop()
        if step not in found:
            found.add(step)
            open_ += [each for each in references(m.steps[step]["args"]) if m.steps[each]["call"] != "MLGraphBuilder"]
    return found


# Programs of tensors, builders and contexts: mostly near-valid, because each step is chosen alone.


def _shape(dice: Dice) -> Any:
    shape: list[Any] = dice.shape(0, 3, 12)
    if dice.chance(0.12):
        return dice.pick(([0], [2, 0], [-1], [2**32], [2**31, 2**31], [1.5], "abc", None, 3, {}, [None], [1] * 9, ["2"]))
    return shape


def _descriptor(dice: Dice) -> dict[str, Any]:
    dataType: Any = dice.pick(DATA_TYPES)
    if dice.chance(0.06):
        dataType = dice.pick(("float64", "int4", None, 5, "FLOAT32"))
    found: dict[str, Any] = {"dataType": dataType, "shape": _shape(dice)}
    if dice.chance(0.04):
        del found[dice.pick(("dataType", "shape"))]
    return found


def _elements(dice: Dice, descriptor: Mapping[str, Any]) -> Any:
    """Make a view for a descriptor, now and then of another type or size."""
    shape, kind = descriptor.get("shape"), descriptor.get("dataType")
    count = 3
    if isinstance(shape, list) and all(type(size) is int and 0 < size < 100 for size in shape):
        count = math.prod(shape)
    dataType = kind if kind in DATA_TYPES else "float32"
    if dice.chance(0.1):
        dataType = dice.pick(DATA_TYPES)
    if dice.chance(0.1):
        count = max(0, count + dice.pick((-1, 1)))
    if dice.chance(0.03):
        return dice.pick((None, 5, [1, 2], {}, "abc"))
    return {"$view": dataType, "values": dice.values(dataType, [count])}  # type: ignore[arg-type]  # one of them


def _tensors(m: Maker) -> None:
    """Make tensors; write, read, use, detach and destroy them."""
    dice = m.dice
    tensors: list[tuple[Any, dict[str, Any]]] = []
    for _ in range(dice.integer(3, 9)):
        kind = dice.integer(0, 9)
        if not tensors or kind <= 1:
            descriptor = _descriptor(dice)
            if dice.chance(0.15):
                tensors.append((m.step("createConstantTensor", descriptor, _elements(dice, descriptor), on=SHARED), descriptor))
            else:
                flags = {name: dice.chance(0.8) for name in ("readable", "writable") if dice.chance(0.9)}
                tensors.append((m.step("createTensor", {**descriptor, **flags}, on=SHARED), descriptor))
            continue
        tensor, descriptor = dice.pick(tensors)
        if kind <= 4:
            view: Any = _elements(dice, descriptor)
            if dice.chance(0.15):
                view = m.step("view", view)
                m.step("transfer", view)
            m.step("writeTensor", tensor, view, on=SHARED)
        elif kind <= 6:
            m.step("readTensor", tensor, *([_elements(dice, descriptor)] if dice.chance(0.3) else []), on=SHARED)
        elif kind == 7:
            m.step("destroy", on=tensor)
        elif kind == 8:
            m.step("constant", tensor, on=m.builder)
        else:
            m.step(dice.pick(("writeTensor", "readTensor")), dice.pick((None, {}, 5, SHARED)), on=SHARED)
    m.step("readTensor", tensors[-1][0], on=SHARED)


def _dispatches(m: Maker) -> None:
    """Build a small graph and dispatch it with tensors that fit or not."""
    dice = m.dice
    descriptor = {"dataType": dice.pick(("float32", "int32", "float16")), "shape": dice.shape(0, 2, 8)}
    names = ["a", "b"]
    operands = [m.step("input", name, descriptor, on=m.builder) for name in names]
    result = m.step(dice.pick(("add", "mul", "sub")), *operands, on=m.builder)
    graph = m.build({"y": result})
    tensors = {}
    for name in (*names, "y"):
        changed = {**descriptor, **_descriptor(dice)} if dice.chance(0.07) else descriptor
        flags = {"readable": name == "y" or dice.chance(), "writable": name != "y" or dice.chance()}
        tensors[name] = m.step("createTensor", {**changed, **flags}, on=SHARED)
        if name != "y":
            m.step("writeTensor", tensors[name], _elements(dice, descriptor), on=SHARED)
    inputs: dict[str, Any] = {name: tensors[name] for name in names}
    outputs: dict[str, Any] = {"y": tensors["y"]}
    for _ in range(dice.integer(0, 2)):
        chosen = dice.pick((inputs, outputs))
        kind = dice.integer(0, 6)
        if kind == 0 and chosen:
            chosen.pop(sorted(chosen)[0])
        elif kind == 1:
            chosen["more"] = tensors[dice.pick(names)]
        elif kind == 2 and chosen:
            chosen[sorted(chosen)[-1]] = tensors[dice.pick((*names, "y"))]
        elif kind == 3 and chosen:
            chosen[sorted(chosen)[0]] = dice.pick((None, {}, 1, graph))
        elif kind == 4:
            m.step("destroy", on=dice.pick((*tensors.values(), graph)))
        elif kind == 5:
            other = m.step("createContext")
            chosen["y" if chosen is outputs else "a"] = m.step("createTensor", {**descriptor, "readable": True}, on=other)
    m.step("dispatch", graph, inputs, outputs, on=SHARED)
    if dice.chance(0.3):
        m.step("writeTensor", tensors["a"], _elements(dice, descriptor), on=SHARED)
        m.step("dispatch", graph, inputs, outputs, on=SHARED)
    m.step("readTensor", tensors["y"], on=SHARED)


def _builders(m: Maker) -> None:
    """Make inputs and constants, valid or not, and build: twice, nothing, a foreign operand, an input, one name for two inputs."""
    dice = m.dice
    operands: list[Any] = []
    for _ in range(dice.integer(1, 4)):
        descriptor = _descriptor(dice)
        kind = dice.integer(0, 4)
        if kind <= 1:
            name: Any = dice.pick(("a", "b", "c", "a", "", "\ud83d\ude00", None, 5, "__proto__"))
            operands.append(m.step("input", name, descriptor, on=m.builder))
        elif kind <= 3:
            operands.append(m.step("constant", descriptor, _elements(dice, descriptor), on=m.builder))
        else:
            number: Any = dice.pick((0, 1, 2.5, -1, 300, {"$bigint": "7"}, {"$number": "NaN"}, {"$number": "Infinity"}, "5", None, 2**53))
            operands.append(m.step("constant", descriptor.get("dataType"), number, on=m.builder))
    results = [m.step(dice.pick(("identity", "relu", "neg", "abs")), each, on=m.builder) for each in operands if dice.chance(0.8)]
    chosen = {dice.pick(("y", "z", "", "a")): dice.pick([*results, *operands]) for _ in range(dice.integer(0, 3))}
    if dice.chance(0.1):
        other = m.step("MLGraphBuilder", SHARED)
        chosen["foreign"] = m.step("input", "f", {"dataType": "float32", "shape": [2]}, on=other)
    m.step("build", dice.pick((chosen, None, 5)) if dice.chance(0.1) else chosen, on=m.builder)
    if dice.chance(0.4):
        after = dice.pick(("build", "input", "constant", "relu"))
        if after == "build":
            m.build(chosen)
        elif after == "relu" and operands:
            m.step("relu", operands[-1], on=m.builder)
        else:
            m.step("input", "late", {"dataType": "float32", "shape": [2]}, on=m.builder)


def _contexts(m: Maker) -> None:
    """Make contexts, destroy them, and use what they made."""
    dice = m.dice
    options: Any = {
        name: value
        for name, value in (
            ("powerPreference", dice.pick(("default", "high-performance", "low-power", "low-power", "bogus", None))),
            ("accelerated", dice.pick((True, False, None, 1))),
        )
        if dice.chance(0.4)
    }
    others: list[list[Any]] = [[], [None], [{"$undefined": True}], [5], ["abc"]]
    context = m.step("createContext", *([options] if dice.chance(0.7) else dice.pick(others)))
    builder = m.step("MLGraphBuilder", context)
    x = m.step("input", "x", {"dataType": "float32", "shape": [2]}, on=builder)
    y = m.step("relu", x, on=builder)
    descriptor = {"dataType": "float32", "shape": [2], "readable": True, "writable": True}
    tensor, output = m.step("createTensor", descriptor, on=context), m.step("createTensor", descriptor, on=context)
    graph: Any = m.step("build", {"y": y}, on=builder)
    uses: list[Callable[[], Any]] = [
        lambda: m.step("writeTensor", tensor, {"$view": "float32", "values": [1, -2]}, on=context),
        lambda: m.step("readTensor", tensor, on=context),
        lambda: m.step("createTensor", descriptor, on=context),
        lambda: m.step("dispatch", graph, {"x": tensor}, {"y": output}, on=context),
        lambda: m.step("MLGraphBuilder", context),
        lambda: m.step("input", "late", {"dataType": "float32", "shape": [2]}, on=m.step("MLGraphBuilder", context)),
        lambda: m.step("createConstantTensor", {"dataType": "float32", "shape": [1]}, {"$view": "float32", "values": [1]}, on=context),
        lambda: m.step("readTensor", tensor, on=SHARED),
        lambda: m.step("destroy", on=dice.pick((tensor, graph, tensor))),
        lambda: m.step("destroy", on=context),
    ]
    for _ in range(dice.integer(2, 6)):
        dice.pick(uses)()


_OBJECT_PROGRAMS: Mapping[str, Callable[[Maker], None]] = {
    "tensor": _tensors,
    "dispatch": _dispatches,
    "builder": _builders,
    "context": _contexts,
}
