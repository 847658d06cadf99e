"""The table of what ONNX Runtime's provider "webnn" takes: every name in it exists."""

from __future__ import annotations

from onnx import defs

from tests.support import each_row
from tests.webnn.onnx.partition.models import LIMITS
from webnn.onnx.partition import limits
from webnn.onnx.partition.conditions import CONDITIONS
from webnn.onnx.partition.table import Rule, rules, source

AttrType = defs.OpSchema.AttrType
#: Operators of ONNX Runtime's own domain. The package `onnx` does not know them.
CONTRIB = {
    "GatherBlockQuantized",
    "GroupQueryAttention",
    "MatMulNBits",
    "MultiHeadAttention",
    "SimplifiedLayerNormalization",
    "SkipSimplifiedLayerNormalization",
}
RULES = list(rules().items())
HISTORY: dict[str, list[defs.OpSchema]] = {}
for schema in defs.get_all_schemas_with_history():
    if schema.domain == "":
        HISTORY.setdefault(schema.name, []).append(schema)


def operands_of(rule: Rule) -> list[str]:
    inputs = [rule.operand(index) for index, name in enumerate(rule.operands) if name]
    outputs = [rule.result(index) for index, name in enumerate(rule.outputs) if name]
    return [*inputs, *outputs, *rule.parts, *rule.rank_rows]


def test_the_table_is_whole() -> None:
    families = limits.data()["family"]
    assert len(RULES) == sum(len(family["operators"]) for family in families) == 112
    assert {op for op, _ in RULES} - HISTORY.keys() == CONTRIB
    assert {name for _, rule in RULES for name in rule.conditions} == CONDITIONS.keys()
    assert source()["licence"].startswith("MIT")
    assert source()["version"] == "1.30.0"
    assert len(source()["commit"]) == 40


@each_row("row", RULES)
def test_operations_and_operands_of_webnn_exist(row: tuple[str, Rule]) -> None:
    _, rule = row
    assert rule.webnn
    for operation in rule.webnn:
        assert operation in LIMITS
    for operand in operands_of(rule):
        operation, _, name = operand.partition(".")
        assert operation in rule.webnn
        assert name in LIMITS[operation]


@each_row("row", RULES)
def test_versions_inputs_and_attributes_of_onnx_exist(row: tuple[str, Rule]) -> None:
    op, rule = row
    lowest, highest = rule.opset
    if op in CONTRIB:
        assert rule.opset == (1, 27)
        return
    taken = [schema for schema in HISTORY[op] if lowest <= schema.since_version <= highest]
    assert taken
    # The lowest version is that of a change, or no limit at all.
    assert lowest in {1, *(schema.since_version for schema in taken)}
    most = max(schema.max_input for schema in taken)
    indices = [*rule.types, *rule.ranks, *rule.kinds, *(rule.same if rule.same != "all" else ()), *rule.constants]
    assert all(-1 <= int(index) < most for index in indices)
    assert len([name for name in rule.outputs if name]) <= max(schema.max_output for schema in taken) or rule.parts
    for name, values in rule.attributes.items():
        types = [schema.attributes[name].type for schema in taken if name in schema.attributes]
        assert (AttrType.INT if isinstance(values[0], int) else AttrType.STRING) in types


@each_row("name", list(CONDITIONS))
def test_conditions_say_what_they_check(name: str) -> None:
    assert CONDITIONS[name].__doc__
    assert CONDITIONS[name].__name__ == name
