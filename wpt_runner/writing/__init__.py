"""Writes tests in web-platform-tests' own form: conformance files from graphs, validation files from calls."""
