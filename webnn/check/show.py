"""The report for people: a matrix of profiles, then fallbacks, then refusals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from webnn.check.report import KeptNode, ModelReport, PartitionReport, Refusal, Report, Run, Verdict
from webnn.commands.text import cut, show_controls
from webnn.display.text import plural

__all__ = ["by_partitions", "describe_refusal", "explain", "partition_figures", "print_report", "summary"]

#: For this many graphs, each has a column of its own.
_COLUMNS = range(2, 5)
#: Exception: too little width would be left for the text. The widths of the other columns, and the width that the text needs.
_ROW_WIDTH, _FALLBACK_WIDTH, _TEXT_WIDTH = 30, 12, 32
#: How many lines about fallbacks are printed if not everything was requested.
_FEW = 8
_LONGEST_NAME = 16
_LONGEST_LINE = 500
_STYLES = {Verdict.BUILDS: "green", Verdict.BUILDS_DIFFERENTLY: "yellow"}
_NO_PROFILE = "(none)"


def print_report(console: Console, report: Report, *, every: bool) -> None:
    """Print a report: the matrix, the details, and a line that sums up; with ``every``, every refusal and all that falls back."""
    runs = (report.baseline, *report.profiles)
    with console.capture() as captured:
        if report.model is not None and report.model.refusal:
            _print(console, f"ONNX Runtime refuses {report.program}: {report.model.refusal}", "bold red")
            console.print()
        console.print(_matrix(console, report, runs, every=every))
        for title, lines in (*_by_fallbacks(runs), *by_partitions(runs)):
            shown = lines if every or len(lines) <= _FEW else [*lines[: _FEW - 1], f"and {len(lines) - _FEW + 1} more: --all prints them"]
            _print_title(console, title)
            for line in shown:
                _print(console, line, indent=2)
        if report.model is not None:
            _print_model(console, report, report.model, every=every)
        for title, lines in _by_semantics(report.profiles) if every else ():
            _print_title(console, title)
            for line in lines:
                _print(console, line, indent=2)
        for names, refusals in _by_refusals(report.profiles) if every else ():
            _print_title(console, f"refused by {', '.join(names)}")
            for refusal in refusals:
                where = f"{refusal.graph}: " if refusal.graph else ""
                count = f" ({refusal.count} times)" if refusal.count > 1 else ""
                _print(console, f"{where}{describe_refusal(refusal)}{count}", indent=2)
                if refusal.change is not None:
                    _print(console, f"change: {refusal.change.text}", "green", indent=4)
        if report.profiles:
            _print_title(console, summary(report), "bold red" if report.totals.failed_required else "bold")
    # A table fills its lines with spaces.
    for line in captured.get().splitlines():
        console.file.write(f"{line.rstrip()}\n")


def _by_semantics(runs: Sequence[Run]) -> Iterator[tuple[str, list[str]]]:
    """Yield a section about operations that devices compute in their own way, if there are some."""
    found = {run.profile: dict.fromkeys(each for graph in run.graphs for each in graph.semantics) for run in runs}
    lines = [f"{profile}: {', '.join(each)}" for profile, each in found.items() if each]
    if lines:
        yield "computed in another way, see webnn semantics", lines


def summary(report: Report) -> str:
    """Say in one line how a check ended."""
    totals = report.totals
    failed = f"; required, and fails: {', '.join(totals.failed_required)}" if totals.failed_required else ""
    plural = "" if totals.profiles == 1 else "s"
    return f"builds on {totals.passed} of {totals.profiles} profile{plural} in {report.seconds:.1f} s{failed}"


def _matrix(console: Console, report: Report, runs: Sequence[Run], *, every: bool) -> Table:
    names = [graph.name for graph in report.baseline.graphs]
    falls_back = any(run.fallbacks for run in runs)
    taken = sum(2 + min(len(name), _LONGEST_NAME) for name in names) + (_FALLBACK_WIDTH if falls_back else 0)
    each_graph = len(names) in _COLUMNS and console.width - _ROW_WIDTH - taken >= _TEXT_WIDTH
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="bold")
    table.add_column("profile", no_wrap=True, overflow="ellipsis")
    table.add_column("verdict", min_width=7, max_width=11)
    if each_graph:
        for name in names:
            table.add_column(_text(console, cut(name, _LONGEST_NAME)), overflow="ellipsis")
    elif names:
        table.add_column("graphs", justify="right", no_wrap=True)
    if falls_back:
        table.add_column("falls back", no_wrap=True)
    if report.has_partitions:
        table.add_column("ONNX Runtime Web", no_wrap=True)
    table.add_column("why, and what to change", ratio=1)
    for run in runs:
        cells = [_text(console, run.profile or _NO_PROFILE, "cyan"), Text(run.verdict.value, _STYLES.get(run.verdict, "red"))]
        built = Counter(graph.name for graph in run.graphs)
        if each_graph:
            cells += [Text("yes") if built[name] else Text("no", "red") for name in names]
        elif names:
            cells.append(Text(f"{built.total()} of {len(names)}" if built.total() != len(names) else f"{len(names)}"))
        if falls_back:
            total = sum(graph.operators for graph in run.graphs)
            cells.append(Text(f"{run.fallbacks} of {total}" if run.fallbacks else "", "yellow"))
        if report.has_partitions:
            cells.append(Text(partition_figures(run)))
        table.add_row(*cells, _why(console, run, every=every))
    return table


def partition_figures(run: Run) -> str:
    """Say how many nodes ONNX Runtime Web would give to WebNN, in how many graphs."""
    found = run.partition
    if found is None or (found.note and not found.webnn):
        return "?"
    if found.fails:
        return "no session"
    graphs = len(found.subgraphs)
    return f"{found.webnn} of {found.nodes}" + (f", {graphs} graphs" if graphs > 1 else "")


def explain(run: Run) -> str:
    """Explain in a few lines why a run did not pass, with advice."""
    if run.fatal is None:
        return run.error or run.verdict.value
    refusal = run.refusals[run.fatal]
    change = f"\nchange: {refusal.change.text}" if refusal.change is not None else ""
    return describe_refusal(refusal) + change


def _why(console: Console, run: Run, *, every: bool) -> Text:
    """Describe the result of a run in a few lines; the other refusals follow below if ``every`` is set."""
    lines: list[Text] = []
    refusal: Refusal | None = None
    if run.verdict is Verdict.BUILDS_DIFFERENTLY:
        count = len(run.refusals)
        lines.append(_text(console, f"after {plural(count, 'refusal')}, the first:"))
        refusal = run.refusals[0]
    elif run.fatal is not None:
        refusal = run.refusals[run.fatal]
    elif run.error:
        lines.append(_text(console, run.error))
    if refusal is not None:
        lines.append(_text(console, describe_refusal(refusal)))
        if refusal.change is not None:
            lines.append(_text(console, f"change: {refusal.change.text}", "green"))
        if run.fatal is not None and len(run.refusals) > 1 and not every:
            lines.append(_text(console, f"and {len(run.refusals) - 1} more: --all prints them", "dim"))
    lines += [_text(console, note, "dim") for note in run.notes]
    return Text("\n").join(lines)


def describe_refusal(refusal: Refusal) -> str:
    """Write a refusal in a line, for example ``"maxPool2d [pool]: input is int8, allowed: float32, float16"``."""
    label = f" [{refusal.label}]" if refusal.label else ""
    subject = f"{refusal.operation}{label}"
    if refusal.kind == "operation":
        return f"{subject}: not there"
    where = f", {refusal.condition}" if refusal.condition else ""
    if refusal.kind == "rule":
        return f"{subject}: {refusal.argument} {refusal.demand}{where}, got {refusal.given}"
    if refusal.kind == "rank":
        low, high = refusal.allowed
        allowed = f"{low}-D" if low == high else f"{low}-D to {high}-D"
    else:
        allowed = ", ".join(map(str, refusal.allowed)) or "nothing"
    return f"{subject}: {refusal.argument} is {refusal.given}, allowed: {allowed}{where}"


def _by_refusals(runs: Sequence[Run]) -> Iterator[tuple[list[str], Sequence[Refusal]]]:
    """Join the runs with the same refusals."""
    groups: dict[tuple[Refusal, ...], list[str]] = {}
    for run in runs:
        if run.refusals:
            same = tuple(refusal.model_copy(update={"profile": ""}) for refusal in run.refusals)
            groups.setdefault(same, []).append(run.profile or _NO_PROFILE)
    return ((names, refusals) for refusals, names in groups.items())


def _by_fallbacks(runs: Sequence[Run]) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield the fallbacks, in a line and in several; runs with the same fallbacks are joined."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for run in runs:
        if run.fallbacks:
            groups.setdefault(tuple(_describe_fallbacks(run)), []).append(run.profile or _NO_PROFILE)
    return ((f"falls back on {', '.join(names)}: {figures}", lines) for (figures, *lines), names in groups.items())


def by_partitions(runs: Sequence[Run]) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield the nodes that ONNX Runtime Web would keep, in a line and in several; runs with the same partition are joined."""
    groups: dict[PartitionReport, list[str]] = {}
    for run in runs:
        if run.partition is not None and (run.partition.kept or run.partition.fails or run.partition.note):
            groups.setdefault(run.partition, []).append(run.profile or _NO_PROFILE)
    for found, names in groups.items():
        lines = [found.note] if found.note else []
        lines += [f"no session can be made: {each}" for each in _count_kept(found.fails)] + _count_kept(found.kept)
        lines += [f"split between the graphs {each}" for each in found.splits]
        graphs = len(found.subgraphs)
        figures = f"{len(found.kept)} of {found.nodes} nodes stay in WebAssembly, {graphs} graph{'' if graphs == 1 else 's'}"
        title = f"ONNX Runtime Web on {', '.join(names)}"
        # Without a prediction, there is nothing to count.
        yield (f"{title}: {figures}", lines) if found.webnn or found.kept else (title, lines)


