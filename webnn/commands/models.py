"""The options of commands for models that are imported: what a model leaves open."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, TypeVar

import typer

import webnn
from webnn.commands.failure import failure
from webnn.commands.progress import show_progress
from webnn.display.text import clip
from webnn.formats import GRAPHS

if TYPE_CHECKING:
    from webnn.importing.driver import Imported
    from webnn.importing.report import Report
    from webnn.onnx.model import Model, Settings
    from webnn.torch import Program

__all__ = [
    "MODELS",
    "ConstantOption",
    "DimOption",
    "Int32Option",
    "ModelOptions",
    "NamingOption",
    "PrecisionOption",
    "ShapeOption",
    "SignatureOption",
    "boolean_inputs",
    "is_model",
    "is_onnx",
    "is_torch",
    "name_options",
    "read_graph",
    "read_program",
]

_ONNX, _TORCH = ".onnx", ".pt2"
_STABLEHLO = (".mlir", ".mlirbc", ".stablehlo")
_TFLITE = ".tflite"
#: The suffixes of models that are imported.
MODELS = (_ONNX, _TORCH, *_STABLEHLO, _TFLITE)
_WRONG = 2
_T = TypeVar("_T")

ShapeOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--shape", metavar="NAME=1,3,224,224", help="The shape of an input of a model. Repeatable.", show_default=False),
]
DimOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--dim", metavar="NAME=SIZE", help="The size of a named dimension of a model or graph. Repeatable.", show_default=False),
]
NamingOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--dim",
        metavar="NAME=SIZE|NAME",
        help="The size of a named dimension of a model or graph, or a name that the graph has in place of a size. Repeatable.",
        show_default=False,
    ),
]
ConstantOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--constant",
        metavar="NAME=JSON|FILE.npy",
        help="An input of a model that is known: a number, a list, or a file. Repeatable.",
        show_default=False,
    ),
]


Int32Option: TypeAlias = Annotated[
    bool, typer.Option("--int32", help="Compute int64 of a model in int32, inputs and outputs too: all values must fit.")
]


class Precision(StrEnum):
    """The types in which f64 may be computed."""

    F32 = "f32"


PrecisionOption: TypeAlias = Annotated[
    Precision | None, typer.Option("--precision", help="Compute f64 of a StableHLO program in float32.", show_default=False)
]

SignatureOption: TypeAlias = Annotated[
    str | None,
    typer.Option("--signature", metavar="NAME", help="The signature of a TFLite model, by default the first one.", show_default=False),
]


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """The options for a model; see `webnn.onnx.load`, `webnn.stablehlo.load` and `webnn.tflite.load`. It can be written as JSON.

    Attributes:
        shapes: The shapes of inputs by their names.
        constants: Numbers, lists, or the paths of .npy files, by the names of inputs.
        precision: ``"f32"``: f64 of a StableHLO program is computed in float32.
    """

    shapes: dict[str, list[int]] = field(default_factory=dict)
    dims: dict[str, int | str] = field(default_factory=dict)
    constants: dict[str, Any] = field(default_factory=dict)
    int32: bool = False
    precision: Literal["f32"] | None = None
    signature: str | None = None

    @classmethod
    def parse(
        cls,
        path: Path,
        shapes: Sequence[str] | None,
        dims: Sequence[str] | None,
        constants: Sequence[str] | None,
        int32: bool,
        precision: Precision | None,
        *others: Path,
        signature: str | None = None,
        naming: bool = False,
    ) -> ModelOptions:
        """Parse the options of a command for a file, or for one of several. ``naming`` lets dimensions keep names.

        Raises `typer.Exit` if one is not valid, or no file is a model that has it; the message is printed.
        """
        for given, names, fits, what in (
            (dims, "--dim", _has_names, "an ONNX model, a PyTorch program or a graph (.webnn, .webnn.json)"),
            (precision, "--precision", _is_stablehlo, f"a StableHLO program ({', '.join(_STABLEHLO)})"),
            (signature, "--signature", _is_tflite, "a TFLite model"),
            (
                shapes or constants or int32,
                "--shape, --constant and --int32",
                is_model,
                "an ONNX model, a PyTorch program, a StableHLO program or a TFLite model",
            ),
        ):
            if given and not any(map(fits, (path, *others))):
                raise failure(f"{names} can only be given for {what}, got {' and '.join(map(str, (path, *others)))}", _WRONG)
        sizes = _split("--dim", dims, "NAME=SIZE or NAME=NAME" if naming else "NAME=SIZE", _parse_dim)
        named = next((f"{name}={size}" for name, size in sizes.items() if isinstance(size, str)), None)
        if named is not None and not naming:
            raise failure(f"--dim must be NAME=SIZE, got {named!r}: dimensions keep names in webnn convert alone", _WRONG)
        return cls(
            _split("--shape", shapes, "NAME=1,3,224,224", _parse_shape),
            sizes,
            _split("--constant", constants, "NAME=JSON or NAME=FILE.npy", _parse_constant),
            int32,
            None if precision is None else "f32",
            signature,
        )

    def share(self, paths: Sequence[Path]) -> list[ModelOptions]:
        """Return the options for each of several files: those that it can have, and names that it has or no file has."""
        known = [_names(path) for path in paths]
        everything = None if None in known else frozenset[str]().union(*filter(None, known))

        def keep(path: Path, own: frozenset[str] | None, fits: Callable[[Path], bool], given: dict[str, _T]) -> dict[str, _T]:
            # A name that no file has is left in, so that it is refused.
            return {
                name: value
                for name, value in given.items()
                if fits(path) and (own is None or name in own or (everything is not None and name not in everything))
            }

        return [
            ModelOptions(
                keep(path, own, is_model, self.shapes),
                keep(path, own, _has_names, self.dims),
                keep(path, own, is_model, self.constants),
                self.int32 and is_model(path),
                self.precision if _is_stablehlo(path) else None,
                self.signature if _is_tflite(path) else None,
            )
            for path, own in zip(paths, known, strict=True)
        ]

    def load(self, path: Path) -> Imported:
        """Import a model.

        Raises:
            ValueError: The model, or the file of a constant, is not valid.
            OSError: A file cannot be read.
            RefusedModelError: The model cannot be imported.
        """
        # Imported lazily, because they load onnx, and start a process.
        from webnn import onnx, stablehlo, tflite  # noqa: PLC0415
        from webnn.importing.driver import finish_import  # noqa: PLC0415

        if _is_tflite(path):
            return tflite.load(path, signature=self.signature, shapes=self.shapes, constants=self.arrays(), int32=self.int32)
        if _is_stablehlo(path):
            return stablehlo.load(path, shapes=self.shapes, constants=self.arrays(), precision=self.precision, int32=self.int32)
        model, settings = self.read(path, weights=True)
        return finish_import(*onnx.survey(model, settings), model.file, None, int32=self.int32)

    def load_saved(self, path: Path) -> webnn.GraphDescription:
        """Load a graph, and give its dimensions with names their sizes.

        Raises:
            ValueError: The file is not valid, or the graph has other names.
            OSError: A file cannot be read.
            WebNNTypeError: The draft refuses a shape that follows.
        """
        description = webnn.load(path)
        if not self.dims:
            return description
        # Imported lazily, because few graphs have names.
        from webnn.validation.drafts import find_revision  # noqa: PLC0415
        from webnn.validation.named_descriptor import GIVE_SIZES  # noqa: PLC0415

        give_sizes = find_revision(description.draft, imports=False).extension(GIVE_SIZES)
        if give_sizes is None:
            raise ValueError(f"the graph has no dimensions with names, so that there must be no sizes of them, got {sorted(self.dims)}")
        sizes = {name: size for name, size in self.dims.items() if isinstance(size, int)}
        if len(sizes) < len(self.dims):
            raise ValueError(f"--dim must give numbers for a graph, which has names already, got {self.dims}")
        sized: webnn.GraphDescription = give_sizes(description, sizes)
        return sized

    def read(self, path: Path, *, weights: bool) -> tuple[Model, Settings]:
        """Return a model, or that of a PyTorch program, and what the user says about it, for `webnn.onnx.survey`.

        Raises:
            ValueError: The model, or the file of a constant, is not valid.
            ImportError: PyTorch is not installed.
            OSError: A file cannot be read.
            RefusedModelError: PyTorch cannot export the program.
        """
        from webnn.onnx.model import Settings  # noqa: PLC0415 (as above)

        return _read(path), Settings(shapes=self.shapes, dims=self.dims, constants=self.arrays(), weights=weights)

    def survey_other(self, path: Path) -> tuple[webnn.GraphDescription | None, Report]:
        """Import a model that is not ONNX; see `webnn.stablehlo.survey` and `webnn.tflite.survey`.

        Raises:
            ValueError: The model, or the file of a constant, is not valid.
            ImportError: The package that reads the format is not installed.
            OSError: A file cannot be read.
        """
        if _is_tflite(path):
            from webnn.tflite import survey as survey_tflite  # noqa: PLC0415 (as above)
            from webnn.tflite.importer import Settings as TFLiteSettings  # noqa: PLC0415 (as above)
            from webnn.tflite.model import read as read_tflite  # noqa: PLC0415 (as above)

            settings = TFLiteSettings(shapes=self.shapes, constants=self.arrays(), signature=self.signature)
            return survey_tflite(read_tflite(path), settings)
        from webnn.hlo import read  # noqa: PLC0415 (it starts a process)
        from webnn.stablehlo import Settings, survey  # noqa: PLC0415

        return survey(read(path, shapes=self.shapes), Settings(constants=self.arrays(), precision=self.precision))

    def arrays(self) -> dict[str, Any]:
        """Return the constants as arrays. Raises `ValueError` if a file is not valid, and `OSError` if a file cannot be read."""
        import numpy as np  # noqa: PLC0415 (as above)

        from webnn.builder.npy import map_array  # noqa: PLC0415

        return {name: map_array(Path(value)) if isinstance(value, str) else np.asarray(value) for name, value in self.constants.items()}


def is_model(path: Path) -> bool:
    """Tell whether a file is a model that is imported, by its name."""
    return path.name.lower().endswith(MODELS)


def is_onnx(path: Path) -> bool:
    """Tell whether a file is imported as an ONNX model, by its name."""
    return path.name.lower().endswith((_ONNX, _TORCH))


def is_torch(path: Path) -> bool:
    """Tell whether a file is a PyTorch program, by its name."""
    return path.name.lower().endswith(_TORCH)


@functools.lru_cache(maxsize=2)
def read_program(path: Path) -> Program:
    """Read a PyTorch program, once in each process: see `webnn.torch.read_program`."""
    from webnn import torch  # noqa: PLC0415 (as above)

    return torch.read_program(path)


def _read(path: Path) -> Model:
    from webnn.onnx.model import read  # noqa: PLC0415 (as above)

    return read_program(path).model if is_torch(path) else read(path)


def boolean_inputs(path: Path) -> frozenset[str]:
    """Return the inputs of an ONNX or TFLite model or a PyTorch program that are bool, which uint8 carries; none for other files.

    Raises the errors of `ModelOptions.read`.
    """
    if _is_tflite(path):
        return frozenset([name for name, type in _tflite_inputs(path) if type == "BOOL"])
    if not is_onnx(path):
        return frozenset()
    from webnn.onnx.model import boolean_names  # noqa: PLC0415 (as above)

    return boolean_names(_read(path).proto.graph)


def _tflite_inputs(path: Path) -> list[tuple[str, str]]:
    """Return the names of the inputs of a TFLite model, in all of its signatures, and their types."""
    from webnn.tflite.model import read  # noqa: PLC0415 (as above)

    model = read(path)
    return [item for each in model.signatures or [model.find(None)] for item in model.input_types(each)]


def _names(path: Path) -> frozenset[str] | None:
    """Return the names of the inputs and of the dimensions of a model or a graph; ``None`` if they are not known."""
    try:
        if is_onnx(path):
            inputs = _read(path).proto.graph.input
            dims = [dim.dim_param for each in inputs for dim in each.type.tensor_type.shape.dim]
            return frozenset([*(each.name for each in inputs), *filter(None, dims)])
        if _is_tflite(path):
            return frozenset([name for name, _ in _tflite_inputs(path)])
        if _has_names(path):
            sizes: list[object] = [size for each in webnn.load(path).inputs.values() for size in each.dimensions]
            return frozenset([size for size in sizes if isinstance(size, str)])
    except (ImportError, OSError, ValueError, webnn.NotSupportedError):
        # The error is reported when the file is loaded.
        return None
    return None if is_model(path) else frozenset()


def _has_names(path: Path) -> bool:
    return is_onnx(path) or path.name.lower().endswith(GRAPHS)


def _is_stablehlo(path: Path) -> bool:
    return path.name.lower().endswith(_STABLEHLO)


def _is_tflite(path: Path) -> bool:
    return path.name.lower().endswith(_TFLITE)


def read_graph(path: Path, options: ModelOptions) -> webnn.GraphDescription:
    """Return the graph of a file. Raises `typer.Exit` if the file is wrong; the message is printed."""
    try:
        with show_progress(f"reading {clip(path.name, 30)}"):
            return options.load(path).description if is_model(path) else options.load_saved(path)
    except (ImportError, OSError, ValueError, webnn.NotSupportedError, webnn.OperationError, webnn.WebNNTypeError) as error:
        raise failure(name_options(str(error)), _WRONG) from None


#: How messages of `webnn.onnx.load` name its arguments: ``dims={'batch': ..., 'length': ...}``.
_ARGUMENT = re.compile(r"\b(shape|dim|constant)s=\{(.*?)\}")
_PRECISION = re.compile(r'\bprecision="(\w+)"')
#: Text without characters that are special in a shell.
_PLAIN = re.compile(r"[\w.,:/@%+=-]+")
_ENTRY = re.compile(r"'((?:[^'\\]|\\.)*)': (\[[^\]]*\]|\.\.\.)(?:, )?")


def name_options(text: str) -> str:
    """Name the options of the command in the place of arguments: ``--dim batch=... --dim length=...``."""

    def replace(argument: re.Match[str]) -> str:
        entries = _ENTRY.findall(argument[2])
        pairs = [f"{name}={value.strip('[]').replace(', ', ',')}" for name, value in entries]
        # Quotes that all shells take.
        return " ".join([f"--{argument[1]} " + (pair if _PLAIN.fullmatch(pair) else f'"{pair}"') for pair in pairs])

    return _PRECISION.sub(r"--precision \1", _ARGUMENT.sub(replace, text))


def _split(option: str, pairs: Sequence[str] | None, wanted: str, parse: Callable[[str], _T]) -> dict[str, _T]:
    found: dict[str, _T] = {}
    for pair in pairs or ():
        name, equals, text = pair.partition("=")
        try:
            if not name or not equals:
                raise ValueError
            value = parse(text)
        except ValueError:
            raise failure(f"{option} must be {wanted}, got {pair!r}", _WRONG) from None
        if name in found:
            raise failure(f"{option}: {name!r} must be given once", _WRONG)
        found[name] = value
    return found


def _parse_size(text: str) -> int:
    size = int(text)
    if size < 1:
        raise ValueError
    return size


def _parse_dim(text: str) -> int | str:
    """Parse a size, or a name that the dimension keeps."""
    # Imported lazily, because few dimensions keep names.
    from webnn.importing.named import find_names  # noqa: PLC0415

    return text if find_names(text) else _parse_size(text)


def _parse_shape(text: str) -> list[int]:
    return [_parse_size(each) for each in text.strip("[]").split(",") if each.strip()]


def _parse_constant(text: str) -> Any:
    """Parse a number or nested lists of numbers, or take a path of a file."""
    if text.lower().endswith(".npy"):
        return text
    value = json.loads(text)
    if isinstance(value, str | dict) or value is None:
        raise ValueError
    return value
