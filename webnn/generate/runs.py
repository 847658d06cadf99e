"""One sequence through a decoder: how its lengths become graphs, and where its cache stays.

A `Run` takes tokens and returns the scores of the next one. There is a run for each strategy:

- `GrowingRun`: the cache gets longer with each step. Either one graph has names in place of lengths, or each length has its own graph.
- `PaddedRun`: the cache has a capacity, which doubles when it is full. Valid rows are at its end, and masks hide the rows before.
- `WholeRun`: a decoder without a cache computes all tokens in each step.

The cache is in tensors of the context: a step reads one set and writes another one. The program writes tokens, masks and positions, and
reads the scores of one row.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias, cast

import numpy as np

from webnn.context.context import MLContext
from webnn.context.tensor import MLTensor
from webnn.generate.compiling import COUNT, Array, Compiled, Compiler, make_tensor
from webnn.generate.layout import CacheEntry, Layout, Part
from webnn.validation.descriptor import NUMPY_DTYPES, DataType

__all__ = ["GrowingRun", "Mode", "PaddedRun", "Run", "WholeRun", "feeds", "growing_graph", "shapes_of", "whole_graph"]

#: How lengths become graphs: with names, with rows that are masked, or each length by itself.
Mode: TypeAlias = Literal["named", "padded", "exact"]

#: The smallest capacity of a cache, the smallest and the largest number of rows in one dispatch, and the rows that a new cache has left.
_CAPACITY, _FEWEST, _MOST, _ROOM = 64, 16, 256, 16
_LOGITS, _STATES = "logits", "encoder_hidden_states"
#: A number, or a name of a graph whose lengths have names, or a sum of these.
Length: TypeAlias = "int | str"


class Run(Protocol):
    """One sequence of tokens. It belongs to one thread at a time."""

    @property
    def first(self) -> Sequence[int]:
        """The tokens that the decoder takes first."""

    @property
    def used(self) -> int:
        """The bytes of the cache that belong to tokens."""

    @property
    def allocated(self) -> int:
        """The bytes of the tensors of the cache."""

    def feed(self, ids: Sequence[int]) -> Array:
        """Add at least one token; return the scores of the next one: [vocabulary], floating-point numbers."""

    def close(self) -> None:
        """Free the cache. A second call does nothing."""


def feeds(ids: Sequence[int], past: int, *, before: int | None = None, rows: int | None = None) -> dict[str, Array]:
    """Return the inputs of a decoder for some tokens, int64.

    Args:
        ids: The tokens.
        past: The number of tokens before.
        before: The rows of the cache, of which the last ones are valid; by default all are.
        rows: The number of rows; those behind the tokens are masked. By default there are none.

    Returns:
        ``input_ids`` and ``position_ids`` [1, rows], ``attention_mask`` [1, before + rows], and `COUNT` [1].
    """
    before, count = past if before is None else before, len(ids)
    rows = count if rows is None else rows
    tokens, mask = np.zeros((1, rows), np.int64), np.zeros((1, before + rows), np.int64)
    tokens[0, :count] = ids
    mask[0, before - past : before + count] = 1
    # The table of positions may end with the last valid one.
    positions = np.minimum(np.arange(rows), count - 1)[None] + past
    return {"input_ids": tokens, "attention_mask": mask, "position_ids": positions, COUNT: np.array([count], np.int32)}


def shapes_of(
    part: Part, rows: Length, past: Length = 0, *, cache: Sequence[CacheEntry] = (), encoded: Length = 0
) -> dict[str, list[Length]]:
    """Return the shapes of a model's inputs for some lengths, which are numbers or names.

    Args:
        part: The model.
        rows: The number of tokens of a step.
        past: The number of rows of the cache; 0 is a number.
        cache: The parts of the cache.
        encoded: The number of tokens that an encoder has read.
    """
    both = rows if past == 0 else past + rows if isinstance(past, int) and isinstance(rows, int) else f"{past} + {rows}"
    found: dict[str, list[Length]] = {"input_ids": [1, rows], "attention_mask": [1, both], "position_ids": [1, rows]}
    found["encoder_attention_mask"] = [1, encoded]
    if _STATES in part.inputs:
        found[_STATES] = [1, encoded, part.inputs[_STATES][1][-1] or "size"]
    found |= {each.past: [1, each.heads, past, each.size] for each in cache}
    return {name: shape for name, shape in found.items() if name in part.inputs}


class _Inputs:
    """The small inputs of the steps: a tensor for each name, type and shape."""

    def __init__(self, context: MLContext) -> None:
        self._context = context
        self._tensors: dict[str, tuple[DataType, tuple[int, ...], MLTensor]] = {}

    def write(self, compiled: Compiled, values: Mapping[str, Array]) -> dict[str, MLTensor]:
        """Write the values of the inputs that a graph has, and return their tensors."""
        found = {}
        for name, value in values.items():
            if (dataType := compiled.inputs.get(name)) is None:
                continue
            known = self._tensors.get(name)
            if known is None or known[:2] != (dataType, value.shape):
                if known is not None:
                    known[2].destroy()
                known = self._tensors[name] = dataType, value.shape, make_tensor(self._context, dataType, value.shape)
            self._context.writeTensor(known[2], value.astype(NUMPY_DTYPES[dataType]))
            found[name] = known[2]
        return found

    def scores(self, compiled: Compiled) -> MLTensor:
        """Return the tensor of the scores, [1, 1, vocabulary]."""
        known = self._tensors.get(_LOGITS)
        if known is None:
            dataType, size = compiled.outputs[_LOGITS]
            known = self._tensors[_LOGITS] = dataType, (1, 1, size), make_tensor(self._context, dataType, (1, 1, size))
        return known[2]

    def close(self) -> None:
        _destroy(tensor for _, _, tensor in self._tensors.values())
        self._tensors = {}


def _destroy(tensors: Iterable[MLTensor]) -> None:
    for tensor in tensors:
        tensor.destroy()


def _flat(scores: Array | None) -> Array:
    assert scores is not None
    return scores.reshape(-1)


def _bytes_of(cache: Sequence[CacheEntry], rows: int) -> int:
    return sum(each.heads * rows * each.size * np.dtype(each.dtype).itemsize for each in cache)


def _make_cache(context: MLContext, cache: Sequence[CacheEntry], rows: int) -> dict[str, MLTensor]:
    """Make a set of tensors, by the names of the inputs."""
    return {each.past: make_tensor(context, cast(DataType, each.dtype), [1, each.heads, rows, each.size]) for each in cache}


def _last_row(builder: Any, logits: Any) -> tuple[Any, Any]:
    """Return the scores of the last valid row, and the number of valid rows, which is an input."""
    count = builder.input(COUNT, dataType="int32", shape=[1])
    return builder.gather(logits, builder.sub(count, builder.constant("int32", 1)), axis=1), count


@dataclass(slots=True, eq=False)
class _CachedRun:
    """A sequence through a decoder with a cache: see `Run`."""

    layout: Layout
    compiler: Compiler
    first: Sequence[int]
    _past: int = 0
    _cache: dict[str, MLTensor] = field(default_factory=dict)
    _inputs: _Inputs = field(init=False)

    def __post_init__(self) -> None:
        self._inputs = _Inputs(self.compiler.context)

    @property
    def used(self) -> int:
        """The bytes of the cache that belong to tokens."""
        return _bytes_of(self.layout.cache, self._past)

    def close(self) -> None:
        """Free the cache and the tensors of inputs."""
        _destroy(self._cache.values())
        self._cache = {}
        self._inputs.close()

    def _dispatch(self, compiled: Compiled, values: Mapping[str, Array], written: Mapping[str, MLTensor]) -> Array:
        """Compute a step, which reads one set of tensors and writes another one; return the scores."""
        inputs = self._inputs.write(compiled, values)
        inputs |= {name: tensor for name, tensor in self._cache.items() if name in compiled.inputs}
        outputs = {each.present: written[each.past] for each in self.layout.cache}
        outputs[_LOGITS] = self._inputs.scores(compiled)
        return _flat(self.compiler.compute(compiled, inputs, outputs, _LOGITS))


class GrowingRun(_CachedRun):
    """A cache that gets longer with each step. Its first graph has no rows before the tokens."""

    __slots__ = ()

    @property
    def allocated(self) -> int:
        """The bytes of the tensors of the cache."""
        return _bytes_of(self.layout.cache, self._past)

    def feed(self, ids: Sequence[int]) -> Array:
        """Add tokens: see `Run.feed`."""
        compiled = growing_graph(self.layout, self.compiler, len(ids), self._past)
        grown = _make_cache(self.compiler.context, self.layout.cache, self._past + len(ids))
        scores = self._dispatch(compiled, feeds(ids, self._past), grown)
        _destroy(self._cache.values())
        self._cache, self._past = grown, self._past + len(ids)
        return scores


def growing_graph(layout: Layout, compiler: Compiler, rows: int, past: int) -> Compiled:
    """Return the graph of a step of a cache that gets longer: for these lengths, or for all if lengths have names."""
    lengths: tuple[Length, Length] = rows, past
    if compiler.named:
        # A step of one row has a graph without the choice of a row. Tensors have no dimension of 0: a cache without rows is a constant.
        lengths = 1 if rows == 1 else "rows", "past" if past else 0
    return compiler.get(lengths, shapes_of(layout.decoder, *lengths, cache=layout.cache), None if rows == 1 else _finish_rows)


def whole_graph(compiler: Compiler, rows: int, encoded: int, *, finish: bool = True) -> Compiled:
    """Return the graph of a decoder without a cache, or of an encoder, likewise."""
    lengths: tuple[Length, Length] = ("rows", "encoded") if compiler.named else (rows, encoded)
    return compiler.get(lengths, shapes_of(compiler.part, lengths[0], encoded=lengths[1]), _finish_rows if finish else None)


def _finish_rows(builder: Any, outputs: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, DataType]]:
    """Let a graph return the scores of one row."""
    return {**outputs, _LOGITS: _last_row(builder, outputs[_LOGITS])[0]}, {COUNT: "int32"}


class PaddedRun(_CachedRun):
    """A cache with a capacity of 64, 128, 256, ... rows. The valid ones are the last ones, so that new rows are behind them."""

    __slots__ = ("_capacity", "_other")
    _capacity: int
    _other: dict[str, MLTensor]

    def __post_init__(self) -> None:
        super().__post_init__()
        self._capacity, self._other = 0, {}

    @property
    def allocated(self) -> int:
        """The bytes of both sets of tensors of the cache."""
        return 2 * _bytes_of(self.layout.cache, self._capacity)

    def close(self) -> None:
        """Free the cache and the tensors of inputs."""
        _destroy(self._other.values())
        self._other = {}
        super().close()

    def feed(self, ids: Sequence[int]) -> Array:
        """Add tokens: see `Run.feed`."""
        self._reserve(self._past + len(ids) + (_ROOM if not self._past else 0))
        scores = np.empty(0)
        for start in range(0, len(ids), _MOST):
            scores = self._step(ids[start : start + _MOST])
        return scores

    def _step(self, ids: Sequence[int]) -> Array:
        rows, capacity = 1 if len(ids) == 1 else _round_up(len(ids), _FEWEST), self._capacity
        values = feeds(ids, self._past, before=capacity, rows=rows)
        shapes = shapes_of(self.layout.decoder, rows, capacity, cache=self.layout.cache)

        def finish(builder: Any, outputs: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, DataType]]:
            """Keep the last rows of the cache, as many as it has room for."""
            cache, kept = self.layout.cache, {}
            if rows == 1:
                for each in cache:
                    kept[each.present] = builder.slice(outputs[each.present], [0, 0, 1, 0], [1, each.heads, capacity, each.size])
                return {_LOGITS: outputs[_LOGITS], **kept}, {}
            logits, count = _last_row(builder, outputs[_LOGITS])
            places = builder.constant({"dataType": "int32", "shape": [capacity]}, np.arange(capacity, dtype=np.int32))
            shifted = builder.add(places, count)
            for each in cache:
                kept[each.present] = builder.gather(outputs[each.present], shifted, axis=2)
            return {_LOGITS: logits, **kept}, {COUNT: "int32"}

        compiled = self.compiler.get((rows, capacity), shapes, finish)
        scores = self._dispatch(compiled, values, self._other)
        self._cache, self._other = self._other, self._cache
        self._past += len(ids)
        return scores

    def _reserve(self, rows: int) -> None:
        """Give the cache a capacity of at least some rows."""
        if rows <= self._capacity:
            return
        context, before, after = self.compiler.context, self._capacity, _round_up(rows, _CAPACITY)
        larger = _make_cache(context, self.layout.cache, after)
        if before:
            context.dispatch(self.compiler.grow(self.layout.cache, before, after).graph, self._cache, larger)
            _destroy([*self._cache.values(), *self._other.values()])
        self._cache, self._other, self._capacity = larger, _make_cache(context, self.layout.cache, after), after


def _round_up(number: int, lowest: int) -> int:
    """Return the power of two that is at least a number, and at least the lowest one."""
    return max(lowest, 1 << (number - 1).bit_length())


@dataclass(slots=True, eq=False)
class WholeRun:
    """A sequence through a decoder without a cache, perhaps behind an encoder, whose states stay in a tensor: see `Run`.

    Args:
        layout: The language model.
        mode: How lengths become graphs.
        compiler: Compiles the decoder.
        encoder: Compiles the encoder, if there is one.
        encoded: The tokens that it reads.
        first: The tokens that the decoder takes first.
    """

    layout: Layout
    mode: Mode
    compiler: Compiler
    first: Sequence[int]
    encoder: Compiler | None = None
    encoded: Sequence[int] = ()
    used: int = 0
    allocated: int = 0
    _ids: list[int] = field(default_factory=list)
    _states: MLTensor | None = None
    _inputs: _Inputs = field(init=False)

    def __post_init__(self) -> None:
        self._inputs = _Inputs(self.compiler.context)

    def feed(self, ids: Sequence[int]) -> Array:
        """Add tokens: see `Run.feed`."""
        if self.encoder is not None and self._states is None:
            self._states = self._encode(self.encoder)
        self._ids += ids
        rows = _round_up(len(self._ids), _FEWEST) if self.mode == "padded" else len(self._ids)
        values = feeds(self._ids, 0, rows=rows)
        states: dict[str, MLTensor] = {}
        if self._states is not None:
            values["encoder_attention_mask"] = np.ones((1, len(self.encoded)), np.int64)
            states[_STATES] = self._states
        compiled = whole_graph(self.compiler, rows, len(self.encoded))
        inputs = self._inputs.write(compiled, values) | {name: tensor for name, tensor in states.items() if name in compiled.inputs}
        return _flat(self.compiler.compute(compiled, inputs, {_LOGITS: self._inputs.scores(compiled)}, _LOGITS))

    def close(self) -> None:
        """Free the states of the encoder and the tensors of inputs."""
        if self._states is not None:
            self._states.destroy()
            self._states = None
        self._inputs.close()

    def _encode(self, encoder: Compiler) -> MLTensor:
        values = feeds(self.encoded, 0)
        compiled = whole_graph(encoder, len(self.encoded), 0, finish=False)
        name = "last_hidden_state"
        dataType, size = compiled.outputs[name]
        states = make_tensor(encoder.context, dataType, [1, len(self.encoded), size])
        inputs = _Inputs(encoder.context)
        try:
            encoder.compute(compiled, inputs.write(compiled, values), {name: states})
        finally:
            inputs.close()
        return states
