"""Modules of PyTorch with seeded weights, and inputs for them: what people export."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 (its usual name)

__all__ = ["MODELS", "Model"]


@dataclass(frozen=True)
class Model:
    """A module with its arguments.

    Attributes:
        dims: The sizes of dimensions with names, which ``dynamic_shapes`` leaves open.
        refused: A part of the reason for which it must be refused; empty if it must be imported.
    """

    module: nn.Module
    args: tuple[Any, ...]
    dynamic_shapes: Any = None
    dims: Mapping[str, int] = field(default_factory=dict)
    refused: str = ""


class _Call(nn.Module):
    """A function as a module, with submodules."""

    def __init__(self, function: Callable[..., Any], **modules: nn.Module) -> None:
        super().__init__()
        for name, module in modules.items():
            self.add_module(name, module)
        self._function = function

    def forward(self, *args: Any) -> Any:
        return self._function(self, *args)


def _conv(inputs: int, outputs: int, size: int = 3, stride: int = 1, groups: int = 1, act: nn.Module | None = None) -> nn.Sequential:
    layers = [nn.Conv2d(inputs, outputs, size, stride, size // 2, groups=groups, bias=False), nn.BatchNorm2d(outputs)]
    return nn.Sequential(*layers, *([act] if act is not None else []))


class _Bottleneck(nn.Module):
    """An inverted residual block with squeeze and excitation, of MobileNetV3."""

    def __init__(self, inputs: int, hidden: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.expand = _conv(inputs, hidden, 1, act=nn.Hardswish())
        self.depthwise = _conv(hidden, hidden, 3, stride, groups=hidden, act=nn.Hardswish())
        self.squeeze = nn.Sequential(
            nn.AdaptiveAvgPool2d(1), nn.Conv2d(hidden, hidden // 4, 1), nn.ReLU(), nn.Conv2d(hidden // 4, hidden, 1), nn.Hardsigmoid()
        )
        self.project = _conv(hidden, outputs, 1)
        self.skips = stride == 1 and inputs == outputs

    def forward(self, x: Tensor) -> Tensor:
        y = self.depthwise(self.expand(x))
        y = self.project(y * self.squeeze(y))
        return x + y if self.skips else y


class _Residual(nn.Module):
    """A basic block of ResNet18."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.one, self.two = _conv(inputs, outputs, 3, stride, act=nn.ReLU()), _conv(outputs, outputs)
        self.down = _conv(inputs, outputs, 1, stride) if stride > 1 or inputs != outputs else nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        return F.relu(self.two(self.one(x)) + self.down(x))


def _resnet18(width: int = 64) -> nn.Module:
    layers: list[nn.Module] = [_conv(3, width, 7, 2, act=nn.ReLU()), nn.MaxPool2d(3, 2, 1)]
    sizes = [width, width, 2 * width, 4 * width, 8 * width]
    for index, (inputs, outputs) in enumerate(itertools.pairwise(sizes)):
        layers += [_Residual(inputs, outputs, 2 if index else 1), _Residual(outputs, outputs, 1)]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(sizes[-1], 10))


class _UNet(nn.Module):
    """One level of a U-Net: down, up by a transposed convolution and by interpolation, and the skips."""

    def __init__(self) -> None:
        super().__init__()
        self.down = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.GroupNorm(2, 8), nn.SiLU())
        self.middle = nn.Sequential(
            nn.AvgPool2d(2), nn.Conv2d(8, 16, 3, padding=1, padding_mode="reflect"), nn.InstanceNorm2d(16), nn.GELU()
        )
        self.up = nn.ConvTranspose2d(16, 8, 3, 2, 1, output_padding=1)
        self.out = nn.Conv2d(24, 1, 1)

    def forward(self, x: Tensor) -> Tensor:
        down = self.down(x)
        middle = self.middle(down)
        smooth = F.interpolate(middle[:, :8], scale_factor=2, mode="bilinear", align_corners=False)
        near = F.interpolate(middle[:, 8:], size=down.shape[-2:], mode="nearest")
        return torch.sigmoid(self.out(torch.cat([down + smooth, self.up(middle), near], 1)))


