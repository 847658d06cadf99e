"""Writes docs/proposals/<name>.md, and the table of docs/proposals.md, from the proposals themselves.

python -m tools.proposals            writes the pages
python -m tools.proposals --check    fails if one is outdated
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from tools.proposal_page import write_page
from tools.written import keep_pages
from webnn.proposals.proposal import Proposal
from webnn.validation.drafts import extra_additions, find_addition, find_revision

__all__ = ["FOLDER", "find_proposal", "main", "pages"]

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "proposals"
_LIST = FOLDER.with_suffix(".md")
#: The rows of the table of that page.
_ROWS = re.compile(r"(?:\| \[[\w-]+\]\(proposals/.*\n)+")


def find_proposal(name: str) -> Proposal:
    """Return a proposal by its name."""
    proposal = find_addition(name)
    assert isinstance(proposal, Proposal)  # its name is one of `extra_additions`
    return proposal


def pages() -> Mapping[Path, str]:
    """Return the pages, and the page that lists them, by their files."""
    found = {name: find_proposal(name) for name in extra_additions()}
    rows = "".join([f"| [{name}](proposals/{name}.md) | {proposal.title} |\n" for name, proposal in found.items()])
    return {
        **{FOLDER / f"{name}.md": write_page(proposal, find_revision(proposal.since)) for name, proposal in found.items()},
        _LIST: _ROWS.sub(lambda _: rows, _LIST.read_text(encoding="utf-8")),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program; return its exit status."""
    parser = argparse.ArgumentParser(description="Write the pages of the proposals.")
    parser.add_argument("--check", action="store_true", help="write nothing, and fail if a page is outdated")
    options = parser.parse_args(arguments)
    return keep_pages(pages(), "tools.proposals", check=options.check)


if __name__ == "__main__":
    sys.exit(main())
