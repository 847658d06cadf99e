"""The entries of the catalogue."""

from __future__ import annotations

import pytest

from tests.shared import ROOT
from tests.support import each_row
from tools.evidence.models.catalog import CatalogError, load_catalog
from tools.evidence.models.formats import FORMATS, format_of


def test_the_catalogue() -> None:
    models = load_catalog()
    assert {format_of(model).name for model in models.values()} == {each.name for each in FORMATS.values()}
    for name, model in models.items():
        assert model.name == name
        assert model.what
        # A TFLite file tells its inputs, but for sizes that it leaves open.
        assert bool(model.inputs) == (format_of(model).name == "ONNX") or format_of(model).name == "TFLite", name
        assert [bool(each) for each in (model.archived, model.script, model.artifact, model.jax, model.of)].count(True) == 1, name
        assert (model.quantize is None) == (not model.of), name
        assert model.archived is None or len(bytes.fromhex(model.archived.sha256)) == 32, name
        for path in filter(None, (model.script, model.artifact)):
            assert (ROOT / path).is_file(), name
        assert model.known is None or (model.known.reason.endswith(".") and (model.known.message or model.known.fast)), name
    assert sum(model.browser for model in models.values()) == 5
    assert {model.quantize for model in models.values()} == {None, "qdq", "qoperator", "dynamic"}


def test_a_model_runs_as_another_one() -> None:
    models = load_catalog()
    quantized, like, source = models["ppocr-cls-qdq"], models["ppocr-cls-gutenye"], models["ppocr-cls"]
    for each in (quantized, like):
        assert (each.inputs, each.dims, each.constants, each.bar) == (source.inputs, source.dims, source.constants, source.bar)
    assert (quantized.archived, quantized.browser, quantized.judge) == (None, False, "plain")
    assert like.archived is not None
    assert like.archived.registry == "npm"
    assert models["silero-v5-web"].constants == {"sr": 16000}


WRONG = [
    ("[[made]]\nname = 'a'\nwhat = 'b'\nscript = 's'\ninputs = {}\nbars = 1", "a: unknown members: bars"),
    ("[[made]]\nname = 'a'\nwhat = 'b'\nof = 'c'\nquantize = 'qdq'", "a: of must name a model that comes before it, got 'c'"),
    ("[[made]]\nname = 'a'\nwhat = 'b'\nof = 'c'\nquantize = 'int2'", "a: a model with `of`, and no other, must have `quantize`"),
    ("[[made]]\nname = 'a'\nwhat = 'b'\nscript = 's'\ninputs.x = { shape = [1], values = 'zeros' }", "a: values must be one of"),
    ("[[made]]\nname = 'a'\nscript = 's'\ninputs = {}", "a: .*'what'"),
    ("[[made]]\nname = 'a'\nwhat = 'b'\ninputs = {}\n" * 2, "a: a model must have a name of its own"),
    ("[[made]]\nname = 'a'\nwhat = 'b'\nscript = 's'\nlike = 'c'", "a: like must name a model that comes before it, got 'c'"),
    (
        "[[package]]\nname = 'p'\nversion = '1'\nregistry = 'r'\n[[package.model]]\nname = 'a'\nwhat = 'b'\nfile = 'f'\nsha256 = ''",
        "p: registry must be one of .*, got 'r'",
    ),
]


@each_row(("text", "message"), WRONG)
def test_wrong_catalogues(text: str, message: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("catalog") / "models.toml"
    path.write_text(text)
    with pytest.raises(CatalogError, match=message):
        load_catalog(path)
