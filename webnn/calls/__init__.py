"""Random valid calls of every operation."""
