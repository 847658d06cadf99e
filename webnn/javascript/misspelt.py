"""Explains errors of programs that call an operation by a name that it does not have."""

from __future__ import annotations

import re
from collections.abc import Collection

from webnn.validation.suggestions import suggest_operation

__all__ = ["explain_misspelling"]

#: The engine's message about a missing method, with the expression in front of it.
_METHOD = re.compile(r"TypeError: ([\w$.#]+)\.(\w+) is not a function")
#: Names of variables that hold a builder.
_BUILDER = re.compile(r"builder|(?:^|\.)b$", re.IGNORECASE)
_OPTIONS = re.compile(r"\((\w+=[^()]*)\)")


def explain_misspelling(report: str, operations: Collection[str]) -> str:
    """Say which operation may be meant.

    The sentence has the operation as JavaScript writes it; it is empty if the error has another reason.
    """
    found = _METHOD.search(report)
    if found is None or not _BUILDER.search(found[1]) or found[2] in operations:
        return ""
    meant = suggest_operation(found[2], operations)
    if not meant:
        return ""
    meant = _OPTIONS.sub(lambda match: f"(x, {{{match[1].replace('=', ': ')}}})", meant)
    return f"MLGraphBuilder has no {found[2]}; did you mean {meant}?"
