"""Draws the packages, their modules and what imports what, from the imports in the code, as docs/architecture.svg.

    python tools/draw_architecture.py            writes docs/architecture.svg
    python tools/draw_architecture.py --check    fails if that file is not what the code gives

The layout is laid by hand: a table says where each package stands and which way an arrow takes. An import that the table has no way for is
an error, because it is a new dependency between layers.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from types import MappingProxyType

__all__ = ["Package", "Survey", "draw", "main", "survey"]

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "docs" / "architecture.svg"

FACE = "webnn"
RUNNER = "webnn.wpt_runner"
CONTEXT = "webnn.context"
BUILDER = "webnn.builder"
OPS = "webnn.builder.ops"
ONNX = "webnn.builder.onnx"
VALIDATION = "webnn.validation"

#: Every package that is a box of its own, with its folder. Packages below them are shown as modules of theirs.
FOLDERS: Mapping[str, str] = MappingProxyType(
    {
        RUNNER: "wpt_runner",
        FACE: "webnn",
        CONTEXT: "context",
        BUILDER: "builder",
        OPS: "builder/ops",
        ONNX: "builder/onnx",
        VALIDATION: "validation",
    }
)


@dataclass(frozen=True, slots=True)
class Module:
    """One source file.

    Attributes:
        name: Its name below its package, for example ``"demo.network"``; empty for the package's own ``__init__``.
        runtime: The modules that it imports when it runs, early or late.
        annotations: The modules that only a type checker sees it import.
    """

    name: str
    runtime: frozenset[str]
    annotations: frozenset[str]


@dataclass(frozen=True, slots=True)
class Package:
    """One box of the picture.

    Attributes:
        name: The import name.
        summary: The first line of its docstring.
        modules: Its modules, in alphabetical order.
    """

    name: str
    summary: str
    modules: tuple[Module, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """What imports what.

    Attributes:
        packages: The packages by name.
        arrows: How many modules of the first package import something of the second one at run time.
        annotations: The same for imports that only a type checker sees, where there is no arrow.
        libraries: For each package, how many of its modules import each outside library.
    """

    packages: Mapping[str, Package]
    arrows: Mapping[tuple[str, str], int]
    annotations: Mapping[tuple[str, str], int]
    libraries: Mapping[str, Mapping[str, int]]


# Reading the code


def survey(root: Path = ROOT) -> Survey:
    """Read the packages below a folder."""
    files = {name: list(_files(root, name)) for name in FOLDERS}
    known = {_import_name(name, module) for name, found in files.items() for module, _ in found}
    packages: dict[str, Package] = {}
    for name, found in files.items():
        modules = tuple(_read(name, module, file, known) for module, file in found)
        packages[name] = Package(name, _summary(root / FOLDERS[name] / "__init__.py"), modules)
    arrows = _count(packages, "runtime")
    annotations = {pair: count for pair, count in _count(packages, "annotations").items() if pair not in arrows}
    libraries = {name: _libraries(package) for name, package in packages.items()}
    return Survey(packages=packages, arrows=arrows, annotations=annotations, libraries=libraries)


def _files(root: Path, package: str) -> Iterator[tuple[str, Path]]:
    """Yield the modules of a package and their files. Links lead to other packages and are left out."""
    folder = root / FOLDERS[package]
    others = [root / other for other in FOLDERS.values() if root / other != folder and (root / other).is_relative_to(folder)]
    others += [path for path in folder.iterdir() if path.is_symlink()]
    for file in sorted(folder.rglob("*.py")):
        if not any(file.is_relative_to(other) for other in others):
            yield ".".join(file.relative_to(folder).with_suffix("").parts).removesuffix("__init__").rstrip("."), file


def _import_name(package: str, module: str) -> str:
    return f"{package}.{module}" if module else package


def _summary(file: Path) -> str:
    return (ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or "").partition("\n")[0].replace("`", "")


class _Imports(ast.NodeVisitor):
    """Collects what a module imports, apart for type checkers and at run time."""

    def __init__(self, known: Iterable[str]) -> None:
        self.known = frozenset(known)
        self.runtime: set[str] = set()
        self.annotations: set[str] = set()
        self._found = self.runtime

    def visit_Import(self, node: ast.Import) -> None:
        self._found.update(alias.name for alias in node.names)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        assert node.module is not None  # imports are absolute: a test of its own holds that
        for alias in node.names:
            name = f"{node.module}.{alias.name}"
            self._found.add(name if name in self.known else node.module)

    def visit_If(self, node: ast.If) -> None:
        before = self._found
        if ast.unparse(node.test) == "TYPE_CHECKING":
            self._found = self.annotations
        for statement in node.body:
            self.visit(statement)
        self._found = before
        for statement in node.orelse:
            self.visit(statement)


def _read(package: str, module: str, file: Path, known: Iterable[str]) -> Module:
    finder = _Imports(known)
    finder.visit(ast.parse(file.read_text(encoding="utf-8")))
    return Module(module, frozenset(finder.runtime), frozenset(finder.annotations))


def _package_of(imported: str) -> str | None:
    """Return the package that an import reaches: the longest name that fits."""
    fitting = [name for name in FOLDERS if imported == name or imported.startswith(f"{name}.")]
    return max(fitting, key=len) if fitting else None


def _count(packages: Mapping[str, Package], kind: str) -> dict[tuple[str, str], int]:
    counts: dict[tuple[str, str], int] = {}
    for package in packages.values():
        for module in package.modules:
            reached = {_package_of(imported) for imported in getattr(module, kind)}
            for other in reached - {package.name, None}:
                assert other is not None
                counts[package.name, other] = counts.get((package.name, other), 0) + 1
    return dict(sorted(counts.items()))


def _libraries(package: Package) -> dict[str, int]:
    counts: dict[str, int] = {}
    for module in package.modules:
        for library in {imported.partition(".")[0] for imported in module.runtime} - sys.stdlib_module_names - {FACE}:
            counts[library] = counts.get(library, 0) + 1
    return dict(sorted(counts.items()))


# Drawing

WIDTH = 1200
LEFT, RIGHT = 112, 1088
GAP = 58
PADDING = 18
CHIP_HEIGHT, CHIP_GAP, CHAR = 24, 7, 7.25
TITLE, LINE = 30, 18
COLUMN_GAP = 60

#: The columns of the builder's frame, with their shares of the width.
COLUMNS: Mapping[str, float] = MappingProxyType({OPS: 0.33, BUILDER: 0.29, ONNX: 0.38})

INK, QUIET, PAPER, WIRE = "#1f2933", "#5f6b7a", "#ffffff", "#52606d"
#: The fill and the border of each layer, and of the chips of op families in it.
COLOURS: Mapping[str, tuple[str, str, str]] = MappingProxyType(
    {
        RUNNER: ("#f5f2fb", "#9b86cf", "#e3dbf5"),
        FACE: ("#edf3fc", "#6f9bd8", "#d6e4f8"),
        CONTEXT: ("#e9f6f4", "#4aa899", "#cdebe6"),
        BUILDER: ("#fdf5e8", "#d9a345", "#fae3b8"),
        VALIDATION: ("#f0f7ea", "#7fb254", "#d6ebc5"),
    }
)


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle."""

    x: float
    y: float
    width: float
    height: float

    @property
    def bottom(self) -> float:
        """The lower edge."""
        return self.y + self.height

    @property
    def right(self) -> float:
        """The right edge."""
        return self.x + self.width

    @property
    def middle(self) -> float:
        """The horizontal middle."""
        return self.x + self.width / 2


