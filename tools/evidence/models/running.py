"""A model of the catalogue as a task: in a process of its own, which has an amount of time and of memory."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tools.evidence.browser.modules import save_module
from tools.evidence.models.catalog import Model, load_catalog
from tools.evidence.models.files import ROOT, FileError
from tools.evidence.models.formats import format_of
from tools.evidence.models.measure import check
from tools.evidence.models.result import Place, Result
from webnn.processes.child import Exit, Process

__all__ = ["DEVICES", "Task", "options", "read_places", "run_model"]

#: The profile of a device of each kind. Without a profile, the graph builds for the CPU.
DEVICES: Mapping[str, str] = {"cpu": "", "gpu": "webgpu-dawn", "npu": "qnn-htp"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A model to run.

    Attributes:
        model: The model.
        catalog: The file that has it.
        file: Its file, or why there is none.
        seed: The seed of the inputs.
        rounds: How often each side is timed.
        seconds: The time of each of its two processes.
        gigabytes: The memory of the first one.
        modules: The folder for modules, if they are wanted.
    """

    model: Model
    catalog: Path
    file: Path | FileError
    seed: int = 0
    rounds: int = 0
    seconds: float = 900
    gigabytes: float = 12
    modules: Path | None = None


def options(model: Model) -> list[str]:
    """Return the options with which the commands of webnn import a model."""
    found = [f"--dim={name}={size}" for name, size in model.dims.items()]
    if not model.dims:
        found += [f"--shape={name}={','.join(map(str, each.shape))}" for name, each in model.inputs.items()]
    # Compact, so that a shell needs no quotes.
    return found + [f"--constant={name}={json.dumps(each.tolist(), separators=(',', ':'))}" for name, each in model.constants.items()]


def run_model(task: Task) -> Result:
    """Compare a model with its judge, and build it for all devices, in two processes."""
    name = task.model.name
    if isinstance(task.file, FileError):
        return Result(name=name, status="failed", message=str(task.file))
    with tempfile.TemporaryDirectory(prefix="models-") as folder:
        output = Path(folder) / "result.json"
        given = ["--catalog", task.catalog, "--file", task.file, "--seed", task.seed, "--rounds", task.rounds, "--memory", task.gigabytes]
        if task.modules is not None:
            given += ["--modules", task.modules.absolute()]
        ended = _start(["-m", "tools.evidence.models.running", name, *map(str, given), "--output", str(output)], task.seconds)
        if not output.exists():
            return Result(name=name, status="failed", message=_explain(ended, task), bytes=task.file.stat().st_size)
        result = Result.from_dict(json.loads(output.read_text(encoding="utf-8")))
    if result.status not in ("ok", "sensitive", "wrong"):
        return result
    return replace(result, **_place(task, task.file))


def _place(task: Task, file: Path) -> dict[str, Any]:
    """Return the members of a result that say where its graph builds."""
    command = [sys.executable, "-m", "webnn", "check", str(file), *options(task.model), "--json"]
    try:
        # A check ends all that it has started.
        done = subprocess.run(command, check=False, capture_output=True, text=True, env=_environment(), timeout=task.seconds)
        places = list(read_places(json.loads(done.stdout)))
    except (subprocess.TimeoutExpired, ValueError) as error:
        return {"status": "failed", "message": f"webnn check: {error}"}
    return {
        "places": tuple([each for each in places if each.profile in DEVICES.values()]),
        "refusals": {each.profile: each.why for each in places if each.verdict != "builds"},
        "profiles": len(places) - 1,
    }


def read_places(report: Mapping[str, Any]) -> Iterator[Place]:
    """Yield how a model builds without a profile and on each one, from the report of ``webnn check --json``."""
    for run in (report["baseline"], *report["profiles"]):
        left: Counter[str] = Counter()
        for graph in run["graphs"]:
            left.update(each["operation"] for each in graph["fallbacks"])
        refusals = run["refusals"] or ([run["fatal"]] if run["fatal"] else [])
        yield Place(
            profile=run["profile"] or "",
            verdict=run["verdict"],
            device=run["graphs"][0]["requested"] if run["graphs"] else "",
            operators=sum(graph["operators"] for graph in run["graphs"]),
            left=dict(left.most_common()),
            why="" if run["verdict"] == "builds" else (str(refusals[0].get("message", "")) if refusals else run["error"]),
        )


def _start(arguments: Sequence[str], seconds: float) -> Exit:
    return Process([sys.executable, *arguments], _environment()).wait(seconds)


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))}


def _explain(ended: Exit, task: Task) -> str:
    if ended.code is None:
        return f"it took longer than {task.seconds:g} s"
    _, _, last = ended.output.strip().rpartition("\n")
    return f"the process ended with {ended.code}: {last}"


def _main() -> None:
    """Run one model here, and write its result."""
    parser = argparse.ArgumentParser()
    parser.add_argument("name")
    for each in ("--catalog", "--file", "--modules", "--output"):
        parser.add_argument(each, type=Path)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--memory", type=float)
    given = parser.parse_args()
    model = load_catalog(given.catalog)[given.name]
    _limit(given.memory, one_core=given.rounds > 0)
    result, description = check(model, given.file, seed=given.seed, rounds=given.rounds)
    if given.modules is not None and model.browser and description is not None:
        inputs = format_of(model).inputs(model, given.file, given.seed)
        save_module(description, given.modules, f"model_{model.name.replace('-', '_')}", inputs)
    given.output.write_text(json.dumps(result.to_dict()), encoding="utf-8")


def _limit(gigabytes: float, *, one_core: bool) -> None:
    """Limit the memory of this process, and let it use one core, so that each side has one thread. Not every system can do that."""
    if sys.platform == "linux":
        import resource  # noqa: PLC0415 (Windows has no such module)

        resource.setrlimit(resource.RLIMIT_AS, (int(gigabytes * 2**30),) * 2)
        if one_core:
            os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


if __name__ == "__main__":
    _main()
