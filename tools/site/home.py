"""The home page: README.md, with moving pictures of two commands and the first steps in front of its text."""

from __future__ import annotations

__all__ = ["PAGE", "page"]

PAGE = "index.md"
_FRONT = """---
hide:
  - toc
---

"""
_SHOWN = """
[Install](install.md){ .md-button .md-button--primary }
[From a program to a page](prototype.md){ .md-button }
[Operations](api/operations/index.md){ .md-button }

<div class="shown" markdown>
<figure markdown>
<picture><source media="(prefers-reduced-motion: reduce)" srcset="pictures/check.svg#still">
<img alt="A terminal: webnn check says which operand Core ML and TFLite refuse, and what to change" src="pictures/check.svg"></picture>
<figcaption><code>webnn check</code> says on which devices a program or a model runs, and what to change.</figcaption>
</figure>
<figure markdown>
<picture><source media="(prefers-reduced-motion: reduce)" srcset="pictures/serve.svg#still">
<img alt="A terminal with webnn serve; its page falls back from uint8 to float32 pixels" src="pictures/serve.svg"></picture>
<figcaption><code>webnn serve</code> gives a page the limits of a device, here Core ML, in any browser.</figcaption>
</figure>
<figure markdown>
![The operators of a quantized network: boxes in the colours of the devices that run them, an NPU and the CPU](pictures/placement.svg)
<figcaption><code>webnn show</code> draws what runs where. <a href="gallery.html">More pictures</a></figcaption>
</figure>
<figure markdown>
![A page about a graph: the slowest operators, and a picture with times](pictures/inspect-light.png#only-light)
![A page about a graph: the slowest operators, and a picture with times](pictures/inspect-dark.png#only-dark)
<figcaption><code>webnn run --inspect</code> shows times, values and accuracy of each operator.</figcaption>
</figure>
</div>

"""


def page(readme: str) -> str:
    """Return the page, from the text of README.md with the links of the site.

    Raises:
        ValueError: The text does not begin with a title and a paragraph.
    """
    parts = readme.split("\n\n", 2)
    if len(parts) < 3 or not parts[0].startswith("# "):
        raise ValueError("README.md must begin with a title and a paragraph")
    title, first, rest = parts
    return f"{_FRONT}{title}\n\n{first}\n{_SHOWN}{rest}"
