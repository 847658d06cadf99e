"""Language models as files: which parts a folder has, and how the inputs and outputs of each part say what it is."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from webnn.builder.description import FormatError
from webnn.builder.regular import describe_kind, open_regular
from webnn.display.text import few
from webnn.importing.values import Refused
from webnn.onnx.model import Model, element_type, read
from webnn.validation import webidl

__all__ = ["CacheEntry", "Config", "Kind", "Layout", "Part", "UnsuitableModelError", "find_layout", "read_config"]

#: A size, or the name of a dimension that is open; ``""`` is one without a name.
Dimensions: TypeAlias = "tuple[int | str, ...]"
Kind: TypeAlias = Literal["cache", "whole", "encoder"]

#: The names of an encoder and its decoder, and of a decoder alone: those of Hugging Face's Optimum, and shorter ones.
_ENCODERS = ("encoder.onnx", "encoder_model.onnx")
_DECODERS = ("decoder.onnx", "decoder_model.onnx")
_ALONE = ("model.onnx", *_DECODERS)
#: Where Hugging Face keeps the models of a folder, beside the tokenizer.
_BELOW = "onnx"
_PAST = re.compile(r"past_key_values\.(0|[1-9]\d{0,3})\.(key|value)")
_INTEGERS = ("int64", "int32")
_FLOATS = ("float32", "float16")
#: Operators that keep the valid rows of a cache in front, or measure the range of all rows of a value.
_ROWS_IN_FRONT = frozenset({"com.microsoft.GroupQueryAttention"})
_RANGES = ("DynamicQuantize",)
#: The most bytes of a file of settings.
_LONGEST_CONFIG = 1 << 20
#: The most names and the most reasons that a message has.
_FEW, _MOST_REASONS = 8, 20


class UnsuitableModelError(ValueError):
    """A folder or a model is not a language model that can generate tokens. The text names everything that is missing."""


@dataclass(frozen=True, slots=True)
class CacheEntry:
    """The keys or the values of one layer, [1, heads, past, size].

    Attributes:
        past: The name of the input, with the rows of all tokens before.
        present: The name of the output, with those of the new tokens behind them.
        heads: The number of heads.
        size: The size of a head.
        dtype: The element type, ``"float32"`` or ``"float16"``.
    """

    past: str
    present: str
    heads: int
    size: int
    dtype: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One ONNX model of a language model.

    Attributes:
        model: The model, read once: all graphs share its weights.
        inputs: The element types and dimensions of its inputs, by their names.
        outputs: The same of its outputs.
    """

    model: Model
    inputs: Mapping[str, tuple[str, Dimensions]]
    outputs: Mapping[str, tuple[str, Dimensions]]

    @classmethod
    def read(cls, path: Path) -> Part:
        """Read a model.

        Raises:
            FormatError: It is not an ONNX model.
            OSError: The file cannot be read.
        """
        model = read(path, apart=True)
        graph = model.proto.graph
        weights = {tensor.name for tensor in graph.initializer}
        inputs = {each.name: _describe(each) for each in graph.input if each.name not in weights}
        return cls(model=model, inputs=inputs, outputs={each.name: _describe(each) for each in graph.output})

    @property
    def operators(self) -> frozenset[str]:
        """The operators of the graph, with their domains: ``"com.microsoft.GroupQueryAttention"``."""
        return frozenset([node.key for node in self.model.nodes])


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """A language model that can generate tokens.

    Attributes:
        kind: ``"cache"``: a decoder whose keys and values are inputs and outputs. ``"whole"``: a decoder that takes all tokens in each
            step. ``"encoder"``: the same, behind an encoder that reads the prompt.
        folder: The folder of the decoder.
        decoder: The decoder.
        encoder: The encoder, of the last kind.
        cache: The parts of the cache, of the first kind.
    """

    kind: Kind
    folder: Path
    decoder: Part
    encoder: Part | None = None
    cache: tuple[CacheEntry, ...] = ()

    @property
    def vocabulary(self) -> int | None:
        """The number of tokens, if the decoder's outputs say so."""
        size = self.decoder.outputs["logits"][1][-1:]
        return size[0] if size and isinstance(size[0], int) else None

    @property
    def unpadded(self) -> str:
        """Why no row may be added that is masked; empty if rows may be added."""
        if self.kind == "encoder":
            return "its encoder and decoder are compiled for exact lengths"
        needed = ["attention_mask"] if self.kind == "whole" else ["attention_mask", "position_ids"]
        missing = [name for name in needed if name not in self.decoder.inputs]
        if missing:
            return f"it has no input {' and '.join(missing)}"
        for operator in self.decoder.operators:
            if operator in _ROWS_IN_FRONT:
                return f"{operator} finds the rows of a cache by their number"
            if operator.rpartition(".")[2].startswith(_RANGES):
                return f"{operator} measures the range of all rows, also of masked ones"
        return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """The settings beside a model, from ``generation_config.json`` and ``config.json``; ``None`` and empty if there are none.

    Attributes:
        eos: The tokens that end a sequence.
        bos: The token before an empty prompt.
        start: The first token of a decoder behind an encoder.
        longest: The most tokens that the model can see, prompt included.
    """

    eos: frozenset[int] = frozenset()
    bos: int | None = None
    start: int | None = None
    longest: int | None = None


