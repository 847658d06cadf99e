"""Operators without a rule."""

from __future__ import annotations

import pytest
from onnx import parser

import webnn.onnx

MODEL = """
<ir_version: 9,
 opset_import: ["" : 20, "com.microsoft" : 1, "ai.onnx.ml" : 3, "ai.onnx.contrib" : 1, "my.domain" : 1, "org.pytorch.aten" : 1]>
m (float[2, 30] x) => (float[2, 30] y)
{{ y = {node} }}
"""
ADVICE = {
    "com.microsoft.BeamSearch(x)": "export the model that it calls for each token, and let the program choose the tokens",
    "com.microsoft.GroupNorm(x)": "save the model without the optimizations of ONNX Runtime, or those of level 'basic' only",
    "com.microsoft.Tokenizer(x)": "export the model without it, and do this before or behind the model",
    "ai.onnx.contrib.BertTokenizer(x)": "export the model without it, and do this before or behind the model",
    "ai.onnx.ml.Scaler(x)": "export a network of tensors: trees, for example, with hummingbird-ml",
    "org.pytorch.aten.ATen(x)": "dynamo=True",
    "my.domain.Foo(x)": "export Foo as a function of ONNX's own operators",
    "SequenceConstruct(x)": "export the model with tensors of numbers in place of sequences",
    "Sine(x)": "the name may be wrong; if it is newer than opset",
    'TfIdfVectorizer<mode = "TF">(x)': "export the model with other operators in its place, or cut it off",
}


@pytest.mark.parametrize("node", ADVICE)
def test_the_advice_says_what_to_change(node: str) -> None:
    with pytest.raises(webnn.onnx.RefusedModelError) as caught:
        webnn.onnx.load(parser.parse_model(MODEL.format(node=node)))
    refusal = caught.value.report.refusals[0]
    assert refusal.reason == f"there is no rule for the operator {refusal.operator}"
    assert ADVICE[node] in refusal.advice
    assert refusal.never == ""


NEVER = {
    "RandomNormalLike(x)": "it draws random numbers",
    "NonZero(x)": "what must be known at import depends on data",
    "NonMaxSuppression(x, x)": "what must be known at import depends on data",
}


@pytest.mark.parametrize("node", NEVER)
def test_a_model_that_can_never_run(node: str) -> None:
    """The first line says it."""
    with pytest.raises(webnn.onnx.RefusedModelError) as caught:
        webnn.onnx.load(parser.parse_model(MODEL.format(node=node)))
    first, *rest = str(caught.value).splitlines()
    assert first == f"m: the model can never run on WebNN as it is: {NEVER[node]}; it cannot be imported, for 1 reason:"
    assert len(rest) == len(caught.value.report.refusals)


def test_a_setting_is_not_data() -> None:
    """A few numbers, such as scales, may be given as a constant."""
    model = parser.parse_model(MODEL.format(node="NonZero(x)").replace("float[2, 30] x", "float[4] x"))
    with pytest.raises(webnn.onnx.RefusedModelError, match=r"m: the model cannot be imported, .*\n.*give it as a constant: constants="):
        webnn.onnx.load(model)
