"""The benchmarks: what each one runs on its two sides, and its bar."""

from __future__ import annotations

import statistics
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from time import process_time
from types import MappingProxyType
from typing import Any

import numpy as np

from benchmarks import (
    attention,
    devices,
    first_build,
    formats,
    inside,
    javascript,
    litert,
    memory,
    mobilenet,
    onnx_files,
    pages,
    quantized,
    recurrent,
    siege,
    small,
    squeezenet,
    startup,
    transformer,
)
from benchmarks.measure import UNITS, Array, Effort, Result, SkippedError, Unit, check_same, compete, interleave, processor_time, summarize
from benchmarks.numerics import NUMERICS_CASES
from benchmarks.sides import CPU, CURRENT, DeviceType, Providers
from webnn import ML, MLGraph
from webnn.javascript.node import NodeMissingError, find_node
from webnn.validation.revision import RevisionName

__all__ = ["CASES", "MODELS", "SkippedError"]

#: Where the real models are.
MODELS = Path(__file__).parents[2] / "shared" / "models"

#: The chain's number of additions.
CHAIN = 1000
#: The largest graph whose growth is measured.
GROWTH = 50_000
#: The number of operators of the graph that is saved and loaded.
OPERATORS = 4000
#: By how many steps the integers of four quantized layers may differ: a difference of one step goes through three layers.
QUANTIZED_STEPS = 3
#: The weights of the memory benchmarks: 25 of 4 MiB, and 16 of 64 MiB to which nobody can write.
WEIGHTS, WEIGHT_SIZE = 25, 1024
LARGE_WEIGHTS, LARGE_SIZE = 16, 4096


#: The other side of graphs over tensors.
_BOUND = "onnxruntime, bound values"


def _squeezenet(effort: Effort, revision: RevisionName = "2024-06", deviceType: DeviceType = "cpu") -> Result:
    providers = _providers(deviceType)
    directory = MODELS / "squeezenet1.0_nhwc"
    if not directory.exists():
        raise SkippedError("the real weights are not there (../shared/models/squeezenet1.0_nhwc beside the checkout)")
    weights, image = squeezenet.load_weights(directory), squeezenet.load_input(directory)
    ours = squeezenet.webnn_side(weights, image, revision, deviceType)
    theirs = squeezenet.onnx_side(weights, image, providers)
    times = compete(ours, theirs, effort, 12)
    name, title = _named(revision, deviceType, "squeezenet", "SqueezeNet 1.0, real weights: one inference")
    return summarize(name, title, times, unit="ms", bar=1.05)


def _named(revision: RevisionName, deviceType: DeviceType, name: str, title: str) -> tuple[str, str]:
    """Name a benchmark that exists for both drafts and for several devices."""
    if revision == CURRENT:
        name, title = f"{name}-dispatch", f"{title}, dispatched over tensors"
    return (name, title) if deviceType == "cpu" else (f"{name}-{deviceType}", f"{title}, on the {deviceType}")


def _providers(deviceType: DeviceType) -> Providers:
    try:
        return CPU if deviceType == "cpu" else devices.find_providers(deviceType)
    except devices.NoDeviceError as error:
        raise SkippedError(str(error)) from None


def _mobilenet(effort: Effort) -> Result:
    network = mobilenet.make_network()
    planes = np.ascontiguousarray(network.image.transpose(0, 3, 1, 2))
    ours, theirs = mobilenet.webnn_side(ML(revision="2024-06").createContextSync(), network), mobilenet.onnx_side(network, planes)
    times = compete(ours, theirs, effort, 20)
    return summarize("mobilenet", "MobileNetV2 shapes: one inference", times, unit="ms", bar=1.05)


def _transformer(effort: Effort, revision: RevisionName = "2024-06", deviceType: DeviceType = "cpu") -> Result:
    providers = _providers(deviceType)
    block = transformer.make_block()
    ours, theirs = transformer.webnn_side(block, revision, deviceType), transformer.onnx_side(block, providers)
    times = compete(ours, theirs, effort, 25)
    name, title = _named(revision, deviceType, "transformer", "Transformer encoder block: one inference")
    return summarize(name, title, times, unit="ms", bar=1.05)


