"""Language models that generate tokens in a context: `LanguageModel`, and one sequence of tokens, `Generation`."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np

from webnn.context.context import MLContext
from webnn.context.engine_backend import EngineBackend
from webnn.context.graph import MLGraph
from webnn.context.graph_builder import MLGraphBuilder
from webnn.generate.compiling import Array, Compiler, Work
from webnn.generate.layout import Config, Layout, find_layout, read_config
from webnn.generate.runs import GrowingRun, Mode, PaddedRun, Run, WholeRun, growing_graph, whole_graph
from webnn.generate.sampling import Sampler
from webnn.generate.vocabulary import FILE, Vocabulary
from webnn.validation import webidl
from webnn.validation.errors import NotSupportedError, WebNNTypeError

__all__ = ["CACHES", "CacheChoice", "Finish", "Generation", "LanguageModel", "Side", "Token", "load"]

#: How a cache is kept: `load`.
CacheChoice: TypeAlias = Literal["auto", "growing", "static"]
CACHES: tuple[CacheChoice, ...] = ("auto", "growing", "static")
#: Why a sequence ended: with an end token, with the most tokens that were wanted, with the longest sequence that the model can see, or
#: because it was closed before.
Finish: TypeAlias = Literal["end", "tokens", "length", "closed"]


class Side(Protocol):
    """Runs sequences: graphs of a context, or sessions of onnxruntime."""

    @property
    def work(self) -> Work:
        """The sessions so far, and how long it took to compile them."""

    def start(self, ids: Sequence[int], first: Sequence[int]) -> Run:
        """Begin a sequence with a prompt; ``first`` are the tokens that the decoder takes first."""


@dataclass(frozen=True, slots=True)
class Token:
    """A new token.

    Attributes:
        id: Its number.
        text: The text that is complete with it; empty without a tokenizer.
        seconds: The time since the last one was returned, or since the first one was asked for.
        compiling: The part of this time in which sessions were compiled.
    """

    id: int
    text: str
    seconds: float
    compiling: float


class Generation(Iterator[Token]):
    """New tokens of one sequence, an iterator. As a context manager it is closed at the end of the block.

    Attributes:
        prompt: The tokens of the prompt.
        ids: The new tokens so far.
        text: Their text so far.
        scores: The scores of the last token that was chosen, [vocabulary]; ``None`` before the first one.
        seconds: The time of each token, in seconds, and of what each compiled.
        finish: Why it ended; ``None`` before.
        used: The most bytes of the cache that belonged to tokens.
        allocated: The most bytes of the tensors of the cache.
        side: The one that computes.
    """

    def __init__(
        self,
        side: Side,
        prompt: Sequence[int],
        first: Sequence[int],
        *,
        sampler: Sampler,
        most: int,
        longest: int | None,
        ends: Iterable[int],
        decode: Callable[[int], str],
    ) -> None:
        self.side, self.prompt = side, tuple(prompt)
        self.ids: list[int] = []
        self.text = ""
        self.scores: Array | None = None
        self.seconds: list[tuple[float, float]] = []
        self.finish: Finish | None = None
        self.used = self.allocated = 0
        self._first, self._sampler, self._most, self._ends, self._decode = first, sampler, most, frozenset(ends), decode
        self._room = None if longest is None else longest - len(first)
        self._run: Run | None = None

    def __enter__(self) -> Generation:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self.close()

    def __next__(self) -> Token:
        if self.finish is not None:
            raise StopIteration
        began, compiling = time.perf_counter(), self.side.work.seconds
        try:
            if self._run is None:
                self._run = self.side.start(self.prompt, self._first)
            self.scores = self._run.feed(self.ids[-1:] or self._run.first)
            self.used, self.allocated = max(self.used, self._run.used), max(self.allocated, self._run.allocated)
            chosen = self._sampler.choose(self.scores)
            text = "" if chosen in self._ends else self._decode(chosen)
        except BaseException:
            self.close()
            raise
        token = Token(chosen, text, time.perf_counter() - began, self.side.work.seconds - compiling)
        self.ids.append(chosen)
        self.text += text
        self.seconds.append((token.seconds, token.compiling))
        if chosen in self._ends:
            self._end("end")
        elif len(self.ids) == self._most:
            self._end("tokens")
        elif self._room is not None and len(self.ids) > self._room:
            self._end("length")
        return token

    def close(self) -> None:
        """End the sequence, and free its cache. A second call does nothing."""
        self._end("closed")

    def _end(self, why: Finish) -> None:
        self.finish = self.finish or why
        if self._run is not None:
            self._run.close()
            self._run = None


class LanguageModel:
    """A language model in a context; `load` makes it.

    Attributes:
        layout: Its parts.
        config: Its settings.
        vocabulary: Its tokenizer; ``None`` if the folder has none.
        mode: How lengths become graphs: ``"named"``, ``"padded"`` or ``"exact"``.
        note: Why lengths are exact, which compiles a graph for each; else empty.
        work: The sessions so far, and how long it took to compile them.
    """

    def __init__(self, layout: Layout, config: Config, vocabulary: Vocabulary | None, context: MLContext, mode: Mode) -> None:
        self.layout, self.config, self.vocabulary, self.mode = layout, config, vocabulary, mode
        self.note = layout.unpadded if mode == "exact" else ""
        self.work = Work()
        self._decoder = Compiler(context, layout.decoder, mode == "named", self.work)
        self._encoder = None if layout.encoder is None else Compiler(context, layout.encoder, mode == "named", self.work)

    def generate(
        self,
        prompt: str | Sequence[int],
        *,
        maxNewTokens: int = 128,
        topK: int | None = None,
        temperature: float | None = None,
        seed: int | None = None,
        eos: Iterable[int] | None = None,
    ) -> Generation:
        """Generate tokens after a prompt: the best ones, or random ones.

        Args:
            prompt: The text, or its tokens. An empty one is the token ``bos_token_id`` of the settings.
            maxNewTokens: The most new tokens, at least 1.
            topK: Choose among this number of best tokens, at least 1.
            temperature: Divides the scores, from 0; 0 chooses the best token. By default 1 if `topK` or `seed` is given, else 0.
            seed: The seed of the random numbers, from 0; by default 0.
            eos: The tokens that end the sequence; by default those of the settings, or else of the tokenizer.

        Returns:
            An iterator of the new tokens, the end token included. Nothing is computed before the first one.

        Raises:
            TypeError: An argument has the wrong type.
            ValueError: An argument is out of its range, or the model has no tokenizer for a text.
        """
        return self.generate_on(self, prompt, maxNewTokens=maxNewTokens, topK=topK, temperature=temperature, seed=seed, eos=eos)

    def generate_on(
        self,
        side: Side,
        prompt: str | Sequence[int],
        *,
        maxNewTokens: int,
        topK: int | None,
        temperature: float | None,
        seed: int | None,
        eos: Iterable[int] | None,
    ) -> Generation:
        """Generate tokens by another side, with the settings and the tokenizer of this model: see `generate`."""
        if not isinstance(maxNewTokens, int) or isinstance(maxNewTokens, bool):
            raise TypeError(f"generate: maxNewTokens must be an int, got {webidl.describe(maxNewTokens)}")
        if maxNewTokens < 1:
            raise ValueError(f"generate: maxNewTokens must be at least 1, got {maxNewTokens}")
        sampler = Sampler(topK=topK, temperature=temperature, seed=seed)
        ids = self._tokens(prompt)
        first = ids if self.layout.encoder is None else [self._start()]
        longest = None if self.layout.encoder is not None else self.config.longest
        if longest is not None and len(ids) > longest:
            raise ValueError(f"generate: the prompt must have at most {longest:,} tokens, got {len(ids):,}")
        vocabulary = self.vocabulary
        decode = (lambda _: "") if vocabulary is None else vocabulary.open_stream(ids if self.layout.encoder is None else ())
        ends = self.ends if eos is None else [_check_token(each, "eos") for each in eos]
        return Generation(side, ids, first, sampler=sampler, most=maxNewTokens, longest=longest, ends=ends, decode=decode)

    @property
    def ends(self) -> frozenset[int]:
        """The tokens that end a sequence: those of the settings, or else the usual one of the tokenizer."""
        if self.config.eos or self.vocabulary is None or (usual := self.vocabulary.find_end()) is None:
            return self.config.eos
        return frozenset([usual])

    @property
    def graphs(self) -> list[MLGraph]:
        """The graphs of the decoder that were used last, the last one last."""
        return self._decoder.graphs

    def start(self, ids: Sequence[int], first: Sequence[int]) -> Run:
        """Begin a sequence: see `Side`."""
        if self.layout.kind != "cache":
            return WholeRun(self.layout, self.mode, self._decoder, first, self._encoder, ids)
        return (PaddedRun if self.mode == "padded" else GrowingRun)(self.layout, self._decoder, first)

    def prepare(self) -> None:
        """Build the graphs whose lengths have names.

        Raises:
            RefusedModelError: The model cannot be imported so.
        """
        if self.layout.kind == "cache":
            # A prompt of several tokens, and a step behind.
            growing_graph(self.layout, self._decoder, 2, 0)
            growing_graph(self.layout, self._decoder, 1, 1)
            return
        for compiler, finish in ((self._decoder, True), (self._encoder, False)):
            if compiler is not None:
                whole_graph(compiler, 0, 0, finish=finish)

    def destroy(self) -> None:
        """Destroy the graphs. A sequence that is not finished cannot go on. A second call does nothing."""
        self._decoder.destroy()
        if self._encoder is not None:
            self._encoder.destroy()

    def _tokens(self, prompt: str | Sequence[int]) -> list[int]:
        if isinstance(prompt, str):
            if self.vocabulary is None:
                raise ValueError(f"generate: a text needs a tokenizer: there is no {FILE} beside the model; give tokens")
            ids = self.vocabulary.encode(prompt)
        elif isinstance(prompt, Iterable):
            ids = [_check_token(each, "prompt") for each in prompt]
        else:
            raise TypeError(f"generate: prompt must be a text or tokens, got {webidl.describe(prompt)}")
        size = self.layout.vocabulary
        if size is not None and max(ids, default=0) >= size:
            raise ValueError(f"generate: prompt must be tokens below {size:,}, got {max(ids)}")
        if not ids and self.config.bos is not None:
            ids = [self.config.bos]
        if not ids:
            raise ValueError("generate: the prompt must have at least one token; the settings have no bos_token_id")
        return ids

    def _start(self) -> int:
        """Return the first token of a decoder behind an encoder."""
        found = self.config.start
        if found is None and self.vocabulary is not None:
            found = self.vocabulary.find_start()
        if found is None:
            raise ValueError("generate: the decoder's first token is not known: give decoder_start_token_id in config.json")
        return found


def load(source: str | os.PathLike[str], context: MLContext, cache: CacheChoice = "auto") -> LanguageModel:
    """Load a language model: see `webnn.generate.load`."""
    if cache not in CACHES:
        raise ValueError(f"load: cache must be one of {', '.join(map(repr, CACHES))}, got {webidl.describe(cache)}")
    if not hasattr(context, "createTensor"):
        raise ValueError(f"load: the draft of the context must have tensors, as 2026-06 has, got {context._state.revision.draft}")
    layout, folder = find_layout(Path(source))
    config = read_config(folder)
    tokenizer = folder / FILE
    vocabulary = Vocabulary.read(tokenizer) if tokenizer.exists() else None
    reason = "" if cache == "static" else _why_not_named(context, layout, cache)
    if cache == "growing" and reason:
        raise NotSupportedError(f"load: lengths cannot have names: {reason}")
    if cache != "static" and not reason:
        model = LanguageModel(layout, config, vocabulary, context, "named")
        try:
            # Only the import knows whether every operator takes names.
            model.prepare()
        except (NotSupportedError, WebNNTypeError):
            if cache == "growing":
                raise
        else:
            return model
    return LanguageModel(layout, config, vocabulary, context, "exact" if layout.unpadded else "padded")


def _why_not_named(context: MLContext, layout: Layout, cache: CacheChoice) -> str:
    """Return why lengths cannot have names, if that is known before the import; empty if they can."""
    state = context._state
    backend = state.timeline.run(state.load_backend)
    if cache == "auto" and not (isinstance(backend, EngineBackend) and backend.takes_names(state.selection)):
        return "the device compiles a graph for each length"
    try:
        named: Any = {"dataType": "int32", "shape": ["length"]}
        MLGraphBuilder(context).input("x", named)
    except WebNNTypeError:
        return "the draft of the context has no names: ML(revision='2026-06+dynamic-shapes')"
    return ""


def _check_token(value: Any, name: str) -> int:
    if not isinstance(value, int | np.integer) or isinstance(value, bool):
        raise TypeError(f"generate: {name} must be tokens, ints, got {webidl.describe(value)}")
    if not 0 <= value < 2**31:
        raise ValueError(f"generate: {name} must be tokens from 0 to {2**31 - 1}, got {value}")
    return int(value)
