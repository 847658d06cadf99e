"""The JavaScript binding: programs and tests in JavaScript see the emulator as a page sees a browser's API.

`binding.js`, `conversion.js` and `navigator.js` run beside the program, in whatever engine the host has; `dispatch` is their other side.
"""