def find_layout(source: Path) -> tuple[Layout, Path]:
    """Find the models of a folder, or take a model that is a file; see which kind they are.

    Returns:
        The language model, and the folder that was given, or that of the file.

    Raises:
        UnsuitableModelError: It is not a language model that can generate tokens.
        FormatError: A file is not an ONNX model.
        OSError: A file cannot be read.
    """
    if source.is_dir():
        folder, decoder, encoder = _search(source)
    elif source.is_file():
        folder, decoder, encoder = source.parent, source, None
    else:
        raise UnsuitableModelError(f"{source} is {describe_kind(source)}: a model is a folder or a file .onnx")
    part = Part.read(decoder)
    if encoder is None and "encoder_hidden_states" in part.inputs:
        encoder = _first(folder, _ENCODERS)
        if encoder is None:
            raise _unsuitable(decoder, [f"its encoder is missing: there is no {' or '.join(_ENCODERS)} beside it"])
    problems: list[str] = []
    entries: tuple[CacheEntry, ...] = ()
    kind: Kind = "whole"
    other = None
    if encoder is not None:
        kind, other = "encoder", Part.read(encoder)
        problems += [f"{encoder.name}: {each}" for each in _check_encoder(other)]
        problems += [f"{decoder.name}: {each}" for each in _check_decoder(part, {"encoder_hidden_states", "encoder_attention_mask"})]
        problems += _check_states(other, part)
    else:
        entries, wrong = _find_cache(part)
        kind = "cache" if entries or wrong else "whole"
        known = {"attention_mask", "position_ids", *(name for name in part.inputs if _PAST.fullmatch(name))}
        problems += [*_check_decoder(part, known), *wrong]
    if problems:
        raise _unsuitable(source, problems)
    return Layout(kind=kind, folder=folder, decoder=part, encoder=other, cache=entries), source if source.is_dir() else folder


def read_config(folder: Path) -> Config:
    """Read the settings of a folder; ``generation_config.json`` goes before ``config.json``.

    Raises:
        FormatError: A file is not a JSON object, or a setting has another type.
        OSError: A file cannot be read.
    """
    found: dict[str, Any] = {}
    for name in ("config.json", "generation_config.json"):
        path = folder / name
        if path.exists():
            found |= {key: (value, path) for key, value in _read_object(path).items() if value is not None}

    def number(*names: str) -> int | None:
        for name in names:
            if name in found:
                value, path = found[name]
                return _token(value, name, path)
        return None

    eos, path = found.get("eos_token_id", ([], folder))
    ids = eos if isinstance(eos, list) else [eos]
    return Config(
        eos=frozenset([_token(each, "eos_token_id", path) for each in ids]),
        bos=number("bos_token_id"),
        start=number("decoder_start_token_id"),
        longest=number("max_position_embeddings", "n_positions"),
    )


def _read_object(path: Path) -> dict[str, Any]:
    with open_regular(path) as file:
        text = file.read(_LONGEST_CONFIG + 1)
    if len(text) > _LONGEST_CONFIG:
        raise FormatError(f"must be a file of at most {_LONGEST_CONFIG:,} bytes", path)
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"is not JSON: {error}", path) from None
    if not isinstance(value, dict):
        raise FormatError(f"must be a JSON object, got {webidl.describe(value)}", path)
    return value


def _token(value: Any, name: str, path: Path) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**31:
        raise FormatError(f"{name} must be a token, a number from 0 to {2**31 - 1}, got {webidl.describe(value)}", path)
    return value


def _search(source: Path) -> tuple[Path, Path, Path | None]:
    """Return the folder of the models, the decoder and the encoder."""
    for folder in (source, source / _BELOW):
        encoder = _first(folder, _ENCODERS)
        if decoder := _first(folder, _ALONE if encoder is None else _DECODERS):
            return folder, decoder, encoder
        models = sorted(folder.glob("*.onnx"))
        if len(models) == 1:
            return folder, models[0], None
        if models:
            names = few([path.name for path in models], _FEW)
            raise UnsuitableModelError(f"{folder} must have {_wanted()}, or one model alone, got {names}: give the file of a decoder")
    raise UnsuitableModelError(f"{source} has no model: a folder must have {_wanted()}, or one model alone")


def _wanted() -> str:
    return f"{' or '.join(_ALONE)}, for an encoder also {' or '.join(_ENCODERS)}"


def _first(folder: Path, names: Sequence[str]) -> Path | None:
    return next((folder / name for name in names if (folder / name).is_file()), None)


def _unsuitable(path: Path, problems: Sequence[str]) -> UnsuitableModelError:
    count = "1 reason" if len(problems) == 1 else f"{len(problems)} reasons"
    rest = [f"and {len(problems) - _MOST_REASONS} more"] if len(problems) > _MOST_REASONS else []
    return UnsuitableModelError("\n  ".join([f"{path} cannot generate tokens, for {count}:", *problems[:_MOST_REASONS], *rest]))


