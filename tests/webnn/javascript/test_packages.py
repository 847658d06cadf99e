"""Names of modules, resolved as a bundler for pages does."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support import each_row
from webnn.javascript.files import Files
from webnn.javascript.packages import Packages, ResolveError

SITE = "https://app.test"
#: The packages of the site: their package.json, and their files.
PACKAGES: Mapping[str, tuple[Mapping[str, Any], tuple[str, ...]]] = {
    "conditions": (
        {
            "name": "conditions",
            "exports": {
                ".": {"node": "./node.mjs", "browser": {"import": "./page.mjs", "require": "./page.cjs"}, "default": "./other.mjs"},
                "./sub": [{"node": "./node.mjs"}, "./sub.js"],
                "./files/*": "./dist/*.js",
                "./files/private/*": None,
                "./hidden/../../x": "./../../../outside.js",
            },
        },
        ("node.mjs", "page.mjs", "page.cjs", "other.mjs", "sub.js", "dist/a.js"),
    ),
    "sugar": ({"exports": "./only.js", "type": "module"}, ("only.js",)),
    "fields": (
        {"main": "main.js", "module": "module.js", "browser": {"./main.js": "./page.js", "fs": False, "other": "./own.js"}},
        ("main.js", "module.js", "page.js", "own.js", "lib/index.js", "lib/part.js", "data.json"),
    ),
    "text": ({"browser": "./page.js", "module": "module.js"}, ("page.js", "module.js")),
    "plain": ({}, ("index.js",)),
    "@scope/name": ({"main": "./dist/main"}, ("dist/main.js",)),
    "outer": ({"main": "a.js"}, ("a.js", "node_modules/plain/index.js", "node_modules/plain/package.json")),
    "inner-type": ({"main": "esm/a.js"}, ("esm/a.js", "esm/package.json")),
    "imports": ({"imports": {"#own": {"node": "./node.js", "default": "./own.js"}, "#other": "plain"}}, ("index.js", "own.js")),
}


@pytest.fixture
def packages(tmp_path: Path) -> Packages:
    root = tmp_path / "site"
    for name, (manifest, files) in PACKAGES.items():
        folder = root / "node_modules" / name
        for file in files:
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_text('{"type": "module"}' if file == "esm/package.json" else "{}", encoding="utf-8")
        (folder / "package.json").write_text(json.dumps({"version": "1.2.3", **manifest}), encoding="utf-8")
    (root / "broken/node_modules/plain").mkdir(parents=True)
    (root / "broken/node_modules/plain/package.json").write_text("{", encoding="utf-8")
    (tmp_path / "outside.js").write_text("", encoding="utf-8")
    (tmp_path / "program").mkdir()
    return Packages(Files(root, tmp_path / "program"))


def module(path: str) -> str:
    return f"{SITE}/node_modules/{path}"


@each_row(
    ("specifier", "base", "kind", "expected", "format"),
    [
        ("conditions", f"{SITE}/a.mjs", "import", "conditions/page.mjs", "module"),
        ("conditions", f"{SITE}/deep/er/a.mjs", "import", "conditions/page.mjs", "module"),
        ("conditions", "https://program.test/a.mjs", "import", "conditions/page.mjs", "module"),
        ("conditions", f"{SITE}/broken/a.mjs", "require", "conditions/page.cjs", "commonjs"),
        ("conditions/sub", f"{SITE}/a.mjs", "import", "conditions/sub.js", "unknown"),
        ("conditions/files/a", f"{SITE}/a.mjs", "import", "conditions/dist/a.js", "unknown"),
        ("conditions/sub", module("conditions/page.mjs"), "import", "conditions/sub.js", "unknown"),
        ("sugar", f"{SITE}/a.mjs", "import", "sugar/only.js", "module"),
        ("fields", f"{SITE}/a.mjs", "import", "fields/module.js", "unknown"),
        ("fields", f"{SITE}/a.mjs", "require", "fields/page.js", "unknown"),
        ("fields/lib", f"{SITE}/a.mjs", "import", "fields/lib/index.js", "unknown"),
        ("fields/lib/part", f"{SITE}/a.mjs", "import", "fields/lib/part.js", "unknown"),
        ("fields/data.json", f"{SITE}/a.mjs", "import", "fields/data.json", "json"),
        ("other", module("fields/main.js"), "import", "fields/own.js", "unknown"),
        ("text", f"{SITE}/a.mjs", "import", "text/page.js", "unknown"),
        ("plain", f"{SITE}/broken/a.mjs", "import", "plain/index.js", "unknown"),
        ("@scope/name", f"{SITE}/a.mjs", "import", "@scope/name/dist/main.js", "unknown"),
        ("plain", module("outer/a.js"), "import", "outer/node_modules/plain/index.js", "unknown"),
        ("inner-type", f"{SITE}/a.mjs", "import", "inner-type/esm/a.js", "module"),
        ("#own", module("imports/index.js"), "import", "imports/own.js", "unknown"),
        ("#other", module("imports/index.js"), "import", "plain/index.js", "unknown"),
    ],
)
def test_packages(packages: Packages, specifier: str, base: str, kind: Any, expected: str, format: str) -> None:
    found = packages.resolve(specifier, None, base, kind)
    assert (found.url, found.format) == (module(expected), format)


@each_row(
    ("url", "base", "expected", "format"),
    [
        # A page's own modules are what their addresses say.
        (f"{SITE}/a", f"{SITE}/b.mjs", f"{SITE}/a", ""),
        ("https://elsewhere.test/a.js", f"{SITE}/b.mjs", "https://elsewhere.test/a.js", ""),
        (module("fields/lib/part"), module("fields/lib/index.js"), module("fields/lib/part.js"), "unknown"),
        (module("fields/lib"), module("fields/page.js"), module("fields/lib/index.js"), "unknown"),
        (module("fields/main.js"), module("fields/own.js"), module("fields/page.js"), "unknown"),
        ("https://cdn.jsdelivr.net/npm/plain", f"{SITE}/b.mjs", module("plain/index.js"), "unknown"),
        ("https://cdn.jsdelivr.net/npm/conditions@9/+esm", f"{SITE}/b.mjs", module("conditions/page.mjs"), "module"),
    ],
)
def test_addresses(packages: Packages, url: str, base: str, expected: str, format: str) -> None:
    found = packages.resolve(url, url, base, "import")
    assert (found.url, found.format) == (expected, format)


def test_a_part_that_pages_do_without(packages: Packages) -> None:
    assert packages.resolve("fs", None, module("fields/main.js"), "require").format == "empty"


@each_row(
    ("specifier", "url", "message"),
    [
        ("none", None, "npm install none"),
        ("conditions/none", None, "exports no './none' to pages"),
        ("conditions/files/private/a", None, "exports no"),
        ("fields/none", None, "has no file none"),
        ("../outside", None, "neither an address nor the name"),
        ("@scope", None, "neither an address nor the name"),
        ("a%2fb", None, "neither an address nor the name"),
        (".hidden", None, "neither an address nor the name"),
        ("a\\..\\b", None, "neither an address nor the name"),
        ("node:fs", "node:fs", "no access to the modules of Node"),
        ("file:///x", "file:///x", "no access to file:"),
        ("http://app.test/x", "http://app.test/x", "no access to http:"),
    ],
)
def test_refusals(packages: Packages, specifier: str, url: str | None, message: str) -> None:
    with pytest.raises(ResolveError, match=message):
        packages.resolve(specifier, url, f"{SITE}/a.mjs", "import")


def test_a_package_cannot_lead_out_of_the_root(tmp_path: Path, packages: Packages) -> None:
    files = Files(tmp_path / "site", tmp_path / "program")
    folder = tmp_path / "site/node_modules/evil"
    folder.mkdir()
    for target in ("./../../../outside.js", "./%2e%2e/%2e%2e/%2e%2e/outside.js"):
        (folder / "package.json").write_text(json.dumps({"exports": target}), encoding="utf-8")
        url = Packages(files).resolve("evil", None, f"{SITE}/a.mjs", "import").url
        assert not files.has(url)


def test_links_of_package_managers_are_followed(tmp_path: Path, packages: Packages) -> None:
    store = tmp_path / "site/node_modules/.pnpm/linked@1/node_modules"
    for name in ("linked", "beside"):
        (store / name).mkdir(parents=True)
        (store / name / "package.json").write_text("{}", encoding="utf-8")
        (store / name / "index.js").write_text("", encoding="utf-8")
    try:
        os.symlink(store / "linked", tmp_path / "site/node_modules/linked", target_is_directory=True)
    except OSError:
        pytest.skip("links cannot be made here")
    linked = packages.resolve("linked", None, f"{SITE}/a.mjs", "import").url
    assert linked == module(".pnpm/linked@1/node_modules/linked/index.js")
    assert packages.resolve("beside", None, linked, "import").url == module(".pnpm/linked@1/node_modules/beside/index.js")
