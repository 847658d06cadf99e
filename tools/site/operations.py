"""The pages of operations: one for each, and the list of all."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from types import MappingProxyType
from typing import NamedTuple

import griffe

from tools.semantics import switch_lines
from tools.site import idl
from tools.site.compatibility import browsers_table
from tools.site.examples import Example, examples, onnx_text
from tools.site.limits import limits_table, rules_table
from tools.site.programs import javascript_program, python_program, remarks
from tools.site.steps import errors_table
from tools.site.text import code, docstring_of, fence, tab, table, titled
from webnn import MLGraphBuilder
from webnn.builder.semantics import find_switches
from webnn.validation.drafts import DRAFTS_OF_GRAPHS, find_revision
from webnn.validation.drafts.idl import IdlMember
from webnn.validation.drafts.idl_text import write_type
from webnn.validation.operation import Operation

__all__ = ["FAMILIES", "FOLDER", "list_page", "operation_page", "operations", "pages"]

FOLDER = "api/operations"
#: The families, in the order of the list, with their titles.
FAMILIES: Mapping[str, str] = MappingProxyType(
    {
        "unary": "Element by element, of one operand",
        "binary": "Element by element, of two operands",
        "logical": "Comparisons and logic",
        "activation": "Activation functions",
        "matmul": "Matrices",
        "conv": "Convolutions",
        "pooling": "Pooling",
        "normalization": "Normalization",
        "recurrent": "Recurrent networks",
        "reduction": "Reductions",
        "movement": "Shapes, choices and types",
        "tiling": "Repeating and reversing",
        "gather_scatter": "Gathering and scattering",
        "resample": "Resampling",
        "quantization": "Quantization",
    }
)


@cache
def operations() -> Mapping[str, Operation]:
    """Return the operations of all drafts, each with the row of the newest draft that has it."""
    return MappingProxyType({name: row for draft in DRAFTS_OF_GRAPHS for name, row in find_revision(draft).operations.items()})


def pages() -> dict[str, str]:
    """Return the pages by their names."""
    made = {f"{FOLDER}/{name}.md": operation_page(name) for name in operations()}
    return {f"{FOLDER}/index.md": list_page(), **made}


def list_page() -> str:
    """Return the page that lists the operations, by family."""
    lines = [
        "# Operations",
        "",
        f"The {len(operations())} operations of `MLGraphBuilder`. Operations without a remark are in both drafts.",
        "",
    ]
    for family, title in FAMILIES.items():
        members = [name for name, example in examples().items() if example.family == family]
        rows = ([f"[{code(name)}]({name}.md)", _summary(name), _remark(name)] for name in members)
        lines += titled(title, table(["operation", "", ""], rows))
    return "\n".join(lines)


def operation_page(name: str) -> str:
    """Return the page of an operation."""
    return "\n".join(_page(name))


def _drafts(name: str) -> list[str]:
    return [draft for draft in DRAFTS_OF_GRAPHS if name in find_revision(draft).operations]


def _remark(name: str) -> str:
    """Say which drafts have an operation, unless all have it."""
    drafts = _drafts(name)
    if drafts == list(DRAFTS_OF_GRAPHS):
        return ""
    return f"since {drafts[0]}" if drafts[-1] == DRAFTS_OF_GRAPHS[-1] else f"until {drafts[-1]}"


def _page(name: str) -> Iterator[str]:
    example = examples()[name]
    drafts, documentation = _drafts(name), _documentation(name)
    address = f"{find_revision(drafts[-1]).idl()['source']['url']}{operations()[name].anchor}"
    remark = _remark(name)
    where = f"**{remark[0].upper()}{remark[1:]}**: other drafts do not have it." if remark else f"In the drafts {' and '.join(drafts)}."
    yield from (f"# {name}", "", documentation.text, "", f"{where} [The specification]({address})", "")
    yield from fence(example.formula, "{ .text .formula }")
    yield from _example(name, example)
    yield from titled("Signature", _signature(name))
    yield from titled("Arguments", _arguments(name, documentation))
    yield from titled("Options", _options(name, documentation))
    yield from titled("Returns", [documentation.returns, ""] if documentation.returns else [])
    yield from titled("Types and ranks", [*limits_table(name), *rules_table(name), _LEGEND, ""])
    yield from titled("Browsers", browsers_table(name))
    yield from titled("Where backends differ", _semantics(name))
    yield from titled("Errors", [documentation.raises, "", *errors_table(name), _ERRORS, ""])
    yield from titled("As ONNX", ["The graph of the example:", "", *fence(onnx_text(name))])


def _semantics(name: str) -> Iterator[str]:
    """Yield the switches that are about an operation."""
    for switch in find_switches([name]):
        yield from (f"`{switch.name}`, {switch.about} ([the switches](../../semantics.md)):", "", *switch_lines(switch), "")


_LEGEND = (
    "A dash: the draft has no entry in a table; the steps under *Errors* say what must hold. *Every device*: what each implementation of "
    "the draft supports. The other rows are [device profiles](../../profiles.md): what browsers accept on a device."
)
_PASTED = (
    "Both programs are whole: paste one into a file, or into the console of a [browser with WebNN](#browsers). Without such a browser, "
    "`webnn run example.mjs` runs the JavaScript."
)
_ERRORS = (
    "The steps are those of the [drafts' algorithms](../../spec-coverage.md). An error has the number of the step that failed as its "
    "attribute `step`. An argument that Web IDL cannot convert is a `WebNNTypeError` without a step."
)


def _example(name: str, example: Example) -> Iterator[str]:
    about = remarks(example.code)
    yield from titled("Example", [about, ""] if about else [""])
    yield from tab("Python", fence(python_program(name), "python"))
    yield from tab("JavaScript", fence(javascript_program(name), "javascript"))
    yield from ("It prints", "", *fence(example.prints))
    yield f"{_PASTED} JavaScript prints the elements of each output in a row."
    yield ""


class _Documentation(NamedTuple):
    """The docstring of a method: its text, the texts of its arguments, and of what it returns and raises."""

    text: str
    arguments: Mapping[str, str]
    returns: str
    raises: str


#: The anchor of the specification, which the page has as a link.
_ANCHOR = re.compile(r"\s*`#api-[\w-]+`\.?")


@cache
def _documentation(name: str) -> _Documentation:
    docstring = griffe.Docstring(docstring_of(getattr(MLGraphBuilder, name)), parser="google")
    text, returns = "", ""
    arguments: dict[str, str] = {}
    raises: list[str] = []
    for section in docstring.parse(warnings=False):
        match section:
            case griffe.DocstringSectionText():
                text += section.value + "\n\n"
            case griffe.DocstringSectionParameters():
                arguments.update({each.name: _line(each.description) for each in section.value})
            case griffe.DocstringSectionReturns():
                returns = " ".join(_line(f"{each.annotation or ''} {each.description}") for each in section.value)
            case griffe.DocstringSectionRaises():
                raises += [f"- `{each.annotation}`: {_line(each.description)}" for each in section.value]
            case _:
                raise ValueError(f"the docstring of {name} has a section {section.kind}")
    return _Documentation(_ANCHOR.sub("", text).strip().replace("``", "`"), MappingProxyType(arguments), returns, "\n".join(raises))


def _line(text: str) -> str:
    return " ".join(text.split()).replace("``", "`")


def _summary(name: str) -> str:
    return _line(_documentation(name).text.partition("\n\n")[0])


def _signature(name: str) -> Iterator[str]:
    """Yield the IDL of each draft, once where they are equal."""
    texts: dict[str, list[str]] = {}
    for draft in reversed(_drafts(name)):
        # The label that every operation takes is not repeated on each page.
        dictionaries = [each for each in idl.dictionaries_of(name, draft) if each != "MLOperatorOptions"]
        lines = [*map(idl.signature, idl.overloads(name, draft)), "", *(idl.dictionary_text(each, draft) + "\n" for each in dictionaries)]
        texts.setdefault("\n".join(lines).strip("\n"), []).append(draft)
    for text, drafts in texts.items():
        yield from ("", f"In {' and '.join(reversed(drafts))}:", "", *fence(text, "webidl"))
    parameters = ", ".join([each["name"] for each in idl.overloads(name, _drafts(name)[-1])[0]["arguments"] if not each.get("optional")])
    yield f"In Python: `builder.{name}({parameters})`, with options as a dictionary behind the arguments or as keyword arguments."
    yield ""


def _arguments(name: str, documentation: _Documentation) -> list[str]:
    """Return the table of the arguments that are not options."""
    types: dict[str, dict[str, list[str]]] = {}
    for draft in _drafts(name):
        for overload in idl.overloads(name, draft):
            for argument in overload["arguments"]:
                if argument["name"] != "options":
                    drafts = types.setdefault(argument["name"], {}).setdefault(write_type(argument["type"]), [])
                    drafts.extend([draft] if draft not in drafts else [])
    rows = [
        [code(argument), _by_draft(name, {code(type): drafts for type, drafts in found.items()}), documentation.arguments.get(argument, "")]
        for argument, found in types.items()
    ]
    return table(["argument", "type", ""], rows)


def _by_draft(name: str, texts: Mapping[str, list[str]]) -> str:
    """Return texts, with the drafts that have them unless all drafts have the only one."""
    if [sorted(drafts) for drafts in texts.values()] == [_drafts(name)]:
        return next(iter(texts))
    return "\n".join(f"{text} ({', '.join(drafts)})" for text, drafts in reversed(list(texts.items())))


def _options(name: str, documentation: _Documentation) -> Iterator[str]:
    """Yield the table of the options, and the docstring's words on them."""
    members: dict[str, dict[tuple[str, str, str], list[str]]] = {}
    for draft in _drafts(name):
        for member in idl.members_of(name, draft):
            values = idl.range_of(member["type"], find_revision(draft).idl())
            default = _default(member) or _stated_default(member["name"], documentation.arguments.get("options", ""))
            cells = code(write_type(member["type"])), values, default or "-"
            members.setdefault(member["name"], {}).setdefault(cells, []).append(draft)
    if not members:
        return
    if "options" in documentation.arguments:
        yield from (documentation.arguments["options"], "")
    rows = []
    for option, texts in members.items():
        for (type, values, default), drafts in reversed(list(texts.items())):
            rows.append([code(option), type, values, default, "" if drafts == _drafts(name) else ", ".join(drafts)])
    yield from table(["option", "type", "values", "default", "only in"], rows)


def _default(member: IdlMember) -> str:
    """Return the default that the IDL states."""
    if member.get("required"):
        return "required"
    return code(json.dumps(member["default"])) if "default" in member else ""


def _stated_default(member: str, text: str) -> str:
    """Return the default that a docstring states in parentheses: "`strides` and `dilations` [height, width], at least 1 (1)"."""
    match = re.search(rf"`{member}`(?: and `\w+`)*(?:(?!, `|\. |\) and `).)*?\(([^()]*)\)", text)
    return match[1].partition(";")[0] if match else ""
