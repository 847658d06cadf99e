"""The header Permissions-Policy, a dictionary of structured fields. https://www.rfc-editor.org/rfc/rfc8941."""

from __future__ import annotations

import re

from webnn.context.document import EXPRESSION, Allowlist, Origin

__all__ = ["parse_header"]

_KEY = r"[a-z*][a-z0-9_.*-]*"
_STRING = r'"(?:[ !#-\[\]-~]|\\["\\])*"'
_TOKEN = r"[A-Za-z*][!#$%&'*+.^_`|~0-9A-Za-z:/-]*"
_OTHER = r"-?(?:[0-9]{1,12}\.[0-9]{1,3}|[0-9]{1,15})|\?[01]|:[A-Za-z0-9+/=]*:"
_ITEM = rf"(?:{_STRING}|{_TOKEN}|{_OTHER})"
_PARAMETERS = rf"(?:; *{_KEY}(?:={_ITEM})?)*"
_LIST = rf"\( *(?:{_ITEM}{_PARAMETERS}(?: +{_ITEM}{_PARAMETERS})* *)?\)"
_MEMBER = re.compile(rf"(?P<key>{_KEY})(?:=(?P<value>{_LIST}|{_ITEM}))?{_PARAMETERS}")
_ITEMS = re.compile(rf"({_ITEM}){_PARAMETERS}")
_COMMA = re.compile(r"[ \t]*,[ \t]*")


def parse_header(text: str, origin: Origin) -> dict[str, Allowlist]:
    """Read the value of a header: *construct policy from dictionary and origin*.

    Args:
        text: The value, for example ``'webnn=(self "https://example.com")'``.
        origin: The document's origin: the value of ``self``.

    Raises:
        ValueError: The text is not a dictionary of structured fields: a browser ignores the whole header.
    """
    declarations = {}
    # 3. The last member of a name counts. (Parameters name an endpoint for reports, which are not here.)
    for feature, value in _members(text).items():
        if value.startswith("("):
            items = [match[1] for match in _ITEMS.finditer(value)]
        elif value.startswith('"') or re.fullmatch(_TOKEN, value):
            items = [value]
        else:
            # A number, a boolean or bytes: the member is ignored (*structured header serialization*).
            continue
        declarations[feature] = _allowlist(items, origin)
    return declarations


def _allowlist(items: list[str], origin: Origin) -> Allowlist:
    """Make the allowlist of the items of a member."""
    # 3.5 The token `*` makes the others superfluous.
    if "*" in items:
        return Allowlist(everyone=True)
    # 3.6 The token `self`, and strings that are expressions. Other items are ignored.
    # (No expression has a character that a string escapes.)
    strings = [item[1:-1] for item in items if item.startswith('"')]
    return Allowlist(origins=(origin,) if "self" in items else (), expressions=tuple(filter(EXPRESSION.fullmatch, strings)))


def _members(text: str) -> dict[str, str]:
    """Split a dictionary into its members; the value of one without a value is the boolean true."""
    members: dict[str, str] = {}
    text = text.strip(" ")
    place = 0
    while place < len(text) or members:
        member = _MEMBER.match(text, place)
        if member is None:
            raise ValueError(f"a member, such as name=value or name=(value value), must stand at character {place + 1}")
        members[member["key"]] = member["value"] or "?1"
        place = member.end()
        if place == len(text):
            break
        comma = _COMMA.match(text, place)
        if comma is None:
            raise ValueError(f"a comma, or the end, must stand at character {place + 1}")
        place = comma.end()
    return members
