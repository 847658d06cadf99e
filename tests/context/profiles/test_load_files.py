"""The files of device profiles: names and paths, what a file must hold, and how one extends another."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from webnn.context.profiles import ProfileError, load_profile
from webnn.validation import webidl

#: The limits of one operand, and all that a file must have.
ROW = {"dataTypes": ["float32"], "rankRange": {"min": 0, "max": 4}}
WHOLE: Mapping[str, Any] = {
    "preferredInputLayout": "nhwc",
    "maxTensorByteLength": 1000,
    **dict.fromkeys(("input", "constant", "output"), ROW),
}


@pytest.fixture
def write(tmp_path: Path) -> Any:
    def write(data: object, name: str = "mine.json") -> Path:
        file = tmp_path / name
        file.write_bytes(data if isinstance(data, bytes) else json.dumps(data).encode())
        return file

    return write


@pytest.mark.parametrize("name", ["", "CoreML", "coreml ", "none", "tflite-chromium148", "."])
def test_a_name_that_is_not_known(name: str) -> None:
    with pytest.raises(ProfileError) as caught:
        load_profile(name)
    message = str(caught.value)
    assert message.startswith(f"{name or repr(name)}: must be a device profile, one of coreml, coreml-macos14, dml,")
    assert "chromium153-tflite, or the path of a file (.json)" in message
    assert caught.value.file == name


@pytest.mark.parametrize("value", [None, 3, b"coreml", ["coreml"], {}])
def test_a_name_of_a_wrong_type(value: Any) -> None:
    with pytest.raises(TypeError, match="nameOrPath must be a string or a path, got"):
        load_profile(value)


#: Content that is not a profile, and the text of the error behind the file.
NO_PROFILES: list[tuple[bytes, str]] = [
    (b"", "must be JSON: Expecting value: line 1 column 1"),
    (b"{", "must be JSON: Expecting property name"),
    (b'{"add": 1,}', "must be JSON: "),
    (b"\xff\xfe{\x00}\x00", "must be text in UTF-8: invalid start byte at byte 0"),
    (b"[" * 100_000, "must be JSON: it is nested too deeply"),
    (b"1" * 5000, "must be JSON: Exceeds the limit"),
    (b" " * (2**20 + 1), "must have at most 1048576 bytes"),
    (b'{"_extends": "ort", "_extends": "dml"}', "must be JSON: '_extends' must not be there twice"),
    (b'{"_extends": "ort", "add": {"a": {}, "a": {}}}', "must be JSON: 'a' must not be there twice"),
    # Among many others, without a comparison of each with each.
    (b"{" + b",".join(b'"%d":0' % index for index in range(90_000)) + b',"z":0,"z":0}', "must be JSON: 'z' must not be there twice"),
    (b'{"_source": "\\ud800"}', "must be JSON: '\\ud800' is half a character"),
    (b"[]", "must hold an object, got []"),
    (b"null", "must hold an object, got None"),
    (b'"coreml"', "must hold an object, got 'coreml'"),
]


@pytest.mark.parametrize(("content", "text"), NO_PROFILES, ids=[text for _, text in NO_PROFILES])
def test_content_that_is_no_profile(write: Any, content: bytes, text: str) -> None:
    file = write(content)
    with pytest.raises(ProfileError) as caught:
        load_profile(file)
    assert str(caught.value).startswith(f"{file}: {text}")
    assert caught.value.file == str(file)
    assert [path for path, _ in caught.value.problems] == [""]


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    for path in (tmp_path / "missing.json", tmp_path, "a\0.json", f"{tmp_path}/missing"):
        with pytest.raises(ProfileError, match=r"must be a file that can be read: \S"):
            load_profile(path)
    # A string with an ending is a file, also if a profile has that name.
    for name in ("coreml.json", "coreml.JSON"):
        with pytest.raises(ProfileError, match=f"^{name}: must be a file that can be read: "):
            load_profile(name)


#: Files in which one thing is wrong: what they say over `coreml`, where it is, and what the error says of it.
PROBLEMS: list[tuple[dict[str, Any], str, str]] = [
    ({"conv2D": {}}, "conv2D", "must be an operation of WebNN (perhaps conv2d)"),
    ({"frobnicate": 3}, "frobnicate", "must be an operation of WebNN"),
    ({"_natives": []}, "_natives", "must be one of ['_source', '_extends', '_devices', '_native', '_build', '_members', '_numerics', "),
    ({"_semantics": {"clampNan": "nan"}}, "_semantics.clampNan", "must be a switch of the semantics, one of ["),
    (
        {"_semantics": {"clampNaN": "ignored"}},
        "_semantics.clampNaN",
        "must be one of ['nan', 'ignore', 'maxValue'], got 'ignored' (perhaps ignore)",
    ),
    ({"_semantics": {"clampNaN": None}}, "_semantics.clampNaN", "must be one of ['nan', 'ignore', 'maxValue'], got None"),
    ({"_semantics": ["clampNaN"]}, "_semantics", "must be an object, got ['clampNaN']"),
    ({"_cpuFallback": "no"}, "_cpuFallback", "must be true or false, got 'no'"),
    ({"add": 3}, "add", "must be an object, got 3"),
    ({"add": []}, "add", "must be an object, got []"),
    ({"add": {"c": ROW}}, "add.c", "must be an operand of add, one of ['a', 'b', 'output']"),
    ({"add": {"a": None}}, "add.a", "must be an object, got None"),
    ({"add": {"a": {"types": []}}}, "add.a.types", "must not be there"),
    ({"add": {"a": {"dataTypes": "float32"}}}, "add.a.dataTypes", "must be a list, got 'float32'"),
    ({"add": {"a": {"dataTypes": ["int32", "float64"]}}}, "add.a.dataTypes[1]", "must be one of 'float32', 'float16', "),
    ({"add": {"a": {"dataTypes": ["int32", "int32"]}}}, "add.a.dataTypes", "must be different from each other, got ['int32', 'int32']"),
    ({"conv2d": {"input": {"rankRange": {"min": 5, "max": 3}}}}, "conv2d.input.rankRange.min", "must not be greater than max, 3, got 5"),
    ({"add": {"a": {"rankRange": {"min": -1, "max": 3}}}}, "add.a.rankRange.min", "must be at least 0, got -1"),
    ({"add": {"a": {"rankRange": {"min": 0, "max": 2**32}}}}, "add.a.rankRange.max", "must be at most 4294967295, got 4294967296"),
    ({"add": {"a": {"rankRange": {"min": 0}}}}, "add.a.rankRange.max", "must be given"),
    ({"add": {"a": {"rankRange": {"min": 0, "max": True}}}}, "add.a.rankRange.max", "must be an integer, got True"),
    ({"add": {"a": {"rankRange": {"min": 0.0, "max": 2}}}}, "add.a.rankRange.min", "must be an integer, got 0.0"),
    ({"add": {"a": {"rankRange": [0, 5]}}}, "add.a.rankRange", "must be an object, got [0, 5]"),
    ({"input": None}, "input", "must be an object, got None"),
    ({"maxTensorByteLength": 0}, "maxTensorByteLength", "must be at least 1, got 0"),
    ({"maxTensorByteLength": 2**53}, "maxTensorByteLength", "must be at most 9007199254740991"),
    ({"maxTensorByteLength": "1000"}, "maxTensorByteLength", "must be an integer, got '1000'"),
    ({"maxTensorByteLength": float("nan")}, "maxTensorByteLength", "must be an integer, got nan"),
    ({"preferredInputLayout": "nwhc"}, "preferredInputLayout", "must be one of 'nchw' or 'nhwc', got 'nwhc'"),
    ({"_devices": ["gpu"]}, "_devices", "must be an object, got ['gpu']"),
    ({"_devices": {"tpu": "cpu"}}, "_devices.tpu", "must be one of 'cpu', 'gpu' or 'npu', got 'tpu'"),
    ({"_devices": {"gpu": "tpu"}}, "_devices.gpu", "must be one of 'cpu', 'gpu' or 'npu', got 'tpu'"),
    ({"_source": 3}, "_source", "must be an object, got 3"),
    ({"_numerics": "quick"}, "_numerics", "must be one of 'exact' or 'fast', got 'quick'"),
    ({"_numerics": None}, "_numerics", "must be one of 'exact' or 'fast', got None"),
    ({"_native": "add"}, "_native", "must be an object, got 'add'"),
    ({"_native": ["add", 3]}, "_native", "must hold names of operations, got ['add', 3]"),
    ({"_native": ["add", "sum"]}, "_native[1]", "must be an operation of WebNN, got 'sum'"),
    ({"_native": {"reduceSun": {}}}, "_native.reduceSun", "must be an operation of WebNN (perhaps reduceSum)"),
    ({"_native": {"add": {"c": {}}}}, "_native.add.c", "must be an operand of add, one of ['a', 'b', 'output']"),
    ({"_native": {"add": {"a": {"dataTypes": ["int"]}}}}, "_native.add.a.dataTypes[0]", "must be one of 'float32', "),
    ({"_native": {"add": []}}, "_native.add", "must be an object, got []"),
    ({"_build": []}, "_build", "must be an object, got []"),
    ({"_nativeRules": {"constant": []}}, "_nativeRules.constant", "must be an operation of WebNN"),
    ({"_nativeRules": {"pad": [{"must": {"mode": {"equals": "edge"}}, "error": "TypeError"}]}}, "_nativeRules.pad[0].error", "must not be"),
    ({"_nativeRules": {"pad": [{"must": {"modes": {"equals": 1}}}]}}, "_nativeRules.pad[0].must.modes", "must be an operand"),
    ({"_lacks": ["float"]}, "_lacks[0]", "must be one of 'float32'"),
    ({"_build": {"pads": []}}, "_build.pads", "must be an operation of WebNN, or constant (perhaps pad)"),
    ({"_build": {"pad": {}}}, "_build.pad", "must be a list, got {}"),
    ({"_build": {"pad": [3]}}, "_build.pad[0]", "must be an object, got 3"),
    ({"_build": {"pad": [{}]}}, "_build.pad[0].must", "must be given"),
    ({"_build": {"pad": [{"must": {}}]}}, "_build.pad[0].must", "must not be empty, got {}"),
    (
        {"_build": {"pad": [{"must": {"modes": {"equals": "edge"}}}]}},
        "_build.pad[0].must.modes",
        "must be an operand, an argument or an option of pad, one of ['beginningPadding', ",
    ),
    ({"_build": {"pad": [{"must": {"mode": {"equal": 1}}}]}}, "_build.pad[0].must.mode.equal", "must not be there"),
    ({"_build": {"pad": [{"must": {"mode": {"oneOf": []}}}]}}, "_build.pad[0].must.mode.oneOf", "must not be empty, got []"),
    (
        {"_build": {"pad": [{"must": {"mode": {"constant": True}}}]}},
        "_build.pad[0].must.mode.constant",
        "must be of an operand, and this is none",
    ),
    (
        {"_build": {"relu": [{"must": {"input": {"constant": True}}, "when": {"input": {"equals": 3}}}]}},
        "_build.relu[0].when.input.equals",
        "must be of an argument or an option, and this is an operand",
    ),
    (
        {"_build": {"relu": [{"must": {"input": {"constant": True}}, "error": "Error"}]}},
        "_build.relu[0].error",
        "must be one of 'NotSupportedError', ",
    ),
    ({"_members": {"enums": {}}}, "_members.enums", "must be one of 'interfaces' or 'dictionaries', got 'enums'"),
    ({"a\nb": {}}, "'a\\nb'", "must be an operation of WebNN"),
    ({"[key]": {}}, "'[key]'", "must be an operation of WebNN"),
    ({"x" * 1000: {}}, webidl.describe("x" * 1000), "must be an operation of WebNN"),
    ({"x" * 40: {}}, "x" * 40, "must be an operation of WebNN"),
    ({"x" * 41: {}}, f"'{'x' * 41}'", "must be an operation of WebNN"),
    ({"_extends": "coreML"}, "_extends", "must be a device profile, one of coreml, "),
    ({"_extends": None}, "_extends", "must be a string, got None"),
]


@pytest.mark.parametrize(("said", "path", "text"), PROBLEMS, ids=[f"{path}: {text}"[:60] for _, path, text in PROBLEMS])
def test_a_problem_has_its_path(write: Any, said: dict[str, Any], path: str, text: str) -> None:
    file = write({"_extends": "coreml", **said})
    with pytest.raises(ProfileError) as caught:
        load_profile(file)
    assert str(caught.value).startswith(f"{file}: {path}: {text}")
    assert [where for where, _ in caught.value.problems] == [path]


#: Files that say too little: what is missing.
INCOMPLETE: list[tuple[dict[str, Any], list[str]]] = [
    ({}, ["preferredInputLayout", "maxTensorByteLength", "input", "constant", "output"]),
    ({**WHOLE, "add": {"a": ROW, "b": ROW}}, ["add.output"]),
    (
        {**WHOLE, "add": {"a": {"dataTypes": []}, "b": {"rankRange": ROW["rankRange"]}, "output": {}}},
        ["add.a.rankRange", "add.b.dataTypes", "add.output.dataTypes", "add.output.rankRange"],
    ),
    ({**WHOLE, "add": {}}, ["add.a", "add.b", "add.output"]),
    ({**WHOLE, "input": {}}, ["input.dataTypes", "input.rankRange"]),
]


@pytest.mark.parametrize(("said", "missing"), INCOMPLETE)
def test_what_is_missing(write: Any, said: dict[str, Any], missing: list[str]) -> None:
    with pytest.raises(ProfileError) as caught:
        load_profile(write(said))
    assert list(caught.value.problems) == [(path, "must be given") for path in missing]


def test_problems_are_listed_up_to_a_number(write: Any) -> None:
    few = write({"_extends": "coreml", "ad": {}, "maxTensorByteLength": -1, "relu": {"input": {"dataTypes": ["f32"]}}})
    with pytest.raises(ProfileError) as caught:
        load_profile(few)
    first, *rest = str(caught.value).splitlines()
    assert first == f"{few}: 3 problems"
    assert [line.partition(":")[0] for line in rest] == ["  ad", "  maxTensorByteLength", "  relu.input.dataTypes[0]"]
    many = write({f"operation{index}": {} for index in range(5000)})
    with pytest.raises(ProfileError) as caught:
        load_profile(many)
    assert len(caught.value.problems) == 5000
    assert str(caught.value).splitlines()[-1] == "  and 4990 more"
    assert len(str(caught.value).splitlines()) == 12


def test_a_whole_file(write: Any) -> None:
    profile = load_profile(write({**WHOLE, "relu": {"input": ROW, "output": ROW}, "abs": {"input": ROW, "output": ROW}, "lstm": None}))
    assert profile.name == "mine.json"
    assert profile.summary == "a file that does not say its source"
    assert profile.max_byte_length == 1000
    assert profile.preferred_layout == "nhwc"
    assert profile.native is None
    # The limits that a page sees have the file's operations alone, in the order of the IDL.
    assert list(profile.operations) == ["abs", "relu"]
    assert profile.limits() == {**WHOLE, "abs": {"input": ROW, "output": ROW}, "relu": {"input": ROW, "output": ROW}}


def test_what_a_page_dumps_is_a_profile(write: Any) -> None:
    """``JSON.stringify(context.opSupportLimits())``, whatever its order."""
    limits = load_profile("tflite").limits()
    profile = load_profile(write(dict(reversed(limits.items()))))
    assert profile.limits() == limits
    assert list(profile.limits()) == list(limits)


def test_a_file_with_a_byte_order_mark(write: Any) -> None:
    assert load_profile(write(b'\xef\xbb\xbf{"_extends": "ort"}')).limits() == load_profile("ort").limits()


def test_a_path_or_a_string(write: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    file = write({"_extends": "ort", "_source": "first"})
    assert load_profile(str(file)).summary == load_profile(file).summary == "first"
    # A file is read each time.
    write({"_extends": "ort", "_source": {"summary": "second,\n on two  lines"}})
    assert load_profile(file).summary == "second, on two lines"
    monkeypatch.chdir(file.parent)
    assert load_profile("mine.json").name == load_profile("./mine.json").name == "mine.json"


@pytest.mark.skipif(os.name == "nt", reason="no file has such a name there")
@pytest.mark.parametrize(("name", "shown"), [("a\nb.json", r"'a\nb.json'"), ("a\udcff.json", r"'a\udcff.json'"), ("ä b.json", "ä b.json")])
def test_a_name_that_cannot_be_printed(write: Any, name: str, shown: str) -> None:
    """The name of a profile is shown in messages."""
    try:
        file = write({"_extends": "ort"}, name)
    except OSError:
        pytest.skip("the file system has no such name")
    assert load_profile(file).name == shown
    with pytest.raises(ProfileError) as caught:
        load_profile(write({"_extends": "or"}, name))
    assert str(caught.value).isprintable()


# Profiles that extend others


def test_what_a_file_does_not_say_is_inherited(write: Any) -> None:
    coreml = load_profile("coreml")
    profile = load_profile(
        write(
            {
                "_extends": "coreml",
                "maxTensorByteLength": 100,
                "input": {"rankRange": {"min": 1, "max": 4}},
                "gather": {"indices": {"dataTypes": ["int64"]}},
                "lstm": None,
            }
        )
    )
    expected = coreml.limits()
    expected["maxTensorByteLength"] = 100
    expected["input"]["rankRange"] = {"min": 1, "max": 4}
    expected["gather"]["indices"]["dataTypes"] = ["int64"]
    del expected["lstm"]
    assert profile.limits() == expected
    assert list(profile.limits()) == list(expected)
    assert profile.devices == coreml.devices
    assert profile.summary == "extends coreml"


def test_a_chain_of_files(write: Any, tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    write({"_extends": "tflite", "_native": ["add", "mul"], "_devices": {"npu": "npu"}, "lstm": None}, "below/first.json")
    write({"_extends": "below/first.json", "_devices": {"gpu": "gpu"}}, "second.json")
    third = load_profile(write({"_extends": "../second.json", "_native": {"relu": {}}}, "below/third.json"))
    assert third.devices == {"cpu": "cpu", "gpu": "gpu", "npu": "npu"}
    assert "lstm" not in third.operations
    assert third.native == {"relu": {}}
    assert load_profile(tmp_path / "second.json").native == {"add": {}, "mul": {}}
    # A removed operation is given again, whole; and a list of native operations is taken back.
    rows = load_profile("tflite").limits()["lstm"]
    again = load_profile(write({"_extends": "second.json", "lstm": rows, "_native": None}, "again.json"))
    assert again.limits() == load_profile("tflite").limits()
    assert again.native is None
    with pytest.raises(ProfileError) as caught:
        load_profile(write({"_extends": "second.json", "lstm": {"input": rows["input"]}}, "again.json"))
    assert [path for path, _ in caught.value.problems] == [f"lstm.{row}" for row in rows if row != "input"]


@pytest.mark.parametrize(
    ("files", "lead"),
    [
        ({"a.json": "a.json"}, "a.json -> a.json"),
        ({"a.json": "b.json", "b.json": "./a.json"}, "a.json -> b.json -> a.json"),
        ({"a.json": "b.json", "b.json": "c.json", "c.json": "b.json"}, "a.json -> b.json -> c.json -> b.json"),
    ],
)
def test_a_circle_is_refused(write: Any, tmp_path: Path, files: Mapping[str, str], lead: str) -> None:
    for name, other in files.items():
        write({"_extends": other}, name)
    with pytest.raises(ProfileError, match=r"_extends: must not lead back to a file that it comes from, got ") as caught:
        load_profile(tmp_path / "a.json")
    assert str(caught.value).replace(f"{tmp_path}{os.sep}", "").endswith(f", got {lead}")


def test_a_chain_has_an_end(write: Any) -> None:
    write({"_extends": "ort"}, "1.json")
    *_, longest, longer = [write({"_extends": f"{index - 1}.json"}, f"{index}.json") for index in range(2, 22)]
    assert load_profile(longest).limits() == load_profile("ort").limits()
    with pytest.raises(ProfileError, match=r"2\.json: _extends: must not make a chain of more than 20 files$"):
        load_profile(longer)


@pytest.mark.parametrize("name", ["missing.json", "a\0.json", "x" * 5000 + ".json", "below/../missing.json", "." + os.sep])
def test_what_it_extends_cannot_be_read(write: Any, tmp_path: Path, name: str) -> None:
    with pytest.raises(ProfileError, match=r": must be a file that can be read: \S") as caught:
        load_profile(write({"_extends": name}))
    assert caught.value.file == str(tmp_path / name)


def test_an_error_names_the_file_that_has_it(write: Any, tmp_path: Path) -> None:
    write({"_extends": "coreml", "ad": {}}, "below.json")
    with pytest.raises(ProfileError, match="ad: must be an operation") as caught:
        load_profile(write({"_extends": "below.json"}))
    assert caught.value.file == str(tmp_path / "below.json")
