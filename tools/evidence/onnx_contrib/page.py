"""The table of ONNX Runtime's own operators in docs/onnx.md: which programs write them, and which are imported."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import onnxruntime
from onnxruntime.capi import onnxruntime_pybind11_state as engine

from tools.evidence.onnx_contrib.kinds import KINDS
from tools.written import fill
from webnn.onnx.rules import RULES

__all__ = ["PAGE", "WRITERS", "page"]

PAGE = Path(__file__).resolve().parents[3] / "docs" / "onnx.md"
_DOMAIN = "com.microsoft"

_ATTENTION = ("Attention", "MultiHeadAttention", "GroupQueryAttention", "RotaryEmbedding")
_NORMS = ("SkipLayerNormalization", "SkipSimplifiedLayerNormalization")
_QLINEAR = ("Add", "AveragePool", "Concat", "GlobalAveragePool", "LeakyRelu", "Mul", "Sigmoid", "Softmax", "Where")
_GENERATION = ("BeamSearch", "GreedySearch", "Sampling")
#: The operators that each program writes, by its name. Read from the Python packages of onnxruntime 1.32.0, from its C++ transformers, and
#: from the builder of onnxruntime-genai at a0c04eb1.
WRITERS: dict[str, frozenset[str]] = {
    "quantizer": frozenset(
        {
            *(f"QLinear{name}" for name in _QLINEAR),
            *("DequantizeLinear", "QuantizeLinear", "QGemm", "QAttention", "QEmbedLayerNormalization", "DynamicQuantizeLSTM"),
            *("MatMulNBits", "MatMulBnb4", "GatherBlockQuantized"),
        }
    ),
    "optimizer": frozenset(
        {
            *(f"QLinear{name}" for name in (*_QLINEAR, "Conv")),
            *(*_ATTENTION, *_NORMS, *_GENERATION, "DecoderMaskedMultiHeadAttention", "PackedAttention", "PackedMultiHeadAttention"),
            *("DecoderMaskedSelfAttention", "RelativePositionBias", "GatedRelativePositionBias", "RemovePadding", "RestorePadding"),
            *("EmbedLayerNormalization", "Gelu", "FastGelu", "BiasGelu", "QuickGelu", "GemmFastGelu", "BiasAdd", "BiasSplitGelu"),
            *("BiasSoftmax", "GroupNorm", "SkipGroupNorm", "NhwcConv", "NhwcMaxPool", "FusedConv", "FusedGemm", "FusedMatMul"),
            *("DynamicQuantizeMatMul", "MatMulIntegerToFloat", "MatMulNBits", "QGemm"),
            *(f"QOrdered{name}" for name in ("Attention", "Gelu", "LayerNormalization", "MatMul")),
        }
    ),
    "GenAI": frozenset(
        {
            *(*_ATTENTION, *_NORMS, "SparseAttention", "PagedAttention", "LinearAttention", "LinearAttentionGate", "CausalConvWithState"),
            *("GatedAdd", "GatedRMSNorm", "FastGelu", "QuickGelu", "MatMulNBits", "GatherBlockQuantized", "MoE", "QMoE"),
            *("MatMulBlockQuantizedFp4Weight", "MatMulBlockQuantizedFp8Weight"),
        }
    ),
}


def page() -> str:
    """Return the page, with the text that is written by hand."""
    return fill(PAGE, "tools.evidence.onnx_contrib", "".join(f"{line}\n" for line in _table()))


def _table() -> Iterator[str]:
    kernels = {each.op_name for each in engine.get_all_opkernel_def() if each.domain == _DOMAIN and each.provider == "CPUExecutionProvider"}
    rules = {name.removeprefix(f"{_DOMAIN}.") for name in RULES if name.startswith(f"{_DOMAIN}.")}
    written = frozenset().union(*WRITERS.values())
    both = written & kernels
    missing = sorted(both - rules)
    yield ""
    yield (
        f"The CPU of onnxruntime {onnxruntime.__version__} has kernels for {len(kernels)} of them. Its quantizer, its optimizer and the "
        f"builder of its GenAI library write {len(both)} of these, and {len(written - kernels)} for other devices only. The import has "
        f"{len(both & rules)} of the {len(both)}, without {', '.join(f'`{name}`' for name in missing)}; and {len(rules - both)} others."
    )
    yield ""
    yield "| operator | CPU | written by | import | compared |"
    yield "|---|---|---|---|---|"
    for name in sorted(written | rules):
        by = ", ".join(writer for writer, names in WRITERS.items() if name in names)
        judge = "" if name not in KINDS else "200" if name in kernels else "200, with NumPy"
        yield f"| {name} | {'yes' if name in kernels else ''} | {by} | {'yes' if name in rules else ''} | {judge} |"
    yield ""
