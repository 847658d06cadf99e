"""Titles of fifty descriptions by a small T5: those of WebNN graphs beside those of plain sessions of onnxruntime.

pip install --no-deps --target titles traceforge-title-model==0.2.0
python -m tools.evidence.titles titles/traceforge_title_model/data/span

The model is quantized dynamically. With fast numerics, graphs are compared with sessions as they are; with exact numerics, which compute
what is written, with sessions without optimizations, because these change the numbers of this model.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import webnn
import webnn.generate
from webnn.builder.numerics import Numerics
from webnn.generate.model import CACHES, LanguageModel
from webnn.generate.plain import PlainModel
from webnn.generate.report import Difference, take_turns
from webnn.validation.drafts import find_revision

__all__ = ["PROMPTS", "Title", "find_titles", "main"]

PROMPTS = (
    "Edited the parser and ran the unit tests until they passed",
    "Fixed a crash of the server when two clients connect at once",
    "Added a command line option that prints the version",
    "Renamed the module utils to helpers and updated all imports",
    "Searched the repository for uses of the deprecated function",
    "Wrote a script that downloads the data set and checks its digest",
    "Read the documentation of the library to find out how retries work",
    "Removed unused variables that the linter had found",
    "Updated the dependencies and resolved conflicts between their versions",
    "Measured the time of a sort on a million numbers",
    "Rewrote the slow loop with vectorized operations",
    "Added tests for empty inputs and for very long names",
    "Created a branch for the new login page",
    "Merged the main branch and resolved conflicts in two files",
    "Configured continuous integration to run on three systems",
    "Debugged a memory leak in the image cache",
    "Replaced the regular expression with a real parser",
    "Moved the settings from the code to a configuration file",
    "Reviewed a pull request and asked for smaller functions",
    "Installed the compiler and built the project from source",
    "Looked for the cause of a test that fails now and then",
    "Documented the public functions with examples",
    "Translated the error messages into German and French",
    "Reduced the size of the container image by half",
    "Added a progress bar to the upload of large files",
    "Changed the color of the buttons and aligned the labels",
    "Wrote a migration that adds a column to the users table",
    "Checked the logs of the web server for failed requests",
    "Implemented binary search and proved its bounds with tests",
    "Upgraded the database and restored the backup",
    "Split a class of a thousand lines into four smaller ones",
    "Encrypted the passwords with a modern hash function",
    "Profiled the start of the application and found slow imports",
    "Generated type stubs for the extension module",
    "Fixed the alignment of columns in the printed table",
    "Made the cache safe for use by several threads",
    "Converted the notebook into a script with arguments",
    "Tried three layouts of the page and chose the simplest",
    "Reverted the last commit because it broke the build",
    "Trained a small classifier and plotted its accuracy",
    "Asked the service for its status every ten seconds",
    "Corrected the time zone of the calendar export",
    "Listed the largest folders and deleted old artifacts",
    "Signed the release and uploaded the packages",
    "Sorted the search results by relevance and date",
    "Validated the input of the form before it is sent",
    "Compared two versions of the file and merged the changes",
    "Drew a diagram of the modules and their dependencies",
    "Limited the number of requests that a client may send",
    "Closed old issues and answered the questions of new users",
)
#: The most tokens of a title.
_MOST = 24
_NAMED = "2026-06+dynamic-shapes"


@dataclass(frozen=True, slots=True, kw_only=True)
class Title:
    """The title of a description on both sides.

    Attributes:
        prompt: The description.
        text: The title.
        tokens: The number of its tokens.
        difference: The first token that differs.
        seconds: The time of each side, without compilations.
    """

    prompt: str
    text: str
    tokens: int
    difference: Difference | None
    seconds: tuple[float, float]


def find_titles(model: LanguageModel, plain: PlainModel, prompts: Sequence[str] = PROMPTS) -> Iterator[Title]:
    """Make the titles, token by token in turns."""
    for prompt in prompts:
        one, other = (
            model.generate_on(side, prompt, maxNewTokens=_MOST, topK=None, temperature=None, seed=None, eos=None) for side in (model, plain)
        )
        found: list[Difference] = []
        for _ in take_turns(one, other, found):
            pass
        mine, theirs = (sum(seconds - compiling for seconds, compiling in each.seconds) for each in (one, other))
        yield Title(prompt=prompt, text=one.text, tokens=len(one.ids), difference=found[0] if found else None, seconds=(mine, theirs))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; it fails if a title differs."""
    parser = argparse.ArgumentParser(prog="python -m tools.evidence.titles", description="Compare titles with those of onnxruntime.")
    parser.add_argument("folder", type=Path, help="the folder with the encoder, the decoder and the tokenizer")
    parser.add_argument("--numerics", choices=("exact", "fast"), default="fast", help="the numerics policy; the default is fast")
    parser.add_argument("--cache", choices=CACHES, default="auto", help="how lengths become graphs")
    parser.add_argument("--count", type=int, default=len(PROMPTS), help="how many titles")
    options = parser.parse_args(arguments)
    numerics: Numerics = options.numerics
    context = webnn.ML(revision=find_revision(_NAMED), numerics=numerics).createContextSync()
    model = webnn.generate.load(options.folder, context, cache=options.cache)
    plain = PlainModel(model.layout, optimize=numerics == "fast")
    # The first run of a session takes longer.
    list(find_titles(model, plain, PROMPTS[:1]))
    titles = []
    for title in find_titles(model, plain, PROMPTS[: options.count]):
        titles.append(title)
        print(f"{'equal ' if title.difference is None else 'DIFFERS'} {title.text!r}")
    equal = sum(title.difference is None for title in titles)
    ratio = statistics.median(mine / theirs for mine, theirs in (title.seconds for title in titles))
    tokens = sum(title.tokens for title in titles)
    print(f"{equal} of {len(titles)} titles are equal, {tokens} tokens ({numerics} numerics, {model.mode} lengths)")
    print(f"the median title takes {ratio:.2f} times as long as with onnxruntime")
    print(f"{model.work.sessions} sessions compiled in {model.work.seconds:.1f} s")
    return 0 if equal == len(titles) else 1


if __name__ == "__main__":
    sys.exit(main())
