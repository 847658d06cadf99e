"""Extreme inputs of every operation: tables of calls, and the conformance files that they become."""
