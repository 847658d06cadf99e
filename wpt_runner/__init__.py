"""Runs web-platform-tests: files, recorded cases, expectations, reports. Uses the public names of `webnn` only."""