@dataclass(frozen=True, slots=True)
class Way:
    """The way of an arrow.

    Attributes:
        kind: ``"straight"`` up or down, ``"lane"`` round the boxes in between, or ``"across"`` to the neighbour in the row.
        place: The x of a straight way, relative to the middle of the target (of the source if it is the narrower box); the x of a lane; the
            height of a way across, as a share of the row's.
        start: For a lane the height at which it leaves its box.
        end: The height at which it arrives.
    """

    kind: str
    place: float
    start: float = 0
    end: float = 0


#: Every arrow there may be. One that is not listed is a dependency that the architecture does not have.
WAYS: Mapping[tuple[str, str], Way] = MappingProxyType(
    {
        (RUNNER, FACE): Way("straight", 0),
        (FACE, RUNNER): Way("straight", 80),
        (FACE, CONTEXT): Way("straight", 0),
        (FACE, BUILDER): Way("lane", 78, 62, 46),
        (FACE, VALIDATION): Way("lane", 36, 30, 46),
        (CONTEXT, BUILDER): Way("straight", -44),
        (CONTEXT, ONNX): Way("straight", 0),
        (CONTEXT, VALIDATION): Way("lane", WIDTH - 52, 46, 46),
        (BUILDER, CONTEXT): Way("straight", 44),
        (BUILDER, OPS): Way("across", 0.36),
        (OPS, BUILDER): Way("across", 0.68),
        (ONNX, BUILDER): Way("across", 0.52),
        (OPS, VALIDATION): Way("straight", 0),
        (BUILDER, VALIDATION): Way("straight", 0),
        (ONNX, VALIDATION): Way("straight", 0),
    }
)


