"""The IDL as text: what a parser of Web IDL reads is what was written."""

from __future__ import annotations

import pytest
import widlparser

from tests.support import each_row
from webnn.validation.drafts import DRAFTS, find_revision
from webnn.validation.drafts.idl import merge_idl
from webnn.validation.drafts.idl_text import compare_idl, write_definitions, write_type

TYPES = [
    ("unsigned long", "unsigned long"),
    ({"nullable": "MLOperand"}, "MLOperand?"),
    ({"sequence": {"extendedAttributes": {"EnforceRange": True}, "type": "unsigned long"}}, "sequence<[EnforceRange] unsigned long>"),
    ({"promise": "undefined"}, "Promise<undefined>"),
    ({"FrozenArray": "unsigned long"}, "FrozenArray<unsigned long>"),
    ({"record": ["USVString", "MLTensor"]}, "record<USVString, MLTensor>"),
    ({"union": ["bigint", {"sequence": "float"}]}, "(bigint or sequence<float>)"),
]


@each_row(("data", "text"), TYPES)
def test_types(data: object, text: str) -> None:
    assert write_type(data) == text  # type: ignore[arg-type]


def written(head: str, members: list[str]) -> str:
    kind, _, name = head.partition(" ")
    return f"typedef {members[0].removesuffix(';')} {name};" if kind == "typedef" else f"{head} {{ {' '.join(members)} }};"


@pytest.mark.parametrize("draft", DRAFTS)
def test_a_parser_reads_it(draft: str) -> None:
    wrong: list[str] = []

    class Ui:
        def warn(self, message: str) -> None:
            wrong.append(message)

    definitions = write_definitions(find_revision(draft).idl())
    text = "\n".join(map(written, definitions, definitions.values()))
    parsed = widlparser.Parser(text, ui=Ui())
    assert not wrong
    assert len(parsed.constructs) == len(definitions)


def test_a_difference() -> None:
    idl = find_revision("2026-06").idl()
    changes = {
        "removed": ["MLPaddingMode"],
        "enumerations": {"MLRoundingType": ["nearest"], "MLNew": ["one"]},
        "dictionaries": {"MLEluOptions": {"without": ["alpha"], "members": [{"name": "slope", "type": "double", "default": 1}]}},
    }
    assert compare_idl(idl, idl) == []
    assert compare_idl(idl, merge_idl(idl, changes)) == [
        "- enum MLPaddingMode {",
        *[f'-   "{mode}",' for mode in ("constant", "edge", "reflection")],
        "- };",
        "  enum MLRoundingType {",
        '+   "nearest",',
        "  };",
        "  dictionary MLEluOptions : MLOperatorOptions {",
        "-   double alpha = 1;",
        "+   double slope = 1;",
        "  };",
        "+ enum MLNew {",
        '+   "one",',
        "+ };",
    ]
