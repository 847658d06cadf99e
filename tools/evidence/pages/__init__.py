"""The emulator of `webnn serve` in real browsers: web-platform-tests, pages of others, and what a call costs."""
