"""The grammar of `.webnn` files: a parser that makes plain data of the text, as a JSON parser does of a `.webnn.json` file."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from webnn.builder.description import FormatError
from webnn.formats.exchange import FORMAT, TEXT_TYPES
from webnn.formats.identifiers import IDENTIFIER, PREFIX, WORDS, read_identifier, read_name
from webnn.validation import webidl
from webnn.validation.descriptor import ML_DTYPES

__all__ = ["Parsed", "parse"]

_TYPES_BY_NAME = {name: dataType for dataType, name in TEXT_TYPES.items()}
#: The deepest nesting of lists and objects.
_DEEPEST = 16
#: The most digits of a number; every type has fewer.
_LONGEST_NUMBER = 400

#: White space and comments.
_GAP = r"(?:[ \t\r\n]++|#[^\n]*+)*+"
#: A token: a name, a mark, a number, a string, an annotation, any other character, or nothing at the end.
_TOKEN = re.compile(
    rf"{_GAP}({IDENTIFIER}"
    r"|[][{}():;,=]"
    r"|-?[0-9]++(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?"
    r'|"(?:[^"\\\x00-\x1f]++|\\.)*+"'
    r"|@[a-z]++"
    r"|[^ \t\r\n]|\Z)"
)
#: A number that is neither too long nor too large, and a value of an option that means the same in JSON.
_NUMBER = r"-?+(?:0|[1-9][0-9]{0,29}+)(?:\.[0-9]{1,30}+)?+(?:[eE][+-]?+[0-9]{1,2}+)?+"
_JSON = rf'{_NUMBER}|"[^"\\\x00-\x1f]*+"|\[(?:{_NUMBER}(?:, {_NUMBER})*+)?+\]'
#: A node as `webnn.formats.text` writes most of them: its name or the names of its results, its operation, its operands, and its options.
_NODE = re.compile(
    rf"{_GAP}({IDENTIFIER}|\[{IDENTIFIER}(?:, {IDENTIFIER})*+\]) = ({IDENTIFIER})"
    rf"\(({IDENTIFIER}(?=[,)])(?:, {IDENTIFIER}(?=[,)]))*+)((?:, {IDENTIFIER}=(?:{IDENTIFIER}|{_JSON}))*+)\);"
)
#: One of these options: its name, and its value, which is a word or JSON.
_OPTION = re.compile(rf", ({IDENTIFIER})=(?:({IDENTIFIER})|({_JSON}))")
_read_json = json.JSONDecoder().raw_decode
#: The first characters of names and numbers.
_NAME_STARTS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_/$")
_NUMBER_STARTS = frozenset("-0123456789")


class Parsed:
    """A parsed text. ``content`` is the graph as GraphJson has it."""

    def __init__(self, text: str) -> None:
        self.content: dict[str, Any] = {"format": FORMAT, "inputs": {}, "consts": {}, "nodes": [], "outputs": {}}
        self._text = text
        self._nodes: list[int] = []
        self._others: dict[tuple[str | int, ...], int] = {}

    def mark_node(self, start: int) -> None:
        """Remember where the next node begins."""
        self._nodes.append(start)

    def mark(self, start: int, *place: str) -> None:
        """Remember where something else begins."""
        self._others[place] = start

    def find(self, place: Sequence[str | int]) -> tuple[int, int]:
        """Return the line and the column of a place in the content; zeros if they are unknown."""
        match place:
            case ("nodes", int(number), *_):
                return self.locate(self._nodes[number])
            case _:
                start = self._others.get(tuple(place[:2]), self._others.get(tuple(place[:1])))
                return (0, 0) if start is None else self.locate(start)

    def locate(self, start: int) -> tuple[int, int]:
        """Return the line and the column of a character, from 1."""
        return self._text.count("\n", 0, start) + 1, start - self._text.rfind("\n", 0, start)


def parse(text: str, path: Path) -> Parsed:
    """Parse a text. Raises `FormatError` if it does not follow the grammar."""
    return _Parser(text, path).parse()


class _Parser:
    """Reads one token ahead. Lists nest up to a limit, and nothing else recurses."""

    def __init__(self, text: str, path: Path) -> None:
        self._path = path
        self._text = text
        self._parsed = Parsed(text)
        self._matches = _TOKEN.finditer(text)
        self._match = next(self._matches)
        self._token: str = self._match[1]

    # Tokens.

    def _next(self) -> None:
        self._match = match = next(self._matches, self._match)
        self._token = match[1]

    def _error(self, message: str, start: int | None = None) -> FormatError:
        line, column = self._parsed.locate(self._match.start(1) if start is None else start)
        return FormatError(message, self._path, line=line, column=column)

    def _unexpected(self, wanted: str) -> FormatError:
        return self._error(f"must be {wanted}, got {webidl.describe(self._token) if self._token else 'the end'}")

    def _take(self, token: str) -> None:
        if self._token != token:
            raise self._unexpected(repr(token))
        self._next()

    def _skip(self, mark: str) -> bool:
        """Take a mark if it comes next."""
        if self._token != mark:
            return False
        self._next()
        return True

    def _separate(self, end: str) -> None:
        """Take a comma, which the last element of a list need not have."""
        if self._token == ",":
            self._next()
        elif self._token != end:
            raise self._unexpected(f"',' or {end!r}")

    def _name(self, wanted: str = "a name") -> str:
        name = self._token
        if name[:1] not in _NAME_STARTS:
            raise self._unexpected(wanted)
        self._next()
        return name

    def _string(self) -> str:
        token = self._token
        # A quotation mark alone begins a string that does not end.
        if token[:1] != '"' or token == '"':
            raise self._unexpected("a string")
        try:
            text: str = json.loads(token) if "\\" in token else token[1:-1]
        except ValueError as error:
            raise self._error(f"must be a string as in JSON: {error}") from None
        self._next()
        return text

    def _number(self) -> int | float:
        token = self._token
        if token[:1] not in _NUMBER_STARTS or token == "-" or len(token) > _LONGEST_NUMBER:
            raise self._unexpected("a number")
        number = int(token) if token.lstrip("-").isdigit() else float(token)
        if isinstance(number, float) and math.isinf(number):
            raise self._unexpected("a number that fits into a double")
        self._next()
        return number

    # Sections.

    def parse(self) -> Parsed:
        content = self._parsed.content
        self._take("webnn_graph")
        content["name"] = self._string()
        start = self._match.start(1)
        self._parsed.mark(start, "version")
        version = self._name("a version")
        if not re.fullmatch(r"v[0-9]{1,9}", version):
            raise self._error(f"must be a version such as v2, got {webidl.describe(version)}", start)
        content["version"] = int(version[1:])
        while self._token[:1] == "@":
            self._annotation()
        sections: dict[str, Callable[[], None]] = {
            "inputs": self._input,
            "consts": self._constant,
            "nodes": self._node,
            "outputs": self._output,
        }
        self._take("{")
        while not self._skip("}"):
            start = self._match.start(1)
            name = self._name("a section")
            section = sections.pop(name, None)
            if section is None:
                wanted = ", ".join(sections) or "the end"
                raise self._error(f"must be {wanted}, each section at most once, got {webidl.describe(name)}", start)
            self._parsed.mark(start, name)
            self._take("{")
            while not self._skip("}"):
                section()
        if self._token:
            raise self._unexpected("the end")
        return self._parsed

    def _annotation(self) -> None:
        self._parsed.mark(self._match.start(1), "draft")
        match self._token:
            case "@quantized":
                self._next()
                self._parsed.content["quantized"] = True
            case "@draft":
                self._next()
                self._take("(")
                self._parsed.content["draft"] = self._string()
                self._take(")")
            case _:
                raise self._unexpected("@quantized or @draft")

    def _new(self, section: str) -> str:
        """Take the name of a new value of a section."""
        start = self._match.start(1)
        name = read_name(self._name())
        if name in self._parsed.content[section]:
            raise self._error(f"there is a name {webidl.describe(name)} in {section} already", start)
        self._parsed.mark(start, section, name)
        return name

    def _input(self) -> None:
        name = self._new("inputs")
        self._take(":")
        self._parsed.content["inputs"][name] = self._type()
        self._take(";")

    def _type(self) -> dict[str, Any]:
        if self._token not in _TYPES_BY_NAME:
            listed = [name for dataType, name in TEXT_TYPES.items() if dataType not in ML_DTYPES]
            raise self._unexpected(f"one of {', '.join(listed)}")
        dataType = _TYPES_BY_NAME[self._name()]
        shape: list[Any] = []
        self._take("[")
        while not self._skip("]"):
            shape.append(self._named_size() if self._token == "dyn" else self._number())
            self._separate("]")
        return {"dataType": dataType, "shape": shape}

    def _named_size(self) -> dict[str, Any]:
        self._take("dyn")
        self._take("(")
        name = self._string()
        self._take(",")
        size = {"name": name, "maxSize": self._number()}
        self._take(")")
        return size

    def _constant(self) -> None:
        name = self._new("consts")
        self._take(":")
        constant = self._type()
        annotation = self._token
        if annotation not in ("@weights", "@scalar", "@bytes"):
            raise self._unexpected("@weights, @scalar or @bytes")
        self._next()
        self._take("(")
        match annotation:
            case "@weights":
                constant["init"] = {"kind": "weights", "ref": self._string()}
            case "@scalar":
                constant["init"] = {"kind": "scalar", "value": self._value()}
            case _:
                constant["init"] = {"kind": "inlineBytes", "bytes": self._value()}
        self._take(")")
        self._take(";")
        self._parsed.content["consts"][name] = constant

    def _plain_nodes(self) -> bool:
        """Take nodes as long as the pattern of a whole one matches; return whether there was one. `_node` makes the same of each."""
        nodes = self._parsed.content["nodes"]
        begin = end = self._match.start(1)
        while match := _NODE.match(self._text, end):
            name, operation, given_inputs, given = match.groups()
            outputs, inputs = name.strip("[]").split(", "), given_inputs.split(", ")
            if PREFIX in match[0]:
                outputs, inputs = list(map(read_name, outputs)), list(map(read_name, inputs))
            node: dict[str, Any] = {"id": outputs[0], "op": operation, "inputs": inputs}
            if name[0] == "[":
                node["outputs"] = outputs
            if given:
                found = _OPTION.findall(given)
                options = {option: WORDS.get(word, read_name(word)) if word else _read_json(value)[0] for option, word, value in found}
                if len(options) < len(found):  # there is an option twice
                    break
                node["options"] = options
            nodes.append(node)
            self._parsed.mark_node(match.start(1))
            end = match.end()
        if end == begin:
            return False
        self._matches = _TOKEN.finditer(self._text, end)
        self._next()
        return True

    def _node(self) -> None:
        if self._plain_nodes():
            return
        self._parsed.mark_node(self._match.start(1))
        outputs: list[str] | None = None
        if self._skip("["):
            outputs = []
            while not self._skip("]"):
                outputs.append(read_name(self._name()))
                self._separate("]")
            name = outputs[0] if outputs else ""
        else:
            name = read_name(self._name())
        self._take("=")
        node: dict[str, Any] = {"id": name, "op": self._name("an operation")}
        self._take("(")
        inputs: list[str] = []
        options: dict[str, Any] = {}
        while not self._skip(")"):
            match = self._match
            word = self._name("the name of a value or an option")
            if not self._skip("="):
                inputs.append(read_name(word))
            elif word in options:
                raise self._error(f"there is an option {webidl.describe(word)} already", match.start(1))
            else:
                options[word] = self._value()
            self._separate(")")
        self._take(";")
        node["inputs"] = inputs
        if options:
            node["options"] = options
        if outputs is not None:
            node["outputs"] = outputs
        self._parsed.content["nodes"].append(node)

    def _output(self) -> None:
        start = self._match.start(1)
        value, names = read_identifier(self._name())
        for name in names:
            if name in self._parsed.content["outputs"]:
                raise self._error(f"there is a name {webidl.describe(name)} in outputs already", start)
            self._parsed.mark(start, "outputs", name)
            self._parsed.content["outputs"][name] = value
        if not self._skip(",") and not self._skip(";") and self._token != "}":
            raise self._unexpected("',', ';' or '}'")
        self._skip(";")

    def _value(self, depth: int = 0) -> Any:
        """Take a number, a string, a word, the name of a value (which becomes a string), a list or an object."""
        first = self._token[:1]
        if first in _NUMBER_STARTS:
            return self._number()
        if first in _NAME_STARTS:
            name = self._name()
            return WORDS.get(name, read_name(name))
        if first == '"':
            return self._string()
        if depth == _DEEPEST:
            raise self._error(f"must not be nested deeper than {_DEEPEST} levels")
        if self._skip("["):
            elements: list[Any] = []
            while not self._skip("]"):
                elements.append(self._value(depth + 1))
                self._separate("]")
            return elements
        members: dict[str, Any] = {}
        self._take("{")
        while not self._skip("}"):
            name = self._string() if self._token[:1] == '"' else self._name()
            self._take(":")
            members[name] = self._value(depth + 1)
            self._separate("}")
        return members
