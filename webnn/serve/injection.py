"""The emulator's script in documents and in the scripts of workers: pure functions on bytes.

A document gets a ``<script>`` element before everything that it loads itself. A worker's script gets a first statement. Nothing else of
them changes but the policies in a document's ``<meta>`` elements.
"""

from __future__ import annotations

import codecs
import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from webnn.serve.policies import TRUSTED_TYPES_POLICY, Addresses, amend, choose_nonce, needs_trusted_types, split

__all__ = ["Document", "Kind", "inject_into_document", "inject_into_worker"]

#: How a worker runs its script.
Kind = Literal["classic", "module"]

_XHTML = 'xmlns="http://www.w3.org/1999/xhtml" '
_BOMS = ((codecs.BOM_UTF8, "latin-1"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
#: The labels of encodings that are not ASCII with something beside it. (Browsers read UTF-16 without an order as little-endian.)
_WIDE = {
    **dict.fromkeys(("utf-16", "utf-16le", "unicode", "ucs-2", "iso-10646-ucs-2", "csunicode", "unicodefeff"), "utf-16-le"),
    **dict.fromkeys(("utf-16be", "unicodefffe"), "utf-16-be"),
}
#: Elements whose content is text, up to their end tag.
_RAW = frozenset({"script", "style", "title", "textarea", "xmp", "iframe", "noembed", "noframes", "noscript"})

_SPACE = r"[ \t\n\f\r]"
_NAME = r"[^ \t\n\f\r/>=]"
_VALUE = r"""(?:"[^"]*"|'[^']*'|[^ \t\n\f\r>"'][^ \t\n\f\r>]*+)"""
# Each repetition is possessive: whatever a page writes, it is read once.
_TAG = re.compile(rf"<([A-Za-z]{_NAME}*+)((?:{_SPACE}++|/(?!>)|{_NAME}++(?:{_SPACE}*+={_SPACE}*+{_VALUE})?+|=)*+)(/?)>")
_ATTRIBUTE = re.compile(rf"""([^ \t\n\f\r/>=]+)(?:{_SPACE}*={_SPACE}*(?:"([^"]*)"|'([^']*)'|([^ \t\n\f\r>"'][^ \t\n\f\r>]*)))?""")
_BLANK = re.compile(rf"{_SPACE}+")
_COMMENT = re.compile(r"<!--(?:-?>|.*?(?:--!?>|\Z))", re.DOTALL)
_XML_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_DOCTYPE = re.compile(r"<!doctype[^>]*(?:>|\Z)", re.IGNORECASE)
_XML_DOCTYPE = re.compile(
    r"""<!DOCTYPE(?:"[^"]*"|'[^']*'|\[(?:"[^"]*"|'[^']*'|<!--(?:(?!-->).)*+(?:-->|\Z)|[^\]"'])*+\]|[^>\["'])*+>""", re.DOTALL
)
_BOGUS = re.compile(r"<[!?/][^>]*(?:>|\Z)")
_XML_INSTRUCTION = re.compile(r"<\?.*?(?:\?>|\Z)", re.DOTALL)
_XML_SECTION = re.compile(r"<!\[CDATA\[.*?(?:\]\]>|\Z)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Document:
    """A document with the script."""

    body: bytes
    policies: Sequence[str]


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part of a document: a start tag, or something else that is not text.

    Attributes:
        tag: The name of the element that it starts; ``"!doctype"`` for a document type; empty for anything else.
        closed: Whether the tag says that the element has no content.
    """

    start: int
    end: int
    tag: str = ""
    closed: bool = False
    attributes: tuple[int, int] = field(default=(0, 0))


def inject_into_document(
    body: bytes, addresses: Addresses, policies: Sequence[str] = (), *, charset: str | None = None, xml: bool = False
) -> Document:
    """Put the script into a document, before everything that it loads. ``charset`` is the encoding that the headers state."""
    mark, encoding = next(((mark, encoding) for mark, encoding in _BOMS if body.startswith(mark)), (b"", ""))
    encoding = encoding or _WIDE.get((charset or "").strip().lower(), "latin-1")
    content = body[len(mark) :]
    # Half a code unit at the end stays there.
    odd = len(content) % 2 if encoding != "latin-1" else 0
    content, rest = (content[:-odd], content[-odd:]) if odd else (content, b"")
    text = content.decode(encoding, "surrogatepass" if encoding != "latin-1" else "strict")
    separate = split(policies)
    nonce = choose_nonce(separate)
    changed = _put_into(text, _tag(addresses, nonce, xml=xml), addresses, nonce, xml=xml)
    if changed is None:
        return Document(body, policies)
    errors = "surrogatepass" if encoding != "latin-1" else "strict"
    amended = [amend(policy, addresses, nonce) for policy in separate]
    return Document(mark + changed.encode(encoding, errors) + rest, amended)


def _tag(addresses: Addresses, nonce: str | None, *, xml: bool) -> str:
    stated = "" if nonce is None else f'nonce="{html.escape(nonce)}" '
    return f'<script {_XHTML if xml else ""}{stated}src="{html.escape(addresses.script + addresses.query)}"></script>'


def _put_into(text: str, tag: str, addresses: Addresses, nonce: str | None, *, xml: bool) -> str | None:
    """Return a document with the tag and with amended policies; ``None`` if there is no place for the tag."""
    place: int | None = None if xml else 0
    head = None
    changes: list[tuple[int, int, str]] = []
    for piece in _pieces(text, xml=xml):
        name = piece.tag if xml else piece.tag.lower()
        local = name.rpartition(":")[2] if xml else name
        if head is None and local == "head":
            head = piece
        elif head is None and ((local == "html" and not (xml and piece.closed)) or (name == "!doctype" and not xml)):
            place = piece.end
        elif local == "meta":
            changes += _amend_meta(text, piece, addresses, nonce)
        elif local == "body":
            # A policy in the body does not count.
            break
        if head is None and name and local not in {"html", "!doctype"}:
            # Anything else is in a head that has no tag, and a later <head> does not count.
            head = piece if local == "head" else _Piece(0, place or 0)
    if head is not None and head.tag:
        if head.closed and xml:
            changes.append((head.start, head.end, f"{text[head.start : head.end - 2]}>{tag}</{head.tag}>"))
        else:
            changes.append((head.end, head.end, tag))
    elif place is not None:
        changes.append((place, place, tag))
    else:
        return None
    parts, end = [], 0
    for start, until, new in sorted(changes):
        parts += [text[end:start], new]
        end = until
    return "".join([*parts, text[end:]])


def _pieces(text: str, *, xml: bool) -> Iterator[_Piece]:
    """Walk through the readable beginning of a document. Text of HTML begins the body."""
    at = 0
    while True:
        following = text.find("<", at)
        between = text[at : following if following >= 0 else len(text)]
        if not xml and between and not _BLANK.fullmatch(between):
            # Text makes a body.
            yield _Piece(at, at, "body")
            return
        if following < 0:
            return
        piece = _read_piece(text, following, xml=xml)
        if piece is None:
            return
        yield piece
        at = piece.end
        name = piece.tag.lower()
        if not xml and name == "plaintext":
            return
        if not xml and name in _RAW:
            found = re.compile(rf"</{name}(?=[ \t\n\f\r/>])", re.IGNORECASE).search(text, at)
            if found is None:
                return
            at = found.start()


def _read_piece(text: str, at: int, *, xml: bool) -> _Piece | None:
    if text.startswith("<!--", at):
        found = (_XML_COMMENT if xml else _COMMENT).match(text, at)
    elif xml and text.startswith("<![CDATA[", at):
        found = _XML_SECTION.match(text, at)
    elif xml and text.startswith("<?", at):
        found = _XML_INSTRUCTION.match(text, at)
    elif found := (_XML_DOCTYPE if xml else _DOCTYPE).match(text, at):
        return _Piece(at, found.end(), "!doctype")
    elif text[at + 1 : at + 2] in {"!", "?", "/"}:
        found = _BOGUS.match(text, at)
    elif found := _TAG.match(text, at):
        return _Piece(at, found.end(), found[1], bool(found[3]), found.span(2))
    return None if found is None else _Piece(at, found.end())


def _amend_meta(text: str, piece: _Piece, addresses: Addresses, nonce: str | None) -> list[tuple[int, int, str]]:
    """Return how the policy of a ``<meta>`` element changes, if it has one."""
    attributes: dict[str, tuple[str, int, int]] = {}
    for found in _ATTRIBUTE.finditer(text, *piece.attributes):
        number = next((number for number in (2, 3, 4) if found[number] is not None), 0)
        if number:
            attributes.setdefault(found[1].lower(), (html.unescape(found[number]), *found.span(number)))
    if attributes.get("http-equiv", ("", 0, 0))[0].strip().lower() != "content-security-policy" or "content" not in attributes:
        return []
    value, start, end = attributes["content"]
    # The policies of a document that is read already are in force for its tag: the nonce is that of the headers.
    amended = ", ".join(amend(policy, addresses, nonce) for policy in split([value]))
    if amended == ", ".join(split([value])):
        return []
    if text[start - 1] not in "\"'":
        return [(start, end, f'"{html.escape(amended)}"')]
    return [(start, end, html.escape(amended))]


# Workers

#: Text before the first token of a script.
_BEFORE_TOKEN = re.compile(r"(?:\s|\ufeff|//[^\n\r\u2028\u2029]*|/\*.*?\*/)*+", re.DOTALL)
_STRING = re.compile(r"""'(?:[^'\\\n\r]|\\.)*'|"(?:[^"\\\n\r]|\\.)*\"""", re.DOTALL)
#: Characters that continue an expression, even on a new line.
_CONTINUES = re.compile(r"[-+*/%=<>&|^?:.,(\[`]|!=|in(?:stanceof)?\b")
#: The parts of a script that tell whether it is a module: the rest does not matter.
_TOKEN = re.compile(
    r"""(?P<comment>//[^\n\r\u2028\u2029]*|/\*.*?(?:\*/|\Z))
    |(?P<text>'(?:[^'\\\n\r]|\\.)*+'?|"(?:[^"\\\n\r]|\\.)*+"?)
    |(?P<template>`)
    |(?P<open>[({\[])|(?P<close>[)}\]])
    |(?P<slash>/)
    |(?P<word>[\w$\u0080-\uffff]+)
    |(?P<mark>[^\s\w$])""",
    re.DOTALL | re.VERBOSE,
)
_TEMPLATE = re.compile(r"(?:[^`\\$]|\\.|\$(?!\{))*+(`|\$\{|\Z)", re.DOTALL)
#: A regular expression, or what looks like the start of one, up to the end of its line.
_REGULAR = re.compile(r"/(?:[^/\\\[\n\r]|\\.|\[(?:[^\]\\\n\r]|\\.)*+(?:\]|(?=[\n\r]|\\?\Z)))++(?:/|(?=[\n\r]|\\?\Z))")
_BEFORE_REGULAR = re.compile(
    r"\Z|[(,=:\[!&|?{};+\-*%~^<>]\Z|(?:return|typeof|case|do|else|in|instanceof|new|void|delete|throw|await|yield)\Z"
)
#: How much of a script is searched for module syntax, in characters.
_SEARCHED = 4 << 20


def inject_into_worker(body: bytes, addresses: Addresses, kind: Kind | None = None, policies: Sequence[str] = ()) -> Document:
    """Put the script into that of a worker, as its first statement.

    The body is UTF-8, as browsers read it. If ``kind`` is not known, a script with module syntax is a module.
    """
    separate = split(policies)
    amended = [amend(policy, addresses, choose_nonce(separate)) for policy in separate]
    start = len(codecs.BOM_UTF8) if body.startswith(codecs.BOM_UTF8) else 0
    if body.startswith(b"#!", start):
        # Such a line is the first one, and a comment.
        line = re.compile(rb"[\n\r]|\xe2\x80[\xa8\xa9]|\Z").search(body, start)
        start = line.end() if line else start
    text = body[start:].decode("utf-8", "replace")
    address = f'"{addresses.script}"'
    if needs_trusted_types(separate):
        address = f'trustedTypes.createPolicy("{TRUSTED_TYPES_POLICY}",{{createScriptURL:x=>x}}).createScriptURL({address})'
    if kind == "module" or (kind is None and _is_module(text)):
        prefix = f'import "{addresses.script}";'
    elif kind == "classic":
        prefix = f"importScripts({address});"
    else:
        # It may also be a part of a module worker, which has the script from its first part.
        prefix = f"try{{importScripts({address})}}catch(e){{if(!(e instanceof TypeError))throw e}};"
    if not prefix.startswith("import ") and _is_strict(text):
        prefix = f'"use strict";{prefix}'
    return Document(body[:start] + prefix.encode("ascii") + body[start:], amended)


def _is_strict(text: str) -> bool:
    """Tell whether a script begins with the directive ``"use strict"``."""
    at = 0
    while True:
        at = _end(_BEFORE_TOKEN.match(text, at))
        literal = _STRING.match(text, at)
        if literal is None:
            return False
        next_token = _end(_BEFORE_TOKEN.match(text, literal.end()))
        new_line = any(character in text[literal.end() : next_token] for character in "\n\r\u2028\u2029")
        following = text[next_token : next_token + 1]
        if following == ";":
            at = next_token + 1
        elif not following or following == "}" or (new_line and not _CONTINUES.match(text, next_token)):
            at = next_token
        else:
            return False
        if literal[0][1:-1] == "use strict":
            return True


def _end(found: re.Match[str] | None) -> int:
    return found.end() if found else 0


def _is_module(text: str) -> bool:
    """Tell whether a script has syntax that only modules have: ``import`` or ``export`` at its top level, or ``import.meta``."""
    text = text[:_SEARCHED]
    #: The open brackets: ``True`` for one within a template.
    brackets: list[bool] = []
    at, before = 0, ""
    while found := _TOKEN.search(text, at):
        at = found.end()
        token = found[0]
        match found.lastgroup:
            case "comment":
                continue
            case "template":
                at, inside = _skip_template(text, at)
                if inside:
                    brackets.append(True)
            case "open":
                brackets.append(False)
            case "close" if brackets and brackets.pop():
                at, inside = _skip_template(text, at)
                if inside:
                    brackets.append(True)
                token = "`"
            case "slash" if _BEFORE_REGULAR.match(before):
                regular = _REGULAR.match(text, found.start())
                at = regular.end() if regular else at
                token = ")"
            case "word" if token in {"import", "export"} and before != ".":
                after = _end(_BEFORE_TOKEN.match(text, at))
                following = text[after : after + 1]
                if following == "." or (not brackets and (token == "export" or following != "(")):
                    return True
            case _:
                pass
        before = token
    return False


def _skip_template(text: str, at: int) -> tuple[int, bool]:
    """Return where the text of a template ends, and whether an expression follows."""
    found = _TEMPLATE.match(text, at)
    return (found.end(), found[1] == "${") if found else (len(text), False)
