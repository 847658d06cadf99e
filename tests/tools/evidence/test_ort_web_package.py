"""Which files of the package onnxruntime-web a page loads, in packages that are made up after real ones."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.tools.evidence.ort_web_support import make_package
from tools.evidence.ort_web.package import PackageError, find_package


def both(stem: str) -> dict[str, dict[str, str]]:
    """Return an entry as version 1.30 has them."""
    extern, bundle = f"./dist/{stem}.min.mjs", f"./dist/{stem}.bundle.min.mjs"
    return {"import": {"onnxruntime-web-use-extern-wasm": extern, "default": bundle}, "require": {"default": f"./dist/{stem}.min.js"}}


def modules(*stems: str, build: str) -> dict[str, str]:
    """Return modules that load a build of the WebAssembly."""
    return {f"dist/{stem}.min.mjs": f'a="proxy:ort-wasm-proxy-worker",s="ort-wasm-simd-threaded{build}.mjs"' for stem in stems}


def wasm(build: str, glue: str = "a.webnnRegisterMLContext=b") -> dict[str, str]:
    name = f"ort-wasm-simd-threaded{build}"
    return {f"dist/{name}.mjs": f'{glue};new URL("{name}.wasm",import.meta.url)', f"dist/{name}.wasm": "\0asm"}


ENTRIES = {
    "./all": both("ort.all"),
    ".": both("ort"),
    "./webgpu": both("ort.webgpu"),
    "./wasm": both("ort.wasm"),
    "./types": "./types.d.ts",
}
JSEP = {
    **modules("ort.all", "ort", build=".jsep"),
    **modules("ort.webgpu", build=".asyncify"),
    **modules("ort.wasm", build=""),
    **wasm(".jsep"),
    **wasm(".asyncify"),
    **wasm("", "a=b"),
}
WITHOUT_JSEP = {name: text for name, text in JSEP.items() if "jsep" not in name and "jsep" not in text}
RENAMED = {**modules("ort.all", "ort", "ort.webgpu", build=".asyncify"), **wasm(".asyncify")}
JSPI = {**modules("ort.jspi", build=".jspi"), **wasm(".jspi")}
NEW = {**modules("ort.all", build="64.threads_2"), **wasm("64.threads_2")}
BUNDLE = {
    "dist/ort.min.mjs": 'new URL("ort-wasm-simd-threaded.asyncify.wasm",import.meta.url);"ort-wasm-simd-threaded.asyncify.mjs"',
    **wasm(".asyncify"),
}


@pytest.mark.parametrize(
    ("exports", "files", "module", "build"),
    [
        pytest.param(ENTRIES, JSEP, "ort.all", ".jsep", id="jsep, as in 1.30"),
        pytest.param(ENTRIES, RENAMED, "ort.all", ".asyncify", id="the same entries load asyncify"),
        pytest.param(ENTRIES, WITHOUT_JSEP, "ort.webgpu", ".asyncify", id="jsep is gone, and the modules that loaded it"),
        pytest.param(ENTRIES, {**JSEP, "dist/ort-wasm-simd-threaded.jsep.wasm": None}, "ort.webgpu", ".asyncify", id="jsep is gone"),
        pytest.param({"./jspi": both("ort.jspi")}, JSPI, "ort.jspi", ".jspi", id="jspi alone"),
        pytest.param(ENTRIES, NEW, "ort.all", "64.threads_2", id="a build that nobody knows yet"),
        pytest.param({".": {"import": "./dist/ort.min.mjs"}}, BUNDLE, "ort", ".asyncify", id="a bundle, without conditions"),
        pytest.param({".": "./dist/ort.min.mjs"}, BUNDLE, "ort", ".asyncify", id="one file for all"),
        pytest.param({".": both("ort"), "./all": both("ort.all")}, JSEP, "ort.all", ".jsep", id="the order does not matter"),
    ],
)
def test_the_files_that_a_page_loads(exports: Any, files: Mapping[str, str | None], module: str, build: str, tmp_path: Path) -> None:
    package = find_package(make_package(tmp_path, {name: text for name, text in files.items() if text is not None}, exports=exports))
    name = f"dist/ort-wasm-simd-threaded{build}"
    assert package.module == f"dist/{module}.min.mjs"
    assert package.files[:2] == ("package.json", package.module)
    assert sorted(package.files[2:]) == [f"{name}.mjs", f"{name}.wasm"]
    assert package.address == f"https://cdn.jsdelivr.net/npm/onnxruntime-web@1.2.3/dist/{module}.min.mjs"
    package.install(tmp_path / "site")
    copies = {
        path.relative_to(tmp_path / "site").as_posix(): path.read_bytes() for path in (tmp_path / "site").rglob("*") if path.is_file()
    }
    assert copies == {f"node_modules/onnxruntime-web/{each}": (package.folder / each).read_bytes() for each in package.files}


@pytest.mark.parametrize(
    ("exports", "files", "message"),
    [
        pytest.param(
            ENTRIES,
            modules("ort.all", build=".jsep"),
            r"\./all: dist/ort\.all\.min\.mjs loads .*\.jsep\.mjs, which is not there",
            id="no glue",
        ),
        pytest.param(
            ENTRIES,
            {name: text for name, text in JSEP.items() if not name.endswith("wasm")},
            r"\.jsep\.mjs loads .*\.jsep\.wasm, which is not there",
            id="no wasm",
        ),
        pytest.param(ENTRIES, {}, r"\./all: dist/ort\.all\.min\.mjs cannot be read: ", id="no module"),
        pytest.param(ENTRIES, {"dist/ort.all.min.mjs": ""}, r"dist/ort\.all\.min\.mjs loads no WebAssembly", id="no WebAssembly"),
        pytest.param(
            {"./all": both("ort.wasm")},
            JSEP,
            r"dist/ort\.wasm\.min\.mjs loads WebAssembly without the provider webnn; \.: package",
            id="no WebNN",
        ),
        pytest.param({}, JSEP, r"\./all: package\.json has no such export for a page; \.: ", id="no exports"),
        pytest.param([], JSEP, r"\./all: package\.json has no such export for a page", id="a list"),
        pytest.param({"./all": {"require": "./a.js"}}, JSEP, r"\./all: package\.json has no such export for a page", id="for Node only"),
        pytest.param({"./all": {"import": 5}}, JSEP, r"\./all: package\.json has no such export for a page", id="a number"),
    ],
)
def test_a_package_that_cannot_be_used(exports: Any, files: Mapping[str, str], message: str, tmp_path: Path) -> None:
    with pytest.raises(PackageError, match=message):
        find_package(make_package(tmp_path, files, exports=exports))


@pytest.mark.parametrize(
    ("manifest", "message"),
    [
        (None, r"has no package\.json$"),
        ("?", r"package\.json is not that of onnxruntime-web: JSONDecodeError: "),
        ("[]", r"package\.json is not that of onnxruntime-web: TypeError: "),
        (json.dumps({"version": "1"}), r"package\.json is not that of onnxruntime-web: KeyError: 'exports'"),
    ],
)
def test_no_package(manifest: str | None, message: str, tmp_path: Path) -> None:
    if manifest is not None:
        (tmp_path / "package.json").write_text(manifest, encoding="utf-8")
    with pytest.raises(PackageError, match=message):
        find_package(tmp_path)
