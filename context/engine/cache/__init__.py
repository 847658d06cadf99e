"""The cache of optimized models: what the engine makes of a translated graph, in files (docs/cache.md)."""
