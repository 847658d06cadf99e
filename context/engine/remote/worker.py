"""The process of a context: it has the engine and the drivers, and does what the program asks for.

It trusts the program that started it. It ends when its connection ends, and with the program.
"""

from __future__ import annotations

import itertools
import json
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from webnn.context.devices.selection import Device
from webnn.context.engine import discovery, plugins, runtime
from webnn.context.engine.remote.channel import (
    PLACE,
    REQUEST,
    SIZE,
    Answer,
    Channel,
    Operation,
    align,
    pack_answer,
    pack_devices,
    read_device,
    unpack_selection,
)
from webnn.context.engine.remote.memory import Segment
from webnn.context.engine.remote.residence import Make, Residence, Run
from webnn.context.engine.session import CompiledGraph
from webnn.context.engine.sized import SizedGraph
from webnn.validation.descriptor import DataType, OperandDescriptor
from webnn.validation.errors import OperationError
from webnn.validation.named_descriptor import NamedDescriptor, has_names

if TYPE_CHECKING:
    from webnn.builder.numerics import Numerics
    from webnn.context.buffers import BufferSlot
    from webnn.context.devices.selection import Selection
    from webnn.context.engine.cache.models import ModelCache
    from webnn.context.engines import Session

__all__ = ["main"]

_LONGEST_TEXT = 1 << 16
#: How long the process waits for the next context, in seconds.
_REST = 10.0


@dataclass(frozen=True, slots=True)
class _Weight:
    """A large constant, in the memory of the program."""

    location: str
    data: np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Model:
    """A translated graph that the program sent: `webnn.context.engine.session.Model`."""

    content: bytes
    weights: Sequence[Any]
    inputs: Mapping[str, tuple[str, OperandDescriptor]]
    outputs: Mapping[str, tuple[str, OperandDescriptor]]
    largest: int
    numerics: Numerics
    nodes: list[tuple[str, str]]

    def serialize(self) -> bytes:
        """Return the model without the large constants."""
        return self.content

    def node_types(self) -> list[tuple[str, str]]:
        """Return the domain and the ONNX operator of each node."""
        return self.nodes

    def op_types(self) -> Mapping[str, str]:
        """Return nothing: the program knows them."""
        return {}

    def find_operator(self, message: str) -> tuple[str, str]:
        """Find nothing: the program does."""
        del message
        return "", ""


