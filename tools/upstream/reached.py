"""The file that reaches each step of the drafts: one of web-platform-tests, or one of ``upstream/wpt`` where there is none."""

from __future__ import annotations

import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tools.steps import cited, reach
from tools.steps.cited import Key, citations
from tools.upstream.files import DRAFTS, FOLDER, folder_of, our_files, overlay
from tools.upstream.measuring import Measured, measure
from webnn.wpt_runner.checkout import Checkout
from webnn.wpt_runner.levels import choose

__all__ = ["FILE", "OURS", "file_of", "measure_all", "measure_ours", "new_steps", "reasons", "unreached"]

FILE = Path(reach.__file__).with_name("wpt_reached.json")
#: The beginning of the names of our files.
OURS = FOLDER.relative_to(cited.ROOT).as_posix() + "/"


def reasons() -> Mapping[Key, str]:
    """Return why no file reaches a step, for steps that no test of JavaScript can reach, and for those that no test at all reaches."""
    return {**_read("unreached"), **cited.reasons()[1]}


def _read(table: str) -> dict[Key, str]:
    data = tomllib.loads(Path(__file__).with_name("reasons.toml").read_text(encoding="utf-8"))[table]
    return {
        (draft, algorithm, number): value
        for draft, named in data.items()
        for algorithm, numbers in named.items()
        for number, value in numbers.items()
    }


def unreached(reached: Mapping[Key, str]) -> Iterator[str]:
    """Yield the cited steps that no file reaches, and the reasons that are not needed."""
    known = reasons()
    for key in citations():
        if key[0] in DRAFTS and key not in reached and key not in known:
            yield f"no file reaches {key}"
    for key in known:
        if key[0] in DRAFTS and (key in reached or key not in citations()):
            yield f"{key} has a reason why no file reaches it, and needs none"


def new_steps(reached: Mapping[Key, str]) -> dict[str, list[Key]]:
    """Return the steps that only our files reach, in the order of the drafts, by the files' names below ``upstream/wpt``."""
    found: dict[str, list[Key]] = {}
    for key in filter(reached.__contains__, citations()):
        if reached[key].startswith(OURS):
            found.setdefault(reached[key].removeprefix(OURS), []).append(key)
    return found


def measure_all(roots: Sequence[Path], *, jobs: int) -> dict[Key, str]:
    """Run the files of checkouts, and ours, and return the file that reaches each step.

    Args:
        roots: A checkout of web-platform-tests for each draft.
        jobs: The number of processes.

    Raises:
        ValueError: A file of ours fails.
    """
    reached: dict[Key, str] = {}
    for root in roots:
        checkout = Checkout(root)
        level = choose(checkout).level
        theirs = reach.simplest(measure(root, checkout.files(), level, jobs=jobs).reached)
        reached |= theirs
        for measured in measure_ours(root, level.revision, jobs=jobs):
            _require_success(measured)
            # The plain draft first: a step that both reach is not a proposal's.
            ours = {key: {f"{OURS}{each}" for each in files} for key, files in measured.reached.items()}
            reached |= {key: file for key, file in reach.simplest(ours).items() if key not in reached}
    return {**{key: OURS + file for key, file in _read("asserted").items()}, **reached}


def measure_ours(root: Path, draft: str, *, jobs: int) -> Iterator[Measured]:
    """Run our files of a draft over a checkout: those of the draft itself, then those of each proposal.

    The files have their names below ``upstream/wpt``.
    """
    files = [each for each in our_files() if folder_of(each.draft) == folder_of(draft)]
    with tempfile.TemporaryDirectory() as folder:
        checkout = overlay(root, draft, Path(folder) / "wpt")
        for name in sorted({each.draft for each in files}):
            chosen = {each.path: each.name for each in files if each.draft == name}
            level = next(each for each in files if each.draft == name).level()
            found = measure(checkout.root, list(chosen), level, jobs=min(jobs, len(chosen)))
            yield Measured(
                results={chosen[path]: result for path, result in found.results.items()},
                reached={key: {chosen[path] for path in paths} for key, paths in found.reached.items()},
            )


def _require_success(measured: Measured) -> None:
    for name, result in measured.results.items():
        failed = [each for each in result.subtests if f"{each.status}" != "PASS"]
        if f"{result.status}" != "OK" or failed or not result.subtests:
            first = f"{failed[0].name}: {failed[0].message}" if failed else result.message
            raise ValueError(f"{name} must pass here, got {result.status}: {first}")


def file_of(key: Key, reached: Mapping[Key, str]) -> str:
    """Return the file that reaches a step, or the reason why none does."""
    return reached.get(key) or reasons()[key]
