"""The export of a program to ONNX, by PyTorch's own exporter, in memory."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import logging
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from onnx import ModelProto

from webnn._extras import pip_command
from webnn.importing.report import Refusal, RefusedModelError, Report
from webnn.onnx.origins import find_line

__all__ = ["TorchMissingError", "check_installed", "export"]

#: The version of ONNX's operators. From 23 on the exporter writes `Attention`, which becomes more operators of WebNN than its parts.
_OPSET = 20
_PACKAGES = ("torch", "onnxscript")
#: The list of a single name.
_SOURCE = re.compile(r"\['([^']*)'\]")
#: The message of an export has the line of the source behind this.
_CALL = "The following call raised this error:"


class TorchMissingError(ImportError):
    """PyTorch, or the package that its exporter needs, is not installed."""


def check_installed() -> None:
    """Raise `TorchMissingError` if PyTorch or its exporter is missing."""
    missing = [name for name in _PACKAGES if importlib.util.find_spec(name) is None]
    if missing:
        raise TorchMissingError(f"PyTorch programs need the packages {' and '.join(_PACKAGES)}: {pip_command(*missing)}")


def export(source: Any, file: str, args: Sequence[Any], kwargs: Mapping[str, Any] | None, dynamic_shapes: Any) -> ModelProto:
    """Export a module or an exported program; ``file`` is its name in messages.

    Raises:
        RefusedModelError: PyTorch cannot export it.
        TypeError: It is neither.
    """
    import torch  # noqa: PLC0415 (nobody else needs it)
    from torch.utils import _pytree as trees  # noqa: PLC0415

    def lay_out(value: Any) -> Any:
        # The steps of a slice in memory would become a part of the program.
        return value.contiguous() if isinstance(value, torch.Tensor) else value

    if not isinstance(source, torch.nn.Module | torch.export.ExportedProgram):
        wanted = "a torch.nn.Module, a torch.export.ExportedProgram or the path of a file .pt2"
        raise TypeError(f"load: source must be {wanted}, got {type(source).__name__}")
    if isinstance(args, torch.Tensor):
        args = (args,)
    if getattr(source, "training", False):
        raise _refusal(file, "training", "the module must not be in training mode", "call its method eval() first")
    try:
        with _quiet():
            made = torch.onnx.export(
                source,
                trees.tree_map(lay_out, tuple(args)),
                kwargs=None if kwargs is None else trees.tree_map(lay_out, dict(kwargs)),
                dynamic_shapes=dynamic_shapes,
                dynamo=True,
                opset_version=_OPSET,
                optimize=True,
                verbose=False,
            )
    except torch.onnx.errors.OnnxExporterError as error:
        raise _explain(file, error) from error
    _name_values(made.model.graph, made.exported_program)
    proto: ModelProto = made.model_proto
    return proto


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Hide what PyTorch prints and logs for its own developers. An exception has the same reason."""
    logger = logging.getLogger("torch")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)


def _name_values(graph: Any, program: Any) -> None:
    """Give inputs and weights the names of the parameters, and results in dictionaries those of their keys: ``"past.0.key"``."""
    from torch.utils import _pytree as trees  # noqa: PLC0415 (as above)

    wanted = [name for name in program.graph_signature.user_inputs if isinstance(name, str)]
    outputs = {each.name: each for each in graph.outputs}
    # An input that is a result gets another name from the exporter.
    for value, name in zip(graph.inputs, wanted, strict=False):
        if value.name != name and name in outputs:
            outputs[name].name = f"{name}_out"
            value.name = name
    for value in list(graph.initializers.values()):
        # A weight that was transposed, for example.
        sources = _SOURCE.fullmatch(value.metadata_props.get("pkg.onnxscript.optimizer.folded_from", ""))
        if sources is not None and sources[1] not in graph.initializers:
            value.name = sources[1]
    structure = program.call_spec.out_spec
    if structure is None or structure.num_leaves != len(graph.outputs) or not issubclass(structure.type or tuple, dict):
        return
    taken = {each.name for node in graph for each in node.outputs} | {each.name for each in (*graph.inputs, *graph.initializers.values())}
    paths, _ = trees.tree_flatten_with_path(trees.tree_unflatten(list(range(structure.num_leaves)), structure))
    for value, (path, _) in zip(graph.outputs, paths, strict=True):
        name = ".".join(str(getattr(key, "key", getattr(key, "idx", ""))) for key in path)
        if name not in taken:
            value.name = name
            taken.add(name)


# Errors in PyTorch's terms.


def _explain(file: str, error: Exception) -> RefusedModelError:
    """Return the refusal of a program that PyTorch cannot export: the first line of its reason, with the place in the program."""
    cause: BaseException = error
    node = _find_node(error)
    while cause.__cause__ is not None:
        cause = cause.__cause__
        node = node or _find_node(cause)
    if node is not None:
        modules = [str(module) for module, _ in node.meta.get("nn_module_stack", {}).values()]
        place = "/".join([*filter(None, modules[-1:]), node.name])
        return _refusal(
            file, f"{place}{find_line(node.meta.get('stack_trace') or '')}", "PyTorch cannot write it as ONNX", "", str(node.target)
        )
    text = str(cause).strip()
    line = find_line(text[max(text.rfind(_CALL), 0) :])
    advice = "torch.export.draft_export lists all such places" if "data-dependent" in text else ""
    return _refusal(file, f"torch.export{line}", text.partition("\n")[0].strip().rstrip("."), advice)


def _find_node(error: BaseException) -> Any:
    """Return the node of the program that the exporter translated when it failed; its message has only the name."""
    trace = error.__traceback__
    found = None
    while trace is not None:
        node = trace.tb_frame.f_locals.get("node")
        found = node if hasattr(node, "meta") else found
        trace = trace.tb_next
    return found


def _refusal(file: str, place: str, reason: str, advice: str, operator: str = "") -> RefusedModelError:
    refusal = Refusal(place=place, operator=operator, reason=reason, advice=advice)
    return RefusedModelError(file, Report(nodes=(), refusals=(refusal,), notes=()))