class _Worker:
    """The state of the process."""

    def __init__(self, channel: Channel, missing: Mapping[str, str]) -> None:
        self._channel = channel
        self._missing = missing
        #: Came with the request.
        self._descriptor = -1
        self._segments: dict[int, np.ndarray[Any, np.dtype[Any]]] = {}
        self._addresses: dict[int, int] = {0: 0}
        self._graphs: dict[int, CompiledGraph | Session] = {}
        #: The makers of memory of a device, by graph.
        self._makers: dict[int, Make | None] = {}
        #: The last dispatch of a graph, to be repeated.
        self._runs: dict[int, Run] = {}
        self._residence = Residence()
        #: A graph uses its weights in place.
        self._weights: dict[int, np.ndarray[Any, np.dtype[Any]]] = {}
        #: The devices of plug-ins, with and without simulators.
        self._listed: dict[tuple[str, bool], tuple[list[Device], str]] = {}

    def serve(self) -> None:
        """Answer requests until the connection ends."""
        answers = {
            Operation.PING: lambda _: json.dumps(self._missing).encode(),
            Operation.DEVICES: self._list_devices,
            Operation.VERIFY: self._verify,
            Operation.SEGMENT: self._take_segment,
            Operation.BUILD: self._build,
            Operation.RUN: self._run,
            Operation.DISPATCH: self._dispatch,
            Operation.FETCH: self._fetch,
            Operation.REPEAT: self._repeat,
            Operation.DROP: self._drop,
            Operation.END_PROFILE: self._end_profile,
            Operation.PROBE: self._probe,
            Operation.REST: self._rest,
        }
        head = REQUEST.size
        while True:
            message, self._descriptor = self._channel.receive_with_descriptor()
            operation, number = REQUEST.unpack_from(message)
            end = Answer.DONE
            try:
                body = answers[operation](message[head:])
            except Exception as error:  # the engine's exceptions have no common class
                # The program says what failed where. An error of ours without a cause says all.
                ours = isinstance(error, OperationError)
                cause = error.__cause__ if ours else error
                end = Answer.FAILED if cause else Answer.REFUSED
                body = str(cause or error)[:_LONGEST_TEXT].encode("utf-8", "replace")
            for part in pack_answer(number, end, body):
                self._channel.send(part)
            if operation == Operation.REST and not self._channel.wait(_REST):
                raise EOFError

    def _list(self, packages: Sequence[str], provider: str, *, simulators: bool) -> tuple[list[Device], str]:
        """Return the devices of a plug-in, and why there is none. It is registered at the first use."""
        key = provider, simulators
        if key not in self._listed:
            named = [plugin for each in packages if not isinstance(plugin := plugins.find_plugin(each), str)]
            every = {**plugins.PLUGINS, **{each.provider: each for each in named}}
            # The module search path of the program may have folders that it added itself.
            lacking: tuple[list[Device], str] = [], "is found by this program, but not by a process of its own"
            self._listed[key] = plugins.list_plugin(every[provider], simulators=simulators) if provider in every else lacking
        return self._listed[key]

    def _list_devices(self, body: bytes) -> bytes:
        told = json.loads(body)
        return pack_devices(*self._list(told["packages"], told["provider"], simulators=told["simulators"]))

    def _find(self, packages: Sequence[str], device: Device) -> Device:
        """Return the equal device of this process."""
        if not device.plugin:
            return device
        for each in self._list(packages, device.provider, simulators=device.simulated)[0]:
            if replace(each, handle=None) == device:
                return each
        raise OperationError(f"build: the {device.type} of {device.provider} is gone", operation="build", rule="device")

    def _verify(self, body: bytes) -> bytes:
        told = json.loads(body)
        return discovery.find_failure(self._find(told["packages"], read_device(told["device"])), told["settings"]).encode(
            "utf-8", "replace"
        )

    def _probe(self, body: bytes) -> bytes:
        # Imported lazily because it loads onnx.
        from webnn.context.engine.probes import measure  # noqa: PLC0415

        told = json.loads(body)
        device = self._find(told["packages"], read_device(told["device"]))
        return json.dumps(dict(measure(device, told["settings"], told["types"], _open_cache(told["cache"])))).encode()

    def _take(self, body: bytes) -> tuple[int, np.ndarray[Any, np.dtype[Any]]]:
        """Take the segment of a request; return its number and its bytes."""
        number, size = int.from_bytes(body[:4], "little"), int.from_bytes(body[4:12], "little")
        descriptor = self._channel.take_descriptor() if self._descriptor < 0 else self._descriptor
        segment = Segment(size, body[12:].decode() if descriptor < 0 else descriptor)
        segment.close()
        return number, np.frombuffer(segment.map, np.uint8)

    def _take_segment(self, body: bytes) -> bytes:
        number, array = self._take(body)
        self._segments[number] = array
        self._addresses[number] = array.ctypes.data
        return b""

    def _build(self, body: bytes) -> bytes:
        number, length = int.from_bytes(body[:4], "little"), int.from_bytes(body[4:12], "little")
        _, array = self._take(body[12:])
        told = json.loads(array[:length].tobytes())
        selection = unpack_selection(told["selection"], partial(self._find, told["packages"]))
        with warnings.catch_warnings(record=True) as caught:
            graph = self._compile(told, array[align(length) :], selection)
        self._graphs[number], self._weights[number] = graph, array
        make = self._makers[number] = self._residence.find(graph, selection) if isinstance(graph, CompiledGraph) else None
        answer = {
            "providers": graph.providers,
            "assignments": graph.assignments(),
            "leaves": make is not None,
            "warnings": [str(each.message) for each in caught],
        }
        return json.dumps(answer).encode()

    def _compile(self, told: Mapping[str, Any], parts: np.ndarray[Any, np.dtype[Any]], selection: Selection) -> CompiledGraph | Session:
        if told["engine"]:
            # Imported lazily; most programs have no other engine.
            from webnn.context.engines import find_engine  # noqa: PLC0415

            content = parts[: told["content"]].tobytes()
            found: Session = find_engine(told["engine"]).session(
                content, _read_values(told["inputs"]), _read_values(told["outputs"]), selection, told["profile"]
            )
            return found
        cache = _open_cache(told["cache"])
        model = _Model(
            content=parts[: told["content"]].tobytes(),
            weights=[_Weight(location, parts[first : first + size]) for location, first, size in told["weights"]],
            inputs=_read_values(told["inputs"]),
            outputs=_read_values(told["outputs"]),
            largest=told["largest"],
            numerics=told["numerics"],
            nodes=[(domain, kind) for domain, kind in told["nodes"]],
        )
        return CompiledGraph(model, selection, profile=told["profile"], cache=cache)

    def _run(self, body: bytes) -> bytes:
        number = int.from_bytes(body[:4], "little")
        graph = self._graphs[number]
        self._runs.pop(number, None)
        end = 4 + PLACE.size * (len(graph.inputs) + len(graph.outputs))
        known = self._addresses
        addresses = [known[segment] + offset for segment, offset in PLACE.iter_unpack(body[4:end])]
        if len(body) == end:
            graph.run(addresses)
        elif isinstance(graph, CompiledGraph):
            sizes = (size for [size] in SIZE.iter_unpack(body[end:]))
            SizedGraph(graph, _give(graph.inputs, sizes), _give(graph.outputs, sizes)).run(addresses)
        return b""

    def _dispatch(self, body: bytes) -> bytes:
        number = int.from_bytes(body[:4], "little")
        graph = self._graphs[number]
        count = len(graph.inputs)
        split = 4 + PLACE.size * (count + len(graph.outputs))
        places = [*PLACE.iter_unpack(body[4:split])]
        end = split + count
        sized: CompiledGraph | Session | SizedGraph = graph
        if len(body) > end and isinstance(graph, CompiledGraph):
            sizes = (size for [size] in SIZE.iter_unpack(body[end:]))
            sized = SizedGraph(graph, _give(graph.inputs, sizes), _give(graph.outputs, sizes))
        make = self._makers[number]
        if make is not None and isinstance(graph, CompiledGraph):
            slots = [*sized.inputs.values(), *sized.outputs.values()]
            memories = [
                self._segments[segment][offset : offset + slot.nbytes] for (segment, offset), slot in zip(places, slots, strict=True)
            ]
            run = self._residence.prepare(graph, slots, memories, make, body[split:end])
        else:
            run = self._prepare(sized, [self._addresses[segment] + offset for segment, offset in places], count)
        self._runs[number] = run
        run(body[split:end])
        return b""

    def _prepare(self, graph: CompiledGraph | Session | SizedGraph, addresses: list[int], count: int) -> Run:
        """Return what runs a graph without numbers on a device; other graphs may have left some there."""

        def run(_: bytes) -> None:
            for address in addresses[:count]:
                self._residence.fetch(address)
            graph.run(addresses)
            for address in addresses[count:]:
                self._residence.replace(address)

        return run

    def _fetch(self, body: bytes) -> bytes:
        segment, offset = PLACE.unpack(body)
        self._residence.fetch(self._addresses[segment] + offset)
        return b""

    def _repeat(self, body: bytes) -> bytes:
        number = int.from_bytes(body[:4], "little")
        if number in self._runs:
            self._runs[number](body[4:])
        else:
            self._graphs[number].repeat()
        return b""

    def _drop(self, body: bytes) -> bytes:
        graphs, segments = json.loads(body)
        for number in graphs:
            # A graph whose build failed is not there.
            for table in (self._graphs, self._weights, self._makers, self._runs):
                table.pop(number, None)
        if segments:
            # A graph must not keep an address without memory.
            for graph in self._graphs.values():
                graph.forget()
        for number in segments:
            # An interrupt may have the program say it twice.
            segment, first = self._segments.pop(number, None), self._addresses.pop(number, None)
            if segment is not None and first is not None:
                self._residence.forget(first, segment.nbytes)
        return b""

    def _rest(self, _: bytes) -> bytes:
        """Forget all but the drivers: the next context may have this process."""
        self._graphs.clear()
        self._weights.clear()
        self._makers.clear()
        self._runs.clear()
        self._residence.clear()
        self._segments.clear()
        self._addresses = {0: 0}
        return b""

    def _end_profile(self, body: bytes) -> bytes:
        return self._graphs[int.from_bytes(body, "little")].end_profile().encode("utf-8", "surrogateescape")


