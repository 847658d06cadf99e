"""Runs web-platform-tests: vectors, expectations, reports. Uses the public names of `webnn` only."""
