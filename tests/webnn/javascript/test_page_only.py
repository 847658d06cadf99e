"""The sentence that names `webnn serve`."""

from __future__ import annotations

from tests.support import each_row
from webnn.javascript.page_only import explain_page


@each_row(
    ("report", "expected"),
    [
        ("ReferenceError: localStorage is not defined\n    at x", "a program has no localStorage: use `webnn serve`"),
        ("ReferenceError: HTMLVideoElement is not defined", "a program has no HTMLVideoElement: use `webnn serve`"),
        (
            "ReferenceError: OffscreenCanvas is not defined",
            "a program has no OffscreenCanvas: run `npm install canvaskit-wasm` below --root, or use `webnn serve`",
        ),
        ("TypeError: document.querySelector is not a function", "a program has no document.querySelector(): use `webnn serve`"),
        ("ReferenceError: require is not defined", ""),
        ("TypeError: builder.relu6 is not a function", ""),
        ("Error: localStorage is not defined", ""),
    ],
)
def test_sentences(report: str, expected: str) -> None:
    assert explain_page(report) == expected
