from __future__ import annotations

import pytest

from webnn.tflite.rules import advise


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("CUSTOM.FlexRFFT", "TFLITE_BUILTINS"),
        ("CUSTOM.Mine", "not a part of TFLite"),
        ("CUSTOM.TFLite_Detection_PostProcess", "cut the model before it"),
        ("RANDOM_UNIFORM", "give them as an input"),
        ("HASHTABLE_FIND", "look words up"),
        ("DELEGATE", ""),
    ],
)
def test_advice(key: str, words: str) -> None:
    assert words in advise(key)
    assert bool(words) == bool(advise(key))
