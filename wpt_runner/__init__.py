"""Runs web-platform-tests: files, recorded cases, expectations, reports."""
