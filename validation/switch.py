"""The switch to another draft, which errors of programs for that draft name."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from webnn.validation.errors import WebNNTypeError
    from webnn.validation.operation import Call
    from webnn.validation.revision import Revision

__all__ = ["draft_error", "explain_switch"]


def explain_switch(has: Callable[[Revision], bool]) -> str:
    """Say how a program chooses the newest draft that has something, or the default if only its addition has it; empty if none has it.

    Drafts whose text is known come first.

    The sentence is for Python. `webnn.javascript` writes ``--revision NAME`` in the place of ``ML(revision="NAME")``.
    """
    # Imported lazily because it loads pydantic.
    from webnn.validation.drafts import DEFAULT, DRAFTS, DRAFTS_WITH_TEXT, NEWEST, find_revision  # noqa: PLC0415

    drafts = [name for name in (*reversed(DRAFTS_WITH_TEXT), *reversed(DRAFTS)) if has(find_revision(name))][:1]
    if not drafts:
        return ""
    names = [DEFAULT, *drafts] if drafts != [NEWEST] and has(find_revision(DEFAULT)) else drafts
    chosen = " or ".join([f"ML(revision={json.dumps(name)})" for name in names])
    return f"{chosen} has it (WEBNN_REVISION={names[-1]} makes it the default)"


def draft_error(call: Call, argument: str, requirement: str, has: Callable[[Revision], bool]) -> WebNNTypeError:
    """Make the error of a call in another draft's form, as `Call.error` does; ``has`` tells whether a draft has the form."""
    return call.error(argument, "; ".join(filter(None, [requirement, explain_switch(has)])), rule="draft")
