"""The job and the notes of a process that runs the program: one JSON value per line, kept after the process ends."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Literal, TypeAlias

from pydantic import TypeAdapter, ValidationError

from webnn.check.report import Graph, Model, ModelReport, PartitionReport, Refusal
from webnn.commands.models import ModelOptions
from webnn.validation.device_type import DeviceType

__all__ = ["Ended", "Job", "Kind", "Note", "Notes", "read_notes"]

#: What is checked: a program in one of two languages, a saved graph, a model that is imported, or the cases of a file.
Kind: TypeAlias = Literal["python", "javascript", "graph", "model", "cases"]


class Job(Model):
    """One run of a program.

    Attributes:
        program: The file.
        kind: What it is.
        arguments: The program's arguments.
        profile: The profile, as `load_profile` takes it; ``None`` for none.
        revision: The draft that ``navigator.ml`` follows; ``None`` for what the environment says.
        device: The device type that placements are asked for; ``None`` for what the program asks for.
        go_on: Note what the profile refuses, and let it pass.
        options: What a model leaves open.
        notes: The file for the notes.
    """

    program: str
    kind: Kind
    arguments: tuple[str, ...] = ()
    profile: str | None = None
    revision: str | None = None
    device: DeviceType | None = None
    go_on: bool = False
    options: ModelOptions = ModelOptions()
    notes: str = ""


class Ended(Model):
    """The program ended.

    Attributes:
        code: Its exit code.
        error: What it failed with; empty if it ended well.
        fatal: Which of the refusals it ended with; ``None`` if it ended with none.
        counts: How often each refusal happened.
    """

    code: int
    error: str = ""
    fatal: int | None = None
    counts: tuple[int, ...] = ()


#: A model was imported, its partition predicted, a graph was built, the profile refused something for the first time, or the program ended.
Note: TypeAlias = ModelReport | PartitionReport | Graph | Refusal | Ended
_NOTE: TypeAdapter[Note] = TypeAdapter(Note)


class Notes:
    """Writes notes to a file, from any thread. A copy of the process that the program made by a fork writes none."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._lock = threading.Lock()
        self._process = os.getpid()

    def write(self, note: Note) -> None:
        """Write a note; it is in the file when this returns."""
        if os.getpid() != self._process:
            return
        with self._lock, self._file.open("a", encoding="utf-8", newline="\n") as file:
            file.write(note.model_dump_json() + "\n")


def read_notes(file: Path) -> list[Note]:
    """Read notes; one that was cut off by the end of the process is left out."""
    notes: list[Note] = []
    if file.exists():
        for line in file.read_bytes().split(b"\n"):
            try:
                notes.append(_NOTE.validate_json(line))
            except ValidationError:
                break
    return notes
