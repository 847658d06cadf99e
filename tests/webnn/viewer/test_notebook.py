"""The viewer in a notebook."""

from __future__ import annotations

import base64
import hashlib

import pytest

from tests.html_page import Page
from tests.webnn.formats.networks import encoder, hostile
from webnn.viewer import GraphView, show


def test_a_notebook_shows_a_frame() -> None:
    view = show(hostile(), height=300)
    assert isinstance(view, GraphView)
    text = view._repr_html_()
    ((tag, attributes),) = Page(text).elements
    assert (tag, attributes["sandbox"]) == ("iframe", "allow-scripts")
    assert "height: 300px" in attributes["style"]
    # The policy of the page in the frame fits its script.
    script = attributes["srcdoc"].partition("<script>")[2].partition("</script>")[0]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in attributes["srcdoc"]
    assert attributes["srcdoc"].startswith("<!doctype html>")
    with pytest.raises(ValueError, match="height must be at least 100, got 3"):
        show(encoder(1), height=3)
