"""Runs HTML tests of web-platform-tests without a browser: each document and each worker is a realm."""
