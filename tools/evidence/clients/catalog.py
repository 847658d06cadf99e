"""The clients of ``clients.toml``."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

__all__ = ["CLIENTS", "HOSTS", "Case", "Client", "Host", "Known", "load_clients"]

CLIENTS = Path(__file__).resolve().with_name("clients.toml")
#: Where a client runs: `webnn run`, a page and a worker of `webnn serve` in Chromium, and a page with Chromium's own WebNN.
Host = Literal["node", "page", "worker", "native"]
HOSTS: Sequence[Host] = get_args(Host)


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A result that is not right, and why.

    Attributes:
        hosts: Where.
        reason: Why.
        message: A part of the error; empty if the numbers are wrong.
        versions: Of which versions of the client; empty for all.
    """

    hosts: Sequence[Host]
    reason: str
    message: str = ""
    versions: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A computation of a client.

    Attributes:
        name: The name.
        what: The same in words.
        model: The model of the catalogue of `tools.evidence.models`.
        place: The path of the model in the site; empty for ``models/MODEL`` with its suffix.
        config: The content of ``config.json`` beside the folder of the model.
        order: Members of the order to the program.
        expected: The right outputs, where they are known.
        judge: Otherwise the client's own WebAssembly computes them, or ONNX Runtime node by node.
        picture: The site has ``picture.png``.
        known: The results that are not right.
    """

    name: str
    what: str
    model: str = ""
    place: str = ""
    config: Mapping[str, Any] = field(default_factory=dict)
    order: Mapping[str, Any] = field(default_factory=dict)
    expected: Mapping[str, Sequence[float]] = field(default_factory=dict)
    judge: Literal["wasm", "onnxruntime"] = "wasm"
    picture: bool = False
    known: Sequence[Known] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """A package, and how it is tried.

    Attributes:
        name: The name of its program.
        title: Its name for people.
        package: Its package of npm; empty if it is a part of webnn-samples.
        versions: Its versions.
        cases: Its computations.
        companions: The packages beside it.
        samples: The folder of webnn-samples that it is.
        runtime: The package with the WebAssembly that a page must be told of.
        page: The folder of the page, with a slash at its end.
        worker: The folder of the worker's script, with a slash at its end.
        hosts: Where it can run.
    """

    name: str
    title: str
    versions: Sequence[str]
    cases: Sequence[Case]
    package: str = ""
    companions: Sequence[str] = ()
    samples: str = ""
    runtime: str = ""
    page: str = "programs/"
    worker: str = "programs/"
    hosts: Sequence[Host] = HOSTS


def load_clients(path: Path = CLIENTS) -> Mapping[str, Client]:
    """Read the clients, by name.

    Raises:
        TypeError: An entry has a member that does not exist, or lacks one.
        ValueError: The file is not TOML, or names a host that does not exist.
    """
    clients = {}
    for name, entry in tomllib.loads(path.read_text(encoding="utf-8"))["client"].items():
        cases = [Case(**{**each, "known": [Known(**known) for known in each.get("known", ())]}) for each in entry.pop("case")]
        clients[name] = Client(name=name, cases=cases, companions=entry.pop("with", ()), **entry)
        stated = {*clients[name].hosts, *(host for case in cases for known in case.known for host in known.hosts)}
        if unknown := stated - {*HOSTS}:
            raise ValueError(f"{name} names hosts that do not exist: {', '.join(sorted(unknown))}")
    return clients