def _open_cache(told: list[Any] | None) -> ModelCache | None:
    if told is None:
        return None
    # Imported lazily because it loads onnx.
    from webnn.context.engine.cache.models import open_cache  # noqa: PLC0415

    return open_cache(Path(told[0]), told[1])


def _read_values(told: Mapping[str, Any]) -> dict[str, tuple[str, OperandDescriptor]]:
    """Return inputs or outputs. A dimension whose size differs from run to run is a text."""
    return {name: (value, _descriptor(kind, tuple(shape))) for name, (value, kind, shape) in told.items()}


def _descriptor(kind: DataType, shape: tuple[Any, ...]) -> OperandDescriptor:
    found = OperandDescriptor(kind, shape)
    return NamedDescriptor(kind, shape) if has_names(found) else found


def _give(slots: Mapping[str, BufferSlot], sizes: Iterator[int]) -> list[OperandDescriptor]:
    """Give the dimensions of inputs or outputs their next sizes."""
    given = [(each.descriptor.dataType, len(each.descriptor.dimensions)) for each in slots.values()]
    return [OperandDescriptor(kind, tuple(itertools.islice(sizes, rank))) for kind, rank in given]


def main(handle: int, missing: Mapping[str, str]) -> None:
    """Answer the requests of a program.

    Args:
        handle: The end of the connection.
        missing: The walls of the system that do not stand, with the reasons.
    """
    channel = Channel.open(handle)
    # Native code may write to standard output. A process of Windows without a console has none.
    os.dup2(2, 1)
    try:
        # The program translates its graph meanwhile.
        runtime.load()
        _Worker(channel, missing).serve()
    except (EOFError, OSError):
        # The program ended the connection. Finalizers of drivers can hang.
        os._exit(0)