@dataclass(slots=True)
class Canvas:
    """Collects the elements of the picture; arrows lie above boxes."""

    boxes: list[str] = field(default_factory=list)
    wires: list[str] = field(default_factory=list)
    below: float = 0

    def rectangle(self, box: Box, fill: str, stroke: str, radius: float, *, width: float = 1.4, dashed: bool = False) -> None:
        """Draw a rectangle with round corners."""
        dashes = ' stroke-dasharray="4 3"' if dashed else ""
        self.boxes.append(
            f'<rect x="{box.x:g}" y="{box.y:g}" width="{box.width:g}" height="{box.height:g}" rx="{radius:g}"'
            f' fill="{fill}" stroke="{stroke}" stroke-width="{width:g}"{dashes}/>'
        )

    def text(self, x: float, y: float, kind: str, text: str, *, anchor: str = "start") -> None:
        """Write a line of text; ``kind`` is a class of the style sheet."""
        anchored = "" if anchor == "start" else f' text-anchor="{anchor}"'
        self.boxes.append(f'<text x="{x:g}" y="{y:g}" class="{kind}"{anchored}>{escape(text, quote=False)}</text>')

    def chip(self, x: float, y: float, text: str, fill: str, stroke: str) -> float:
        """Draw a module; return its width."""
        width = _chip_width(text)
        self.rectangle(Box(x, y, width, CHIP_HEIGHT), fill, stroke, 5, width=1)
        self.text(x + width / 2, y + 16.5, "module", text, anchor="middle")
        return width

    def wire(self, points: Sequence[tuple[float, float]], badge: tuple[float, float], count: int, *, dashed: bool = False) -> None:
        """Draw an arrow along points, with a number on it."""
        path = " L".join(f"{x:g} {y:g}" for x, y in points)
        dashes = ' stroke-dasharray="5 4"' if dashed else ""
        self.wires.append(f'<path d="M{path}" class="wire"{dashes} marker-end="url(#head)"/>')
        x, y = badge
        self.wires.append(f'<circle cx="{x:g}" cy="{y:g}" r="11.5" fill="{PAPER}" stroke="{WIRE}" stroke-width="1.3"/>')
        self.wires.append(f'<text x="{x:g}" y="{y + 4:g}" class="count" text-anchor="middle">{count}</text>')


def _chip_width(text: str) -> float:
    return round(len(text) * CHAR + 16, 1)


def _rows(names: Iterable[str], width: float) -> list[list[str]]:
    """Break modules into rows of a width."""
    rows: list[list[str]] = [[]]
    used = 0.0
    for name in names:
        needed = _chip_width(name)
        if rows[-1] and used + needed > width:
            rows.append([])
            used = 0.0
        rows[-1].append(name)
        used += needed + CHIP_GAP
    return rows


def _shown(package: Package) -> list[str]:
    """Return the modules worth a chip: an ``__init__`` that imports nothing is none."""
    return [module.name or "__init__" for module in package.modules if module.name or module.runtime]