class _Attention(nn.Module):
    """Causal attention of several heads, with a cache of keys and values."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x: Tensor, past: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        batch, length, width = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        if past is not None:
            k, v = torch.cat([past[0], k], 2), torch.cat([past[1], v], 2)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=past is None)
        return self.out(y.transpose(1, 2).reshape(batch, length, width)), (k, v)


class _Block(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = _Attention(width, heads)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU("tanh"), nn.Linear(4 * width, width))

    def forward(self, x: Tensor, past: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        y, present = self.attention(self.norm1(x), past)
        x = x + y
        return x + self.mlp(self.norm2(x)), present


class _GPT(nn.Module):
    """A small GPT: tied weights; with ``past``, one step behind a cache of keys and values."""

    def __init__(self, tokens: int = 50, width: int = 32, heads: int = 4, layers: int = 2) -> None:
        super().__init__()
        self.tokens, self.positions = nn.Embedding(tokens, width), nn.Embedding(64, width)
        self.layers = nn.ModuleList([_Block(width, heads) for _ in range(layers)])
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, tokens, bias=False)
        self.head.weight = self.tokens.weight

    def forward(self, ids: Tensor, past: list[tuple[Tensor, Tensor]] | None = None) -> tuple[Tensor, list[tuple[Tensor, Tensor]]]:
        begin = 0 if past is None else past[0][0].shape[2]
        x = self.tokens(ids) + self.positions(torch.arange(begin, begin + ids.shape[1]))
        presents = []
        for index, layer in enumerate(self.layers):
            x, present = layer(x, None if past is None else past[index])
            presents.append(present)
        return self.head(self.norm(x)), presents


class _ViT(nn.Module):
    """A Vision Transformer with PyTorch's own encoder layers."""

    def __init__(self, width: int = 32) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, width, 8, 8)
        self.token = nn.Parameter(torch.randn(1, 1, width))
        self.places = nn.Parameter(torch.randn(1, 17, width))
        layer = nn.TransformerEncoderLayer(width, 4, 64, activation="gelu", batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(width, 10)

    def forward(self, image: Tensor) -> Tensor:
        patches = self.patches(image).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(image.shape[0], -1, -1), patches], 1) + self.places
        return self.head(self.encoder(x)[:, 0])


def _sdpa(self: Any, q: Tensor, k: Tensor, v: Tensor, mask: Tensor, bias: Tensor) -> tuple[Tensor, ...]:
    attend = F.scaled_dot_product_attention
    return attend(q, k, v), attend(q, k, v, is_causal=True), attend(q, k, v, mask), attend(q, k, v, bias, scale=0.3)


def _tied(self: Any, ids: Tensor) -> Tensor:
    return F.linear(self.embed(ids).mean(1), self.embed.weight)


def _rotary(self: Any, q: Tensor, places: Tensor) -> Tensor:
    angles = places[:, :, None].float() / 10000 ** (torch.arange(0, q.shape[-1], 2) / q.shape[-1])
    one, two = q[..., ::2], q[..., 1::2]
    cos, sin = angles.cos()[:, None], angles.sin()[:, None]
    return torch.stack([one * cos - two * sin, one * sin + two * cos], -1).flatten(-2)


def _shapes(self: Any, x: Tensor) -> tuple[Tensor, ...]:
    chunks = x.chunk(2, 1)
    return (
        x.unfold(2, 3, 2).sum(-1),
        torch.roll(x, 1, 2) + x.flip(1),
        F.pad(x, (1, 2), mode="replicate"),
        torch.einsum("bij,bkj->bik", x, x).softmax(-1),
        x.masked_fill(x < 0, -1.0).cumsum(1),
        torch.where(chunks[0] > chunks[1], chunks[0], chunks[1]).amax((1, 2)),
        x.topk(2, -1).values,
        x.sort(-1, descending=True).values,
        torch.triu(x) + torch.tril(x, -1),
        F.normalize(x, dim=-1).std(-1),
    )


def _pixels(self: Any, x: Tensor) -> tuple[Tensor, ...]:
    grid = F.affine_grid(torch.tensor([[[0.9, 0.1, 0.0], [-0.1, 0.9, 0.1]]]).expand(x.shape[0], -1, -1), list(x.shape), align_corners=False)
    return (
        F.pixel_shuffle(x, 2),
        F.unfold(x, 3, padding=1),
        F.adaptive_avg_pool2d(x, (3, 5)),
        F.max_pool2d(x, 3, 2, ceil_mode=True),
        F.interpolate(x, scale_factor=1.5, mode="bicubic", align_corners=True),
        F.grid_sample(x, grid, align_corners=False),
        F.local_response_norm(x, 3),
    )


