"""Contexts: `ML`, `MLContext`, `MLGraph`, devices, buffers, and the engine behind them."""