@dataclass(frozen=True, slots=True)
class Picture:
    """Draws a survey."""

    survey: Survey
    canvas: Canvas = field(default_factory=Canvas)
    places: dict[str, Box] = field(default_factory=dict)

    def families(self) -> set[str]:
        """Return the stems that validation, the operations and the translation have in common."""
        first, *others = ({module.name for module in self.survey.packages[name].modules} for name in (VALIDATION, OPS, ONNX))
        return first.intersection(*others) - {""}

    def height(self, name: str, width: float) -> float:
        """Return the height that a package needs."""
        chips = len(self.rows(name, width)) * (CHIP_HEIGHT + CHIP_GAP) - CHIP_GAP
        libraries = CHIP_HEIGHT + PADDING if self.framed(name) and self.survey.libraries[name] else 0
        return TITLE + 14 + len(self.summary(name, width)) * LINE + chips + libraries + PADDING

    def rows(self, name: str, width: float) -> list[list[str]]:
        """Return the modules of a package in rows: the families of operations behind the others, on rows of their own."""
        shown = _shown(self.survey.packages[name])
        families = self.families() if name in (VALIDATION, OPS, ONNX) else set[str]()
        parts = [module for module in shown if module not in families], [module for module in shown if module in families]
        return [row for part in parts if part for row in _rows(part, width - 2 * PADDING)]

    def summary(self, name: str, width: float) -> list[str]:
        """Return the lines of a package's summary."""
        return textwrap.wrap(self.survey.packages[name].summary, int((width - 2 * PADDING) / 6.9))

    def package(self, name: str, box: Box, colours: tuple[str, str, str]) -> None:
        """Draw a package: its name, the libraries it imports, its summary and its modules."""
        fill, stroke, family = colours
        canvas, inner = self.canvas, self.framed(name)
        canvas.rectangle(box, PAPER if inner else fill, stroke, 8 if inner else 12)
        canvas.text(box.x + PADDING, box.y + TITLE, "title", name)
        # At the top where the name leaves room, at the bottom elsewhere.
        x, y = box.right - PADDING, box.bottom - PADDING - CHIP_HEIGHT if inner else box.y + 12
        for library, count in reversed(list(self.survey.libraries[name].items())):
            label = f"{library} {count}"
            width = _chip_width(label) + 4
            x -= width
            canvas.rectangle(Box(x, y, width, CHIP_HEIGHT), "#fff1ee", "#d9745f", 12, width=1.1)
            canvas.text(x + width / 2, y + 16.5, "library", label, anchor="middle")
            x -= 6
        y = box.y + TITLE + 22
        for line in self.summary(name, box.width):
            canvas.text(box.x + PADDING, y, "summary", line)
            y += LINE
        y -= 8
        families = self.families() if name in (VALIDATION, OPS, ONNX) else set[str]()
        for row in self.rows(name, box.width):
            x = box.x + PADDING
            for module in row:
                x += canvas.chip(x, y, module, family if module in families else (fill if inner else PAPER), stroke) + CHIP_GAP
            y += CHIP_HEIGHT + CHIP_GAP
        self.places[name] = box

    def layer(self, name: str, y: float) -> float:
        """Draw a layer that is one package; return its lower edge."""
        box = Box(LEFT, y, RIGHT - LEFT, self.height(name, RIGHT - LEFT))
        self.package(name, box, COLOURS[name])
        return box.bottom

    def builder(self, y: float) -> float:
        """Draw the builder with its two packages in a row; return the lower edge."""
        room = RIGHT - LEFT - 2 * PADDING - (len(COLUMNS) - 1) * COLUMN_GAP
        widths = {name: room * share for name, share in COLUMNS.items()}
        height = max(self.height(name, width) for name, width in widths.items())
        self.canvas.rectangle(Box(LEFT, y, RIGHT - LEFT, height + 2 * PADDING), COLOURS[BUILDER][0], COLOURS[BUILDER][1], 12)
        x = float(LEFT + PADDING)
        for name, width in widths.items():
            self.package(name, Box(round(x, 1), y + PADDING, round(width, 1), height), COLOURS[BUILDER])
            x += width + COLUMN_GAP
        return y + height + 2 * PADDING

    def arrow(self, source: str, target: str, count: int, *, dashed: bool = False) -> None:
        """Draw an arrow from one package to another."""
        way = WAYS.get((source, target))
        if way is None:
            raise ValueError(f"{source} imports {target}: the architecture has no such arrow (see WAYS in tools/{Path(__file__).name})")
        start, end = self.places[source], self.places[target]
        if way.kind == "straight":
            x = (end if end.width <= start.width else start).middle + way.place
            begin, finish = (start.bottom, end.y) if start.y < end.y else (start.y, end.bottom)
            # The number stands in the gap between the layers, not inside the builder's frame.
            free = [begin + PADDING * self.framed(source) * (1 if finish > begin else -1)]
            free.append(finish - PADDING * self.framed(target) * (1 if finish > begin else -1))
            self.canvas.wire([(x, begin), (x, finish)], (x, sum(free) / 2), count, dashed=dashed)
        elif way.kind == "lane":
            frame = LEFT if way.place < LEFT else RIGHT
            top, bottom = start.y + way.start, end.y + way.end
            self.canvas.wire([(frame, top), (way.place, top), (way.place, bottom), (frame, bottom)], (way.place, (top + bottom) / 2), count)
        else:
            y = start.y + way.place * start.height
            begin, finish = (start.right, end.x) if start.x < end.x else (start.x, end.right)
            self.canvas.wire([(begin, y), (finish, y)], ((begin + finish) / 2, y), count)

    def framed(self, name: str) -> bool:
        """Tell whether a package stands in the builder's frame."""
        return name in COLUMNS

    def legend(self, y: float) -> float:
        """Explain the signs; return the lower edge."""
        canvas = self.canvas
        fill, stroke, family = COLOURS[VALIDATION]
        x = float(LEFT)
        canvas.chip(x, y, "conv", family, stroke)
        canvas.text(x + 54, y + 16.5, "legend", "a family of operations: the same name in three packages")
        x += 440
        canvas.chip(x, y, "shapes", fill, stroke)
        canvas.text(x + 68, y + 16.5, "legend", "any other module")
        x += 230
        canvas.rectangle(Box(x, y, 78, CHIP_HEIGHT), "#fff1ee", "#d9745f", 12, width=1.1)
        canvas.text(x + 39, y + 16.5, "library", "numpy 3", anchor="middle")
        canvas.text(x + 88, y + 16.5, "legend", "an outside library, and how many")
        canvas.text(x + 88, y + 34, "legend", "modules import it")
        y += 42
        x = float(LEFT)
        canvas.wire([(x, y + 12), (x + 60, y + 12)], (x + 26, y + 12), 3)
        canvas.text(x + 72, y + 16.5, "legend", "three modules of one import the other")
        x += 440
        canvas.wire([(x, y + 12), (x + 60, y + 12)], (x + 26, y + 12), 1, dashed=True)
        canvas.text(x + 72, y + 16.5, "legend", "imports for annotations only")
        return y + 34

    def draw(self) -> str:
        """Return the picture."""
        y = 28.0
        for name in (RUNNER, FACE, CONTEXT):
            y = self.layer(name, y) + GAP
        y = self.builder(y) + GAP
        y = self.layer(VALIDATION, y) + 30
        for (source, target), count in self.survey.arrows.items():
            self.arrow(source, target, count)
        for (source, target), count in self.survey.annotations.items():
            self.arrow(source, target, count, dashed=True)
        height = self.legend(y) + 20
        return "\n".join([*_opening(height), *self.canvas.boxes, *self.canvas.wires, "</svg>", ""])


