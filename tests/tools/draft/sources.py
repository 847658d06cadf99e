"""Small sources of the specification."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tools.draft.source import Source

#: The methods of a builder, and the definitions that they need.
IDL = """
enum MLOperandDataType { "float32", "int32" };
typedef record<DOMString, MLOperand> MLNamedOperands;
dictionary MLOperandDescriptor { required MLOperandDataType dataType; sequence<[EnforceRange] unsigned long> dimensions = []; };
dictionary MLOperatorOptions {};
dictionary MLContextOptions { boolean fast = true; };
dictionary MLEluOptions : MLOperatorOptions { float alpha = 1; };
dictionary MLPool2dOptions : MLOperatorOptions { boolean roundingType = false; };
dictionary MLArgMinMaxOptions : MLOperatorOptions {
  sequence<[EnforceRange] unsigned long> axes; boolean keepDimensions = false; boolean selectLastIndex = false;
};
interface MLContext { undefined compute(); };
interface MLOperand { sequence<unsigned long> shape(); };
interface MLGraphBuilder {
  MLOperand input(DOMString name, MLOperandDescriptor descriptor);
  MLOperand elu(MLOperand input, optional MLEluOptions options = {});
  MLOperand maxPool2d(MLOperand input, optional MLPool2dOptions options = {});
  MLOperand argMin(MLOperand input, optional MLArgMinMaxOptions options = {});
  MLOperand where(MLOperand condition, MLOperand input, MLOperand other);
  MLOperand relu(MLOperand input);
};
"""
STEPS = ["1. If |input| is empty, then [=exception/throw=] a {{TypeError}}.", "1. Return |input|."]
SUMMARY = "The <dfn method for=MLGraphBuilder>relu(|input|)</dfn> method steps are:"


def text(idl: str = IDL, steps: Sequence[str] = STEPS, summary: str = SUMMARY, more: str = "") -> str:
    """Write a source with one algorithm."""
    head = "<pre class='metadata'>\nTitle: T\nURL: https://example.org/\n</pre>\n"
    lines = ["<details open algorithm>", "<summary>", summary, "</summary>", *[f"    {step}" for step in steps], "</details>", more]
    return f"{head}<script type=idl>{idl}</script>\n### A section ### {{#a-section}}\n" + "\n".join(lines)


def read(folder: Path, content: str, name: str = "2030-01") -> Source:
    """Read a source from a file in a folder."""
    from tools.draft import source  # the tests skip if its packages are not installed

    file = folder / f"{name}.bs"
    file.write_text(content, encoding="utf-8")
    return source.read(file, name)
