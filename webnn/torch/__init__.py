"""Modules and exported programs of PyTorch as WebNN graphs: `load`.

>>> import torch, webnn.torch
>>> imported = webnn.torch.load(torch.nn.Linear(4, 3).eval(), (torch.zeros(2, 4),))
>>> imported.description.save("model.mjs")
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from onnx import ModelProto, ValueInfoProto

from webnn.builder.collection import without_collection
from webnn.builder.graph_builder import GraphBuilder
from webnn.context.engine.foreign import carry
from webnn.importing.driver import Imported, finish_import
from webnn.importing.report import NodeReport, Refusal, RefusedModelError, Report
from webnn.importing.values import Array
from webnn.onnx import survey
from webnn.onnx.model import Model, Settings, element_type, read
from webnn.torch.archive import load_program
from webnn.torch.exporting import TorchMissingError, check_installed, export
from webnn.validation.errors import OperationError

__all__ = ["Imported", "NodeReport", "Program", "Refusal", "RefusedModelError", "Report", "TorchMissingError", "load", "read_program"]


@without_collection()
def load(
    source: Any,
    args: Sequence[Any] = (),
    builder: GraphBuilder | None = None,
    *,
    kwargs: Mapping[str, Any] | None = None,
    dynamic_shapes: Any = None,
    shapes: Mapping[str, Sequence[int]] | None = None,
    constants: Mapping[str, Any] | None = None,
    dims: Mapping[str, int] | None = None,
    float64: bool = True,
    int32: bool = False,
) -> Imported:
    """Import a module, or an exported program.

    PyTorch's own exporter writes it as an ONNX model in memory, which is imported as `webnn.onnx.load` does.

    Args:
        source: A `torch.nn.Module` in evaluation mode; a `torch.export.ExportedProgram`; or a file ``.pt2``, which is read without running
            anything that it contains.
        args: Example arguments of a module, or one tensor: their shapes and types are those of the inputs. A program has its own.
        builder: The builder that gets the graph; without one it is only described.
        kwargs: Example keyword arguments of a module.
        dynamic_shapes: The dimensions that a module leaves open, as for `torch.export.export`; their names may be texts.
        shapes: The shapes of inputs, by their names. Needed where the program leaves a dimension open.
        constants: Inputs that are known, by their names: numbers or arrays.
        dims: The sizes of dimensions that have names.
        float64: Compute float64 in float32, which is the widest type of WebNN. If false, float64 is refused.
        int32: Compute int64 in int32, and make int64 inputs and outputs int32; see `webnn.onnx.load`.

    Raises:
        TorchMissingError: PyTorch is not installed.
        RefusedModelError: PyTorch cannot export it, or WebNN has no counterpart of some operators. It names modules and source lines.
        FormatError: The file is not an archive of an exported program, or may run code.
        OSError: The file cannot be read.
        TypeError: The source is none of these.
        NotSupportedError: The builder's draft has no counterpart of an operator.
        WebNNTypeError: The builder refuses something, because of the limits of its device.
    """
    if isinstance(source, str | os.PathLike):
        model = read_program(source).model
    else:
        check_installed()
        name = type(source).__name__
        model = _read(export(source, name, args, kwargs, dynamic_shapes), name, name)
    settings = Settings(shapes=shapes or {}, dims=dims or {}, constants=constants or {}, float64=float64)
    description, report = survey(model, settings)
    return finish_import(description, report, model.file, builder, int32=int32)


@dataclass(frozen=True, slots=True)
class Program:
    """The program of a file.

    Attributes:
        model: The ONNX model that PyTorch's exporter makes of it.
        exported: The program itself, a `torch.export.ExportedProgram`.
    """

    model: Model
    exported: Any

    def run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """Compute the program with PyTorch.

        Args:
            inputs: An array for each input of the model, which is cast to the type of the input.

        Returns:
            The outputs by their names. bool is returned as uint8, and float64 as float32, as WebNN carries them.

        Raises:
            OperationError: An array is missing, or PyTorch fails.
        """
        import torch  # noqa: PLC0415 (nobody else needs it)
        from torch.utils import _pytree as trees  # noqa: PLC0415

        graph = self.model.proto.graph
        specs = [each for each in self.exported.graph_signature.input_specs if each.kind.name == "USER_INPUT"]
        infos = iter(graph.input)
        try:
            leaves = [_argument(each.arg, infos, inputs) for each in specs]
            args, kwargs = trees.tree_unflatten(leaves, self.exported.call_spec.in_spec)
            with torch.no_grad():
                results = trees.tree_leaves(self.exported.module()(*args, **kwargs))
        except KeyError as error:
            raise OperationError(f"{self.model.file}: there are no elements for the input {error}") from None
        except Exception as error:  # whatever PyTorch raises
            raise OperationError(f"{self.model.file}: PyTorch cannot run the program: {error}") from error
        tensors = [each.numpy() for each in results if isinstance(each, torch.Tensor)]
        return {info.name: carry(each) for info, each in zip(graph.output, tensors, strict=True)}


def read_program(path: str | os.PathLike[str]) -> Program:
    """Read a file ``.pt2`` without running anything that it contains; raises the errors of `load`."""
    check_installed()
    exported = load_program(path)
    file = os.fspath(path)
    return Program(_read(export(exported, file, (), None, None), Path(file).stem, file), exported)


def _read(proto: ModelProto, name: str, file: str) -> Model:
    proto.graph.name = name
    return replace(read(proto), file=file)


def _argument(argument: Any, infos: Iterator[ValueInfoProto], inputs: Mapping[str, Array]) -> Any:
    """Return an argument of a program: a tensor of the next input, or its constant."""
    if hasattr(argument, "value"):
        return argument.value
    import torch  # noqa: PLC0415 (nobody else needs it)

    info = next(infos)
    return torch.from_numpy(inputs[info.name].astype(element_type(info.type.tensor_type.elem_type)))
