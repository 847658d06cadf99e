"""The members that one draft has and the other one has not: refused by name, with what the other one has in their place."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from webnn.validation.errors import WebNNTypeError
from webnn.validation.revision import Revision

__all__ = ["MEMBERS", "refusal"]

_COMPUTE = "it has compute(graph, inputs, outputs) over arrays in the place of tensors"
_NOTHING = 'a context of ML(revision="2026-06") has it'

#: The anchor of each member, and what the other draft has.
MEMBERS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "compute": (
            "#api-mlcontext-compute",
            "it has createTensor(), writeTensor(), dispatch() and readTensor() in the place of compute()",
        ),
        "dispatch": ("#api-mlcontext-dispatch", _COMPUTE),
        "createTensor": ("#api-mlcontext-createtensor", _COMPUTE),
        "createConstantTensor": ("#api-mlcontext-createconstanttensor", _COMPUTE),
        "readTensor": ("#api-mlcontext-readtensor", _COMPUTE),
        "writeTensor": ("#api-mlcontext-writetensor", _COMPUTE),
        "accelerated": ("#mlcontext-accelerated", "createContext() takes deviceType in its place"),
        "opSupportLimits": ("#api-mlcontext-opsupportlimits", _NOTHING),
        "lost": ("#mlcontext-lost", _NOTHING),
        "MLContext.destroy": ("#api-mlcontext-destroy", _NOTHING),
        "MLGraph.destroy": ("#api-mlgraph-destroy", _NOTHING),
    }
)


def refusal(revision: Revision, member: str) -> WebNNTypeError:
    """Make the error of a call that a context's draft does not know.

    Args:
        revision: The draft of the context.
        member: What was called, one of `MEMBERS`.
    """
    anchor, instead = MEMBERS[member]
    return WebNNTypeError(
        f"{member}: the draft {revision.name}, which this context follows, does not have it: {instead}",
        operation=member.rpartition(".")[2],
        anchor=anchor,
    )