def _opening(height: float) -> list[str]:
    mono = "ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
    sans = "system-ui, 'Segoe UI', Helvetica, Arial, 'DejaVu Sans', sans-serif"
    return [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}" width="{WIDTH}" height="{height:g}" role="img">',
        "<title>webnn: the packages, their modules and what imports what</title>",
        "<style>",
        f".title {{ font: 600 16px {mono}; fill: {INK} }}",
        f".module {{ font: 12px {mono}; fill: {INK} }}",
        f".library {{ font: 12px {mono}; fill: #8a3220 }}",
        f".summary {{ font: 12.5px {sans}; fill: {QUIET} }}",
        f".legend {{ font: 12.5px {sans}; fill: {INK} }}",
        f".count {{ font: 600 11.5px {sans}; fill: {INK} }}",
        f".wire {{ fill: none; stroke: {WIRE}; stroke-width: 1.6; stroke-linejoin: round }}",
        "</style>",
        '<defs><marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="9" markerHeight="9"'
        f' markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0 L10 5 L0 10 z" fill="{WIRE}"/></marker></defs>',
        f'<rect width="{WIDTH}" height="{height:g}" fill="{PAPER}"/>',
    ]


def draw(found: Survey) -> str:
    """Draw a survey as SVG.

    Raises:
        ValueError: A package imports another one that it must not.
    """
    return Picture(found).draw()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return the exit status."""
    parser = argparse.ArgumentParser(description="Draw what imports what as docs/architecture.svg.")
    parser.add_argument("--check", action="store_true", help="compare with the file that is there, and write nothing")
    given = parser.parse_args(arguments)
    text = draw(survey())
    if not given.check:
        TARGET.write_text(text, encoding="utf-8")
        print(f"wrote {TARGET.relative_to(ROOT).as_posix()}: {len(text)} bytes")
        return 0
    current = TARGET.read_text(encoding="utf-8") if TARGET.is_file() else ""
    if current == text:
        print(f"{TARGET.name} is what the code gives")
        return 0
    sys.stderr.writelines(difflib.unified_diff(current.splitlines(True), text.splitlines(True), TARGET.name, "the code", n=0))
    return 1


if __name__ == "__main__":
    sys.exit(main())
