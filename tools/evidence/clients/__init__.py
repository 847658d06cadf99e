"""Clients of WebNN in JavaScript, as their packages are: on the emulator in Node, in pages and workers, and in Chromium's own WebNN."""
