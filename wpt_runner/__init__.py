"""Runs web-platform-tests and programs in JavaScript. Uses the public names of `webnn` only."""
