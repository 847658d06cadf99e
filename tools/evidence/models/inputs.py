"""Inputs that a model was made for, from a seed: a network answers noise with zeros, and any other network would, too."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tools.evidence.models.catalog import Input, Values
from webnn.demo import network

__all__ = ["make_inputs", "move"]

Array = np.ndarray[Any, np.dtype[Any]]
_RATE = 16000
#: The resonances of a mouth that says "a": frequency, width, strength.
_FORMANTS = ((700.0, 80.0, 1.0), (1200.0, 90.0, 0.5), (2600.0, 120.0, 0.25))


def make_inputs(inputs: Mapping[str, Input], seed: int) -> dict[str, Array]:
    """Return values for inputs, the same for the same seed and names."""
    return {name: _make(each, np.random.default_rng([seed + each.seed, *name.encode()])) for name, each in inputs.items()}


def move(rng: np.random.Generator, value: Array) -> Array:
    """Change each float of an array in the last bit, up or down."""
    if value.dtype.kind != "f":
        return value
    ends = np.where(rng.random(value.shape) < 0.5, -np.inf, np.inf).astype(value.dtype)
    return np.asarray(np.nextafter(value, ends), value.dtype)


def _make(input: Input, rng: np.random.Generator) -> Array:
    values = _VALUES[input.values](rng, input)
    return values.astype(input.dtype) if input.dtype else values


def _normal(rng: np.random.Generator, input: Input) -> Array:
    """Standard normal numbers, float32."""
    return rng.standard_normal(tuple(input.shape), np.float32)


def _integers(rng: np.random.Generator, input: Input) -> Array:
    """Numbers from 0 to below `below`, int32."""
    return rng.integers(0, input.below, tuple(input.shape), np.int32)


def _digits(rng: np.random.Generator, input: Input) -> Array:
    """Images of lines of handwritten digits, float32 [batch, channel, row, column], all channels equal."""
    images = network.load_digits().images
    batch, _, height, width = input.shape
    side = 8 * input.scale
    # A gap of one digit between two lines, and the same space above and below.
    lines = max(1, height // (2 * side))
    above = (height - side * (2 * lines - 1)) // 2
    ink = np.zeros((batch, 1, height, width), np.float32)
    for page in ink[:, 0]:
        for top in range(above, height - side + 1, 2 * side):
            for left in range((width % side) // 2, width - side + 1, side):
                page[top : top + side, left : left + side] = _enlarge(images[rng.integers(len(images))] / 16, input.scale)
    return np.ascontiguousarray(np.broadcast_to(input.paper + (input.ink - input.paper) * ink, tuple(input.shape)), np.float32)


def _enlarge(image: Array, scale: int) -> Array:
    """Enlarge an image by linear interpolation between the centres of the pixels."""
    count = len(image)
    places = np.clip((np.arange(count * scale) + 0.5) / scale - 0.5, 0, count - 1)
    weights = np.maximum(0, 1 - np.abs(places[:, np.newaxis] - np.arange(count)))
    return np.asarray(weights @ image @ weights.T)


def _voice(rng: np.random.Generator, input: Input) -> Array:
    """A vowel at 16 kHz with a pitch and a loudness that change, float32 up to 0.5 of the gain."""
    count = int(np.prod(input.shape))
    time = np.arange(count) / _RATE
    phase = 2 * np.pi * np.cumsum(125 * (1 + 0.03 * np.sin(2 * np.pi * 4 * time))) / _RATE
    sound = np.zeros(count)
    for harmonic in range(1, 30):
        strength = sum(each / (1 + ((125 * harmonic - center) / width) ** 2) for center, width, each in _FORMANTS)
        sound += strength * np.sin(harmonic * phase + rng.uniform(0, 2 * np.pi))
    sound *= 0.5 + 0.5 * np.sin(2 * np.pi * 3 * time) ** 2
    sound = 0.5 * sound / np.abs(sound).max() + 0.002 * rng.standard_normal(count)
    return np.asarray(input.gain * sound.reshape(tuple(input.shape)), np.float32)


def _mask(rng: np.random.Generator, input: Input) -> Array:
    """Ones, and zeros at the end of each row but the first: a batch of texts with several lengths, int32."""
    *rows, length = input.shape
    lengths = rng.integers(1, length, tuple(rows))
    lengths.flat[0] = length
    return np.asarray(np.arange(length) < lengths[..., np.newaxis], np.int32)


_VALUES: Mapping[Values, Callable[[np.random.Generator, Input], Array]] = {
    "normal": _normal,
    "integers": _integers,
    "digits": _digits,
    "voice": _voice,
    "mask": _mask,
}
