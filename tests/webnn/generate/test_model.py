"""`LanguageModel.generate`: tokens, text, ends, and wrong calls."""

from __future__ import annotations

import math
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import webnn
import webnn.generate
from tests.support import each_row
from tests.webnn.generate.decoders import END, WORDS, save_config, save_decoder, save_pair, save_tokenizer
from tests.webnn.generate.fakes import FakeSide, generate_on
from webnn.generate.model import LanguageModel
from webnn.generate.plain import PlainModel

#: "Hi", as the tokenizer numbers bytes.
PROMPT = [39, 72]


def load(path: Path) -> LanguageModel:
    return webnn.generate.load(path, webnn.ML(revision="2026-06").createContextSync())


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> LanguageModel:
    """A decoder of bytes, which sees 40 tokens."""
    pytest.importorskip("tokenizers", reason="needs tokenizers, the extra `generate`")
    folder = save_tokenizer(tmp_path_factory.mktemp("decoder"))
    save_decoder(folder / "model.onnx")
    save_config(folder, n_positions=40, bos_token_id=0)
    return load(folder)


@each_row("options", [{}, {"seed": 5}, {"topK": 7, "temperature": 0.7, "seed": 1}])
def test_the_same_tokens_as_onnxruntime(options: dict[str, Any], model: LanguageModel) -> None:
    settings = {"maxNewTokens": 20, "topK": None, "temperature": None, "seed": None, "eos": (), **options}
    ours = model.generate_on(model, "Hi", **settings)
    theirs = model.generate_on(PlainModel(model.layout), "Hi", **settings)
    assert [each.id for each in ours] == [each.id for each in theirs]
    assert ours.text == theirs.text
    assert (ours.prompt, len(ours.ids), ours.finish) == (tuple(PROMPT), 20, "tokens")
    assert [each.id for each in model.generate(PROMPT, maxNewTokens=20, eos=(), **options)] == ours.ids


def test_text_comes_with_its_tokens(model: LanguageModel) -> None:
    generation = model.generate("Hi", maxNewTokens=30, eos=())
    pieces = [token.text for token in generation]
    assert "".join(pieces) == generation.text
    assert generation.text.strip("\N{REPLACEMENT CHARACTER}") in bytes_of(generation.ids)


