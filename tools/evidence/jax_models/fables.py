"""A small GPT that has learned short fables by heart, letter by letter: it makes text that a person can read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import linen as nn

__all__ = ["CONTEXT", "LETTERS", "encode", "train"]

Array = np.ndarray[Any, np.dtype[Any]]

_TEXT = Path(__file__).resolve().parents[3] / "examples" / "jax" / "fables.txt"
#: How many letters the model sees.
CONTEXT = 64
#: The tokens: the printable characters of ASCII, from the space on.
LETTERS = 95
_SPACE = 32
_BATCH, _STEPS, _RATE = 32, 800, 3e-3


def encode(text: str) -> Array:
    """Return the tokens of a text of printable ASCII characters, int32."""
    return np.frombuffer(text.encode("ascii"), np.uint8).astype(np.int32) - _SPACE


def train(module: nn.Module, *, seed: int = 0) -> Any:
    """Return the weights of a module that says which letter of the fables follows; it takes about a minute.

    Args:
        module: From tokens [batch, `CONTEXT`] to scores [batch, `CONTEXT`, `LETTERS`].
        seed: The seed of the first weights and of the order. On one machine the same seed and versions give the same weights.
    """
    text = " ".join(_TEXT.read_text(encoding="ascii").split()) + " "
    # The last fable leads to the first one.
    tokens = encode(text + text[:CONTEXT])
    windows = np.lib.stride_tricks.sliding_window_view(tokens, CONTEXT + 1)
    optimizer = optax.adam(optax.cosine_decay_schedule(_RATE, _STEPS))

    def loss(weights: Any, batch: Any) -> Any:
        scores = module.apply(weights, batch[:, :-1])
        return optax.softmax_cross_entropy_with_integer_labels(scores, batch[:, 1:]).mean()

    def step(weights: Any, state: Any, batch: Any) -> Any:
        gradient = jax.grad(loss)(weights, batch)
        change, state = optimizer.update(gradient, state, weights)
        return optax.apply_updates(weights, change), state

    fit = jax.jit(step)
    weights = jax.jit(module.init)(jax.random.key(seed), jnp.asarray(windows[:1, :-1]))
    state = optimizer.init(weights)
    rng = np.random.default_rng(seed)
    for _ in range(_STEPS):
        weights, state = fit(weights, state, windows[rng.integers(0, len(windows), _BATCH)])
    return weights
