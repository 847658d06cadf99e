"""Replays the history of the specification: each step lands in a chain of drafts by what the tool writes.

    python -m tools.draft.replay REPOSITORY               a clone of webmachinelearning/webnn
    python -m tools.draft.replay REPOSITORY COMMIT ...    other steps than those from June 2024 to June 2026

It prints the changes of each step, the files that the tool writes, and what a person must decide; at the end the rows of operations that
differ from those of the package's newest draft, which people wrote. Each of them should be among the decisions.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any, get_type_hints

from tools.draft.__main__ import stem, write_draft
from tools.draft.changes import compare_steps
from tools.draft.module import write_module
from tools.draft.page import write_page
from tools.draft.plan import Chain, Plan, make_plan
from tools.draft.source import Source, read
from webnn.validation.drafts import NEWEST, draft_2024_06, find_revision
from webnn.validation.drafts.delta import Delta, compose
from webnn.validation.operation import Operation
from webnn.validation.revision import Revision

__all__ = ["STEPS", "differences", "land", "main", "write_all"]

#: The commit of the draft 2024-06, and those after it.
STEPS = (
    "f7ceef9",
    "3a916f2",  # names as USVString, MLNumber
    "af67a72",  # options of argMin, operands of where
    "f08f9f7",  # one build for each builder
    "487a992",  # activations by name, the axis of argMin
    "71dd440",  # output types of argMin
    "355c38d",  # axes of resample2d
    "81a355a",  # opSupportLimits, shape in place of dimensions
    "4e80205",  # tensors in place of compute
    "6e19654",  # the operators of wave 3
    "5d157b4",  # constant tensors, isNaN and roundEven
    "c515210",  # tables of ranks, rounding of shapes, accelerated
)

#: The package of the modules that are written, which is in no file.
_PACKAGE = "replayed"


def land(old: Source, new: Source, chain: Chain) -> tuple[Plan, Chain]:
    """Add a draft to a chain by what the tool writes; return its plan, and the longer chain."""
    plan = make_plan(old, new, chain)
    module = ModuleType(f"{_PACKAGE}.{stem(new.name)}")
    sys.modules.setdefault(_PACKAGE, ModuleType(_PACKAGE)).__dict__[stem(new.name)] = module
    sys.modules[module.__name__] = module
    exec(write_module(new.name, chain.revision.name, plan, has_limits=False), module.__dict__)
    delta: Delta = replace(module.__dict__["DRAFT"], idl=lambda _: new.idl)
    module.__dict__["DRAFT"] = delta
    return plan, Chain(revision=compose(chain.revision, delta), deltas=[*chain.deltas, ((_PACKAGE, stem(new.name)), delta)])


def write_all(old: Source, new: Source, plan: Plan, chain: Chain, folder: Path) -> list[Path]:
    """Write what `tools.draft --write` writes into a new folder: the draft's module and data, and the page; return the files."""
    folder.mkdir()
    page = folder / f"{new.name}.md"
    page.write_text(write_page(old, new, plan), encoding="utf-8", newline="\n")
    return [*write_draft(old, new, chain, folder), page]


def differences(one: Revision, other: Revision) -> Iterator[str]:
    """Yield what differs between the rows of operations of two drafts: the operation and the field."""
    for name in sorted(one.operations.keys() | other.operations.keys()):
        rows = [each.operations.get(name) for each in (one, other)]
        if None in rows:
            yield f"{name}: only one of them has it"
        else:
            fields = [_fields(row) for row in rows if row is not None]
            yield from (f"{name}: {field}" for field in fields[0] if fields[0][field] != fields[1][field])


def _fields(row: Operation) -> dict[str, Any]:
    hints = {} if row.options is None else get_type_hints(row.options, include_extras=True)
    return {
        "operands": row.operands,
        "arguments": [each.name for each in row.arguments],
        "options": {} if row.options is None else {name: (hints[name], each.default) for name, each in row.options.model_fields.items()},
        "infer": getattr(row.infer, "func", row.infer),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tools.draft.replay", description="Replay the history of the specification.")
    parser.add_argument("repository", type=Path, help="a clone of the specification's repository")
    parser.add_argument("commits", nargs="*", default=STEPS, help="the commits, the earliest first; the first one is the draft 2024-06")
    given = parser.parse_args(arguments)
    chain, decisions, files = Chain(revision=draft_2024_06.DRAFT), 0, 0
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        sources = []
        for number, commit in enumerate(given.commits):
            file = Path(folder) / f"{number}.bs"
            command = ["git", "-C", str(given.repository), "show", f"{commit}:index.bs"]
            file.write_bytes(subprocess.run(command, check=True, capture_output=True).stdout)
            sources.append(read(file, f"{commit}" if number else draft_2024_06.DRAFT.name))
        for old, new in pairwise(sources):
            earlier = chain
            plan, chain = land(old, new, chain)
            written = write_all(old, new, plan, earlier, Path(folder) / new.name)
            decisions, files = decisions + len(plan.decisions), files + len(written)
            counts = Counter(each.what for each in compare_steps(old, new))
            rows = f"{len(plan.added)} operations added, {len(plan.changed)} changed"
            changes = ", ".join([f"{count} {what}" for what, count in counts.items()])
            print(f"{new.name}: {rows}, {len(plan.decisions)} decisions, {len(written)} files; steps: {changes or 'none'}")
            print("".join([f"  {text}\n" for text in plan.decisions]), end="")
    rest = list(differences(chain.revision, find_revision(NEWEST)))
    took = time.perf_counter() - began
    print(f"{len(sources) - 1} steps landed in {took:.1f} s, with {decisions} decisions and {files} files that the tool writes; ", end="")
    print(f"{len(rest)} differences from the draft {NEWEST}:")
    print("".join([f"  {text}\n" for text in rest]), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
