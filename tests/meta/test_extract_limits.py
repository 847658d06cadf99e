"""The extractor of the tables of limits knows each form that the draft uses, and refuses every other one."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support import NEWEST, each_row, limits_of

extract_limits = pytest.importorskip("tools.extract_limits", reason="widlparser is not installed")

HEAD = "".join(
    f"<th>{title}</th>"
    for title in ("operand", "[=/allowed data types=]", "[=/required data types=]", "[=/allowed ranks=]", "[=/required ranks=]")
)
ANY = "[=/any data type|any=]"
N = "[=/any rank|N=]"


def of(*types: str) -> str:
    return ", ".join(f'{{{{MLOperandDataType/"{each}"}}}}' for each in types)


def same(what: str, operand: str) -> str:
    return f"[=/same {what} as|same as=] {operand}"


def row(operand: str, types: str = ANY, required: str | None = None, ranks: str = N, needed: str = "0 to 5") -> str:
    cells = (operand, types, of("float32") if required is None else required, ranks, needed)
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def table(*rows: str, name: str = "tensor-limits-f", links: str = "MLGraphBuilder/f(input, other, options)", head: str = HEAD) -> str:
    caption = "<caption>Limits of {{MLGraphBuilder/f()}}</caption>"
    return f"<table id={name} class='data' link-for=\"{links}\">\n{caption}<thead><tr>{head}</tr></thead>\n{''.join(rows)}\n</table>"


def draft(*tables: str) -> str:
    enumeration = '<script type=idl>enum MLOperandDataType { "float32", "float16",\n "int8" };</script>'
    metadata = "<pre class='metadata'>\nTitle: T\nURL: https://example.org/\n</pre>"
    return "\n".join([metadata, enumeration, "<table class=grid><tr><td rowspan=2>no limits</table>", *tables])


def operands(*rows: str, **named: str) -> dict[str, Any]:
    data: dict[str, Any] = extract_limits.extract(draft(table(*rows, **named)), "2030-01")["tables"]["tensor-limits-f"]["operands"]
    return data


PLAIN = {"dataTypes": "any", "requiredDataTypes": ["float32"], "ranks": [0, None], "requiredRanks": [0, 5]}


def test_the_whole() -> None:
    links = "MLGraphBuilder/f(input, options), MLGraphBuilder/g(a, b, input)"
    shared = table(row("{{input}}"), row("*output*", same("type", "{{input}}"), ranks=same("rank", "{{input}}")), links=links)
    other = table(row("{{x}}", of("int8"), of("int8")), name="tensor-limits-h", links="MLGraphBuilder/h(x)")
    data = extract_limits.extract(draft(shared, "<!-- <table id=tensor-limits-i> -->", other), "2030-01")
    assert json.loads(json.dumps(data)) == data
    assert data == {
        "source": {"title": "T", "revision": "2030-01", "url": "https://example.org/", "license": NEWEST.idl()["source"]["license"]},
        "dataTypes": ["float32", "float16", "int8"],
        "tables": {
            "tensor-limits-f": {
                "operations": ["f", "g"],
                "operands": {
                    "input": PLAIN,
                    "output": {"output": True, **PLAIN, "dataTypes": {"sameAs": "input"}, "ranks": {"sameAs": "input"}},
                },
            },
            "tensor-limits-h": {"operations": ["h"], "operands": {"x": {**PLAIN, "dataTypes": ["int8"], "requiredDataTypes": ["int8"]}}},
        },
    }


@pytest.mark.parametrize(
    ("cell", "name", "flags"),
    [
        ("{{input}}", "input", {}),
        ("{{MLFOptions/bias}}", "bias", {"option": True}),
        ("{{input}}'s [=list/items=]", "input", {"sequence": True}),
        ("*output*", "output", {"output": True}),
        ("*outputs*", "outputs", {"output": True}),
        ("*outputs[0]*", "output0", {"output": True}),
        ("*outputs[1]* if {{MLFOptions/both}} is true", "output1", {"output": True, "condition": "both"}),
        ("\n  {{input}}\n", "input", {}),
    ],
)
def test_operands(cell: str, name: str, flags: dict[str, Any]) -> None:
    assert operands(row(cell)) == {name: {**flags, **PLAIN}}


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        (ANY, "any"),
        (of("float32"), ["float32"]),
        # The order is the enumeration's, whatever the table's is.
        (of("int8", "float32"), ["float32", "int8"]),
        (same("type", "{{input}}"), {"sameAs": "input"}),
        (same("type", "{{input}}'s [=list/items=]"), {"sameAs": "input"}),
    ],
)
def test_data_types(cell: str, expected: object) -> None:
    assert operands(row("{{input}}"), row("{{other}}", cell))["other"]["dataTypes"] == expected


@pytest.mark.parametrize(
    ("cell", "needed", "expected", "required"),
    [
        (N, "0 to 5", [0, None], [0, 5]),
        (f"1 to {N}", "1 to 5", [1, None], [1, 5]),
        ("4", "4", [4, 4], [4, 4]),
        ("0 to 2", "1", [0, 2], [1, 1]),
        (same("rank", "{{input}}"), "3 to 5", {"sameAs": "input"}, [3, 5]),
    ],
)
def test_ranks(cell: str, needed: str, expected: object, required: list[int]) -> None:
    found = operands(row("{{input}}"), row("{{other}}", ranks=cell, needed=needed))["other"]
    assert (found["ranks"], found["requiredRanks"]) == (expected, required)


def test_end_tags_may_be_missing() -> None:
    """The draft's table of prelu has a row without one."""
    assert list(operands(row("{{input}}").removesuffix("</tr>"), row("{{other}}"))) == ["input", "other"]
    assert operands(row("{{input}}").replace("</td>", "").replace("</tr>", "")) == {"input": PLAIN}


