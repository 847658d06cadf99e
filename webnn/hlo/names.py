"""The attributes of the arguments and results of a function that have their names. JAX calls them so."""

from __future__ import annotations

import ast
import re

__all__ = ["ARGUMENT", "RESULT", "read_result", "write_result"]

ARGUMENT, RESULT = "jax.arg_info", "jax.result_info"

_STRING = r"'(?:[^'\\]|\\.)*+'|\"(?:[^\"\\]|\\.)*+\""
#: A member of a dictionary, with Python's literal of its key.
_MEMBER = re.compile(rf"(?:result)?\[({_STRING})\]", re.DOTALL)
#: A path to a member of the result of a function in Python: "", "result", "[0]", "result['logits'][1].state".
_PATH = re.compile(rf"(?:result)?(?:\[(?:{_STRING}|[^][]*+)\]|\.\w++)*+", re.DOTALL)


def write_result(name: str) -> str:
    """Return how a result says its name: as it is, or as JAX would say it if it looks like a path."""
    return f"result[{name!r}]" if _PATH.fullmatch(name) else name


def read_result(info: str) -> str:
    """Return the name of a result: ``result['logits']`` is "logits", ``result['a'][1]`` is "a.1"; any other text is the name itself."""
    member = _MEMBER.fullmatch(info)
    if member is not None:
        try:
            return str(ast.literal_eval(member[1]))
        except (SyntaxError, ValueError):
            pass
    return ".".join(re.findall(r"[^\W\d]\w*|\d+", info.removeprefix("result"))) if _PATH.fullmatch(info) else info
