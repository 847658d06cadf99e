"""The home page of the site."""

from __future__ import annotations

import re

import pytest

from tests.shared import ROOT
from tools.site.home import page


def test_pictures_come_behind_the_first_paragraph() -> None:
    text = page((ROOT / "README.md").read_text(encoding="utf-8"))
    assert text.index("# webnn") < text.index("pictures/check.svg") < text.index("| you | `webnn` |")
    # Readers who prefer less motion see the same pictures at rest.
    assert re.findall(r'srcset="pictures/(\w+)\.svg#still"', text) == ["check", "serve"]


@pytest.mark.parametrize("readme", ["", "# title", "# title\n\ntext", "text\n\ntext\n\ntext"])
def test_another_readme(readme: str) -> None:
    with pytest.raises(ValueError, match="must begin with a title and a paragraph"):
        page(readme)
