"""Recording: what conformance tests of web-platform-tests build, compute and expect, written as cases in JSON."""
