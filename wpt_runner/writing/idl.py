"""A test of a proposal's changes of the IDL, in the manner of idlharness.js."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from webnn.formats.literals import quote
from webnn.validation.drafts.idl_text import compare_idl
from webnn.validation.revision import Revision
from webnn.wpt_runner.writing.conformance import VARIANTS, head

__all__ = ["write_idl_test"]

_HELPERS = {
    "assertOperation": """\
const assertOperation = (interfaceName, name, length) => {
  const {prototype} = self[interfaceName];
  assert_own_property(prototype, name);
  const {value, writable, enumerable, configurable} =
      Object.getOwnPropertyDescriptor(prototype, name);
  assert_equals(typeof value, 'function');
  assert_equals(value.name, name);
  assert_equals(value.length, length, 'number of required arguments');
  assert_true(writable && enumerable && configurable);
};
""",
    "assertAttribute": """\
const assertAttribute = (interfaceName, name) => {
  const {prototype} = self[interfaceName];
  assert_own_property(prototype, name);
  const {get, enumerable, configurable} =
      Object.getOwnPropertyDescriptor(prototype, name);
  assert_equals(typeof get, 'function');
  assert_equals(get.name, `get ${name}`);
  assert_true(enumerable && configurable);
};
""",
}


def write_idl_test(before: Revision, after: Revision, name: str) -> str:
    """Return the text of a file that tests the interfaces, and the operations that `opSupportLimits` lists."""
    text = head(f"test the IDL of WebNN API {name}", VARIANTS[:1], "utils_validation.js", folder="./resources")
    changed = "".join(f"//   {line}\n" for line in compare_idl(before.idl(), after.idl()))
    tests = list(_tests(before.idl()["interfaces"], after.idl()["interfaces"]))
    listed = [each["name"] for each in after.idl()["dictionaries"]["MLOpSupportLimits"]["members"]]
    known = [each["name"] for each in before.idl()["dictionaries"]["MLOpSupportLimits"]["members"]]
    tests += [
        _test(f"opSupportLimits() lists {each}", f"assert_own_property(context.opSupportLimits(), {quote(each)});")
        for each in listed
        if each not in known
    ]
    parts = [text, f"// What changes:\n//\n{changed}" if changed else "// Nothing of the IDL changes.\n"]
    tests = tests or [_test("MLContext", "assert_equals(typeof MLContext, 'function');")]
    helpers = [text for name, text in _HELPERS.items() if any(f"{name}(" in test for test in tests)]
    return "\n".join([*parts, *helpers, *tests])


def _tests(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    for interface in dict.fromkeys([*old, *new]):
        if interface not in new:
            yield _test(f"{interface} is gone", f"assert_false({quote(interface)} in self);")
            continue
        if interface not in old:
            yield _test(f"interface {interface}", f"assert_equals(typeof self[{quote(interface)}], 'function');")
        gone, come = old.get(interface, {}), new[interface]
        for kind, check in (("operations", _check_operation), ("attributes", _check_attribute)):
            before, after = (_by_name(each.get(kind, ())) for each in (gone, come))
            for name in dict.fromkeys([*before, *after]):
                if name not in after:
                    yield _test(f"{interface} has no {name}", f"assert_false({quote(name)} in {interface}.prototype);")
                elif before.get(name) != after[name]:
                    yield _test(f"{interface}: {name}", check(interface, name, after[name]))


def _by_name(members: Sequence[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    found: dict[str, list[Mapping[str, Any]]] = {}
    for each in members:
        found.setdefault(each["name"], []).append(each)
    return found


def _check_operation(interface: str, name: str, overloads: Sequence[Mapping[str, Any]]) -> str:
    lengths = [sum(not each.get("optional") and not each.get("variadic") for each in one["arguments"]) for one in overloads]
    return f"assertOperation({quote(interface)}, {quote(name)}, {min(lengths)});"


def _check_attribute(interface: str, name: str, _: Sequence[Mapping[str, Any]]) -> str:
    return f"assertAttribute({quote(interface)}, {quote(name)});"


def _test(name: str, line: str) -> str:
    return f"promise_test(async () => {{\n  {line}\n}}, {quote(name)});\n"
