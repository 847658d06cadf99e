"""Advice for operators without a rule."""

from __future__ import annotations

__all__ = ["advise"]

_RANDOM = ("RANDOM_STANDARD_NORMAL", "RANDOM_UNIFORM", "MULTINOMIAL", "STABLEHLO_RNG_BIT_GENERATOR")
_ADVICE = {
    **dict.fromkeys(_RANDOM, "WebNN has no random numbers: make them outside of the model, and give them as an input"),
    **dict.fromkeys(
        ("HASHTABLE", "HASHTABLE_FIND", "HASHTABLE_IMPORT", "HASHTABLE_LOOKUP", "HASHTABLE_SIZE", "SKIP_GRAM", "LSH_PROJECTION"),
        "WebNN has no tables and no strings: look words up outside of the model",
    ),
    **dict.fromkeys(
        ("NON_MAX_SUPPRESSION_V4", "NON_MAX_SUPPRESSION_V5", "CUSTOM.TFLite_Detection_PostProcess", "UNIQUE", "WHERE"),
        "the size of its result depends on data: cut the model before it, and do this step outside",
    ),
    **dict.fromkeys(("IMAG", "REAL", "COMPLEX_ABS", "RFFT2D"), "WebNN has no complex numbers: export the transform as matrix products"),
}


def advise(key: str) -> str:
    """Return what helps against the refusal of an operator; empty if nothing is known."""
    if key.startswith("CUSTOM.Flex"):
        return "it is one of TensorFlow's own: convert the model with TFLITE_BUILTINS only"
    if key.startswith("CUSTOM.") and key not in _ADVICE:
        return "it is not a part of TFLite: replace it with operators of TFLite, or do this step outside of the model"
    return _ADVICE.get(key, "")
