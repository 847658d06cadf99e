"""The page about StableHLO's operations, and the programs that it is made from."""

from __future__ import annotations

import re

import pytest

from tests.shared import SHARED
from tests.webnn.hlo.test_reader import jaxlib, read_here
from tools.evidence import stablehlo_ops
from tools.evidence.stablehlo_programs import COLUMNS, EXAMPLES, make_program
from webnn.hlo.child import ReadError
from webnn.hlo.mlir import write_mlir

#: Operations of one element type, and those that have attributes or constants that `write_mlir` does not write.
NOT_WRITTEN = {"constant", "partition_id", "recv", "replica_id", "send"}
#: A type that the programs do not have replaces the quantized one, which `write_mlir` does not write.
UNUSED, QUANTIZED = "f8E5M2", "!quant.uniform<i8:f32, 5.0e-01>"


def test_the_page_is_what_the_tool_writes() -> None:
    # For integers of 4 bits and bf16.
    pytest.importorskip("ml_dtypes")
    assert stablehlo_ops.page(stablehlo_ops.run()) == stablehlo_ops.PAGE.read_text(encoding="utf-8"), (
        "run: python -m tools.evidence.stablehlo_ops"
    )


@pytest.mark.shared
def test_the_operations_are_those_of_the_document() -> None:
    document = (SHARED / "spec" / "stablehlo.md").read_text(encoding="utf-8")
    _, _, rest = document.partition("\n## Ops\n")
    operations = re.findall(r"^### (\w+)$", rest.partition("\n## ")[0], re.MULTILINE)
    assert len(operations) == 94
    assert sorted(EXAMPLES) == sorted(operations)


@jaxlib
def test_mlir_accepts_the_types_of_the_table_and_no_others() -> None:
    wrong = []
    for name in EXAMPLES.keys() - NOT_WRITTEN:
        for column in COLUMNS:
            text = "".join(write_mlir(make_program(name, UNUSED if column.title == "quantized" else column.element)))
            text = (
                text.replace(UNUSED, QUANTIZED)
                .replace("epsilon = 0.5 : f64", "epsilon = 0.5 : f32")
                .replace("<{index = 1 : i64", "<{index = 1 : i32")
            )
            try:
                read_here(text)
                is_accepted = True
            except ReadError:
                is_accepted = False
            if is_accepted != EXAMPLES[name].has(column):
                wrong.append(f"{name} of {column.title}")
    assert wrong == []
