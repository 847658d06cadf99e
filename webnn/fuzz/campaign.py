"""A run of many programs: hosts, judges, classes of findings, and the smallest program of each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field
from itertools import islice

from webnn.fuzz.hosts import Built, Emulator, Host, HostError, Outcome
from webnn.fuzz.judges import Finding, Rebuilding, compare_bits, compare_hosts, judge_numbers
from webnn.fuzz.known import Known
from webnn.fuzz.programs import FuzzProgram
from webnn.fuzz.shrink import shrink

__all__ = ["Campaign", "Class", "Examine"]

#: Runs groups of programs; yields each with the findings of its programs and the number of graphs that they computed.
Examine = Callable[[Iterable[Sequence[FuzzProgram]]], Iterable[tuple[Sequence[FuzzProgram], Sequence[Sequence[Finding]], int]]]

#: How many programs go to the hosts at once.
_TOGETHER = 40
#: How many programs are tried to make one smaller; fewer where each one ends or stops the browser.
_TRIALS, _COSTLY_TRIALS = 400, 25
#: How often a program runs alone until its finding is there again.
_ATTEMPTS = 3


@dataclass(slots=True)
class Class:
    """Findings of one class: how many programs have it, with the first one, or that of the smallest program once it is shrunk.

    ``known`` is the entry that says so, if it is known. ``again`` tells whether the program has the finding also when it runs alone; `None`
    if that was not tried.
    """

    finding: Finding
    program: FuzzProgram
    count: int = 0
    known: Known | None = None
    again: bool | None = None


@dataclass(slots=True)
class Campaign:
    """Runs programs and keeps the classes of their findings: new ones by `Finding.key`, and the known ones by the entry's number.

    ``thread`` is where the browser is called, beside the emulator. ``programs`` and ``graphs`` count those that ran and were computed.
    Without ``rebuilding``, for another engine than ONNX Runtime, the browser alone judges the numbers, bit by bit.
    """

    emulator: Emulator
    rebuilding: Rebuilding | None
    page: Host | None = None
    thread: Executor | None = None
    known: Sequence[Known] = ()
    classes: dict[tuple[str, str, str, str], Class] = field(default_factory=dict)
    programs: int = 0
    graphs: int = 0

    def run(
        self, programs: Iterable[FuzzProgram], progress: Callable[[int], None] = lambda _: None, examine: Examine | None = None
    ) -> None:
        """Run programs and class their findings; ``progress`` is called with the number of programs that are done.

        ``examine`` runs groups of programs elsewhere, in place of the function; returns the findings of each, and the number of graphs.
        """
        waiting = iter(programs)
        groups = iter(lambda: list(islice(waiting, _TOGETHER)), [])
        for group, found, graphs in examine(groups) if examine else ((group, self.examine(group), 0) for group in groups):
            for program, findings in zip(group, found, strict=True):
                for finding in findings:
                    self._add(program, finding)
            self.graphs += graphs
            self.programs += len(group)
            progress(len(group))

    def examine(self, programs: Sequence[FuzzProgram]) -> list[list[Finding]]:
        """Run programs and return the findings of each."""
        answers: Future[list[list[Outcome]]] | list[list[Outcome]] | None = None
        if self.page is not None:
            answers = self.thread.submit(self.page.run, programs) if self.thread else self.page.run(programs)
        ours = self._run_emulator(programs)
        found: list[list[Finding]] = []
        for program, outcomes, graphs in zip(programs, ours, self.emulator.graphs, strict=True):
            found.append(self._judge(program, outcomes, graphs))
            self.graphs += sum(graph.inputs is not None for graph in graphs)
        if answers is not None:
            theirs = answers.result() if isinstance(answers, Future) else answers
            for place, program in enumerate(programs):
                found[place] += self._compare(program, ours[place], theirs[place], self.emulator.graphs[place])
        return found

    def _compare(self, program: FuzzProgram, ours: Sequence[Outcome], theirs: Sequence[Outcome], graphs: Sequence[Built]) -> list[Finding]:
        try:
            finding = compare_hosts(program, ours, theirs)
            if finding is None and self.rebuilding is None:
                finding = compare_bits(program, graphs, ours, theirs)
            elif finding is None:
                finding = judge_numbers("browser", program, graphs, ours, theirs)
        except Exception as error:  # whatever a judge raises
            return [_failed(program, error)]
        return [] if finding is None else [finding]

    def _judge(self, program: FuzzProgram, outcomes: Sequence[Outcome], graphs: Sequence[Built]) -> list[Finding]:
        """Ask the judges of the emulator. If a judge fails, that is a finding, too, and the run goes on."""
        rebuilding = self.rebuilding
        if rebuilding is None:
            return []
        try:
            first = judge_numbers("reference", program, graphs, outcomes)
            return [*([] if first is None else [first]), *(finding for graph in graphs for finding in rebuilding.judge(graph))]
        except Exception as error:  # whatever a judge raises
            return [_failed(program, error)]

    def _run_emulator(self, programs: Sequence[FuzzProgram]) -> list[list[Outcome]]:
        """Run programs; where one is a fault of the emulator itself, run them one by one."""
        try:
            return self.emulator.run(programs)
        except HostError as error:
            if len(programs) == 1:
                self.emulator.graphs = [[]]
                self._add(programs[0], Finding("emulator", " ".join(programs[0].operations), "fault", "", str(error)))
                return [[{"skipped": True} for _ in programs[0].steps]]
        outcomes, graphs = [], []
        for program in programs:
            outcomes += self._run_emulator([program])
            graphs += self.emulator.graphs
        self.emulator.graphs = graphs
        return outcomes

    def _add(self, program: FuzzProgram, finding: Finding) -> None:
        # Findings of one entry are one class.
        entry = self._find_entry(finding)
        key = finding.key if entry is None else ("known", str(self.known.index(entry)), "", "")
        self.classes.setdefault(key, Class(finding, program, known=entry)).count += 1

    def _find_entry(self, finding: Finding) -> Known | None:
        return next((known for known in self.known if known.fits(finding)), None)

    def shrink(self, each: Class) -> None:
        """Look for the smallest program of a class. One whose finding is known while the class is not is another class."""
        key = each.finding.key
        costly = each.finding.kind in ("crash", "hang")

        def holds(programs: Sequence[FuzzProgram]) -> int | None:
            for place, findings in enumerate(self.examine(programs)):
                for finding in findings:
                    if finding.key == key and self._find_entry(finding) is each.known:
                        each.finding = finding
                        return place
            return None

        each.again = any(holds([each.program]) == 0 for _ in range(_ATTEMPTS))
        if each.again and costly:
            # A page may end after a program is done, in the middle of the next one. A program that ends a fresh page, too, is the cause.
            each.program = shrink(each.program, lambda programs: holds(programs) if holds(programs) == 0 else None, _COSTLY_TRIALS, 1)
        elif each.again:
            each.program = shrink(each.program, holds, _TRIALS)


def _failed(program: FuzzProgram, error: Exception) -> Finding:
    return Finding("emulator", " ".join(program.operations), "fault", type(error).__name__, f"a judge failed: {error}")
