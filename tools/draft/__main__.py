"""Compares two sources of the specification, and writes the next draft of the chain, but for what a person must decide.

    python -m tools.draft OLD.bs NEW.bs 2026-09                    prints what differs, and what a person must decide
    python -m tools.draft OLD.bs NEW.bs 2026-09 --write            also writes the draft's module and its data, and the page of differences
    python -m tools.draft NEW.idl 2026-09                          the same of a draft of which only the IDL is known

OLD is the source of the newest draft in the chain. docs/adding-an-op.md has what comes after it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from tools.draft.difference import write_difference
from tools.draft.module import write_module
from tools.draft.page import write_page
from tools.draft.plan import Chain, make_plan
from tools.draft.source import Source, read, read_alone, read_known
from tools.extract_idl import FOLDER, render
from tools.steps.cited import ROOT
from webnn.validation.drafts import DELTAS, NEWEST, find_revision

__all__ = ["main", "stem", "write_draft"]


def stem(name: str) -> str:
    """Return the name of a draft's module."""
    return f"draft_{name.replace('-', '_')}"


def write_draft(old: Source, new: Source, chain: Chain, folder: Path) -> list[Path]:
    """Write the module and the data of a draft into a folder; return the files."""
    plan = make_plan(old, new, chain)
    texts = {
        f"{stem(new.name)}.py": write_module(
            new.name, chain.revision.name, plan, has_limits=new.limits is not None, is_partial=new.isPartial
        ),
        f"{new.name}.idl.json": render(write_difference(old.idl, new.idl) if new.isPartial else new.idl),
    }
    if not new.isPartial:
        texts[f"{new.name}.steps.json"] = render(new.steps)
        if new.limits is not None:
            texts[f"{new.name}.limits.json"] = render(new.limits)
    for file, text in texts.items():
        (folder / file).write_text(text, encoding="utf-8", newline="\n")
    return [folder / file for file in texts]


def _chain() -> Chain:
    """Return the drafts of the package."""
    return Chain(
        revision=find_revision(NEWEST),
        deltas=[(("webnn.validation.drafts", stem(delta.name)), delta) for delta in DELTAS if not delta.provisional],
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tools.draft", description="Compare two sources of the specification.")
    parser.add_argument(
        "sources",
        type=Path,
        nargs="+",
        metavar="source",
        help=f"the sources of the draft {NEWEST} and of the new one, in Bikeshed; or the new one's IDL alone",
    )
    parser.add_argument("name", help="the new draft's year and month, for example 2026-09")
    parser.add_argument("--write", action="store_true", help="write the module, the data and the page")
    given = parser.parse_args(arguments)
    if len(given.sources) > 2:
        parser.error(f"there must be one source or two, got {len(given.sources)}")
    try:
        old = read_known(NEWEST) if len(given.sources) == 1 else read(given.sources[0], NEWEST)
        new = read_alone(given.sources[0], given.name, old) if len(given.sources) == 1 else read(given.sources[1], given.name)
    except (OSError, ValueError) as error:
        parser.error(str(error))
    chain = _chain()
    page = write_page(old, new, make_plan(old, new, chain))
    print(page, end="")
    if given.write:
        target = ROOT / "docs" / "drafts" / f"{given.name}.md"
        target.parent.mkdir(exist_ok=True)
        target.write_text(page, encoding="utf-8", newline="\n")
        for path in [*write_draft(old, new, chain, FOLDER), target]:
            print(f"wrote {path.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
