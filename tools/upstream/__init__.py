"""Tests for web-platform-tests: the files of ``upstream/wpt`` from tables, their results, and the steps that they reach."""
