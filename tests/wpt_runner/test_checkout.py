"""Checkouts: META lines, the choice of tests, and what can be read of the files."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support import each_row
from tests.wpt_runner.checkouts import make_checkout
from webnn.wpt_runner.checkout import Checkout, CheckoutError, Test, TestFile, wants
from webnn.wpt_runner.flavours import Flavour
from webnn.wpt_runner.serving import Server

BOTH = (Flavour.WINDOW, Flavour.WORKER)
A, B, C = "webnn/a.https.any.js", "webnn/deep/b.any.js", "webnn/c.window.js"
FILES = {
    "a.https.any.js": "// META: variant=?cpu\n// META: variant=?gpu\n",
    "deep/b.any.js": "// META: variant=?npu\n",
    "c.window.js": "",
    "worker.any.js": "// META: global=dedicatedworker\n",
    "helper.js": "",
    "page.html": "",
    "d.worker.js": "",
    "any.js": "",
}

#: META lines, and what they change of a file that has none.
META: list[tuple[str, dict[str, Any]]] = [
    ("", {}),
    ("// META: title=A title = with signs\n", {"title": "A title = with signs"}),
    ("//META:title= spaces \n//  META:  timeout=long \n", {"title": "spaces", "long": True}),
    ("// META: timeout=short", {}),
    ("// META: variant=?cpu\n// META: variant=?gpu&x=1\r\n", {"variants": ("?cpu", "?gpu&x=1")}),
    ("// META: variant=\n// META: variant=?gpu\n", {"variants": ("", "?gpu")}),
    ("// META: script=/resources/x.js\n// META: script=helper.js\n", {"scripts": ("/resources/x.js", "/webnn/deep/helper.js")}),
    ("// META: script=../helper.js\n// META: script=./x/../y.js\n", {"scripts": ("/webnn/helper.js", "/webnn/deep/y.js")}),
    ("// META: script=../../../../outside.js\n", {"scripts": ("/outside.js",)}),
    ("// META: global=window\n", {"flavours": (Flavour.WINDOW,)}),
    ("// META: global=worker,window\n", {"flavours": tuple(Flavour)}),
    ("// META: global=worker, !serviceworker\n", {"flavours": (Flavour.WORKER, Flavour.SHARED)}),
    ("// META: global=dedicatedworker\n", {"flavours": (Flavour.WORKER,)}),
    ("// META: global=jsshell,dedicatedworker-module\n", {"flavours": ()}),
    ("// META: unknown=x\n// META: title=t\n", {"title": "t"}),
    ("// A comment.\n// META: title=too late\n", {}),
    ("\n// META: title=too late\n", {}),
    ("'use strict'; // META: title=not at the beginning\n", {}),
    ("// META: title=\u00e9\u2603\n", {"title": "\u00e9\u2603"}),
]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_checkout(tmp_path / "wpt", FILES)


@pytest.mark.parametrize(("text", "changed"), META, ids=range(len(META)))
def test_meta_lines(tmp_path: Path, text: str, changed: dict[str, Any]) -> None:
    checkout = Checkout(make_checkout(tmp_path, {"deep/b.any.js": text + "\ntest(() => {});\n"}))
    plain: dict[str, Any] = {"path": B, "title": "", "scripts": (), "variants": ("",), "long": False, "flavours": BOTH}
    assert checkout.load(B) == TestFile(**{**plain, **changed})


#: Patterns, variants, and the names of the tests for windows that they choose.
CHOICES: list[tuple[list[str], list[str], list[str]]] = [
    ([], [], [f"{A}?cpu", f"{A}?gpu", C, f"{B}?npu"]),
    (["a.https"], [], [f"{A}?cpu", f"{A}?gpu"]),
    (["deep/"], [], [f"{B}?npu"]),
    (["webnn/*.window.js"], [], [C]),
    (["*/b.*", "a.https"], [], [f"{A}?cpu", f"{A}?gpu", f"{B}?npu"]),
    (["a.https", "a.https", A], ["cpu"], [f"{A}?cpu"]),
    ([], ["?gpu"], [f"{A}?gpu", C]),
    ([], ["cpu", "?npu"], [f"{A}?cpu", C, f"{B}?npu"]),
    (["deep"], ["cpu"], []),
    (["worker"], [], []),
]


@each_row(("patterns", "variants", "names"), CHOICES)
def test_choice(root: Path, patterns: list[str], variants: list[str], names: list[str]) -> None:
    assert [test.name for test in Checkout(root).tests(patterns, variants, [Flavour.WINDOW])] == names


def test_flavours_of_a_file(root: Path) -> None:
    tests = Checkout(root).tests(["a.https", "c.window", "worker.any"], ["cpu"])
    assert [(test.name, test.address) for test in tests] == [
        ("webnn/a.https.any.js?cpu", "/webnn/a.https.any.html"),
        ("webnn/a.https.any.worker.js?cpu", "/webnn/a.https.any.worker.js"),
        ("webnn/c.window.js", "/webnn/c.window.html"),
        ("webnn/worker.any.worker.js", "/webnn/worker.any.worker.js"),
    ]
    assert [test.name for test in Checkout(root).tests(["a.https"], ["cpu"], [Flavour.WORKER])] == ["webnn/a.https.any.worker.js?cpu"]


#: Patterns, variants, and the message.
NO_CHOICE = [
    (["nothing"], [], "no test file of ROOT matches 'nothing'"),
    (["a.https", "helper.js"], [], "no test file of ROOT matches 'helper.js'"),
    (["A.HTTPS"], [], "no test file of ROOT matches 'A.HTTPS'"),
    ([], ["tpu", "cpu"], "no test file of ROOT has the variant ?tpu"),
    ([], ["x", "?a"], "no test file of ROOT has the variant ?a, ?x"),
]


@pytest.mark.parametrize(("patterns", "variants", "message"), NO_CHOICE)
def test_no_choice(root: Path, patterns: list[str], variants: list[str], message: str) -> None:
    with pytest.raises(CheckoutError) as caught:
        Checkout(root).tests(patterns, variants)
    assert str(caught.value).replace(str(root.resolve()), "ROOT") == message


def test_a_folder_that_is_no_checkout(tmp_path: Path) -> None:
    with pytest.raises(CheckoutError, match=r"there is no folder .*nowhere"):
        Checkout(tmp_path / "nowhere")
    with pytest.raises(CheckoutError, match=r"is not a checkout of web-platform-tests: it has no webnn and no resources/testharness\.js"):
        Checkout(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(CheckoutError, match="there is no folder"):
        Checkout(tmp_path / "file")
    empty = make_checkout(tmp_path / "empty", {"helper.js": ""})
    with pytest.raises(CheckoutError, match="has no test files of WebNN"):
        Checkout(empty).tests()
    with pytest.raises(CheckoutError, match=r"there is no test file webnn/x\.any\.js"):
        Checkout(empty).load("webnn/x.any.js")


def test_a_folder_that_is_named_like_a_test(root: Path) -> None:
    (root / "webnn" / "folder.any.js").mkdir()
    assert "webnn/folder.any.js" not in list(Checkout(root).files())


#: Addresses, and the file whose text they give; ``None`` for none.
ADDRESSES: list[tuple[str, str | None]] = [
    ("/webnn/data/plain.json", "plain.json"),
    ("/webnn/data/plain.json?query=1#part", "plain.json"),
    ("webnn/data/plain.json", "plain.json"),
    ("/webnn/./data//plain.json", "plain.json"),
    ("/webnn/x/../data/plain.json", "plain.json"),
    ("/webnn/data/a%20b%25.json", "a b%.json"),
    ("/webnn/data/%C3%A9.json", "\u00e9.json"),
    ("/../webnn/data/plain.json", "plain.json"),
    ("/webnn/data/", None),
    ("/webnn/data/missing.json", None),
    ("", None),
    ("/", None),
    ("/../secret.txt", None),
    ("/webnn/../../secret.txt", None),
    ("/webnn/%2e%2e/%2e%2e/secret.txt", None),
    ("/webnn/..%2F..%2Fsecret.txt", None),
    ("..\\secret.txt", None),
    ("SECRET", None),
    ("/SECRET", None),
    ("//SECRET", None),
    ("/webnn/data/link.txt", None),
    ("/webnn/data/out/secret.txt", None),
    ("/webnn/data/loop", None),
    ("/webnn/data/plain.json%00", None),
    ("/webnn/data/" + "x" * 5000, None),
    ("/webnn/data/\ud800", None),
    ("http://[", None),
]


@pytest.fixture
def secret(root: Path) -> Path:
    """Return a file outside the checkout, to which links in it lead."""
    secret = root.parent / "secret.txt"
    secret.write_text("secret")
    data = root / "webnn" / "data"
    data.mkdir()
    for file in ("plain.json", "a b%.json", "\u00e9.json"):
        (data / file).write_text(file, encoding="utf-8")
    if sys.platform != "win32":  # where links need a right of their own
        (data / "link.txt").symlink_to(secret)
        (data / "out").symlink_to(root.parent, target_is_directory=True)
        (data / "loop").symlink_to(data / "loop")
    return secret


@each_row(("address", "name"), ADDRESSES)
def test_addresses(root: Path, secret: Path, address: str, name: str | None) -> None:
    assert Server(Checkout(root)).read(address.replace("SECRET", secret.as_posix())) == name


def test_a_test_that_is_a_link_out_of_the_checkout(root: Path) -> None:
    if sys.platform == "win32":
        pytest.skip("links need a right of their own")
    outside = root.parent / "outside.any.js"
    outside.write_text("")
    (root / "webnn" / "link.any.js").symlink_to(outside)
    with pytest.raises(CheckoutError, match=r"there is no test file webnn/link\.any\.js"):
        Checkout(root).tests(["link"])


def test_a_file_that_is_no_utf_8(root: Path) -> None:
    (root / "webnn" / "c.window.js").write_bytes(b"// META: title=\xff\n")
    assert Checkout(root).load(C).title == "\ufffd"


def test_aliases(root: Path) -> None:
    (root / "resources" / "webidl2" / "lib").mkdir(parents=True)
    (root / "resources" / "webidl2" / "lib" / "webidl2.js").write_text("parser")
    assert Checkout(root).read("/resources/WebIDLParser.js") == "parser"


def test_a_checkout_by_a_link(root: Path) -> None:
    if sys.platform == "win32":
        pytest.skip("links need a right of their own")
    link = root.parent / "link"
    link.symlink_to(root, target_is_directory=True)
    assert Checkout(link).read(C) == ""


def test_the_name_of_a_test(root: Path) -> None:
    assert Test(Checkout(root).load(A), "?gpu").name == f"{A}?gpu"


@pytest.mark.processes
def test_the_revision(root: Path) -> None:
    checkout = Checkout(root)
    assert checkout.revision() == ""
    (root / ".git").write_text("no repository")
    assert checkout.revision() == ""
    (root / ".git").unlink()
    git = ["git", "-C", str(root), "-c", "user.name=n", "-c", "user.email=e@example.org"]
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    for command in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "m"]):
        subprocess.run([*git, *command], check=True, env=environment)
    assert len(checkout.revision()) == 40


#: The wanted variants, a variant, and whether it is wanted.
WANTED: list[tuple[list[str], str, bool]] = [
    ([], "?cpu", True),
    (["cpu"], "?cpu", True),
    (["?cpu"], "?cpu", True),
    (["gpu"], "?cpu", False),
    (["gpu", "cpu"], "?cpu", True),
    (["cpu"], "?op=add&device=cpu", True),
    (["add"], "?op=add&device=cpu", True),
    (["op=add&device=cpu"], "?op=add&device=cpu", True),
    (["op"], "?op=add&device=cpu", False),
    (["gpu"], "?op=add&device=cpu", False),
    (["gpu"], "", True),
    (["cp"], "?cpu", False),
]


@each_row(("wanted", "variant", "expected"), WANTED)
def test_wants(wanted: list[str], variant: str, expected: bool) -> None:
    assert wants(wanted, variant) is expected
