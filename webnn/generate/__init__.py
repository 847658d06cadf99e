"""Language models that generate text by the token, and a comparison with onnxruntime: `load`, ``webnn generate``."""

from __future__ import annotations

import os
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from webnn.commands.registry import Entry

if TYPE_CHECKING:
    from webnn.context.context import MLContext
    from webnn.generate.model import CacheChoice, LanguageModel

__all__ = ["COMMANDS", "load"]

#: The commands of this extra: an entry point.
COMMANDS: Mapping[str, Entry] = MappingProxyType(
    {"generate": Entry("webnn.generate.command", "Generate text with a language model, token by token.")}
)


def load(source: str | os.PathLike[str], context: MLContext, *, cache: CacheChoice = "auto") -> LanguageModel:
    """Load a language model of ONNX files for a context: a decoder with a cache or without one, or an encoder and a decoder.

    Args:
        source: A folder with ``model.onnx``, ``decoder.onnx``, ``decoder_model.onnx`` or one model alone, and perhaps ``encoder.onnx`` or
            ``encoder_model.onnx``, ``tokenizer.json``, ``config.json`` and ``generation_config.json``; or the file of a decoder. Inputs and
            outputs have the names of Hugging Face's Optimum: docs/generate.md.
        context: The context, of a draft with tensors.
        cache: How lengths become graphs. ``"growing"``: they have names, and one graph serves all; the context's draft must have names, as
            "2026-06+dynamic-shapes" has. ``"static"``: a cache has a capacity of 64, 128, 256, ... rows, and masks hide those that are
            not used; a model that has no masks gets a graph for each length. ``"auto"``: names where they work and lengths share a session,
            else static.

    Returns:
        The model, with the method ``generate``.

    Raises:
        UnsuitableModelError: The files are not such a model. A `ValueError` that names everything that is missing.
        FormatError: A file cannot be read as what it should be.
        TokenizersMissingError: There is a tokenizer, and the package `tokenizers` is not installed. An `ImportError`.
        NotSupportedError: `cache` is ``"growing"``, and lengths cannot have names.
        RefusedModelError: Likewise, and the import needs a number.
        OSError: A file cannot be read.
        ValueError: `cache` has another value, or the context's draft has no tensors.
    """
    # Imported lazily: the list of commands needs none of it.
    from webnn.generate import model  # noqa: PLC0415

    return model.load(source, context, cache)
