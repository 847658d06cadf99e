"""Random programs, and judges of what becomes of them: `webnn fuzz`."""
