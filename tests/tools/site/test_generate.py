"""The generated pages have every name, and links that lead somewhere."""

from __future__ import annotations

import posixpath
import re
import textwrap
import tomllib

import pytest

pytest.importorskip("griffe", reason="needs griffe, the extra `docs`")

import webnn
from tests.shared import ROOT
from tests.support import each_row
from tools.site import commands, environment, errors, operations, testing
from tools.site.examples import examples
from tools.site.files import file_page, relink
from tools.site.generate import DOCUMENTS, fill_navigation, linked_pages, reference
from tools.site.names import index
from tools.site.programs import python_program
from webnn.builder.semantics import find_switches
from webnn.commands import registry
from webnn.validation.drafts import DRAFTS_OF_GRAPHS, find_revision
from webnn.wpt_runner import cli as wpt

_LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#[^)\s]*)?\)")
_CODE = re.compile(r"^( *)```python\n(.*?)^\1```$", re.DOTALL | re.MULTILINE)


def test_every_public_name_is_in_the_index() -> None:
    names = index()
    assert {f"webnn.{name}" for name in webnn.__all__} <= names["Python"].keys()
    assert names["Environment variables"].keys() == environment.find_variables()
    assert {"webnn run", "webnn serve", "webnn wpt run", "webnn browser wpt"} <= names["Commands"].keys()
    assert {f"webnn {name}" for name in registry.COMMANDS} | {f"webnn wpt {name}" for name in wpt.COMMANDS} <= names["Commands"].keys()
    assert {"webnn run --root", "webnn wpt run -k", "webnn --version", "webnn diff --no-numbers"} <= names["Options of commands"].keys()
    assert {"webnn_faults", "webnn_profile", "webnn_emulator", "webnn_page"} <= names["Fixtures of pytest"].keys()
    assert {"webnn", "webnn_profile"} <= names["Markers of pytest"].keys()
    assert {"--webnn-profile", "--wpt", "--wpt-subtest"} <= names["Options of pytest"].keys()


def test_hidden_options_are_not_documented() -> None:
    assert not any(option.startswith("webnn run --debug") for option in index()["Options of commands"])
    assert all(option.help for command in commands.commands() for option in command.options)


def test_every_page_of_the_index_is_generated() -> None:
    assert {address.partition("#")[0] for addresses in index().values() for address in addresses.values()} <= reference().keys()


def test_links_of_the_reference_lead_to_pages() -> None:
    known = {*reference(), *(path.relative_to(DOCUMENTS).as_posix() for path in DOCUMENTS.rglob("*.md"))}
    links = [(page, target) for page, text in reference().items() for target in _LINK.findall(text) if target]
    wrong = [(page, target) for page, target in links if posixpath.normpath(posixpath.join(posixpath.dirname(page), target)) not in known]
    assert len(links) > len(reference())
    assert wrong == []


@each_row("operation", sorted(operations.operations()))
def test_an_operation_has_every_section(operation: str) -> None:
    page = operations.operation_page(operation)
    differing = ["Where backends differ"] if find_switches([operation]) else []
    wanted = ["Example", "Signature", "Arguments", "Options", "Types and ranks", "Browsers", *differing, "Errors", "As ONNX"]
    found = re.findall(r"^## (.*)$", page, re.MULTILINE)
    assert [title for title in found if title != "Returns"] == wanted
    assert examples()[operation].formula in page
    for draft in DRAFTS_OF_GRAPHS:
        assert (draft in page) == (operation in find_revision(draft).operations)


def test_an_operation_of_one_draft_is_marked() -> None:
    assert "**Since 2026-06**" in operations.operation_page("sign")
    assert "In the drafts 2024-06 and 2026-06." in operations.operation_page("relu")
    assert "| [`sign`](sign.md) |" in operations.list_page()


def test_options_of_drafts() -> None:
    page = operations.operation_page("gru")
    assert '| `activations` | `sequence<MLRecurrentNetworkActivation>` | each "relu", "sigmoid", "tanh" | sigmoid, tanh | 2026-06 |' in page
    assert "| `activations` | `sequence<MLActivation>` |  | sigmoid, tanh | 2024-06 |" in page
    assert '| `direction` | `MLRecurrentNetworkDirection` | "forward", "backward", "both" | `"forward"` |  |' in page
    assert "| `trueValue` | `MLOperand` (2026-06) |" in operations.operation_page("where")


def test_python_on_generated_pages_is_run() -> None:
    """It is the program of an operation; tests/tools/site/test_programs.py runs them, and those in JavaScript."""
    found = [textwrap.dedent(block[1]).strip() for text in reference().values() for block in _CODE.findall(text)]
    assert sorted(found) == sorted(python_program(name).strip() for name in examples())


# Commands, variables, errors, fixtures


def test_a_command() -> None:
    page = commands.pages()["api/commands/wpt.md"]
    assert "## webnn wpt run { #webnn-wpt-run }" in page
    assert '<span id="webnn-wpt-run-subtest"></span>`--subtest`<br>`-k`<br>`<list[str]>`' in page
    assert "*env var: WEBNN_WPT; required*" in page
    assert "[testing](../../testing.md)" in commands.pages()["api/commands/serve.md"]


@each_row("name", environment.variables())
def test_a_guide_of_a_variable_names_it(name: str) -> None:
    variable = environment.variables()[name]
    known = [variable.guide, "api-conventions.md", "devices.md"]
    assert any(name in (DOCUMENTS / guide).read_text(encoding="utf-8") for guide in known)


def test_the_table_of_variables_is_complete() -> None:
    assert tomllib.loads(environment.FILE.read_text(encoding="utf-8")).keys() == environment.find_variables()


