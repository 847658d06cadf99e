"""The checks of Chromium 153, as an addition: what `MLContext` and `MLGraphBuilder` refuse there, and in which order. Measured.

A program in Python chooses it as ``"2026-06+browsers+chromium"``; in JavaScript it belongs to the dialect ``chromium-153``.
"""

from __future__ import annotations

from dataclasses import fields

from webnn.validation.checks import Checks
from webnn.validation.drafts.delta import Delta

__all__ = ["CHROMIUM"]

CHROMIUM = Delta(
    name="chromium",
    since="2026-06",
    flags={"checks": Checks(**{each.name: True for each in fields(Checks)})},
    context_only=True,
)
