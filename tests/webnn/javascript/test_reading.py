"""The answers to a program's process about files and packages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from webnn.javascript.channel import ChannelError
from webnn.javascript.files import Files
from webnn.javascript.reading import Reader


@pytest.fixture
def told() -> list[str]:
    return []


@pytest.fixture
def reader(tmp_path: Path, told: list[str]) -> Reader:
    folder = tmp_path / "node_modules/own"
    folder.mkdir(parents=True)
    (folder / "package.json").write_text("{}", encoding="utf-8")
    (folder / "index.js").write_text("", encoding="utf-8")
    return Reader(Files(tmp_path, tmp_path), told.append)


def test_a_missing_file_is_told_once(tmp_path: Path, reader: Reader, told: list[str]) -> None:
    for asked in (False, True, True):
        assert reader.read("https://app.test/sub/none.wasm", told=asked) == [b'{"missing": true}', b""]
    (line,) = told
    assert line == f"404: https://app.test/sub/none.wasm: there is no file {tmp_path / 'sub/none.wasm'}"


def test_packages(reader: Reader) -> None:
    answer = reader.resolve(json.dumps(["own", None, "https://app.test/a.mjs", "import"]))
    assert json.loads(answer) == {"url": "https://app.test/node_modules/own/index.js", "format": "unknown"}
    assert "npm install none" in json.loads(reader.resolve(json.dumps(["none", None, "https://app.test/a.mjs", "import"])))["refused"]
    assert reader.find_pictures() is None


@pytest.mark.parametrize("question", ["", "[", "{}", "[1, 2, 3, 4]", '["a", null, "b", "other"]', '["a", null, "b"]', "[" * 100_000])
def test_questions_that_cannot_be_read(reader: Reader, question: str) -> None:
    with pytest.raises(ChannelError, match="a question about a module"):
        reader.resolve(question)
