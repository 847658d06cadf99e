"""Pages of HTML from templates of Jinja2, which escape every text, its control characters too.

A template and the files that it includes have names such as ``"webnn.check/page.html"``. Jinja2 is imported lazily: most programs show no
page.
"""

from __future__ import annotations

import base64
import functools
import hashlib
from importlib import resources
from typing import TYPE_CHECKING, Any

from webnn.display.text import clip, show_controls

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

__all__ = ["mark_ready", "read", "render"]


def render(template: str, **values: Any) -> str:
    """Fill in a template. Texts are escaped.

    In a template, ``source(name)`` is the content of a file, as it is, and ``digest(text)`` the SHA-256 of a text in the form of a
    Content-Security-Policy.
    """
    return _environment().get_template(template).render(values)


def read(name: str) -> str:
    """Read a file of a package: ``"webnn.display/page.css"``."""
    package, _, file = name.partition("/")
    return resources.files(package).joinpath(file).read_text(encoding="utf-8")


def mark_ready(text: str) -> Markup:
    """Return a text that templates put in as it is: HTML, a script or data that the caller has made safe."""
    from markupsafe import Markup  # noqa: PLC0415 (loaded with the first page)

    return Markup(text)


@functools.cache
def _environment() -> Environment:
    from jinja2 import Environment, FunctionLoader, StrictUndefined  # noqa: PLC0415

    def source(name: str) -> Markup:
        return mark_ready(read(name))

    environment = Environment(
        loader=FunctionLoader(read),
        autoescape=True,
        finalize=_show,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals.update(source=source, digest=_digest)
    environment.filters["clip"] = clip
    return environment


def _show(value: object) -> object:
    """Show control characters and surrogates, except in HTML that is ready."""
    return show_controls(value) if isinstance(value, str) and not hasattr(value, "__html__") else value


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