def _numbers(self: Any, x: Tensor, n: Tensor) -> tuple[Tensor, ...]:
    return (
        torch.atan2(x, x + 2) + torch.erf(x) + torch.expm1(x) + torch.log1p(x.abs()) + torch.fmod(x, 0.7),
        F.softplus(x) + F.mish(x) + F.elu(x) + F.selu(x) + F.logsigmoid(x) + F.hardtanh(x),
        n // 3 + n % 3 + (n << 1) + n.clamp(-2, 3),
        torch.bucketize(x, torch.tensor([-1.0, 0.0, 1.0])),
        F.one_hot(n.abs() % 4, 4) + (n.unsqueeze(-1) > 0),
        torch.gather(x, 1, n.abs() % 3) + torch.scatter(torch.zeros_like(x), 1, n.abs() % 3, x),
        torch.index_select(x, 1, torch.tensor([2, 0])),
        x.logsumexp(1) + x.prod(1) + x.norm(dim=1),
        torch.linspace(0, 1, 5) + torch.nan_to_num(x[:, :1] / 0),
    )


def _branch(self: Any, x: Tensor) -> Tensor:
    return torch.cond(x.sum() > 0, lambda each: each * 2, lambda each: each - 1, (x,))


def _seeded(make: Callable[[], Model]) -> Callable[[], Model]:
    def seeded() -> Model:
        torch.manual_seed(0)
        model = make()
        # Statistics as if it were trained: the initial ones change nothing.
        for module in model.module.modules():
            if isinstance(module, nn.BatchNorm2d):
                nn.init.normal_(module.running_mean, std=0.1)
                nn.init.uniform_(module.running_var, 0.5, 2)
        model.module.eval()
        return model

    return seeded


def _recurrent(module: nn.Module) -> nn.Module:
    return _Call(lambda self, x: self.rnn(x)[0], rnn=module)


def _cache(length: int) -> list[tuple[Tensor, Tensor]]:
    return [(torch.randn(1, 4, length, 8), torch.randn(1, 4, length, 8)) for _ in range(2)]


def _padding(length: int) -> Tensor:
    return torch.arange(length) >= torch.tensor([[length], [length - 2]])


def _encoder(**options: Any) -> nn.Module:
    return nn.TransformerEncoderLayer(16, 4, 32, batch_first=True, **options)


_BATCH, _LENGTH, _PAST = torch.export.Dim("batch", max=64), torch.export.Dim("length", min=2, max=64), torch.export.Dim("past", max=64)

