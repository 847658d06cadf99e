"""Text as tokens and back, by the package `tokenizers`, which is loaded when the first tokenizer is read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from webnn._extras import install_command
from webnn.builder.description import FormatError
from webnn.builder.regular import open_regular

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = ["FILE", "TokenizersMissingError", "Vocabulary"]

#: The name of the file beside a model.
FILE = "tokenizer.json"
#: The most bytes of such a file.
_LONGEST = 1 << 28
#: Tokens that usually end a sequence, and that usually fill the beginning: for models without settings.
_ENDS, _STARTS = ("</s>", "<|endoftext|>", "<eos>"), ("<pad>",)


class TokenizersMissingError(ImportError):
    """The package `tokenizers` is not installed."""


class Vocabulary:
    """The tokens of a model.

    Attributes:
        size: The number of tokens.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.size = tokenizer.get_vocab_size()
        self._tokenizer = tokenizer

    @classmethod
    def read(cls, path: Path) -> Vocabulary:
        """Read a file ``tokenizer.json``.

        Raises:
            TokenizersMissingError: The package `tokenizers` is not installed.
            FormatError: The file is not a tokenizer, or has more than 256 MiB.
            OSError: The file cannot be read.
        """
        try:
            from tokenizers import Tokenizer  # noqa: PLC0415 (an extra)
        except ModuleNotFoundError:
            advice = f"{install_command('generate')}; tokens can be given without it: --tokens 1,2,3"
            raise TokenizersMissingError(f"text needs the package tokenizers: {advice}") from None
        with open_regular(path) as file:
            data = file.read(_LONGEST + 1)
        if len(data) > _LONGEST:
            raise FormatError(f"must be a file of at most {_LONGEST:,} bytes", path)
        try:
            return cls(Tokenizer.from_buffer(data))
        except Exception as error:  # the package raises no other class
            raise FormatError(f"is not a tokenizer: {error}", path) from None

    def encode(self, text: str) -> list[int]:
        """Return the tokens of a text, with those that the tokenizer puts around it."""
        return list(self._tokenizer.encode(text).ids)

    def open_stream(self, before: Sequence[int] = ()) -> Callable[[int], str]:
        """Return a function that takes a token at a time, and returns the text that is complete with it.

        A character of several bytes may be spread over several tokens: it comes with the last one. Special tokens have no text.

        Args:
            before: The tokens before, whose text is not returned again. A space between them and the first token is.
        """
        from tokenizers.decoders import DecodeStream  # noqa: PLC0415 (an extra)

        # Tokens of another model have no text, and the package panics.
        stream: Any = DecodeStream(ids=[each for each in before if each < self.size], skip_special_tokens=True)
        tokenizer = self._tokenizer

        def decode(token: int) -> str:
            return stream.step(tokenizer, token) or ""

        return decode

    def name_of(self, token: int) -> str:
        """Return how the tokenizer writes a token; empty for one that it does not have."""
        return self._tokenizer.id_to_token(token) or ""

    def find_end(self) -> int | None:
        """Return the token that usually ends a sequence."""
        return self._find(_ENDS)

    def find_start(self) -> int | None:
        """Return the token with which decoders behind encoders usually begin."""
        return self._find(_STARTS)

    def _find(self, names: Sequence[str]) -> int | None:
        found = (self._tokenizer.token_to_id(name) for name in names)
        return next((each for each in found if each is not None), None)
