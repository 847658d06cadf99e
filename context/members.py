"""Decorators of the members that depend on how a draft computes: over tensors, or over buffers."""

from __future__ import annotations

from operator import attrgetter

from webnn.validation.member import member

__all__ = ["buffer_method", "has_tensors", "later_member", "tensor_method"]

has_tensors = attrgetter("tensors")

#: A method of the drafts with tensors.
tensor_method = member(has_tensors, "it has compute(graph, inputs, outputs) over arrays in the place of tensors")
#: A member of those drafts that has no counterpart before.
later_member = member(has_tensors, 'a context of ML(revision="2026-06") has it')
#: A method of the drafts without tensors.
buffer_method = member(
    attrgetter("buffers"),
    "it has createTensor(), writeTensor(), dispatch() and readTensor() in the place of compute()",
)
