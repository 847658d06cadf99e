"""The language model in JavaScript: in Node, in a page with the emulator, and in a browser's own WebNN. All say what PyTorch said."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.examples.language_model.samples import EXAMPLE, MODEL, NAMES, SAMPLES
from tests.support import PATIENCE
from webnn.browser.chromium import Chromium, read_below, serve
from webnn.serve.folder import Folder
from webnn.serve.options import Options
from webnn.serve.server import Server

pytestmark = pytest.mark.processes

#: Texts whose tokens are easy to get wrong: endings, runs of spaces, letters of several bytes, and the special token.
TEXTS = [
    "Call me Ishmael.",
    "I'll say it\u2019s the whale's; we'VE 'seen' 'it",
    "  two  spaces \n\n\tand a tab  ",
    "naïve Ægir — “straße” 鯨 🐋 e\u0301",
    "1851 and 42nd, 3½",
    "a<|endoftext|> b<|endoftext|>",
    "<|endoftext",
    "!?!... (the) [sea]",
    "whale" * 50,
    "\u00a0x\u00a0\u00a0y\x00\x7f\xad",
    "",
]
#: Reads the texts, and files that are broken.
CHECK = """
import {Tokenizer} from './language_model/page/tokenizer.mjs';
import {readWeights} from './language_model/page/weights.mjs';
const read = async (path) => (await fetch(new URL(path, import.meta.url))).arrayBuffer();
const json = async (path) => JSON.parse(new TextDecoder().decode(await read(path)));
const file = await json('language_model/model/tokenizer.json'), tokenizer = new Tokenizer(file);
const texts = await json('texts.json'), tokens = texts.map((text) => tokenizer.encode(text));
const decoded = tokens.map((numbers) => numbers.map(tokenizer.stream()).join(''));
const message = (action) => { try { action(); return 'none'; } catch (error) { return `${error.name}: ${error.message}`; } };
const model = await read('language_model/model/model.onnx');
const total = (values) => values.reduce((sum, value) => sum + Math.abs(value), 0);
const weights = [...readWeights(model)].map(([name, {shape, values}]) => [name, shape, total(values)]);
const errors = [
  message(() => new Tokenizer({...file, normalizer: {type: 'NFC'}})),
  message(() => new Tokenizer({...file, pre_tokenizer: null})),
  message(() => readWeights(model.slice(0, 100_000))),
  message(() => readWeights(new Uint8Array(100).fill(0xff).buffer)),
  message(() => readWeights(new TextEncoder().encode('<!doctype html><p>Not found').buffer)),
];
console.log(JSON.stringify({tokens, decoded, weights, errors}));
"""
#: Waits for the page, and fills in its form; returns what it shows.
WRITE = """
async ([prompt, count]) => {
  const $ = (id) => document.getElementById(id);
  const until = async (found) => { while (!found()) await new Promise((done) => setTimeout(done, 10)); };
  await until(() => !$('run').disabled || $('status').textContent.startsWith('It does not work'));
  const ready = $('status').textContent, seen = new Set();
  const observer = new MutationObserver(() => seen.add(document.querySelectorAll('#text span').length));
  observer.observe($('text'), {childList: true});
  Object.assign($('form').elements.prompt, {value: prompt});
  Object.assign($('form').elements.count, {value: count});
  $('run').click();
  await until(() => !$('run').disabled);
  const tokens = [...document.querySelectorAll('#text span')].map(({dataset}) => Number(dataset.token));
  return {ready, tokens, text: $('text').textContent, status: $('status').textContent, sizes: [...seen]};
}
"""


def run(root: Path, program: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", "webnn", "run", "--root", str(root), str(program), *arguments]
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(command, capture_output=True, check=False, encoding="utf-8", env=environment, timeout=PATIENCE)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.parametrize("sample", SAMPLES, ids=NAMES)
def test_the_module_in_node(sample: dict[str, Any]) -> None:
    printed = run(EXAMPLE, EXAMPLE / "page" / "say.mjs", sample["prompt"], str(len(sample["tokens"])))
    text, _, tokens = printed.rpartition("\ntokens: ")
    assert [int(each) for each in tokens.split()] == sample["tokens"]
    assert text == sample["prompt"] + sample["text"]


@pytest.mark.skipif(importlib.util.find_spec("tokenizers") is None, reason="needs the package tokenizers")
def test_tokens_and_weights(tmp_path: Path) -> None:
    """The tokens are those of Hugging Face's library, the weights those that Python reads; broken files are errors."""
    from tokenizers import Tokenizer

    from examples.language_model.decode import read_weights

    shutil.copytree(EXAMPLE / "page", tmp_path / "language_model" / "page")
    shutil.copytree(MODEL, tmp_path / "language_model" / "model")
    texts = [*TEXTS, *(each["prompt"] + each["text"] for each in SAMPLES)]
    (tmp_path / "texts.json").write_text(json.dumps(texts), encoding="utf-8")
    (tmp_path / "check.mjs").write_text(CHECK, encoding="utf-8")
    found = json.loads(run(tmp_path, tmp_path / "check.mjs"))
    tokenizer = Tokenizer.from_file(str(MODEL / "tokenizer.json"))
    for text, tokens, decoded in zip(texts, found["tokens"], found["decoded"], strict=True):
        assert tokens == tokenizer.encode(text).ids, text
        assert decoded == text.replace("<|endoftext|>", "")
    sums = {name: (shape, total) for name, shape, total in found["weights"]}
    for name, values in read_weights(MODEL).items():
        shape, total = sums[name]
        assert tuple(shape) == values.shape
        assert total == pytest.approx(float(abs(values).sum(dtype=float)))
    normalizer, parts, *files = found["errors"]
    assert normalizer == parts
    assert parts.startswith("TypeError: tokenizer.json must have a byte-level BPE without a normalizer")
    assert all(each.startswith("RangeError: model.onnx ") for each in files), files


