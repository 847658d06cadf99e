"""``webnn batch``: a data set through a graph, into a folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

import webnn
from webnn.commands.choices import Device, ExecutorOption, IsolateOption, PluginOption, SimulatorsOption, set_devices
from webnn.commands.failure import failure
from webnn.commands.feeds import split_pairs
from webnn.commands.models import ConstantOption, DimOption, Int32Option, ModelOptions, PrecisionOption, ShapeOption, read_graph
from webnn.commands.text import show_controls

__all__ = ["command"]

_FAILED, _WRONG, _INTERRUPTED = 1, 2, 130


def command(
    model: Annotated[Path, typer.Argument(help="A graph .webnn or .webnn.json, or a model .onnx or .mlir.", show_default=False)],
    data: Annotated[
        list[str],
        typer.Argument(metavar="DATA", help="A file .npy, .npz or .parquet; or NAME=FILE.npy for each input.", show_default=False),
    ],
    *,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="The folder of the results.", show_default=False)],
    batch_size: Annotated[int | None, typer.Option(min=1, help="How many samples a part has.", show_default="16 MiB of them")] = None,
    device: Annotated[Device | None, typer.Option(help="The deviceType.", show_default="that of the draft")] = None,
    threads: Annotated[
        int | None, typer.Option(min=1, help="How many threads a part may use.", show_default="a share of the cores")
    ] = None,
    simulators: SimulatorsOption = None,
    isolate: IsolateOption = None,
    plugins: PluginOption = None,
    executor: ExecutorOption = None,
    shapes: ShapeOption = None,
    dims: DimOption = None,
    constants: ConstantOption = None,
    int32: Int32Option = False,
    precision: PrecisionOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was computed as JSON.")] = False,
) -> None:
    """Compute a graph for every sample of a data set.

    A second call with the same arguments does not compute the parts again that are there.

    The exit status is 1 if a part cannot be computed, and 2 if the call is wrong.
    """
    set_devices(simulators, plugins, isolate)
    description = read_graph(model, ModelOptions.parse(model, shapes, dims, constants, int32, precision))
    try:
        one_file = len(data) == 1 and "=" not in data[0]
        given = data[0] if one_file else split_pairs(data, list(description.inputs), "DATA")
        made = webnn.batch(
            description,
            given,
            batchSize=batch_size,
            device=None if device is None else device.value,
            threads=threads,
            executor=executor,
            output=output,
        )
        computed = made.finish()
    except webnn.BatchError as error:
        raise failure(str(error), _FAILED) from None
    except (ImportError, OSError, TypeError, ValueError, webnn.DOMException) as error:
        raise failure(str(error), _WRONG) from None
    except KeyboardInterrupt:
        raise failure("interrupted; the same call goes on where it was", _INTERRUPTED) from None
    if as_json:
        typer.echo(json.dumps({"output": str(output), "rows": made.rows, "parts": len(made), "computed": computed}, indent=1))
        return
    parts = "1 part" if len(made) == 1 else f"{len(made):,} parts"
    typer.echo(f"{made.rows:,} rows in {parts}, {computed:,} computed now: {show_controls(str(output))}")