def test_errors() -> None:
    found = {each.name: each for each in errors.classes()}
    classes = {f"webnn.{name}": getattr(webnn, name) for name in webnn.__all__}
    public = {name for name, each in classes.items() if isinstance(each, type) and issubclass(each, BaseException)}
    assert public == {name for name in found if name.count(".") == 1}
    # A base that is an error of another module.
    assert "webnn.xla.errors.XlaTypeError" in found
    page = errors.page()
    assert all(
        f"{{ #{name} }}" in page and each.documentation.partition("\n")[0].replace("``", "`") in page for name, each in found.items()
    )
    assert "| `argument` | The argument or dictionary member at fault" in page
    assert "| 2024-06 | `MLContext.compute`, `MLGraphBuilder.build` |" in page


def test_fixtures() -> None:
    page = testing.page()
    assert "`webnn_page`" in page
    assert "settings of the emulator in pages" in page
    assert "run the tests on a device profile of WebNN" in page


# Links out of the documentation


@each_row(
    ("text", "source", "page", "result", "found"),
    [
        ("[a](docs/wpt.md#x)", "README.md", "index.md", "[a](wpt.md#x)", set()),
        ("[a](../README.md)", "docs/wpt.md", "wpt.md", "[a](index.md)", set()),
        ("[a](../examples/buffers.py)", "docs/wpt.md", "wpt.md", "[a](files/examples/buffers.py.md)", {"examples/buffers.py"}),
        ("[a](examples/)", "README.md", "index.md", "[a](files/examples/index.md)", {"examples"}),
        ("[a](LICENSE)", "README.md", "index.md", "[a](files/LICENSE.md)", {"LICENSE"}),
        ('<img src="docs/pictures/x.png">', "README.md", "index.md", '<img src="docs/pictures/x.png">', set()),
        ('<img src="docs/pictures/heat-light.png">', "README.md", "index.md", '<img src="pictures/heat-light.png">', set()),
        ("[a](https://example.org/docs/wpt.md)", "README.md", "index.md", "[a](https://example.org/docs/wpt.md)", set()),
        ("[a](#x)", "README.md", "index.md", "[a](#x)", set()),
        ("```\n[a](docs/wpt.md)\n```\n", "README.md", "index.md", "```\n[a](docs/wpt.md)\n```\n", set()),
        ("text\n- a\n- b\n", "README.md", "index.md", "text\n\n- a\n- b\n", set()),
        ("- a\n  b\n- c\n\ntext - d\n", "README.md", "index.md", "- a\n  b\n- c\n\ntext - d\n", set()),
    ],
)
def test_a_link(text: str, source: str, page: str, result: str, found: set[str]) -> None:
    assert relink(text, source, page) == (result, found)


def test_files_become_pages() -> None:
    page, text, found = file_page("examples/buffers.py")
    assert page == "files/examples/buffers.py.md"
    assert text.startswith("# examples/buffers.py\n\n```python\n")
    assert found == set()
    page, text, found = file_page("examples/js")
    assert page == "files/examples/js/index.md"
    assert "[add.mjs](add.mjs.md)" in text
    assert "examples/js/add.mjs" in found
    assert "a file of" in file_page("examples/jax/mlp.npz")[1].lower()
    assert "```python" in file_page("examples/look_inside.ipynb")[1]


def test_every_linked_file_has_a_page() -> None:
    made = linked_pages(["docs/devices.md"])
    assert "\n# webnn\n" in made["index.md"]
    assert 'src="pictures/check.svg"' in made["index.md"]
    assert {"files/examples/fallback_chain.py.md", "files/examples/index.md", "files/LICENSE.md"} <= made.keys()


def test_the_navigation() -> None:
    navigation = fill_navigation([{"Start": ["index.md"]}, {"All": ["api/operations/", "proposals/"]}, {"Project": "files/"}])
    families = {title: pages for each in navigation[1]["All"] if isinstance(each, dict) for title, pages in each.items()}
    assert list(families) == list(operations.FAMILIES.values())
    assert sum(map(len, families.values())) == len(examples())
    assert "proposals/compute-policy.md" in navigation[1]["All"]
    assert "files/CHANGELOG.md" in navigation[2]["Project"]
    assert "files/README.md" not in navigation[2]["Project"]
    # Pages that it does not name come last.
    assert "wpt.md" in navigation[-1]["More"]
    assert not any(each.startswith("proposals/") for each in navigation[-1]["More"])


def test_families_are_those_of_the_files() -> None:
    assert {example.family for example in examples().values()} == set(operations.FAMILIES)


def test_the_configuration_names_documents() -> None:
    named = re.findall(r"^ +- (?:\w+: )?([\w/-]+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE)
    documents = [name for name in named if not name.startswith(("api/", "files/")) and name != "index.md"]
    assert len(documents) > 30
    assert [name for name in documents if not (DOCUMENTS / name).is_file()] == []


@each_row(
    ("operation", "option", "default"),
    [
        # From the IDL.
        ("conv2d", "groups", "`1`"),
        # From the docstring.
        ("conv2d", "padding", "0"),
        ("conv2d", "strides", "1"),
        ("conv2d", "dilations", "1"),
        ("conv2d", "bias", "none"),
        ("layerNormalization", "scale", "1"),
        ("layerNormalization", "bias", "0"),
        ("reduceSum", "axes", "all"),
        ("clamp", "maxValue", "no upper bound"),
        ("transpose", "permutation", "the reversed order"),
        # There is none.
        ("resample2d", "sizes", "-"),
    ],
)
def test_the_default_of_an_option(operation: str, option: str, default: str) -> None:
    rows = [line.split(" | ") for line in operations.operation_page(operation).splitlines() if line.startswith(f"| `{option}` | `")]
    assert {row[3] for row in rows if len(row) == 5} == {default}
