"""The ways in which the decoder is measured: how it is written, where its cache is, which numerics, and on which device."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

__all__ = ["WAYS", "Way"]

_NAMED = "2026-06+dynamic-shapes"


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """A way to compute the decoder.

    Attributes:
        title: It in words.
        form: How the decoder is written: a name in `tools.evidence.language_models.decoder.FORMS`.
        cache: ``"growing"``, with names in place of lengths; or ``"static"``, with capacities of 64, 128, 256, ... rows.
        revision: The draft of the context.
        numerics: The numerics of the context.
        device: The device; others than the CPU are simulators.
        lengths: The lengths of the cache that are measured.
    """

    title: str
    form: str
    cache: Literal["growing", "static"]
    revision: str
    numerics: Literal["exact", "fast"] = "exact"
    device: Literal["cpu", "gpu", "npu"] = "cpu"
    lengths: tuple[int, ...] = (128, 1024, 4096)


_FIXED = "2026-06"

#: The ways, by the name on the command line. The baseline of each is a session of onnxruntime with the decoder of operators, on the CPU.
WAYS: Mapping[str, Way] = MappingProxyType(
    {
        "static": Way(title="fixed shapes, operators", form="operators", cache="static", revision=_FIXED),
        "static-fast": Way(title="fixed shapes, operators, fast", form="operators", cache="static", revision=_FIXED, numerics="fast"),
        "named": Way(title="named shapes, operators", form="operators", cache="growing", revision=_NAMED),
        "named-fast": Way(title="named shapes, operators, fast", form="operators", cache="growing", revision=_NAMED, numerics="fast"),
        "decomposed": Way(title="named shapes, composites decomposed", form="composite", cache="growing", revision=_NAMED),
        "composite": Way(
            title="named shapes, composites, fast", form="composite", cache="growing", revision=f"{_NAMED}+subgraphs", numerics="fast"
        ),
        "static-gpu": Way(title="fixed shapes, operators", form="operators", cache="static", revision=_FIXED, device="gpu", lengths=(128,)),
        "named-gpu": Way(title="named shapes, operators", form="operators", cache="growing", revision=_NAMED, device="gpu", lengths=(128,)),
        "static-npu": Way(title="fixed shapes, operators", form="operators", cache="static", revision=_FIXED, device="npu", lengths=(128,)),
    }
)
