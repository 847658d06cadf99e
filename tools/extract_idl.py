"""Extracts the Web IDL of a draft of the specification into the data that the package carries.

    python tools/extract_idl.py webnn-2024-06.bs 2024-06            writes validation/drafts/2024-06.idl.json
    python tools/extract_idl.py webnn-2024-06.bs 2024-06 --check    fails if that file differs from the result

The source is the draft's own, in Bikeshed. Only the IDL's facts and the anchors of its sections are taken, no text. The parser is W3C's
own, which Bikeshed uses too. `webnn.validation.drafts.idl` documents the result's form.
"""

from __future__ import annotations

import argparse
import difflib
import html
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import widlparser
from widlparser import constructs, productions

__all__ = ["describe", "extract", "extract_alone", "render", "run", "slug"]

FOLDER = Path(__file__).resolve().parents[1] / "validation" / "drafts"
LICENSE = "W3C Software and Document License, https://www.w3.org/copyright/software-license-2023/"

#: The extended attributes that apply to types: written before a member or an argument, they belong to its type.
TYPE_ATTRIBUTES = frozenset({"AllowResizable", "AllowShared", "Clamp", "EnforceRange", "LegacyNullToEmptyString"})

_BLOCK = re.compile(r"""<(script|xmp|pre)\s[^>]*\b(?:type|class)=["']?idl\b[^>]*>(.*?)</\1>""", re.DOTALL)
_COMMENT = re.compile(r'("[^"]*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_HEADING = re.compile(r"\{#([^\s}]+)\}")
_DEFINITION = re.compile(r"<dl\b([^>]*)>|(</dl>)|<dfn\b([^>]*)>(.*?)</dfn>", re.DOTALL)
_ATTRIBUTE = re.compile(r"""([\w-]+)(?:=(?:"([^"]*)"|'([^']*)'|([^\s>"']+)))?""")
_ID = re.compile(r"""<\w+\s[^>]*\bid=["']?([\w-]+)""")
#: The line of a file of IDL that says where it comes from: https://github.com/w3c/webref.
_SOURCE = re.compile(r"^// Source: (.+) \((https?://\S+)\)$", re.MULTILINE)
_WIDTH = 138


class _Strict:
    """Receives the parser's errors; each ends the extraction."""

    def warn(self, message: str) -> None:
        raise ValueError(f"the IDL is not valid: {message.strip()}")

    def note(self, message: str) -> None:
        raise ValueError(f"the IDL has a part that the parser ignores: {message.strip()}")


def extract(source: str, revision: str) -> dict[str, Any]:
    """Extract the IDL of a draft.

    Args:
        source: The draft in Bikeshed.
        revision: The name to give it, its year and month.

    Returns:
        The data, see `webnn.validation.drafts.idl`.

    Raises:
        ValueError: The source has no IDL, or IDL that is not valid or is not known here.
    """
    definitions = _parse([html.unescape(text) if tag == "pre" else text for tag, text in _BLOCK.findall(source)])
    return {"source": describe(source, revision), **definitions, "anchors": sorted({*_anchors(source), *_idl_anchors(definitions)})}


def extract_alone(text: str, revision: str, before: Mapping[str, Any]) -> dict[str, Any]:
    """Extract the IDL of a draft of which nothing else is known.

    The sections are taken to be those of the draft before; a new method has one if all methods of its interface have one there.

    Args:
        text: A file of IDL, of which a comment names the title and the address of the draft.
        revision: The name to give it, its year and month.
        before: The data of the draft before.

    Raises:
        ValueError: The file has no IDL or no such comment, or IDL that is not valid or is not known here.
    """
    match = _SOURCE.search(text)
    if match is None:
        raise ValueError("the IDL has no comment that names its source")
    definitions = _parse([text])
    anchors = {*before["anchors"], *_idl_anchors(definitions)}
    for name, interface in definitions["interfaces"].items():
        sections = {f"api-{name.lower()}-{each['name'].lower()}" for each in interface.get("operations", ())}
        known = {f"api-{name.lower()}-{each['name'].lower()}" for each in before["interfaces"].get(name, {}).get("operations", ())}
        anchors |= sections if known and known <= anchors else set()
    return {
        "source": {"title": match[1], "revision": revision, "url": match[2], "license": LICENSE},
        **definitions,
        "anchors": sorted(anchors),
    }


def _parse(texts: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return the definitions of IDL, by their kinds, sorted. Raises `ValueError` as `extract` does."""
    parser = widlparser.Parser(ui=_Strict())
    for text in texts:
        parser.parse(_COMMENT.sub(r"\1", text))
    if not parser.constructs:
        raise ValueError("the source has no IDL")
    definitions: dict[str, dict[str, Any]] = {
        key: {} for key in ("enumerations", "typedefs", "dictionaries", "mixins", "includes", "interfaces")
    }
    for construct in parser.constructs:
        _define(construct, definitions)
    return {key: dict(sorted(value.items())) for key, value in definitions.items()}


def describe(source: str, revision: str) -> dict[str, str]:
    """Say where data comes from: the draft's title and address, the name given to it, and its license.

    Raises:
        ValueError: The source does not say it.
    """
    return {
        "title": _metadata(source, "Title"),
        "revision": revision,
        "url": _metadata(source, "URL"),
        "license": LICENSE,
    }


def _metadata(source: str, key: str) -> str:
    match = re.search(rf"^{key}: *(.+)$", source, re.MULTILINE)
    if match is None:
        raise ValueError(f"the source has no metadata {key!r}")
    return match[1].strip()


def _define(construct: widlparser.Construct, definitions: Mapping[str, dict[str, Any]]) -> None:
    """Add one top-level construct; the members of a partial one are appended to the existing ones."""
    name = str(construct.name)
    match construct:
        case constructs.Enum():
            definitions["enumerations"][name] = [json.loads(value.value) for value in construct.enum_values]
        case constructs.Typedef():
            definitions["typedefs"][name] = _type(construct.type)
        case constructs.IncludesStatement():
            definitions["includes"].setdefault(name, []).append(construct.includes)
        case constructs.Dictionary():
            dictionary = definitions["dictionaries"].setdefault(name, {})
            _inherit(dictionary, construct)
            dictionary.setdefault("members", []).extend(map(_member, construct.members))
        case constructs.Interface() | constructs.Mixin():
            kind = "mixins" if isinstance(construct, constructs.Mixin) else "interfaces"
            _interface(definitions[kind].setdefault(name, {}), construct)
        case _:
            raise ValueError(f"IDL of this kind is not known: {construct}")


def _inherit(entry: dict[str, Any], construct: constructs.Dictionary | constructs.Interface | constructs.Mixin) -> None:
    if construct.inheritance is not None:
        entry["inherits"] = construct.inheritance.base


def _interface(entry: dict[str, Any], construct: constructs.Interface | constructs.Mixin) -> None:
    attributes = _extended(construct.extended_attributes)
    if attributes and not construct.partial:
        entry["extendedAttributes"] = attributes
    _inherit(entry, construct)
    for wrapper in construct.members:
        member = getattr(wrapper, "member", None)
        described: dict[str, Any]
        match member:
            case productions.Constructor():
                entry.setdefault("constructors", []).append([_argument(argument) for argument in member.arguments])
                continue
            case productions.Attribute() | productions.MixinAttribute():
                kind, described = "attributes", {"name": member.name, "type": _type(member.attribute.type)}
                if member.attribute.readonly:
                    described["readonly"] = True
            case productions.Operation():
                kind = "operations"
                described = {
                    "name": member.name,
                    "returns": _type(member.return_type),
                    "arguments": [_argument(argument) for argument in member.operation.arguments],
                }
            case _:
                raise ValueError(f"an interface member of this kind is not known: {wrapper}")
        attributes = _extended(wrapper.extended_attributes)
        if attributes:
            described["extendedAttributes"] = attributes
        entry.setdefault(kind, []).append(described)


def _member(member: widlparser.Construct) -> dict[str, Any]:
    if not isinstance(member, constructs.DictionaryMember):
        raise ValueError(f"a dictionary member of this kind is not known: {member}")
    result: dict[str, Any] = {"name": member.name, "type": _typed(member)}
    if member.required:
        result["required"] = True
    if member.default is not None:
        result["default"] = json.loads(member.default.value)
    return result


def _argument(argument: widlparser.Construct) -> dict[str, Any]:
    if not isinstance(argument, constructs.Argument):
        raise ValueError(f"an argument of this kind is not known: {argument}")
    result: dict[str, Any] = {"name": argument.name, "type": _typed(argument)}
    if argument.optional:
        result["optional"] = True
    if argument.variadic:
        result["variadic"] = True
    if argument.default is not None:
        result["default"] = json.loads(argument.default.value)
    return result


def _typed(construct: constructs.DictionaryMember | constructs.Argument) -> Any:
    """Return the type of a member or an argument; the extended attributes before it belong to its type."""
    attributes = _extended(construct.extended_attributes)
    unknown = attributes.keys() - TYPE_ATTRIBUTES
    if unknown:
        raise ValueError(f"extended attributes that are not known: {sorted(unknown)} in {construct}")
    return _attributed(attributes, _type(construct.type))


def _attributed(attributes: Mapping[str, Any], inner: Any) -> Any:
    return {"extendedAttributes": dict(attributes), "type": inner} if attributes else inner


def _type(type: Any) -> Any:
    """Describe a type, through the parser's layers of it."""
    match type:
        case productions.UnionType():
            return {"union": [_type(member) for member in type.types]}
        case productions.NonAnyType():
            described = _named(type)
        case productions.AnyType():
            described = "any"
        case _:
            described = _type(type.type)
    if getattr(type, "null", None) or getattr(getattr(type, "suffix", None), "null", None):
        described = {"nullable": described}
    return _attributed(_extended(getattr(type, "extended_attributes", None)), described)


def _named(type: productions.NonAnyType) -> Any:
    if type.sequence is not None:
        return {type.sequence.symbol: _type(type.type)}
    if type.promise is not None:
        return {"promise": _type(type.type)}
    if type.record is not None:
        assert type.key_type is not None  # the grammar wants it
        return {"record": [type.key_type.symbol, _type(type.type)]}
    return " ".join(str(type.type).split())


def _extended(attributes: Iterable[widlparser.Construct] | None) -> dict[str, Any]:
    """Describe extended attributes: ``True``, or the value behind the equals sign."""
    result: dict[str, Any] = {}
    for each in attributes or ():
        name, _, value = "".join(str(each).split()).rstrip(",").partition("=")
        result[name] = value.strip("()").split(",") if value.startswith("(") else value or True
    return result


def _anchors(source: str) -> Iterator[str]:
    """Find the anchors of headings, of elements with an id, and those that Bikeshed gives to the definitions of terms."""
    yield from _HEADING.findall(source)
    yield from _ID.findall(source)
    lists: list[dict[str, str]] = []
    for opened, closed, tag, text in _DEFINITION.findall(source):
        if closed:
            lists.pop()
        elif text:
            attributes = {**(lists[-1] if lists else {}), **_attributes(tag)}
            is_term = not {"method", "constructor", "enum-value", "dfn-type", "id"} & attributes.keys()
            if is_term:
                term = attributes.get("data-lt") or attributes.get("lt") or text
                scope = attributes.get("for") or attributes.get("dfn-for") or ""
                yield slug(f"{scope} {term.split('|')[0]}")
        else:
            lists.append(_attributes(opened))


def _attributes(tag: str) -> dict[str, str]:
    return {match[1]: match[2] or match[3] or match[4] or "" for match in _ATTRIBUTE.finditer(tag)}


def slug(text: str) -> str:
    """Make an anchor of a text, as Bikeshed does."""
    return re.sub(r"[^a-z0-9_-]", "", re.sub(r"[\s/(,]+", "-", text.strip().lower()))


def _idl_anchors(definitions: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    prefixes = {"enumerations": "enumdef-", "typedefs": "typedefdef-", "dictionaries": "dictdef-", "mixins": "", "interfaces": ""}
    for kind, prefix in prefixes.items():
        yield from (prefix + name.lower() for name in definitions[kind])


def render(data: Any) -> str:
    """Return data as JSON: a member, an argument list or any other part takes one line if it fits."""
    return "".join(_render(data, "", "")) + "\n"


def _render(value: Any, indent: str, prefix: str) -> Iterator[str]:
    flat = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, dict | list) or (indent and len(indent) + len(prefix) + len(flat) <= _WIDTH):
        yield prefix + flat
        return
    inner = indent + "  "
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    entries: Sequence[tuple[str, Any]]
    if isinstance(value, dict):
        entries = [(f"{json.dumps(key)}: ", member) for key, member in value.items()]
    else:
        entries = [("", element) for element in value]
    yield f"{prefix}{opening}\n"
    for position, (label, member) in enumerate(entries):
        yield inner
        yield from _render(member, inner, label)
        yield ",\n" if position + 1 < len(entries) else "\n"
    yield indent + closing


def run(arguments: Sequence[str] | None, description: str, extract: Callable[[str, str], Any], folder: Path, kind: str) -> int:
    """Run the command of an extractor.

    Args:
        arguments: The command's arguments; ``None`` for those of the process.
        description: The purpose of the command.
        extract: Takes a draft and its name; returns the data.
        folder: The folder of the file.
        kind: The kind of the data, in the name of the file.

    Returns:
        The exit status.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("source", type=Path, help="the draft in Bikeshed")
    parser.add_argument("revision", help="its name, for example 2024-06")
    parser.add_argument("--check", action="store_true", help="compare with the file that is there, and write nothing")
    given = parser.parse_args(arguments)
    target = folder / f"{given.revision}.{kind}.json"
    text = render(extract(given.source.read_text(encoding="utf-8"), given.revision))
    if not given.check:
        target.write_text(text, encoding="utf-8")
        print(f"wrote {target}: {len(text)} bytes")
        return 0
    current = target.read_text(encoding="utf-8") if target.is_file() else ""
    if current == text:
        print(f"{target.name} is what {given.source.name} gives")
        return 0
    sys.stderr.writelines(difflib.unified_diff(current.splitlines(True), text.splitlines(True), str(target), given.source.name, n=1))
    return 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return the exit status."""
    return run(arguments, "Extract the Web IDL of a draft into the data that the package carries.", extract, FOLDER, "idl")


if __name__ == "__main__":
    sys.exit(main())