def test_a_footnote_in_the_caption_is_no_cell() -> None:
    text = draft(table(row("{{input}}")).replace("</caption>", " (note 1)</caption>"))
    assert extract_limits.extract(text, "2030-01")["tables"]["tensor-limits-f"]["operands"] == {"input": PLAIN}


INPUT = row("{{input}}")


@each_row(
    ("rows", "message"),
    [
        ([INPUT, INPUT], "has two rows"),
        ([row("{{weight}}")], "is not an argument of each operation"),
        ([row("the input")], "the operand is not known"),
        ([row("{{input}}, {{other}}")], "the operand is not known"),
        ([row("*result*")], "the operand is not known"),
        ([row("{{input}}<sup>1</sup>")], "the tag 'sup' is not known"),
        ([row("{{input}}").replace("<td>", "<td rowspan=2>", 1)], r"attributes of the tag 'td' are not known: \['rowspan'\]"),
        ([row("{{input}}").replace("<td>0 to 5</td>", "")], "a row has 4 cells"),
        ([row("{{input}}") + "<b>1</b>"], "the tag 'b' is not known"),
        ([row("{{input}}") + "1. A footnote."], "text stands outside of a cell: '1. A footnote.'"),
        ([INPUT, "<td>1</td>"], "a cell stands outside of a row"),
        ([row("{{input}}", "any")], "the data types are not known: any"),
        ([row("{{input}}", "float32")], "the data types are not known: float32"),
        ([row("{{input}}", of("float32") + " or " + of("int8"))], "the data types are not known"),
        ([row("{{input}}", of("float32", "float32"))], "once"),
        ([row("{{input}}", of("int4"))], "each one of the enumeration"),
        ([row("{{input}}", "")], "the data types are not known"),
        ([INPUT, row("{{other}}", same("rank", "{{input}}"))], "the data types are not known"),
        ([INPUT, row("{{other}}", ranks=same("type", "{{input}}"))], "the ranks are not known"),
        ([row("{{input}}", required=same("type", "{{other}}"))], "the data types are not known"),
        ([row("{{input}}", ranks="any")], "the ranks are not known: any"),
        ([row("{{input}}", ranks="1 or 2")], "the ranks are not known: 1 or 2"),
        ([row("{{input}}", ranks=f"{N} to 4")], "the ranks are not known"),
        ([row("{{input}}", ranks=f"{N} - 1")], "the ranks are not known"),
        ([row("{{input}}", ranks="4 to 2")], "the ranks are not a range: 4 to 2"),
        ([row("{{input}}", same("type", "{{other}}"))], "input refers for its dataTypes to other, which does not give them"),
        ([row("{{input}}", ranks=same("rank", "{{input}}"))], "input refers for its ranks to input, which does not give them"),
        ([INPUT, row("{{other}}", of("int8"))], "other requires data types that it does not allow"),
        ([row("{{input}}", of("int8"), of("int8")), row("{{other}}", same("type", "{{input}}"))], "other requires data types"),
        ([row("{{input}}", ranks="1")], "input requires ranks that it does not allow"),
        ([row("{{input}}", ranks=f"1 to {N}")], "input requires ranks"),
        ([row("{{input}}", needed=N)], "input requires ranks"),
    ],
)
def test_what_is_not_known_is_refused(rows: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        operands(*rows)
    assert str(caught.value).startswith("tensor-limits-f: ")


TABLE = table(INPUT)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (draft(), "no tables of limits"),
        (draft(TABLE).replace("MLOperandDataType {", "D {"), "no enumeration of data types"),
        (draft(TABLE).replace("Title", "Name"), "no metadata 'Title'"),
        (draft(TABLE, TABLE), "two tables tensor-limits-f"),
        (draft(TABLE, table(INPUT, name="tensor-limits-g")), "f is in two tables, tensor-limits-f and tensor-limits-g"),
        (draft(table(INPUT, name="limits-f")), "no anchor that says so"),
        (draft(table(INPUT, links="")), "the operations that it is for are not known: ''"),
        (draft(table(INPUT, links="MLGraphBuilder/f(input), MLGraph/g(input)")), "the operations that it is for are not known"),
        (draft(table(INPUT, links="MLGraphBuilder/f(input), MLGraphBuilder/g(a)")), "is not an argument of each operation"),
        (draft(table(INPUT, head=HEAD.replace("operand", "tensor"))), "the head is not known"),
        (draft(table(INPUT, head=HEAD + "<th>note</th>")), "the head is not known"),
        (draft(TABLE.replace("<thead><tr>", "<thead>")), "a cell stands outside of a row"),
    ],
)
def test_drafts_that_are_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        extract_limits.extract(text, "2030-01")


