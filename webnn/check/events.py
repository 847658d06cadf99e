"""The job and the notes of a process that runs the program: one JSON value per line, kept after the process ends."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Literal, Protocol, TypeAlias

from pydantic import TypeAdapter, ValidationError

from webnn.check.report import Graph, Model, ModelReport, PartitionReport, Refusal
from webnn.commands.models import ModelOptions
from webnn.validation.device_type import DeviceType

__all__ = [
    "Collected",
    "Ended",
    "Engine",
    "Job",
    "Kind",
    "Note",
    "Notes",
    "Prediction",
    "Replay",
    "Replayed",
    "RunNote",
    "Sink",
    "read_notes",
]

#: The subject of a check: a program in one of two languages, a saved graph, a model that is imported, or the cases of a file.
Kind: TypeAlias = Literal["python", "javascript", "graph", "model", "cases"]


class Job(Model):
    """One run of a program.

    Attributes:
        profile: The profile, as `load_profile` takes it; ``None`` for none.
        revision: The draft that ``navigator.ml`` follows; ``None`` for that of the environment.
        device: The device type that placements are asked for; ``None`` for the one that the program asks for.
        go_on: Note the refusals of the profile, and let the calls pass.
        replay: Profiles on which the process says how the program runs, too, where that is known without a run on them.
        every: For these, find every refusal.
        predict: Predict how ONNX Runtime Web partitions the model on these, in the place of a run.
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
    replay: tuple[str, ...] = ()
    every: bool = False
    predict: bool = False


class Ended(Model):
    """The program ended.

    Attributes:
        fatal: Which of the refusals it ended with; ``None`` if it ended with none.
        counts: How often each refusal happened.
    """

    code: int
    error: str = ""
    fatal: int | None = None
    counts: tuple[int, ...] = ()


#: The notes of a run on a profile.
RunNote: TypeAlias = ModelReport | Graph | Refusal | Ended


class Replay(Model):
    """How the program runs on a profile, without a process of its own.

    Attributes:
        notes: The notes that a run would make.
        again: The notes of a run in which everything is allowed; ``None`` if they are not known, or not asked for.
    """

    profile: str
    notes: tuple[RunNote, ...]
    again: tuple[RunNote, ...] | None = None
    seconds: float


class Replayed(Model):
    """All profiles were looked at."""

    profiles: int


class Engine(Model):
    """ONNX Runtime was asked to load the model. ``refusal`` is empty if it does not refuse it."""

    refusal: str


class Prediction(Model):
    """A partition was predicted."""

    on: str | None
    partition: PartitionReport


#: A run noted something, or it was replayed, or a process said how ONNX Runtime takes the model.
Note: TypeAlias = RunNote | Replay | Replayed | Engine | Prediction
_NOTE: TypeAdapter[Note] = TypeAdapter(Note)


class Sink(Protocol):
    """Takes notes."""

    def write(self, note: Note) -> None:
        """Take a note."""


class Collected:
    """Keeps the notes of a run."""

    def __init__(self) -> None:
        self.notes: list[RunNote] = []

    def write(self, note: Note) -> None:
        """Keep a note."""
        if isinstance(note, ModelReport | Graph | Refusal | Ended):
            self.notes.append(note)


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