def _describe(info: Any) -> tuple[str, Dimensions]:
    """Return the element type and the dimensions of an input or output; a type that NumPy does not have is empty."""
    tensor = info.type.tensor_type
    try:
        dtype = element_type(tensor.elem_type).name
    except Refused:
        dtype = ""
    # Some exporters write a question mark for a dimension without a name.
    return dtype, tuple([dim.dim_value if dim.dim_value > 0 else dim.dim_param.strip("?") for dim in tensor.shape.dim])


def _check_value(values: Mapping[str, tuple[str, Dimensions]], name: str, types: Sequence[str], form: str, kind: str) -> list[str]:
    """Return what is wrong with an input or output; ``form`` has a size or a name for each dimension: ``"1, sequence"``."""
    if name not in values:
        return [f"the {kind} {name} is missing, {types[0]} [{form}]"]
    dtype, dimensions = values[name]
    wanted = form.split(", ")
    # Shape inference may have left the shape of an output out.
    fits = len(dimensions) == len(wanted) or (kind == "output" and not dimensions)
    if dtype in types and fits and not (dimensions and wanted[0] == "1" and isinstance(dimensions[0], int) and dimensions[0] != 1):
        return []
    shown = ", ".join([str(size or "?") for size in dimensions])
    return [f"the {kind} {name} must be {' or '.join(types)} [{form}], got {dtype or 'another type'} [{shown}]"]


def _check_decoder(part: Part, optional: set[str]) -> list[str]:
    problems = _check_value(part.inputs, "input_ids", _INTEGERS, "1, sequence", "input")
    for name, length in (("attention_mask", "past + sequence"), ("position_ids", "sequence"), ("encoder_attention_mask", "encoded")):
        if name in part.inputs and name in optional:
            problems += _check_value(part.inputs, name, _INTEGERS, f"1, {length}", "input")
    if "encoder_hidden_states" in optional:
        problems += _check_value(part.inputs, "encoder_hidden_states", _FLOATS, "1, encoded, size", "input")
    problems += _check_unknown(part, optional | {"input_ids"})
    return problems + _check_value(part.outputs, "logits", _FLOATS, "1, sequence, vocabulary", "output")


def _check_encoder(part: Part) -> list[str]:
    problems = _check_value(part.inputs, "input_ids", _INTEGERS, "1, encoded", "input")
    if "attention_mask" in part.inputs:
        problems += _check_value(part.inputs, "attention_mask", _INTEGERS, "1, encoded", "input")
    problems += _check_unknown(part, {"input_ids", "attention_mask"})
    return problems + _check_value(part.outputs, "last_hidden_state", _FLOATS, "1, encoded, size", "output")


def _check_states(encoder: Part, decoder: Part) -> list[str]:
    """Return whether the decoder takes the states that the encoder makes."""
    made, taken = encoder.outputs.get("last_hidden_state"), decoder.inputs.get("encoder_hidden_states")
    if made is None or taken is None or made[0] == taken[0]:
        return []
    return [f"the states must have one type, got {made[0]} from the encoder and {taken[0]} in the decoder"]


def _check_unknown(part: Part, known: set[str]) -> list[str]:
    unknown = [name for name in part.inputs if name not in known]
    if not unknown:
        return []
    listed = few([webidl.describe(name) for name in unknown], _FEW)
    return [f"the input {listed} is not known" if len(unknown) == 1 else f"the inputs {listed} are not known"]


def _find_cache(part: Part) -> tuple[tuple[CacheEntry, ...], list[str]]:
    """Return the parts of a decoder's cache, in the order of its inputs, and what is wrong with them."""
    entries, problems = [], []
    layers: dict[int, set[str]] = {}
    for name, (dtype, dimensions) in part.inputs.items():
        if (match := _PAST.fullmatch(name)) is None:
            continue
        layers.setdefault(int(match[1]), set()).add(match[2])
        present = f"present.{match[1]}.{match[2]}"
        problems += _check_value(part.outputs, present, _FLOATS, "1, heads, past + sequence, size", "output")
        wrong = _check_value(part.inputs, name, _FLOATS, "1, heads, past, size", "input")
        if not wrong:
            _, heads, past, size = dimensions
            if not isinstance(heads, int) or not isinstance(size, int) or isinstance(past, int):
                wrong = [f"the input {name} must have a number of heads, an open length and a size, got {list(dimensions)}"]
            else:
                entries.append(CacheEntry(name, present, heads, size, dtype))
        problems += wrong
    for layer in range(max(layers, default=-1) + 1):
        lacking = [f"past_key_values.{layer}.{each}" for each in ("key", "value") if each not in layers.get(layer, ())]
        problems += [f"the input {name} is missing" for name in lacking[:1] if len(lacking) == 1]
        problems += [f"the inputs {' and '.join(lacking)} are missing" for _ in lacking[1:]]
    return tuple(entries), problems