def _count_kept(nodes: Sequence[KeptNode]) -> list[str]:
    counts = Counter((each.operator, each.reason) for each in nodes)
    return [f"{operator}{f' ({count} times)' if count > 1 else ''}: {reason}" for (operator, reason), count in counts.items()]


def _print_model(console: Console, report: Report, model: ModelReport, *, every: bool) -> None:
    """Print the import of the nodes: with ``every`` each node, otherwise those that could not be imported."""
    counts = Counter(node.outcome for node in model.nodes)
    folded = f", {counts['folded']} known at import" if counts["folded"] else ""
    _print_title(console, f"{len(model.nodes)} nodes: {counts['converted']} become WebNN operators{folded}")
    for reason in model.reasons:
        _print(console, f"cannot be imported: {reason}", "red", indent=2)
    if counts["blocked"]:
        _print(console, f"{counts['blocked']} more nodes depend on these", indent=2)
    for note in model.notes:
        _print(console, note, indent=2)
    if not every:
        return
    refused: dict[str, dict[str, None]] = {}
    for run in report.profiles:
        for refusal in run.refusals:
            refused.setdefault(refusal.label, {})[str(run.profile)] = None
    for node in model.nodes:
        becomes = " ".join(node.operations) or node.outcome
        refusing = f"; refused by {', '.join(refused[node.name])}" if node.name in refused else ""
        _print(console, f"{node.operator} {node.name}: {becomes}{refusing}", indent=2)


