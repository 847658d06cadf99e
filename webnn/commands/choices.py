"""The values of options that several commands have."""

from __future__ import annotations

import os
from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated

import typer

from webnn.builder.numerics import NUMERICS_VARIABLE
from webnn.builder.semantics import SEMANTICS_VARIABLE, parse_semantics
from webnn.commands.completion import complete_dialect, complete_profile, complete_revision, complete_switch
from webnn.commands.failure import failing
from webnn.context.devices.selection import ENGINE_VARIABLE, ISOLATE_VARIABLE, PLUGINS_VARIABLE, SIMULATORS_VARIABLE

__all__ = [
    "PAGES",
    "AccuracyLevel",
    "Device",
    "DialectOption",
    "EngineOption",
    "ExecutorOption",
    "Fallback",
    "FallbackOption",
    "IsolateOption",
    "Numerics",
    "NumericsOption",
    "PageRevisionOption",
    "PluginOption",
    "ProfileOption",
    "ReferenceOption",
    "RevisionOption",
    "SemanticsOption",
    "SimulatorsOption",
    "set_devices",
    "set_engine",
    "set_numerics",
    "set_semantics",
]

#: The suffixes of pages.
PAGES = (".html", ".htm")

#: ``--executor``.
ExecutorOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME|ADDRESS",
        help="Where the work runs: processes:N, dask://HOST:PORT, ray or ray://HOST:PORT.",
        show_default="processes of this machine",
    ),
]


class Device(StrEnum):
    """The values of ``deviceType``."""

    cpu = "cpu"
    gpu = "gpu"
    npu = "npu"


class Fallback(StrEnum):
    """The fallback policies of `webnn.ML`."""

    allow = "allow"
    silent = "silent"
    deny = "deny"


class Numerics(StrEnum):
    """The numerics policies of `webnn.ML`."""

    exact = "exact"
    fast = "fast"


class AccuracyLevel(StrEnum):
    """How much of the accuracy `webnn.inspect.write_page` finds."""

    whole = "whole"
    operators = "operators"
    none = "none"


#: ``--numerics``.
NumericsOption = Annotated[
    Numerics | None,
    typer.Option(
        "--numerics",
        help="exact: as docs/numerics.md defines; fast: the engine's own kernels.",
        envvar=NUMERICS_VARIABLE,
        show_default="exact on the CPU, fast on other devices",
    ),
]

#: ``--simulators``.
SimulatorsOption = Annotated[
    bool | None,
    typer.Option(
        "--simulators/--no-simulators",
        help="Count devices in software: a software GPU, the simulator of an NPU.",
        envvar=SIMULATORS_VARIABLE,
        show_default="no",
    ),
]
#: ``--isolate``.
IsolateOption = Annotated[
    bool | None,
    typer.Option(
        "--isolate/--no-isolate",
        help="Run each context in a process of its own, or none: a driver that crashes cannot end the program.",
        envvar=ISOLATE_VARIABLE,
        show_default="those on other devices than the CPU",
    ),
]
#: ``--engine``.
EngineOption = Annotated[
    str | None,
    typer.Option(
        "--engine",
        metavar="NAME",
        help="The engine that computes: onnxruntime, litert.",
        envvar=ENGINE_VARIABLE,
        show_default="onnxruntime",
    ),
]
#: ``--reference``.
ReferenceOption = Annotated[
    bool, typer.Option("--reference", help="Compute every graph in float64, slowly: in NumPy, not with the engine.")
]
#: ``--plugin``.
PluginOption = Annotated[
    list[str] | None,
    typer.Option(
        "--plugin",
        metavar="PACKAGE",
        help="The package of a plug-in of ONNX Runtime: onnxruntime-ggml. Its devices come first. Repeatable.",
        show_default=f"those of {PLUGINS_VARIABLE}",
    ),
]

#: ``--dialect``, where a program in JavaScript runs.
DialectOption = Annotated[
    str | None,
    typer.Option(
        "--dialect",
        help="The additions of browsers to the draft: browsers-2024, browsers-2026 or chromium-153.",
        autocompletion=complete_dialect,
        show_default=False,
    ),
]
#: ``--revision``, where a program of Python may choose another one.
RevisionOption = Annotated[
    str | None,
    typer.Option(
        "--revision",
        help="The draft that navigator.ml follows.",
        autocompletion=complete_revision,
        envvar="WEBNN_REVISION",
        show_default=False,
    ),
]
#: ``--revision``, where a program in JavaScript runs.
PageRevisionOption = Annotated[
    str | None,
    typer.Option(
        "--revision",
        help="The draft that navigator.ml follows; Python's default has compute(), too.",
        autocompletion=complete_revision,
        envvar="WEBNN_REVISION",
        show_default="that of the dialect, or the newest one",
    ),
]
#: ``--profile``, where every context of a program gets it.
ProfileOption = Annotated[
    str | None,
    typer.Option(
        "--profile",
        metavar="NAME|FILE",
        help="Give every context the limits of a device: coreml, dml, ...",
        autocompletion=complete_profile,
        envvar="WEBNN_PROFILE",
        show_default=False,
    ),
]
#: ``--fallback``.
FallbackOption = Annotated[
    Fallback | None,
    typer.Option(
        "--fallback", help="If the device is missing: warn, go on silently, or fail.", envvar="WEBNN_FALLBACK", show_default="allow"
    ),
]


#: ``--semantics``.
SemanticsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--semantics",
        metavar="SWITCH=VALUE",
        help="A switch where backends differ: clampNaN=ignore. Repeatable; webnn semantics lists them.",
        autocompletion=complete_switch,
        show_default="those of the profile",
    ),
]


def set_semantics(chosen: Sequence[str] | None) -> None:
    """Set the values of switches for this process and for those that it starts."""
    if chosen:
        text = ",".join(chosen)
        with failing(ValueError, 2):
            parse_semantics(text, "--semantics")
        os.environ[SEMANTICS_VARIABLE] = text


def set_numerics(chosen: Numerics | None) -> None:
    """Set the policy for this process and for those that it starts."""
    if chosen is not None:
        os.environ[NUMERICS_VARIABLE] = chosen.value


def set_engine(chosen: str | None) -> None:
    """Set the engine for this process and for those that it starts."""
    if chosen is not None:
        os.environ[ENGINE_VARIABLE] = chosen
        # Imported lazily; most commands choose none.
        from webnn.context.emulation import ambient  # noqa: PLC0415

        with failing(ValueError, 2):
            ambient()


def set_devices(simulators: bool | None, plugins: Sequence[str] | None, isolate: bool | None = None) -> None:
    """Choose whether simulators count, further plug-ins, and where contexts run, for this process and for those that it starts."""
    if simulators is not None:
        os.environ[SIMULATORS_VARIABLE] = str(int(simulators))
    if isolate is not None:
        os.environ[ISOLATE_VARIABLE] = str(int(isolate))
    if plugins:
        os.environ[PLUGINS_VARIABLE] = ",".join(plugins)
