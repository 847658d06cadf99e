"""Operators without a rule: why, and what to change in the export of the model."""

from __future__ import annotations

from collections.abc import Mapping

from onnx import defs

from webnn.importing.values import Refused
from webnn.onnx.model import Source

__all__ = ["explain_missing"]

_GENERATION = "export the model that it calls for each token, and let the program choose the tokens"
_EXTENSION = "export the model without it, and do this before or behind the model"
_RANDOM = "make the random numbers an input of the model: the program draws them"

#: Operators that draw random numbers.
_RANDOM_OPERATORS = frozenset({"Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"})
#: Operators whose results have lengths that depend on the data.
_LENGTHS = frozenset({"NonMaxSuppression"})
#: The changes of an export that help, by the operator, or by the beginning of its name.
_ADVICE: Mapping[str, str] = {
    **dict.fromkeys([f"com.microsoft.{name}" for name in ("BeamSearch", "GreedySearch", "Sampling", "WhisperBeamSearch")], _GENERATION),
    **dict.fromkeys(
        ["com.microsoft.Tokenizer", "com.microsoft.WordConvEmbedding", "com.microsoft.extensions.", "ai.onnx.contrib."], _EXTENSION
    ),
    "com.microsoft.nchwc.": "save the model of ONNX Runtime with the optimizations of level 'extended' at most",
    "com.microsoft.": "save the model without the optimizations of ONNX Runtime, or those of level 'basic' only",
    "com.ms.internal.": "save the model without the optimizations of ONNX Runtime, or those of level 'basic' only",
    "ai.onnx.ml.": "export a network of tensors: trees, for example, with hummingbird-ml; of scikit-learn, without ZipMap and labels",
    "ai.onnx.training.": "export the model for inference",
    "ai.onnx.preview.training.": "export the model for inference",
    "org.pytorch.": "export the model with torch.onnx.export(..., dynamo=True), which has no operators of PyTorch's own",
    "pkg.onnxscript.": "export the model with its functions: they are a part of the file",
}
_SEQUENCES = ("Sequence", "Optional", "String", "ConcatFromSequence", "SplitToSequence", "RegexFullMatch")


def explain_missing(source: Source, *, isKnown: bool) -> Refused:
    """Return the refusal of an operator without a rule; ``isKnown`` tells that the installed onnx knows it."""
    operator, key = source.operator, source.key
    if key in _RANDOM_OPERATORS:
        return Refused("random numbers must not be drawn in a graph", _RANDOM, "it draws random numbers")
    if key in _LENGTHS:
        return Refused(f"{operator} gives a length that depends on data", _EXTENSION, "what must be known at import depends on data")
    reason = f"there is no rule for the operator {key}"
    if key.startswith(_SEQUENCES):
        return Refused(reason, "export the model with tensors of numbers in place of sequences, optional values and strings")
    advice = next((text for name, text in _ADVICE.items() if key == name or (name[-1] == "." and key.startswith(name))), "")
    if advice:
        return Refused(reason, advice)
    if isKnown:
        return Refused(reason, "export the model with other operators in its place, or cut it off")
    if not source.domain:
        newest = defs.onnx_opset_version()
        return Refused(reason, f"the name may be wrong; if it is newer than opset {newest}, update onnx or export with an older opset")
    return Refused(reason, f"export {operator} as a function of ONNX's own operators: the file has its body then")
