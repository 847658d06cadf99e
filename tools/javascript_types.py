"""Writes the TypeScript declarations of WebNN, for each draft and each strict dialect, from the IDL that the binding interprets.

python -m tools.javascript_types            writes js/types/*.d.ts
python -m tools.javascript_types --check    fails if a file differs from the result
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from webnn.javascript.idl import dialect_revision, load_idl

__all__ = ["FOLDER", "NAMES", "declare", "main"]

FOLDER = Path(__file__).resolve().parents[1] / "js" / "types"
#: The drafts and dialects.
NAMES = ("2024-06", "2026-06", "2026-09", "chromium-153")

_Idl = Mapping[str, Any]
_KINDS = ("dictionaries", "interfaces", "namespaces")
_NUMBERS = ("double", "float", "long", "unrestricted double", "unsigned long", "unsigned long long")
#: Types of other specifications. Buffers are those of ECMAScript, so that the declarations do not need a browser's.
_TYPES = {
    **dict.fromkeys(_NUMBERS, "number"),
    "DOMString": "string",
    "USVString": "string",
    "undefined": "void",
    "AllowSharedBufferSource": "ArrayBufferLike | ArrayBufferView",
}
_HEAD = """\
// WebNN, {title}: written by tools/javascript_types.py from the IDL. A sequence that a program gives may be any iterable, as in Web IDL;
// dictionaries that it gets have all members.
"""


def declare(name: str) -> str:
    """Return the declarations of a draft or dialect."""
    revision = dialect_revision(name)
    idl: _Idl = json.loads(load_idl(revision or name, name if revision else None).text)
    # WebGPU has declarations of its own.
    own = {kind: {each: value for each, value in idl[kind].items() if not each.startswith("GPU")} for kind in _KINDS}
    idl = {**idl, **own}
    title = f"{name}: the dialect of the draft {revision}" if revision else f"the draft {name}"
    return _HEAD.format(title=title) + "\n".join(_Declarations(idl).lines()) + "\n"


class _Declarations:
    """The declarations of one IDL."""

    def __init__(self, idl: _Idl) -> None:
        self._idl = idl
        #: The dictionaries and typedefs that a program gets.
        self._given = set[str]()
        for interface in idl["interfaces"].values():
            for type_ in [
                *(each["returns"] for each in interface.get("operations", ())),
                *(each["type"] for each in interface.get("attributes", ())),
            ]:
                self._follow(type_)

    def _follow(self, type_: object) -> None:
        """Note the names that a returned type leads to."""
        match type_:
            case str(name) if name not in self._given:
                if name in self._idl["typedefs"]:
                    self._given.add(name)
                    self._follow(self._idl["typedefs"][name])
                elif name in self._idl["dictionaries"]:
                    self._given.add(name)
                    self._follow([member["type"] for member in self._idl["dictionaries"][name]["members"]])
                    self._follow(self._idl["dictionaries"][name].get("inherits"))
            case list():
                for each in type_:
                    self._follow(each)
            case {"extendedAttributes": _, "type": inner}:
                self._follow(inner)
            case dict():
                self._follow(list(type_.values()))

    def lines(self) -> Iterator[str]:
        idl = self._idl
        for name, values in idl["enumerations"].items():
            yield f"\ntype {name} = {' | '.join(map(repr, values))};"
        for name, type_ in idl["typedefs"].items():
            yield f"\ntype {name} = {self._write(type_, gets=name in self._given)};"
        yield "\n// Of WebGPU, whose declarations may add its members."
        for name in ("GPUDevice", "GPUBuffer"):
            if f'"{name}"' in json.dumps(idl["interfaces"]):
                yield f"interface {name} {{\n  readonly [Symbol.toStringTag]: '{name}';\n}}"
        for name, dictionary in idl["dictionaries"].items():
            yield from self._dictionary(name, dictionary)
        for name, mixin in idl["mixins"].items():
            yield f"\ninterface {name} {{"
            yield from self._attributes(mixin)
            yield "}"
        for name, mixins in idl["includes"].items():
            yield f"\ninterface {name} extends {', '.join(mixins)} {{}}"
        for name, interface in idl["interfaces"].items():
            yield from self._interface(name, interface)
        for name, namespace in idl["namespaces"].items():
            yield f"\ndeclare namespace {name} {{"
            yield from (f"  const {each['name']}: {each['value']};" for each in namespace["constants"])
            yield "}"

    def _dictionary(self, name: str, dictionary: _Idl) -> Iterator[str]:
        gets = name in self._given
        yield f"\ninterface {name}{_extends(dictionary)} {{"
        for member in dictionary["members"]:
            mark = "" if gets or member.get("required") else "?"
            yield f"  {member['name']}{mark}: {self._write(member['type'], gets=gets)};"
        yield "}"

    def _interface(self, name: str, interface: _Idl) -> Iterator[str]:
        yield f"\ninterface {name}{_extends(interface)} {{"
        yield from self._attributes(interface)
        for operation in interface.get("operations", ()):
            yield f"  {operation['name']}({self._arguments(operation['arguments'])}): {self._write(operation['returns'], gets=True)};"
        # Interfaces without members would be equal to any object.
        yield f"  readonly [Symbol.toStringTag]: '{name}';"
        yield "}"
        constructors = [f"new ({self._arguments(each)}): {name}; " for each in interface.get("constructors", ())]
        illegal = "" if constructors else f" & (abstract new () => {name})"
        yield f"declare var {name}: {{{''.join(constructors)}readonly prototype: {name}}}{illegal};"

    def _attributes(self, interface: _Idl) -> Iterator[str]:
        for attribute in interface.get("attributes", ()):
            yield f"  readonly {attribute['name']}: {self._write(attribute['type'], gets=True)};"

    def _arguments(self, arguments: Sequence[_Idl]) -> str:
        return ", ".join(f"{each['name']}{'?' if each.get('optional') else ''}: {self._write(each['type'])}" for each in arguments)

    def _write(self, type_: object, *, gets: bool = False) -> str:
        """Write a type. ``gets``: the program gets the value, and does not give it."""
        match type_:
            case str(name):
                return _TYPES.get(name, name)
            case {"extendedAttributes": _, "type": inner}:
                return self._write(inner, gets=gets)
            case {"sequence": inner}:
                element = self._write(inner, gets=gets)
                return (f"({element})[]" if " " in element else f"{element}[]") if gets else f"Iterable<{element}>"
            case {"FrozenArray": inner}:
                return f"readonly {self._write(inner, gets=gets)}[]"
            case {"promise": inner}:
                return f"Promise<{self._write(inner, gets=gets)}>"
            case {"record": [_, inner]}:
                return f"Record<string, {self._write(inner, gets=gets)}>"
            case {"union": [*inner]}:
                return " | ".join(self._write(each, gets=gets) for each in inner)
        raise ValueError(f"the type {json.dumps(type_)} is not known")


def _extends(definition: _Idl) -> str:
    return f" extends {definition['inherits']}" if "inherits" in definition else ""


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the files, or with ``--check`` compare them; return the exit code."""
    check = "--check" in (sys.argv[1:] if arguments is None else arguments)
    stale = 0
    for name in NAMES:
        file, text = FOLDER / f"{name}.d.ts", declare(name)
        if check and file.read_text(encoding="utf-8") != text:
            print(f"{file.name} is not current: run python -m tools.javascript_types")
            stale += 1
        elif not check:
            FOLDER.mkdir(exist_ok=True)
            file.write_text(text, encoding="utf-8")
    return int(stale > 0)


if __name__ == "__main__":
    sys.exit(main())