def test_a_difference_is_shown(tmp_path: object, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extract_limits, "FOLDER", tmp_path)
    source = extract_limits.FOLDER / "draft.bs"
    source.write_text(draft(table(INPUT)), encoding="utf-8")
    assert extract_limits.main([str(source), "2030-01", "--check"]) == 1
    assert '"operations": ["f"]' in capsys.readouterr().err
    assert extract_limits.main([str(source), "2030-01"]) == 0
    assert extract_limits.main([str(source), "2030-01", "--check"]) == 0


#: The draft's own tables that have something of their own, as it writes them.
EXCERPT = """
<table id=tensor-limits-dequantizelinear class='data' link-for="MLGraphBuilder/dequantizeLinear(input, scale, zeroPoint, options)">
  <thead><tr>{head}</tr></thead>
  {dequantizeLinear}
</table>
<table id=tensor-limits-gru class='data' link-for="MLGraphBuilder/gru(input, weight, recurrentWeight, steps, hiddenSize, options)">
  <thead><tr>{head}</tr></thead>
  {gru}
</table>
"""


def test_the_file_agrees_with_an_excerpt() -> None:
    """Two tables written here by hand give what the file has."""
    integers, floats = of("uint8", "int8", "uint32", "int32"), of("float32", "float16")
    alike = same("rank", "{{input}}")
    dequantize = [
        row("{{input}}", integers, of("uint8", "int8")),
        row("{{scale}}", floats, floats, alike),
        row("{{zeroPoint}}", same("type", "{{input}}"), of("uint8", "int8", "int32"), alike),
        row("*output*", same("type", "{{scale}}"), floats, alike),
    ]
    recurrent = [("{{weight}}", "3"), ("{{recurrentWeight}}", "3")]
    recurrent += [
        (f"{{{{MLGruOptions/{name}}}}}", rank) for name, rank in (("bias", "2"), ("recurrentBias", "2"), ("initialHiddenState", "3"))
    ]
    recurrent += [("*outputs[0]*", "3"), ("*outputs[1]* if {{MLGruOptions/returnSequence}} is true", "4")]
    gru = [row("{{input}}", floats, floats, "3", "3")]
    gru += [row(cell, same("type", "{{input}}"), floats, rank, rank) for cell, rank in recurrent]
    every = limits_of("2026-06").data_types
    text = draft(EXCERPT.format(head=HEAD, dequantizeLinear="".join(dequantize), gru="".join(gru)))
    text = text.replace('"float32", "float16",\n "int8"', ", ".join(f'"{each}"' for each in every))
    found = extract_limits.extract(text, "2026-06")["tables"]
    file = json.loads((extract_limits.FOLDER / "2026-06.limits.json").read_text(encoding="utf-8"))
    assert len(found) == 2
    assert found == {name: file["tables"][name] for name in found}
