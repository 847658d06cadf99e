"""``webnn generate``: text from a language model, token by token."""

from __future__ import annotations

import dataclasses
import json
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

import webnn
from webnn.commands.choices import (
    Device,
    FallbackOption,
    IsolateOption,
    NumericsOption,
    PluginOption,
    ProfileOption,
    SimulatorsOption,
    set_devices,
)
from webnn.commands.completion import complete_revision
from webnn.commands.failure import failing, failure
from webnn.commands.progress import show_progress
from webnn.commands.text import show_controls
from webnn.display.text import clip, size
from webnn.generate.model import Generation, LanguageModel, Token, load
from webnn.generate.plain import PlainModel
from webnn.generate.report import Comparison, Difference, Summary, compare, summarize, take_turns
from webnn.javascript.ends import ENDED_BY_USER
from webnn.validation.drafts import NEWEST, find_revision

__all__ = ["command"]

_FAILED, _WRONG = 1, 2
#: The draft whose lengths have names.
_NAMED = f"{NEWEST}+dynamic-shapes"


class Cache(StrEnum):
    """How a cache is kept."""

    auto = "auto"
    growing = "growing"
    static = "static"


class Engine(StrEnum):
    """Sides to compare with."""

    onnxruntime = "onnxruntime"


def command(
    model: Annotated[Path, typer.Argument(help="A folder with a language model, or the .onnx file of a decoder.", show_default=False)],
    *,
    prompt: Annotated[str | None, typer.Option(metavar="TEXT", help="The text to go on with, or to read.", show_default=False)] = None,
    tokens: Annotated[
        str | None, typer.Option(metavar="1,2,3", help="The tokens of the prompt: needs no tokenizer.", show_default=False)
    ] = None,
    max_new_tokens: Annotated[int, typer.Option(min=1, help="The most new tokens.")] = 128,
    top_k: Annotated[int | None, typer.Option(min=1, help="Choose among the best tokens.", show_default="the best one")] = None,
    temperature: Annotated[
        float | None, typer.Option(min=0, help="Divides the scores.", show_default="1 with --top-k or --seed, else 0: the best token")
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="The seed of the random numbers.", show_default="0")] = None,
    eos: Annotated[
        str | None, typer.Option(metavar="1,2", help="The tokens that end the text.", show_default="those of the model's settings")
    ] = None,
    cache: Annotated[
        Cache, typer.Option(help="Lengths with names, or a capacity that doubles: docs/generate.md.", show_default="names where they work")
    ] = Cache.auto,
    compare_with: Annotated[
        Engine | None, typer.Option("--compare", help="Generate the same with sessions of it, in turns.", show_default=False)
    ] = None,
    device: Annotated[Device, typer.Option(help="The deviceType of the context.")] = Device.cpu,
    profile: ProfileOption = None,
    fallback: FallbackOption = None,
    numerics: NumericsOption = None,
    simulators: SimulatorsOption = None,
    isolate: IsolateOption = None,
    plugins: PluginOption = None,
    revision: Annotated[
        str | None,
        typer.Option(
            help="The draft of the context.",
            autocompletion=complete_revision,
            envvar="WEBNN_REVISION",
            show_default=f"{_NAMED}; {NEWEST} with --cache static",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print tokens, text and figures as JSON at the end.")] = False,
) -> None:
    """Generate text with a language model, token by token.

    It is compared with onnxruntime if asked to.

    The text goes to the standard output, and the figures behind it to the standard error. Without a tokenizer, tokens are numbers. The exit
    status is 1 if the model cannot be computed, or the other side of a comparison has other tokens, and 2 if the call is wrong.
    """
    if (prompt is None) == (tokens is None):
        raise failure("either --prompt or --tokens must be given", _WRONG)
    set_devices(simulators, plugins, isolate)
    with _noting_fallbacks():
        try:
            with failing(webnn.DOMException, _FAILED), failing((ImportError, OSError, TypeError, ValueError), _WRONG):
                ml = webnn.ML(
                    revision=find_revision(revision or _default(cache)),
                    profile=profile,
                    fallback=None if fallback is None else fallback.value,
                    numerics=None if numerics is None else numerics.value,
                )
                context = ml.createContextSync(deviceType=device.value)
            with (
                failing(webnn.NotSupportedError, _FAILED),
                failing((ImportError, OSError, TypeError, ValueError), _WRONG),
                show_progress(f"loading {clip(model.name, 30)}"),
            ):
                loaded = load(model, context, cache.value)
            if loaded.note:
                typer.echo(f"webnn: each length is compiled: {loaded.note}", err=True)
            asked: dict[str, Any] = {
                "maxNewTokens": max_new_tokens,
                "topK": top_k,
                "temperature": temperature,
                "seed": seed,
                "eos": None if eos is None else _parse_tokens(eos, "--eos"),
            }
            given = prompt or "" if tokens is None else _parse_tokens(tokens, "--tokens")
            with failing((TypeError, ValueError), _WRONG):
                generation = loaded.generate(given, **asked)
            other = None
            if compare_with is not None:
                with failing(webnn.OperationError, _FAILED):
                    other = loaded.generate_on(PlainModel(loaded.layout), given, **asked)
        except KeyboardInterrupt:
            raise failure("interrupted before the first token", ENDED_BY_USER) from None
        found: list[Difference] = []
        made = generation if other is None else take_turns(generation, other, found)
        interrupted = _print_tokens(made, generation, loaded, _write if not as_json else None)
        generation.close()
    comparison = None
    if other is not None:
        other.close()
        comparison = compare(generation, other, found)
    _print_figures(generation, loaded, comparison, as_json=as_json)
    if interrupted:
        raise typer.Exit(ENDED_BY_USER)
    if found:
        raise typer.Exit(_FAILED)


@contextmanager
def _noting_fallbacks() -> Iterator[None]:
    """Print warnings of devices that are replaced at the end of a block, each once: the text is on the standard output meanwhile."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", webnn.DeviceFallbackWarning)
        try:
            yield
        finally:
            for text in dict.fromkeys(str(each.message) for each in caught):
                typer.echo(f"webnn: {show_controls(text)}", err=True)


def _default(cache: Cache) -> str:
    """Return the draft with names, if a cache may use it and it is installed."""
    if cache is Cache.static:
        return NEWEST
    try:
        find_revision(_NAMED)
    except ValueError:
        return NEWEST
    return _NAMED


def _parse_tokens(text: str, option: str) -> list[int]:
    try:
        return [int(each) for each in text.split(",")] if text else []
    except ValueError:
        raise failure(f"{option} must be numbers such as 1,2,3, got {text!r}", _WRONG) from None


def _write(text: str) -> None:
    sys.stdout.write(show_controls(text))
    sys.stdout.flush()


def _print_tokens(made: Iterator[Token], generation: Generation, loaded: LanguageModel, write: Callable[[str], None] | None) -> bool:
    """Print tokens as they come; return whether the user ended them."""
    try:
        with closing(generation), failing((webnn.DOMException, TypeError, ValueError), _FAILED):
            for token in made:
                if write is not None:
                    write(token.text if loaded.vocabulary is not None else f"{token.id} ")
    except KeyboardInterrupt:
        return True
    finally:
        if write is not None and generation.ids:
            write("\n")
    return False


def _print_figures(generation: Generation, loaded: LanguageModel, comparison: Comparison | None, *, as_json: bool) -> None:
    summary = summarize(generation)
    if as_json:
        figures: dict[str, Any] = {
            "tokens": generation.ids,
            "text": generation.text if loaded.vocabulary is not None else None,
            "kind": loaded.layout.kind,
            "lengths": loaded.mode,
            **dataclasses.asdict(summary),
            "comparison": None if comparison is None else dataclasses.asdict(comparison),
        }
        typer.echo(json.dumps(figures, indent=1))
        return
    lines = _describe(summary, loaded)
    if comparison is not None:
        lines += _describe_comparison(comparison, loaded)
    for line in lines:
        typer.echo(line, err=True)


def _describe(summary: Summary, loaded: LanguageModel) -> list[str]:
    lines = [f"{summary.promptTokens:,} prompt tokens, {summary.newTokens:,} new tokens ({_ENDS[summary.finish]})"]
    if summary.firstSeconds is not None:
        lines.append(f"first token after {summary.firstSeconds:.3f} s, then {_show_rate(summary.tokensPerSecond)}")
    lines.append(f"{_show_sessions(summary.sessions)} compiled in {summary.sessionSeconds:.3f} s ({_MODES[loaded.mode]})")
    memory = [] if summary.peakBytes is None else [f"at most {size(summary.peakBytes)} resident"]
    if loaded.layout.cache:
        memory.append(f"a cache of {size(summary.cacheBytes)} in {size(summary.cacheAllocatedBytes)} of tensors")
    return [*lines, *([f"memory: {', '.join(memory)}"] if memory else [])]


_ENDS = {
    "end": "an end token",
    "tokens": "the most that were wanted",
    "length": "the longest sequence of the model",
    "closed": "interrupted",
}
_MODES = {"named": "lengths have names", "padded": "capacities that double", "exact": "each length by itself"}


def _show_rate(rate: float | None) -> str:
    return "no more" if rate is None else f"{rate:.1f} tokens per second"


def _show_sessions(count: int) -> str:
    return "1 session" if count == 1 else f"{count:,} sessions"


def _describe_comparison(comparison: Comparison, loaded: LanguageModel) -> list[str]:
    other = comparison.other
    lines = [f"onnxruntime: {other.newTokens:,} new tokens, {_show_rate(other.tokensPerSecond)}"]
    if comparison.ratio is not None:
        lines[0] += f"; the median token takes {comparison.ratio:.2f} times as long here"
    if (difference := comparison.difference) is None:
        return [*lines, "the same tokens"]
    one, two = (_show_token(token, loaded) for token in difference.tokens)
    lines.append(f"the tokens differ from number {difference.position} on: {one} here, {two} in onnxruntime")
    for name, scores, gap in zip(("here", "in onnxruntime"), difference.scores, difference.gaps, strict=False):
        lines.append(f"  scores {name}: {scores[0]:.6g} and {scores[1]:.6g}, {gap:.3g} above the other one")
    return lines


def _show_token(token: int | None, loaded: LanguageModel) -> str:
    if token is None:
        return "none"
    text = "" if loaded.vocabulary is None else loaded.vocabulary.name_of(token)
    return f"{token} ({show_controls(text)!r})" if text else str(token)