def bytes_of(ids: list[int]) -> str:
    """Return the text of tokens as the tokenizer has them, with its errors."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE(vocab={letter: number for number, letter in enumerate(letters)}, merges=[]))
    tokenizer.decoder = decoders.ByteLevel()
    return str(tokenizer.decode([each for each in ids if each < END]))


def test_why_a_sequence_ends(model: LanguageModel) -> None:
    free = model.generate(PROMPT, maxNewTokens=8, eos=())
    ids = [token.id for token in free]
    stopped = model.generate(PROMPT, maxNewTokens=8, eos=[ids[3], END])
    assert [token.id for token in stopped] == ids[: ids.index(ids[3]) + 1]
    assert (stopped.finish, free.finish) == ("end", "tokens")
    with pytest.raises(StopIteration):
        next(stopped)
    longest = model.generate(PROMPT * 19, maxNewTokens=100, eos=())
    # The model sees 40 tokens: the last new one is not among them.
    assert len(list(longest)) == 40 - 38 + 1
    assert longest.finish == "length"
    with model.generate(PROMPT, maxNewTokens=8, eos=()) as left:
        next(left)
    assert (left.finish, len(left.ids), list(left)) == ("closed", 1, [])


def test_ends_come_from_the_settings_or_the_tokenizer(tmp_path: Path) -> None:
    pytest.importorskip("tokenizers", reason="needs tokenizers, the extra `generate`")
    save_decoder(save_tokenizer(tmp_path) / "model.onnx")
    assert load(tmp_path).ends == {END}
    save_config(tmp_path, eos_token_id=[1, 2])
    assert load(tmp_path).ends == {1, 2}
    (tmp_path / "tokenizer.json").unlink()
    (tmp_path / "config.json").unlink()
    assert load(tmp_path).ends == frozenset()


def test_an_empty_prompt_is_the_first_token(model: LanguageModel, tmp_path: Path) -> None:
    assert model.generate("").prompt == (0,)
    save_decoder(tmp_path / "model.onnx")
    with pytest.raises(ValueError, match="the prompt must have at least one token; the settings have no bos_token_id"):
        load(tmp_path).generate([])


def test_an_encoder(tmp_path: Path) -> None:
    model = load(save_pair(tmp_path))
    generation = model.generate([5, 6, 7], maxNewTokens=4, eos=())
    other = model.generate_on(PlainModel(model.layout), [5, 6, 7], maxNewTokens=4, topK=None, temperature=None, seed=None, eos=())
    assert [each.id for each in generation] == [each.id for each in other]
    assert (generation.prompt, generation.used) == ((5, 6, 7), 0)
    (tmp_path / "config.json").unlink()
    with pytest.raises(ValueError, match=r"first token is not known: give decoder_start_token_id in config\.json"):
        load(tmp_path).generate([5])


@each_row(
    ("arguments", "error", "message"),
    [
        ({"prompt": 5}, TypeError, "prompt must be a text or tokens, got 5"),
        ({"prompt": [1.5]}, TypeError, "prompt must be tokens, ints, got 1.5"),
        ({"prompt": [True]}, TypeError, "prompt must be tokens, ints, got True"),
        ({"prompt": [-1]}, ValueError, "prompt must be tokens from 0"),
        ({"prompt": [2**70]}, ValueError, "prompt must be tokens from 0"),
        ({"prompt": [WORDS]}, ValueError, "prompt must be tokens below 257, got 257"),
        ({"prompt": [1] * 41}, ValueError, "the prompt must have at most 40 tokens, got 41"),
        ({"maxNewTokens": 0}, ValueError, "maxNewTokens must be at least 1, got 0"),
        ({"maxNewTokens": "5"}, TypeError, "maxNewTokens must be an int, got '5'"),
        ({"eos": ["end"]}, TypeError, "eos must be tokens, ints, got 'end'"),
        ({"topK": 0}, ValueError, "topK must be at least 1"),
    ],
)
def test_wrong_calls(arguments: dict[str, Any], error: type[Exception], message: str, model: LanguageModel) -> None:
    with pytest.raises(error, match=message):
        model.generate(**{"prompt": PROMPT, **arguments})


def test_a_text_needs_a_tokenizer(tmp_path: Path) -> None:
    save_decoder(tmp_path / "model.onnx")
    with pytest.raises(ValueError, match=r"a text needs a tokenizer: there is no tokenizer\.json beside the model; give tokens"):
        load(tmp_path).generate("Hi")


def test_numbers_of_numpy_are_tokens(model: LanguageModel) -> None:
    assert model.generate(np.array(PROMPT)).prompt == tuple(PROMPT)  # type: ignore[arg-type]


def test_the_cache_must_be_known(tmp_path: Path) -> None:
    save_decoder(tmp_path / "model.onnx")
    context = webnn.ML(revision="2026-06").createContextSync()
    with pytest.raises(ValueError, match="cache must be one of 'auto', 'growing', 'static', got 'fast'"):
        webnn.generate.load(tmp_path, context, cache="fast")
    with pytest.raises(webnn.NotSupportedError, match="lengths cannot have names: the draft of the context has no names"):
        webnn.generate.load(tmp_path, context, cache="growing")


def test_names_are_for_devices_that_share_a_session(tmp_path: Path) -> None:
    save_decoder(tmp_path / "model.onnx")
    for reference, mode in ((None, "named"), (True, "padded")):
        context = webnn.ML(revision="2026-06+dynamic-shapes", reference=reference).createContextSync()
        assert webnn.generate.load(tmp_path, context).mode == mode


# Ends in the middle


def test_a_destroyed_model_compiles_again(tmp_path: Path) -> None:
    save_decoder(tmp_path / "model.onnx")
    model = load(tmp_path)
    ids = [token.id for token in model.generate(PROMPT, maxNewTokens=3, eos=())]
    model.destroy()
    model.destroy()
    assert [token.id for token in model.generate(PROMPT, maxNewTokens=3, eos=())] == ids


def test_a_lost_context(tmp_path: Path) -> None:
    save_decoder(tmp_path / "model.onnx")
    context = webnn.ML(revision="2026-06").createContextSync()
    generation = webnn.generate.load(tmp_path, context).generate(PROMPT, eos=())
    next(generation)
    context.destroy()
    with pytest.raises((webnn.InvalidStateError, webnn.WebNNTypeError)):
        next(generation)
    assert generation.finish == "closed"


def test_threads_share_a_model(model: LanguageModel) -> None:
    expected = [token.id for token in model.generate(PROMPT, maxNewTokens=30, eos=())]
    found: list[list[int]] = []

    def run() -> None:
        found.append([token.id for token in model.generate(PROMPT, maxNewTokens=30, eos=())])

    threads = [threading.Thread(target=run) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 3


@each_row(("scores", "error"), [(KeyboardInterrupt(), KeyboardInterrupt), (MemoryError(), MemoryError), ([math.nan], ValueError)])
def test_an_interrupt_frees_the_cache(scores: Any, error: type[BaseException], model: LanguageModel) -> None:
    side = FakeSide([0, 1], scores)
    generation = generate_on(model, side)
    assert next(generation).id == 1
    with pytest.raises(error):
        next(generation)
    generation.close()
    assert (generation.ids, generation.finish, side.run.closed) == ([1], "closed", 1)


def test_times_are_those_between_tokens(model: LanguageModel) -> None:
    generation = generate_on(model, FakeSide([0, 1], [2, 1]))
    seconds = [next(generation).seconds for _ in range(2)]
    assert generation.seconds == [(each, 0) for each in seconds]
    assert min(seconds) > 0
