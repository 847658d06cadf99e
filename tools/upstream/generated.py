"""The generated files of ``upstream/wpt``: those of the tables, and the tentative tests of the proposals."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tools.proposals import find_proposal
from tools.upstream.extremes.write import write_extremes
from tools.upstream.files import DRAFT, DRAFTS, folder_of
from tools.upstream.refusals.write import write_built, write_refusals
from webnn.validation.drafts import extra_additions, find_revision
from webnn.wpt_runner.writing.proposal import write_proposal_tests

__all__ = ["generate"]


def generate() -> dict[Path, str]:
    """Return the texts of the generated files.

    Raises:
        WritingError: A row of a table is not what it says.
    """
    return dict(_generate())


def _generate() -> Iterator[tuple[Path, str]]:
    for path, text in (*write_extremes(), write_built()):
        yield folder_of(DRAFT) / "webnn" / path, text
    for draft in DRAFTS:
        for path, text in write_refusals(draft):
            yield folder_of(draft) / "webnn" / path, text
    for name in extra_additions():
        proposal = find_proposal(name)
        for path, text in write_proposal_tests(proposal, find_revision(f"{proposal.since}+{name}")).items():
            yield folder_of(proposal.since) / "webnn" / path, text
