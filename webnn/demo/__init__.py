"""The demo of the command line: a small network, built with the public API, that reads handwritten digits."""
