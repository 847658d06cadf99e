"""Exported graphs in a real browser: whether its WebNN builds them, and whether it computes what the emulator computes."""