def _describe_fallbacks(run: Run) -> Iterator[str]:
    """Yield the figures, and then the operators that leave the requested device, those of one operation and reason in a line."""
    # The title names the profile.
    own = f'the device profile "{run.profile}"'
    found = Counter(
        (each.operation, each.device, each.reason.replace(own, "the profile"), each.change)
        for graph in run.graphs
        for each in graph.fallbacks
    )
    total = sum(graph.operators for graph in run.graphs)
    parts = sum(graph.partitions for graph in run.graphs)
    moved = sum(graph.transferred_bytes for graph in run.graphs)
    figures = f"{plural(parts, 'partition')}, {moved:,} bytes between devices in a run"
    yield f"{found.total()} of {plural(total, 'operator')}; {figures}"
    reasons = {(device, reason) for _, device, reason, _ in found}
    if len(reasons) == 1 and found.total() == total:
        [(device, reason)] = reasons
        yield f"all of them to the {device}: {reason}"
        return
    for (operation, device, reason, change), count in found.items():
        times = f" ({count} times)" if count > 1 else ""
        yield f"{operation} to the {device}{times}: {reason}{f'; change: {change}' if change else ''}"


def _print_title(console: Console, text: str, style: str = "bold") -> None:
    console.print()
    _print(console, text, style)


def _print(console: Console, text: str, style: str = "", *, indent: int = 0) -> None:
    console.print(Padding(_text(console, text, style), (0, 0, 0, indent)))


def _text(console: Console, text: str, style: str = "") -> Text:
    """Make any text printable: one line, without control characters and characters that the output cannot encode."""
    plain = cut(show_controls(" ".join(text.split())), _LONGEST_LINE)
    return Text(plain.encode(console.encoding, "backslashreplace").decode(console.encoding), style)
