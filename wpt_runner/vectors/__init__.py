"""Conformance cases of web-platform-tests as data: recorded as JSON, replayed through the public API."""
