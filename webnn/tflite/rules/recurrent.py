"""Recurrent networks. Their states are variables of the model: inputs and outputs of the graph."""

from __future__ import annotations

RULES = {}
