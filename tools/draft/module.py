"""The module of a draft, as Python: the part of its `Delta` that follows from the interfaces."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping

from tools.draft.plan import Plan

__all__ = ["write_module"]

_DRAFTS = "webnn.validation.drafts"


def write_module(name: str, after: str, plan: Plan, *, has_limits: bool, is_partial: bool = False) -> str:
    """Write the module.

    Args:
        name: The draft.
        after: The draft before it.
        plan: Its changes.
        has_limits: There is a file of its limits.
        is_partial: Only its IDL is known: it has the limits of the draft before.
    """
    imports = {(f"{_DRAFTS}.delta", "Delta"), (f"{_DRAFTS}.idl", "read_idl"), *plan.imports}
    fields = {"name": "_NAME", "after": json.dumps(after)}
    if plan.added:
        fields["added"] = f"[OPERATIONS[name] for name in {json.dumps(plan.added)}]"
    if plan.removed:
        fields["removed"] = json.dumps(plan.removed)
    if plan.changed:
        fields["changed"] = _mapping({operation: _mapping(changes) for operation, changes in plan.changed.items()}, wraps=True)
    for key, members in (("adds", plan.adds), ("removes", plan.removes)):
        if members:
            # Of a replacement in the other draft the sources say nothing.
            fields[key] = _mapping({interface: _mapping(dict.fromkeys(names, '""')) for interface, names in members.items()}, wraps=True)
    if plan.types:
        fields["types"] = f"({', '.join(map(json.dumps, plan.types))},)"
    if plan.flags:
        fields["flags"] = _mapping(plan.flags)
    fields["idl"] = "lambda _: read_idl(_NAME)"
    if is_partial:
        if not (plan.added or plan.removed or plan.changed or plan.types or plan.flags):
            fields["context_only"] = "True"
        fields["provisional"] = "True"
    elif has_limits:
        imports.add((f"{_DRAFTS}.limits", "read_limits"))
        fields["limits"] = "lambda _: read_limits(_NAME)"
    body = "".join([f"    {key}={value},\n" for key, value in fields.items()])
    return (
        f'"""The draft {name}."""\n\nfrom __future__ import annotations\n\n{_write_imports(imports)}\n__all__ = ["DRAFT"]\n\n'
        f"_NAME = {json.dumps(name)}\n\nDRAFT = Delta(\n{body})\n"
    )


def _mapping(values: Mapping[str, str], *, wraps: bool = False) -> str:
    """Write a mapping to expressions, in a line or in a line for each."""
    entries = [f"{json.dumps(key)}: {value}" for key, value in values.items()]
    return "{\n" + "".join([f"        {entry},\n" for entry in entries]) + "    }" if wraps else f"{{{', '.join(entries)}}}"


def _write_imports(imports: Iterable[tuple[str, str]]) -> str:
    names: defaultdict[str, list[str]] = defaultdict(list)
    for module, name in sorted(imports):
        names[module].append(name)
    return "".join([f"from {module} import {', '.join(each)}\n" for module, each in names.items()])
