"""Text comes in whole characters, and a missing package is named."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.support import each_row
from tests.webnn.generate.decoders import END, WORDS, save_tokenizer
from webnn.builder.description import FormatError
from webnn.generate.vocabulary import FILE, TokenizersMissingError, Vocabulary


@pytest.fixture
def vocabulary(tmp_path: Path) -> Vocabulary:
    pytest.importorskip("tokenizers", reason="needs tokenizers, the extra `generate`")
    return Vocabulary.read(save_tokenizer(tmp_path) / FILE)


@each_row("text", ["plain", "é", "日本語 text", "🦊🦊"])
def test_a_character_is_never_cut(text: str, vocabulary: Vocabulary) -> None:
    ids = vocabulary.encode(text)
    assert len(ids) == len(text.encode())
    decode = vocabulary.open_stream()
    pieces = [decode(each) for each in ids]
    assert "".join(pieces) == text
    assert all(piece in ("", character) for piece, character in zip(filter(None, pieces), text, strict=True))


def test_a_stream_goes_on_behind_a_prompt(vocabulary: Vocabulary) -> None:
    decode = vocabulary.open_stream(vocabulary.encode("before "))
    assert "".join(map(decode, vocabulary.encode("and é"))) == "and é"


def test_tokens_without_text(vocabulary: Vocabulary) -> None:
    decode = vocabulary.open_stream([5 * WORDS])
    assert [decode(END), decode(WORDS + 7)] == ["", ""]
    assert (vocabulary.name_of(END), vocabulary.name_of(5 * WORDS)) == ("</s>", "")


def test_usual_tokens(vocabulary: Vocabulary) -> None:
    assert (vocabulary.size, vocabulary.find_end(), vocabulary.find_start()) == (WORDS, END, None)


def test_the_package_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(TokenizersMissingError, match=r"needs the package tokenizers: .*\[generate\].*--tokens 1,2,3"):
        Vocabulary.read(tmp_path / FILE)


@each_row("data", [b"", b"{}", b"\xff\xfe", b'{"version": "1.0", "model": {"type": "BPE"}}'])
def test_a_file_that_is_not_a_tokenizer(data: bytes, tmp_path: Path) -> None:
    pytest.importorskip("tokenizers", reason="needs tokenizers, the extra `generate`")
    (tmp_path / FILE).write_bytes(data)
    with pytest.raises(FormatError, match="is not a tokenizer"):
        Vocabulary.read(tmp_path / FILE)