@contextmanager
def emulated() -> Iterator[str]:
    """The page as `webnn serve` serves it."""
    with Server(Folder(EXAMPLE), Options()) as server:
        yield f"{server.url}/"


@pytest.mark.parametrize("native", [False, True], ids=["emulator", "native"])
def test_the_page(browser_program: Path, native: bool) -> None:
    console: list[str] = []
    site = serve(read_below(EXAMPLE)) if native else emulated()
    with (
        site as address,
        Chromium(browser_program, timeout=PATIENCE, console=lambda _, text: console.append(text), native=native) as browser,
    ):
        browser.open(f"{address}page/index.html")
        for sample in SAMPLES:
            found = browser.evaluate(WRITE, [sample["prompt"], len(sample["tokens"])])
            assert found["ready"] == "The model is ready" or found["ready"].startswith("60 tokens"), found
            assert found["tokens"] == sample["tokens"]
            assert found["text"] == sample["prompt"] + sample["text"]
            assert found["status"].startswith("60 tokens: the first one after ")
            # Token by token: the page had the text with each number of tokens.
            assert found["sizes"] == [*range(61)]
        wrong = browser.evaluate(WRITE, ["whale " * 1100, 1])
        assert wrong["status"].startswith("It does not work: the prompt must have from 1 to 1024 tokens, got ")
    assert console == []


def test_a_page_without_its_model(browser_program: Path, tmp_path: Path) -> None:
    shutil.copytree(EXAMPLE / "page", tmp_path / "page")
    with serve(read_below(tmp_path)) as address, Chromium(browser_program, timeout=PATIENCE) as browser:
        browser.open(f"{address}page/index.html")
        status = browser.evaluate(
            """async () => {
              const said = () => document.getElementById('status').textContent;
              while (said().startsWith('The model is loaded')) await new Promise((done) => setTimeout(done, 10));
              return said();
            }"""
        )
    assert status.startswith("It does not work: ")
    assert "404" in status
