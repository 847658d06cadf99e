"""Pages in any browser, with the emulator behind `navigator.ml`: ``webnn serve``, and fixtures for tests with Playwright."""
