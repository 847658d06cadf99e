"""Reads TOML that a person has written."""

from __future__ import annotations

import tomllib
from typing import Any

__all__ = ["load_toml"]

#: The deepest nesting that is allowed. Values nested a few thousand times deep can be parsed, but not shown.
_DEEPEST = 50


def load_toml(text: str, name: str) -> dict[str, Any]:
    """Parse TOML.

    Args:
        text: The text.
        name: Its name in messages.

    Raises:
        ValueError: It is not TOML, or its values are nested too deeply.
    """
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{name} is no TOML: {error}") from None
    except RecursionError:
        content = None
    if content is None or _is_deep(content):
        raise ValueError(f"{name}: its values must not be nested deeper than {_DEEPEST} levels")
    return content


def _is_deep(content: dict[str, Any]) -> bool:
    level: list[Any] = [content]
    for _ in range(_DEEPEST + 1):
        containers = [value for value in level if isinstance(value, dict | list)]
        level = [each for value in containers for each in (value.values() if isinstance(value, dict) else value)]
    return any(isinstance(value, dict | list) for value in level)