def _transformer_of(effort: Effort, sequence: int) -> Result:
    block = transformer.make_block(sequence)
    ours, theirs = transformer.webnn_side(block), transformer.onnx_side(block)
    times = compete(ours, theirs, effort, 3200 // sequence)
    title = f"Transformer encoder block, {sequence} tokens: one inference"
    return summarize(f"transformer-{sequence}", title, times, unit="ms", bar=0.95)


def _attention(effort: Effort, sequence: int) -> Result:
    heads = attention.Heads(sequence=sequence)
    ours, theirs = attention.webnn_side(heads), attention.onnx_side(heads)
    times = compete(ours, theirs, effort, 6400 // sequence)
    title = f"Attention, 12 heads of 64, {sequence} tokens: one computation"
    return summarize(f"attention-{sequence}", title, times, unit="ms", bar=1, against="onnxruntime, MultiHeadAttention")


def _decoder(effort: Effort, *, columns: bool) -> Result:
    heads = attention.Heads(sequence=1024, columns=columns)
    ours, theirs = attention.TensorSteps(heads), attention.BoundSteps(heads)
    times = compete(ours, theirs, effort, 20)
    title = (
        f"Attention of a decoder, 12 heads of 64, 1,024 keys and values in tensors, keys as {'columns' if columns else 'rows'}: one token"
    )
    # No bar for rows: the engine's default does not transpose them, but adds up in another order (docs/benchmarks.md).
    name, bar = ("decoder", 1.0) if columns else ("decoder-rows", None)
    return summarize(name, title, times, unit="ms", bar=bar, against="onnxruntime, bound values")


def _lstm(effort: Effort) -> Result:
    network = recurrent.make_memory()
    ours, theirs = recurrent.webnn_side(network), recurrent.onnx_side(network)
    times = compete(ours, theirs, effort, 50)
    # No bar: the engine's operator is faster because its gates are inexact (docs/numerics.md).
    return summarize("lstm", "lstm, 100 steps, hidden size 64: one inference, with exact gates", times, unit="ms", bar=None)


def _tiny(effort: Effort) -> Result:
    ours, theirs = small.webnn_tiny(), small.onnx_tiny()
    times = compete(ours, theirs, effort, 5000)
    return summarize("tiny", "relu(x + y), float32 [2, 3]: one call", times, unit="µs", bar=0.95)


def _tiny_await(effort: Effort) -> Result:
    ours, theirs = small.webnn_tiny(), small.onnx_tiny()
    check_same(ours(), theirs())
    times = interleave(ours.awaited, theirs, rounds=effort.rounds, repeats=effort.repeats(3000))
    return _alone("tiny-await", "relu(x + y), float32 [2, 3]: one awaited call", times, bar=10, against="onnxruntime")


def _tiny_threads(effort: Effort) -> Result:
    ours, theirs = small.webnn_tiny(), small.webnn_tiny()
    times = interleave(ours.threaded, theirs, rounds=effort.rounds, repeats=effort.repeats(20000))
    title = "relu(x + y), float32 [2, 3]: one call of four threads that share a graph"
    return summarize("tiny-threads", title, times, unit="µs", bar=1.0, against="one thread")


def _tiny_dispatch(effort: Effort) -> Result:
    ours, theirs = small.webnn_tiny_tensors(), small.onnx_tiny_bound()
    times = compete(ours, theirs, effort, 3000)
    title = "relu(x + y), float32 [2, 3]: write two tensors, dispatch, read"
    return summarize("tiny-dispatch", title, times, unit="µs", bar=1.15, against=_BOUND)


def _queued_dispatch(effort: Effort) -> Result:
    ours, theirs = small.webnn_tiny_tensors(), small.onnx_tiny_bound()
    check_same(ours(), theirs())
    times = interleave(ours.queue, theirs.queue, rounds=effort.rounds, repeats=effort.repeats(3000))
    title = "relu(x + y), float32 [2, 3]: one of many dispatches before one read"
    return summarize("queued-dispatch", title, times, unit="µs", bar=0.95, against=_BOUND)


def _context(effort: Effort) -> Result:
    # The first request looks for plug-ins and tries devices.
    devices.webnn_contexts(1)
    times = interleave(devices.webnn_contexts, devices.onnx_options, rounds=effort.rounds, repeats=effort.repeats(500))
    title = "A context by createContext(), with the choice of its device, after the first one"
    return _alone("context", title, times, bar=1000, against="onnxruntime.SessionOptions")


def _alone(name: str, title: str, times: tuple[list[float], list[float]], bar: float, against: str = _BOUND, unit: Unit = "µs") -> Result:
    """Make the result of a benchmark whose bar is a time. The fastest round counts, because a busy machine only adds time."""
    mine, other = ([seconds * UNITS[unit] for seconds in side] for side in times)
    return Result(
        name=name,
        title=title,
        unit=unit,
        webnn=statistics.median(mine),
        other=statistics.median(other),
        against=against,
        metric="time",
        value=min(mine),
        low=min(mine),
        high=max(mine),
        bar=bar,
    )


def _build(effort: Effort, kind: memory.Kind = "array") -> Result:
    name, where = ("build", "") if kind == "array" else ("build-in-place", ", weights in objects of bytes")
    title = f"MobileNetV2 shapes{where}: from the builder to the first result, first build of the process, processor time"
    return _first_build(effort, name, title, 1.05, kind, None)


def _build_cached(effort: Effort) -> Result:
    title = "The same with a cache of optimized models that an earlier process has filled, processor time"
    with tempfile.TemporaryDirectory() as folder:
        first_build.run_child("webnn", kind="bytes", cache=Path(folder))
        return _first_build(effort, "build-cached", title, 0.7, "bytes", Path(folder))


def _first_build(effort: Effort, name: str, title: str, bar: float, kind: memory.Kind, cache: Path | None) -> Result:
    mine, other = [], []
    for index in range(effort.rounds):
        sides = ("webnn", "onnxruntime") if index % 2 == 0 else ("onnxruntime", "webnn")
        reports = {side: first_build.run_child(side, kind=kind, cache=cache) for side in sides}
        check_same(*(np.array(report["output"]) for report in reports.values()))
        mine.append(reports["webnn"])
        other.append(reports["onnxruntime"])
    wall = [statistics.median(report["seconds"] for report in side) * 1e3 for side in (mine, other)]
    times = [report["work"] for report in mine], [report["work"] for report in other]
    notes = f"on the clock: {wall[0]:.1f} and {wall[1]:.1f} ms"
    return summarize(name, title, times, unit="ms", bar=bar, against="onnxruntime, weights in place", notes=notes)


def _rebuild(effort: Effort) -> Result:
    network = mobilenet.make_network()
    planes = np.ascontiguousarray(network.image.transpose(0, 3, 1, 2))
    context = ML(revision="2024-06").createContextSync()

    def ours(_: int) -> object:
        program = mobilenet.webnn_side(context, network)
        return program, program()

    def theirs(_: int) -> object:
        session = mobilenet.onnx_side(network, planes, external=True)
        return session, session()

    check_same(mobilenet.webnn_side(context, network)(), mobilenet.onnx_side(network, planes, external=True)())
    times = interleave(ours, theirs, rounds=effort.rounds, repeats=1)
    return summarize(
        "rebuild",
        "MobileNetV2 shapes: the same again and again in one process",
        times,
        unit="ms",
        bar=None,
        against="onnxruntime, weights in place",
    )


def _chain(effort: Effort) -> Result:
    context = ML(revision="2024-06").createContextSync()

    def ours(_: int) -> object:
        program = small.webnn_chain(context, CHAIN)
        return program, program()

    def theirs(_: int) -> object:
        session = small.onnx_chain(CHAIN)
        return session, session()

    check_same(small.webnn_chain(context, CHAIN)(), small.onnx_chain(CHAIN)())
    times = interleave(ours, theirs, rounds=effort.rounds, repeats=1)
    return summarize("chain", f"Chain of {CHAIN:,} additions: from the builder to the first result", times, unit="ms", bar=1.2)


def _builder(effort: Effort) -> Result:
    context = ML(revision="2024-06").createContextSync()

    def ours(repeats: int) -> object:
        return [small.webnn_operators(context, CHAIN) for _ in range(repeats)]

    def theirs(repeats: int) -> object:
        return [small.onnx_nodes(CHAIN) for _ in range(repeats)]

    mine, other = interleave(ours, theirs, rounds=effort.rounds, repeats=effort.repeats(5))
    rates = [CHAIN / seconds for seconds in mine]
    return Result(
        name="builder",
        title="The builder alone, with full validation, on that chain",
        unit="ops/s",
        webnn=statistics.median(rates),
        other=statistics.median(CHAIN / seconds for seconds in other),
        against="onnx.helper.make_node",
        metric="rate",
        value=statistics.median(rates),
        low=min(rates),
        high=max(rates),
        bar=150_000,
    )


def _growth(effort: Effort) -> Result:
    context = ML(revision="2024-06").createContextSync()
    mine, other = [], []
    for _ in range(max(1, effort.rounds // 3)):
        mine.append(processor_time(lambda: small.webnn_translation(context, GROWTH)) / GROWTH)
        other.append(processor_time(lambda: small.onnx_nodes(GROWTH).model().SerializeToString()) / GROWTH)
    title = f"Chain of {GROWTH:,} additions, from the builder to the ONNX model: one operator, processor time"
    return _alone("growth", title, (mine, other), bar=6, against="onnx.helper")


def _describe(effort: Effort) -> Result:
    outputs = formats.make_outputs(OPERATORS)
    content = formats.describe_side(outputs)
    times = interleave(lambda _: formats.describe_side(outputs), lambda _: content.digest(), rounds=effort.rounds, repeats=1)
    return _per_operator("describe", "Describe a graph", times, "its digest")


def _file(effort: Effort, suffix: str, *, saves: bool) -> Result:
    description = formats.describe_side(formats.make_outputs(OPERATORS))
    with tempfile.TemporaryDirectory() as folder:
        make = formats.save_side if saves else formats.load_side
        ours, theirs = make(description, Path(folder) / f"graph{suffix}")
        times = interleave(lambda _: ours(), lambda _: theirs(), rounds=effort.rounds, repeats=1)
    name = f"{'save' if saves else 'load'}{'' if suffix == '.webnn.json' else '-text'}"
    title = f"{'Save' if saves else 'Load and check'} a graph without weights, {suffix}"
    return _per_operator(name, title, times, f"json.{'dumps' if saves else 'loads'} of the same data")


def _per_operator(name: str, title: str, times: tuple[list[float], list[float]], against: str) -> Result:
    mine, other = ([seconds / OPERATORS for seconds in side] for side in times)
    return _alone(name, f"{title}: one of {OPERATORS:,} operators", (mine, other), bar=10, against=against)


def _import_onnx(effort: Effort, *, builds: bool) -> Result:
    # A file of 5 MB: with larger weights, the reading of the file hides the cost of the nodes.
    network = mobilenet.make_network(divisor=2)
    with tempfile.TemporaryDirectory() as folder:
        path = onnx_files.write_file(network, Path(folder))
        check_same(onnx_files.run_import(path, network), onnx_files.run_session(path, network))

        context = ML(revision=CURRENT).createContextSync(powerPreference="low-power")

        def ours(repeats: int) -> object:
            return [onnx_files.build_file(path, context) if builds else onnx_files.import_file(path) for _ in range(repeats)]

        def theirs(repeats: int) -> object:
            return [onnx_files.make_session(path) for _ in range(repeats)]

        # The threads of a session would hide some of its work on the clock.
        times = interleave(ours, theirs, rounds=effort.rounds, repeats=effort.repeats(5), clock=process_time)
    name, what = ("import-build-onnx", "import and build") if builds else ("import-onnx", "import")
    title = f"MobileNetV2 shapes, half of the channels: {what} of the ONNX file, processor time"
    return summarize(name, title, times, unit="ms", bar=1.5, against="a session of the file")


def _javascript(effort: Effort, name: str, bar: float, unit: Unit = "µs") -> Result:
    try:
        node = find_node()
    except NodeMissingError as error:
        raise SkippedError(str(error)) from None
    part = javascript.PARTS[name]
    rounds, mine, other = 3, [], []
    with javascript.echo(node) as echo:
        # A process needs a while until its code is fast: it measures several rounds.
        for _ in range(max(1, effort.rounds // rounds)):
            report = javascript.run_page(node, name, rounds=rounds, repeats=effort.repeats(part.repeats))
            check_same(np.array(report["result"]), np.array(part.expected))
            mine += report["seconds"]
            other += [echo.exchange(effort.repeats(1000)) for _ in range(rounds)]
    title = f"A JavaScript program in Node: {part.title}"
    return _alone(f"javascript-{name}", title, (mine, other), bar, "100 bytes to Node and back over pipes", unit)


def _profile(effort: Effort) -> Result:
    times = inside.profile_times(*inside.transformer_graph(transformer.make_block()), effort.rounds)
    # No bar: the overhead is that of the engine.
    title = "Transformer encoder block: one inference with MLGraph.profile"
    return summarize("profile", title, times, unit="ms", bar=None, against="a plain run")


def _trace(effort: Effort) -> Result:
    times = inside.trace_times(*inside.transformer_graph(transformer.make_block()), effort.rounds)
    title = "Transformer encoder block: MLGraph.trace, building included"
    return summarize("trace", title, times, unit="ms", bar=None, against="a plain run")


def _accuracy(effort: Effort, name: str, title: str, graph: MLGraph, inputs: dict[str, Array]) -> Result:
    ours, theirs = inside.accuracy_sides(graph, inputs)
    for side in (ours, theirs):
        # The first call loads packages.
        side(1)
    times = interleave(ours, theirs, rounds=effort.rounds, repeats=1)
    return summarize(name, f"{title}: MLGraph.accuracy", times, unit="ms", bar=2, against="one computation by the reference")


def _accuracy_squeezenet(effort: Effort) -> Result:
    return _accuracy(effort, "accuracy-squeezenet", "SqueezeNet 1.0, random weights", *inside.squeezenet_graph())


def _accuracy_transformer(effort: Effort) -> Result:
    return _accuracy(effort, "accuracy-transformer", "Transformer encoder block", *inside.transformer_graph(transformer.make_block()))


def _layers(effort: Effort, name: str, title: str, layers: quantized.Layers, bar: float) -> Result:
    ours, theirs = quantized.webnn_layers(layers), quantized.onnx_layers(layers)
    times = compete(ours, theirs, effort, 40, steps=QUANTIZED_STEPS)
    return summarize(name, f"{title}, four layers: one inference", times, unit="ms", bar=bar)


def _blocks(effort: Effort) -> Result:
    blocks = quantized.Blocks()
    ours, theirs = quantized.webnn_blocks(blocks), quantized.onnx_blocks(blocks)
    times = compete(ours, theirs, effort, 20)
    title = f"{blocks.count} products of a row with uint4 [{blocks.size}, {blocks.size}] in blocks"
    return summarize("uint4-matmul", title, times, unit="ms", bar=1.2, against="onnxruntime, MatMulNBits")


def _memory(effort: Effort, kind: memory.Kind = "array") -> Result:
    count, size = (WEIGHTS, WEIGHT_SIZE) if kind == "array" else (LARGE_WEIGHTS, LARGE_SIZE)
    name, where, bar = ("memory", "", 1.1) if kind == "array" else ("memory-in-place", " in objects of bytes", 1.05)
    title = f"Peak memory of {count * size * size * 4 >> 20:,} MiB of weights{where}, built and computed"
    return _peaks(effort, name, title, lambda side: memory.run_child(side, count, size, kind), "onnxruntime, weights in place", bar)


def _memory_blocks(effort: Effort) -> Result:
    title = "Peak memory of these products, built and computed"
    return _peaks(effort, "uint4-memory", title, quantized.run_child, "onnxruntime, MatMulNBits, weights in place", 1.1)


def _peaks(effort: Effort, name: str, title: str, run_child: Callable[[str], dict[str, Any]], against: str, bar: float) -> Result:
    if sys.platform == "win32":
        raise SkippedError("Windows does not tell a process its peak memory in a way that Python reads")
    mine, other = [], []
    for _ in range(max(1, effort.rounds // 5)):
        reports = [run_child(side) for side in ("webnn", "onnxruntime")]
        check_same(*(np.array(report["output"]) for report in reports))
        mine.append(reports[0])
        other.append(reports[1])
    above = [statistics.median(report["peak"] - report["before"] for report in side) / 2**20 for side in (mine, other)]
    ratios = [ours["peak"] / theirs["peak"] for ours, theirs in zip(mine, other, strict=True)]
    return Result(
        name=name,
        title=title,
        unit="MiB",
        webnn=statistics.median(report["peak"] for report in mine) / 2**20,
        other=statistics.median(report["peak"] for report in other) / 2**20,
        against=against,
        metric="ratio",
        value=statistics.median(ratios),
        low=min(ratios),
        high=max(ratios),
        bar=bar,
        notes=f"above the process before the graph: {above[0]:.0f} and {above[1]:.0f} MiB",
    )


#: Every benchmark by its name on the command line.
CASES: Mapping[str, Callable[[Effort], Result]] = MappingProxyType(
    {
        "squeezenet": _squeezenet,
        "mobilenet": _mobilenet,
        "transformer": _transformer,
        "transformer-32": lambda effort: _transformer_of(effort, 32),
        "transformer-512": lambda effort: _transformer_of(effort, 512),
        "attention-128": lambda effort: _attention(effort, 128),
        "attention-512": lambda effort: _attention(effort, 512),
        "decoder": lambda effort: _decoder(effort, columns=True),
        "decoder-rows": lambda effort: _decoder(effort, columns=False),
        "lstm": _lstm,
        **NUMERICS_CASES,
        "uint8-matmul": lambda effort: _layers(effort, "uint8-matmul", "uint8 by int8 [128, 768]", quantized.make_matrices(), 1.1),
        "int8-matmul": lambda effort: _layers(effort, "int8-matmul", "int8 by int8 [128, 768]", quantized.make_matrices("int8"), 1.1),
        "uint8-conv": lambda effort: _layers(effort, "uint8-conv", "conv2d of uint8, 64 channels", quantized.make_convolutions(), 1.1),
        "int8-conv": lambda effort: _layers(effort, "int8-conv", "conv2d of int8, 64 channels", quantized.make_convolutions("int8"), 0.76),
        "uint4-matmul": _blocks,
        "tiny": _tiny,
        "tiny-await": _tiny_await,
        "tiny-threads": _tiny_threads,
        "squeezenet-dispatch": lambda effort: _squeezenet(effort, CURRENT),
        "transformer-dispatch": lambda effort: _transformer(effort, CURRENT),
        "squeezenet-gpu": lambda effort: _squeezenet(effort, deviceType="gpu"),
        "transformer-gpu": lambda effort: _transformer(effort, deviceType="gpu"),
        "tiny-dispatch": _tiny_dispatch,
        "queued-dispatch": _queued_dispatch,
        "context": _context,
        "build": _build,
        "build-in-place": lambda effort: _build(effort, "bytes"),
        "build-cached": _build_cached,
        "rebuild": _rebuild,
        "chain": _chain,
        "builder": _builder,
        "growth": _growth,
        "describe": _describe,
        "save": lambda effort: _file(effort, ".webnn.json", saves=True),
        "load": lambda effort: _file(effort, ".webnn.json", saves=False),
        "save-text": lambda effort: _file(effort, ".webnn", saves=True),
        "load-text": lambda effort: _file(effort, ".webnn", saves=False),
        "import-onnx": lambda effort: _import_onnx(effort, builds=False),
        "import-build-onnx": lambda effort: _import_onnx(effort, builds=True),
        "profile": _profile,
        "trace": _trace,
        "accuracy-squeezenet": _accuracy_squeezenet,
        "accuracy-transformer": _accuracy_transformer,
        "memory": _memory,
        "uint4-memory": _memory_blocks,
        "memory-in-place": lambda effort: _memory(effort, "bytes"),
        "javascript-compute": lambda effort: _javascript(effort, "compute", bar=90),
        "javascript-cycle": lambda effort: _javascript(effort, "cycle", bar=150),
        "javascript-builder": lambda effort: _javascript(effort, "builder", bar=20),
        "javascript-transfer": lambda effort: _javascript(effort, "transfer", bar=1700, unit="ms"),
        **devices.CASES,
        **litert.CASES,
        **pages.CASES,
        **siege.CASES,
        **startup.CASES,
    }
)
