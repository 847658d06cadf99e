"""The models, in JAX and Flax: small ones, whose exports are in the repository, and the same in their real sizes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from tools.evidence.jax_models import fables

__all__ = ["MODELS", "SNIPPETS", "Model"]

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True, slots=True)
class Model:
    """A function with arguments for it."""

    function: Callable[..., Any]
    arguments: tuple[Array, ...]


class Mlp(nn.Module):
    """Dense layers with GELU, and the logarithm of a softmax."""

    sizes: Sequence[int]

    @nn.compact
    def __call__(self, x: Any) -> Any:
        for size in self.sizes[:-1]:
            x = nn.gelu(nn.Dense(size)(x))
        return nn.log_softmax(nn.Dense(self.sizes[-1])(x))


class Cnn(nn.Module):
    """Convolutions with max and average pooling."""

    width: int

    @nn.compact
    def __call__(self, x: Any) -> Any:
        x = nn.max_pool(nn.relu(nn.Conv(self.width, (3, 3))(x)), (2, 2), (2, 2))
        x = nn.avg_pool(nn.relu(nn.Conv(2 * self.width, (3, 3), padding="VALID")(x)), (2, 2), (2, 2))
        x = nn.relu(nn.Dense(4 * self.width)(x.reshape((x.shape[0], -1))))
        return nn.softmax(nn.Dense(10)(x))


class ResidualBlock(nn.Module):
    """Two convolutions beside a shortcut."""

    width: int
    stride: int

    @nn.compact
    def __call__(self, x: Any) -> Any:
        norm: Callable[[], Any] = lambda: nn.BatchNorm(use_running_average=True)  # noqa: E731 (one for each layer)
        y = nn.relu(norm()(nn.Conv(self.width, (3, 3), (self.stride, self.stride), use_bias=False)(x)))
        y = norm()(nn.Conv(self.width, (3, 3), use_bias=False)(y))
        if x.shape != y.shape:
            x = norm()(nn.Conv(self.width, (1, 1), (self.stride, self.stride), use_bias=False)(x))
        return nn.relu(x + y)


class ResNet18(nn.Module):
    """ResNet-18, of any width."""

    width: int
    classes: int

    @nn.compact
    def __call__(self, x: Any) -> Any:
        x = nn.Conv(self.width, (7, 7), (2, 2), use_bias=False)(x)
        x = nn.max_pool(nn.relu(nn.BatchNorm(use_running_average=True)(x)), (3, 3), (2, 2), "SAME")
        for stage in range(4):
            for block in range(2):
                x = ResidualBlock(self.width << stage, 2 if stage and not block else 1)(x)
        return nn.softmax(nn.Dense(self.classes)(x.mean((1, 2))))


class Block(nn.Module):
    """A transformer block with a causal mask and the GELU of the error function."""

    width: int
    heads: int

    @nn.compact
    def __call__(self, x: Any) -> Any:
        y = nn.LayerNorm()(x)
        x = x + nn.MultiHeadDotProductAttention(self.heads)(y, y, mask=nn.make_causal_mask(jnp.ones(x.shape[:2])))
        y = nn.gelu(nn.Dense(4 * self.width)(nn.LayerNorm()(x)), approximate=False)
        return x + nn.Dense(self.width)(y)


class Gpt(nn.Module):
    """A decoder over tokens."""

    words: int
    width: int
    heads: int
    blocks: int = 4

    @nn.compact
    def __call__(self, tokens: Any) -> Any:
        length = tokens.shape[1]
        x = nn.Embed(self.words, self.width)(tokens) + nn.Embed(64, self.width)(jnp.arange(length))
        for _ in range(self.blocks):
            x = Block(self.width, self.heads)(x)
        return nn.Dense(self.words)(nn.LayerNorm()(x))


class Lstm(nn.Module):
    """An LSTM by `lax.scan`, and a dense layer."""

    width: int

    @nn.compact
    def __call__(self, x: Any) -> Any:
        return nn.Dense(5)(nn.RNN(nn.OptimizedLSTMCell(self.width))(x))


def _floats(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def _tokens(words: int, length: int) -> Array:
    return np.random.default_rng(0).integers(0, words, (1, length)).astype(np.int32)


def _bind(module: nn.Module, x: Array) -> Model:
    """Return a module with weights from a seed."""
    # A jitted function, because a module makes its weights one by one otherwise.
    variables = jax.jit(module.init)(jax.random.key(0), x)
    return Model(lambda x: module.apply(variables, x), (x,))


def _make_fables() -> Model:
    """Return a GPT that has learned fables, with the beginning of one."""
    module = Gpt(fables.LETTERS, 48, 4, blocks=3)
    weights = fables.train(module)
    tokens = np.zeros((1, fables.CONTEXT), np.int32)
    beginning = fables.encode("A fox saw some grapes")
    tokens[0, : len(beginning)] = beginning
    return Model(lambda tokens: {"scores": module.apply(weights, tokens)}, (tokens,))


#: Functions that make the models. The exports of the small ones are in the repository.
MODELS: Mapping[str, Callable[[], Model]] = MappingProxyType(
    {
        "mlp": lambda: _bind(Mlp((32, 16, 10)), _floats(4, 24)),
        "cnn": lambda: _bind(Cnn(4), _floats(2, 12, 12, 3)),
        "resnet18-narrow": lambda: _bind(ResNet18(4, 10), _floats(1, 64, 64, 3)),
        "gpt-narrow": lambda: _bind(Gpt(40, 16, 4), _tokens(40, 12)),
        "lstm-20": lambda: _bind(Lstm(8), _floats(2, 20, 6)),
        "lstm-200": lambda: _bind(Lstm(8), _floats(2, 200, 6)),
        "gpt-fables": _make_fables,
        "mlp-real": lambda: _bind(Mlp((256, 128, 10)), _floats(8, 64)),
        "cnn-real": lambda: _bind(Cnn(32), _floats(8, 28, 28, 1)),
        "resnet18-real": lambda: _bind(ResNet18(64, 1000), _floats(1, 224, 224, 3)),
        "gpt-real": lambda: _bind(Gpt(1000, 128, 8), _tokens(1000, 64)),
        "lstm-20-real": lambda: _bind(Lstm(64), _floats(2, 20, 16)),
        "lstm-200-real": lambda: _bind(Lstm(64), _floats(2, 200, 16)),
    }
)

_W = _floats(8, 8, seed=1)


def _recurrent(x: Any) -> Any:
    def step(state: Any, row: Any) -> Any:
        state = jnp.tanh(row + state @ _W)
        return state, state

    return lax.scan(step, jnp.zeros((2, 8)), x)[1]


def _loss(kernel: Any, x: Any) -> Any:
    y = jax.nn.relu(lax.conv_general_dilated(x, kernel, (1, 1), "SAME"))
    y = lax.reduce_window(y, -jnp.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")
    return jnp.sum(y**2)


def _dropout(x: Any) -> Any:
    return jnp.where(jax.random.bernoulli(jax.random.key(0), 0.9, x.shape), x / 0.9, 0.0)


def _solve(a: Any, b: Any) -> Any:
    return jax.scipy.linalg.solve_triangular(jnp.tril(a) + 4 * jnp.eye(4), b, lower=True)


def _integers(a: Any) -> Any:
    return a // 3, a % 3, a << 2, a >> 1, a ^ 5, ~a


_I4 = np.array([1, 4, 0], np.int32)

#: Short functions of what programs do beside the usual layers, with their arguments.
SNIPPETS: Mapping[str, Model] = MappingProxyType(
    {
        "scan": Model(_recurrent, (_floats(5, 2, 8),)),
        "kv cache": Model(
            lambda c, x, at: lax.dynamic_update_slice(c, x, (0, at, 0)), (_floats(2, 6, 4), _floats(2, 1, 4), np.array(3, np.int32))
        ),
        "dropout, constant key": Model(_dropout, (_floats(3, 4),)),
        "sort, argsort": Model(lambda x: (jnp.sort(x, -1), jnp.argsort(x, -1)), (_floats(3, 9),)),
        "top_k": Model(lambda x: lax.top_k(x, 3), (_floats(2, 9),)),
        "argmax, argmin": Model(lambda x: (jnp.argmax(x, 1), jnp.argmin(x, 0)), (_floats(3, 5),)),
        "cumsum": Model(lambda x: jnp.cumsum(x, 1), (_floats(3, 7),)),
        "conv_transpose": Model(lambda x: lax.conv_transpose(x, _floats(3, 3, 2, 4, seed=2), (2, 2), "SAME"), (_floats(1, 5, 5, 2),)),
        "conv3d": Model(
            lambda x: lax.conv_general_dilated(x, _floats(3, 2, 2, 2, 2, seed=2), (1, 1, 1), "VALID"), (_floats(1, 2, 4, 4, 4),)
        ),
        "conv1d, dilated": Model(
            lambda x: lax.conv_general_dilated(x, _floats(3, 2, 3, seed=2), (1,), ((2, 1),), rhs_dilation=(2,)), (_floats(1, 2, 9),)
        ),
        "resize": Model(lambda x: jax.image.resize(x, (1, 8, 8, 2), "bilinear"), (_floats(1, 4, 4, 2),)),
        "one_hot": Model(lambda i: jax.nn.one_hot(i, 5), (_I4,)),
        "scatter, set": Model(lambda x, i: x.at[i].set(1.0), (_floats(6, 2), _I4)),
        "scatter, add to one place": Model(lambda x, i: x.at[i].add(1.0), (_floats(6, 2), np.array([1, 1, 4], np.int32))),
        "take, out of range": Model(lambda x, i: jnp.take(x, i, axis=0), (_floats(6, 2), np.array([1, 9, -1], np.int32))),
        "gradient": Model(jax.grad(_loss), (_floats(2, 1, 3, 3), _floats(1, 1, 6, 6, seed=3))),
        "normalization": Model(lambda x: (x - x.mean(0)) / jnp.sqrt(x.var(0) + 1e-5), (_floats(8, 4),)),
        "cond": Model(lambda p, x: lax.cond(p, lambda y: y * 2, lambda y: y - 1, x), (np.array(True), _floats(3))),
        "switch": Model(lambda i, x: lax.switch(i, [lambda y: y, lambda y: y * 2, lambda y: -y], x), (np.array(2, np.int32), _floats(3))),
        "einsum": Model(lambda a, b: jnp.einsum("bij,bkj->ikb", a, b), (_floats(2, 3, 4), _floats(2, 5, 4, seed=4))),
        "solve_triangular": Model(_solve, (_floats(4, 4), _floats(4, 2, seed=5))),
        "float16": Model(lambda x: (x.astype(jnp.float16) @ _W.astype(jnp.float16)).astype(jnp.float32), (_floats(2, 8),)),
        "int8": Model(
            lambda a, b: lax.dot_general(a, b, (((1,), (0,)), ((), ())), preferred_element_type=jnp.int32),
            ((9 * _floats(3, 4)).astype(np.int8), (9 * _floats(4, 2, seed=6)).astype(np.int8)),
        ),
        "attention": Model(lambda q: jax.nn.dot_product_attention(q, q, q, is_causal=True), (_floats(1, 6, 2, 4),)),
        "logsumexp": Model(lambda x: jax.nn.logsumexp(x, -1), (_floats(3, 5),)),
        "erfinv": Model(jax.scipy.special.erfinv, (0.2 * _floats(5),)),
        "fori_loop": Model(lambda x: lax.fori_loop(0, 4, lambda i, c: c * 1.5 + i, x), (_floats(3),)),
        "integers": Model(_integers, (np.arange(-5, 6, dtype=np.int32),)),
        "activations": Model(
            lambda x: (jax.nn.silu(x), jax.nn.elu(x), jax.nn.softplus(x), jax.nn.hard_swish(x), jax.nn.mish(x)), (_floats(9),)
        ),
        "cholesky": Model(lambda x: jnp.linalg.cholesky(x @ x.T + 5 * jnp.eye(4)), (_floats(4, 4),)),
        # WebNN cannot express these.
        "while, data": Model(lambda x: lax.while_loop(lambda c: jnp.sum(c) < 100.0, lambda c: c * 2.0, x), (np.abs(_floats(4)) + 1,)),
        "random, key at run time": Model(
            lambda x, k: x + jax.random.normal(jax.random.wrap_key_data(k), x.shape), (_floats(3, 4), np.array([0, 7], np.uint32))
        ),
        "fft": Model(lambda x: jnp.abs(jnp.fft.rfft(x)), (_floats(8),)),
        "bfloat16": Model(lambda x: (x.astype(jnp.bfloat16) @ _W.astype(jnp.bfloat16)).astype(jnp.float32), (_floats(2, 8),)),
    }
)