MODELS: Mapping[str, Callable[[], Model]] = MappingProxyType(
    {
        name: _seeded(make)
        for name, make in {
            "mlp": lambda: Model(nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4), nn.Softmax(-1)), (torch.randn(2, 8),)),
            "cnn": lambda: Model(
                nn.Sequential(
                    _conv(1, 8, act=nn.ReLU()), nn.MaxPool2d(2), _conv(8, 16, act=nn.LeakyReLU(0.1)), nn.Flatten(), nn.Linear(256, 10)
                ),
                (torch.randn(2, 1, 8, 8),),
            ),
            "mobilenet": lambda: Model(
                nn.Sequential(
                    _conv(3, 16, 3, 2, act=nn.Hardswish()),
                    _Bottleneck(16, 32, 16, 1),
                    _Bottleneck(16, 48, 24, 2),
                    nn.AdaptiveAvgPool2d(1),
                    nn.Flatten(),
                    nn.Linear(24, 10),
                ),
                (torch.randn(1, 3, 32, 32),),
            ),
            "resnet18": lambda: Model(_resnet18(), (torch.randn(1, 3, 64, 64),)),
            "unet": lambda: Model(_UNet(), (torch.randn(1, 3, 16, 16),)),
            "vit": lambda: Model(_ViT(), (torch.randn(2, 3, 32, 32),)),
            "lstm": lambda: Model(_recurrent(nn.LSTM(8, 6, 2, batch_first=True, bidirectional=True)), (torch.randn(2, 5, 8),)),
            "lstm-state": lambda: Model(nn.LSTM(8, 6, proj_size=0), (torch.randn(5, 2, 8), (torch.randn(1, 2, 6), torch.randn(1, 2, 6)))),
            "gru": lambda: Model(_recurrent(nn.GRU(8, 6, 2)), (torch.randn(5, 2, 8),)),
            "rnn": lambda: Model(_recurrent(nn.RNN(8, 6)), (torch.randn(5, 2, 8),)),
            "encoder-layer": lambda: Model(_encoder(), (torch.randn(2, 5, 16),)),
            "encoder-layer-padded": lambda: Model(
                _Call(lambda self, x, mask: self.layer(x, src_key_padding_mask=mask), layer=_encoder(norm_first=True)),
                (torch.randn(2, 5, 16), _padding(5)),
            ),
            "decoder-layer": lambda: Model(
                _Call(
                    lambda self, x, memory: self.layer(x, memory, nn.Transformer.generate_square_subsequent_mask(4), tgt_is_causal=True),
                    layer=nn.TransformerDecoderLayer(16, 4, 32, batch_first=True),
                ),
                (torch.randn(2, 4, 16), torch.randn(2, 5, 16)),
            ),
            "multihead-attention": lambda: Model(
                _Call(
                    lambda self, x, mask: self.attention(x, x, x, key_padding_mask=mask),
                    attention=nn.MultiheadAttention(16, 4, batch_first=True),
                ),
                (torch.randn(2, 5, 16), _padding(5)),
            ),
            "sdpa": lambda: Model(
                _Call(_sdpa), (*(torch.randn(2, 4, 5, 8) for _ in range(3)), torch.rand(5, 5) > 0.2, torch.randn(2, 1, 5, 5))
            ),
            "tied-embedding": lambda: Model(_Call(_tied, embed=nn.Embedding(20, 8)), (torch.randint(20, (2, 5)),)),
            "rotary": lambda: Model(_Call(_rotary), (torch.randn(2, 4, 5, 8), torch.arange(10).view(2, 5))),
            "gpt": lambda: Model(_GPT(), (torch.randint(50, (1, 7)),)),
            "gpt-cached": lambda: Model(_GPT(), (torch.randint(50, (1, 1)), _cache(7))),
            "mlp-dynamic": lambda: Model(
                nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 4)), (torch.randn(3, 8),), ({0: _BATCH},), {"batch": 3}
            ),
            "encoder-dynamic": lambda: Model(_encoder(), (torch.randn(2, 5, 16),), ({0: _BATCH, 1: _LENGTH},), {"batch": 2, "length": 5}),
            "gpt-dynamic": lambda: Model(_GPT(), (torch.randint(50, (2, 7)),), ({0: _BATCH, 1: _LENGTH},), {"batch": 2, "length": 7}),
            "gpt-cached-dynamic": lambda: Model(
                _GPT(), (torch.randint(50, (1, 1)), _cache(7)), (None, [({2: _PAST}, {2: _PAST})] * 2), {"past": 7}
            ),
            "conv1d": lambda: Model(
                nn.Sequential(nn.Conv1d(4, 8, 3, padding="same", dilation=2), nn.PReLU(), nn.ConvTranspose1d(8, 4, 4, 2, 1)),
                (torch.randn(2, 4, 9),),
            ),
            "shapes": lambda: Model(_Call(_shapes), (torch.randn(2, 4, 7),)),
            "pixels": lambda: Model(_Call(_pixels), (torch.randn(1, 4, 6, 6),)),
            "numbers": lambda: Model(_Call(_numbers), (torch.randn(2, 3), torch.tensor([[-4, 0, 3], [7, -1, 2]]))),
            "cond": lambda: Model(_Call(_branch), (torch.randn(2, 3),)),
            "half": lambda: Model(nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4)).half(), (torch.randn(2, 8).half(),)),
            "nonzero": lambda: Model(
                nn.Sequential(nn.Linear(3, 4), _Call(lambda self, x: x.nonzero())),
                (torch.randn(2, 3),),
                refused="1/node_NonZero_0 (models.py:",
            ),
            "random": lambda: Model(_Call(lambda self, x: x + torch.rand_like(x)), (torch.randn(2, 3),), refused="RandomUniformLike"),
        }.items()
    }
)
