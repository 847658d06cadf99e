"""StableHLO programs as WebNN graphs: `load`. JAX exports such programs.

>>> import webnn.stablehlo
>>> imported = webnn.stablehlo.load("model.mlir")
>>> imported.description.save("model.mjs")
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from webnn.builder.collection import without_collection
from webnn.builder.description import GraphDescription
from webnn.builder.graph_builder import GraphBuilder
from webnn.hlo.ir import Module
from webnn.hlo.reader import read
from webnn.importing.driver import Imported, finish_import, make_builder
from webnn.importing.report import NodeReport, Refusal, RefusedModelError, Report
from webnn.stablehlo.lowering import Lowering, Settings
from webnn.stablehlo.rules import RULES
from webnn.validation.errors import NotSupportedError

__all__ = ["Imported", "NodeReport", "Refusal", "RefusedModelError", "Report", "Settings", "load", "survey"]


@without_collection()
def load(
    source: str | bytes | bytearray | memoryview | os.PathLike[str] | Module | Any,
    builder: GraphBuilder | None = None,
    *,
    shapes: Mapping[str, Sequence[int]] | None = None,
    constants: Mapping[str, Any] | None = None,
    precision: Literal["f32"] | None = None,
    int32: bool = False,
    function: str = "main",
) -> Imported:
    """Import a StableHLO program.

    Known values are computed at import. Functions are inlined, and loops with a known number of iterations are unrolled.

    Args:
        source: A source for `webnn.hlo.read`, or a module.
        builder: The builder that gets the graph; without one it is only described.
        shapes: The shapes of arguments whose sizes the program leaves open, by their names; not for a module.
        constants: Arguments that are known, by their names: numbers or arrays.
        precision: ``"f32"``: compute f64 in float32, which is the widest type of WebNN. Without it, f64 is refused.
        int32: Compute i64 in int32, and make such arguments and results int32: for devices without int64. The caller promises that all
            values fit. Without it, this is done where it is proven to change nothing, if the builder's device takes no int64 constants.
        function: The function to import. A module with a single public function needs no name.

    Raises:
        RefusedModelError: Some operations or arguments cannot be imported. It names all of them.
        FormatError: The source is not a valid program.
        StableHLOMissingError: The package jaxlib is not installed. A module does not need it.
        OSError: A file cannot be read.
        TypeError: The source has another type, or there are shapes for a module.
        NotSupportedError: The builder's draft has no counterpart of an operator, or there is no such function.
        WebNNTypeError: The builder refuses something, because of the limits of its device.
    """
    if isinstance(source, Module):
        if shapes:
            raise TypeError("shapes must be given to webnn.hlo.read, which makes the module")
        module = source
    else:
        module = read(source, shapes=shapes)
    description, report = survey(module, Settings(constants=constants or {}, precision=precision), function)
    file = os.fspath(source) if isinstance(source, os.PathLike) else module.name or f"@{function}"
    return finish_import(description, report, file, builder, int32=int32)


def survey(module: Module, settings: Settings, function: str = "main") -> tuple[GraphDescription | None, Report]:
    """Import a module. If some of it is refused, there is a report and no description.

    Raises:
        NotSupportedError: There is no such function.
    """
    found = module.find(function)
    public = [each for each in module.functions if each.public]
    if found is None and function == "main" and len(public) == 1:
        found = public[0]
    if found is None:
        names = ", ".join(f"@{each.name}" for each in public) or "none"
        raise NotSupportedError(f"the module must have a function @{function}, got {names}")
    builder = make_builder(has_small_integers=_has_small_integers(module))
    return Lowering(module, builder, settings, RULES, found).survey(module.name)


def _has_small_integers(module: Module) -> bool:
    """Tell whether a module has integers of 4 bits."""
    for function in module.functions:
        if function.body is not None:
            for operation in function.body.walk():
                for value in (*operation.operands, *operation.results):
                    element = getattr(value.type, "element", None)
                    if getattr(element, "storage", element) in ("i4", "ui4"):
                        return True
    return False
