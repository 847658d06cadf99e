"""The format of a profile's file: what `MLContext.opSupportLimits` returns, and metadata in members that begin with an underscore.

`check` checks the shape of a file; `resolve` makes a `Profile` of it and of the one that it extends. Both name every problem, with the path
inside the file.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, ValidationInfo, field_validator
from pydantic_core import ErrorDetails, PydanticCustomError

from webnn.builder.numerics import DEFAULT_NUMERICS, Numerics
from webnn.builder.semantics import check_switch
from webnn.context.limits import CONTEXT, TensorLimits
from webnn.context.profiles.problems import LISTED, Problem, ProfileError
from webnn.context.profiles.profile import Profile, operand_names
from webnn.context.profiles.rules import CONSTANT, Rule, subjects
from webnn.validation import webidl
from webnn.validation.descriptor import MAX_RANK, Types
from webnn.validation.device_type import DEVICE_TYPES, DeviceType

__all__ = ["check", "resolve"]

_Location = tuple[int | str, ...]

#: The data types that devices have: those of the drafts, and `SMALL_TYPES`.
_Type = Literal["float32", "float16", "int32", "uint32", "int64", "uint64", "int8", "uint8", "int4", "uint4"]
_EVERY_TYPE: Types = get_args(_Type)
#: The longest name that a path has in full; no operation's is longer.
_LONGEST = 40


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, populate_by_name=False)


def _native(value: object) -> Any:
    """Convert a list of operations to an object that restricts none of them."""
    if not isinstance(value, list):
        return value
    if not all(isinstance(name, str) for name in value):
        raise PydanticCustomError("operations", "must hold names of operations")
    return {name: {} for name in value}


def _source(value: object) -> Any:
    """Convert a line of text to an object."""
    return {"summary": value} if isinstance(value, str) else value


class _RankRange(_Strict):
    """``MLRankRange``. The largest rank comes first because the smallest one is compared with it."""

    max: int = Field(ge=0, le=2**32 - 1)
    min: int = Field(ge=0, le=2**32 - 1)

    @field_validator("min")
    @classmethod
    def _isInOrder(cls, low: int, info: ValidationInfo) -> int:
        high = info.data.get("max")
        if high is not None and low > high:
            raise PydanticCustomError("order", "must not be greater than max, {high}", {"high": high})
        return low


class _Size(_RankRange):
    """How many elements there are; without ``max`` any number from ``min``."""

    max: int = Field(default=2**32 - 1, ge=0, le=2**32 - 1)


class _Row(_Strict):
    """``MLTensorLimits``. Missing members are filled in later."""

    dataTypes: list[_Type] = []
    rankRange: _RankRange = _RankRange(min=0, max=0)

    @field_validator("dataTypes")
    @classmethod
    def _areDifferent(cls, types: list[_Type]) -> list[_Type]:
        if len(set(types)) < len(types):
            raise PydanticCustomError("different", "must be different from each other")
        return types


Rows = dict[str, _Row]


class _Test(_Strict):
    """A test of an operand, an argument or an option: the vocabulary of `webnn.context.profiles.rules`."""

    constant: bool = True
    dataTypes: list[_Type] = []
    rankRange: _RankRange = _RankRange(min=0, max=0)
    maxByteLength: int = Field(default=1, ge=1, le=2**53 - 1)
    equals: Any = None
    oneOf: list[Any] = Field(default=[None], min_length=1)
    size: _Size = _Size(min=0)


class _Rule(_Strict):
    """A rule of ``_build``."""

    must: dict[str, _Test] = Field(min_length=1)
    when: dict[str, _Test] = {}
    error: Literal["NotSupportedError", "OperationError", "TypeError", "UnknownError"] = "NotSupportedError"
    change: str = ""
    says: str = ""
    at: Literal["build", "call"] = "build"

    @field_validator("at")
    @classmethod
    def _fits(cls, at: str, info: ValidationInfo) -> str:
        error = info.data.get("error")
        if at == "call" and error not in {None, "TypeError"}:
            raise PydanticCustomError("call", "must be 'build' where the error is {error}", {"error": error})
        return at


class _NativeRule(_Strict):
    """A rule of ``_nativeRules``: the device runs calls itself that satisfy it."""

    must: dict[str, _Test] = Field(min_length=1)
    when: dict[str, _Test] = {}
    change: str = ""


class _File(_Strict):
    """The content of a file; every member is optional. Its other members are operations: their rows, or ``None`` to remove one."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Rows | None]

    source: Annotated[dict[str, Any], BeforeValidator(_source)] = Field(default={}, alias="_source")
    extends: str = Field(default="", alias="_extends")
    devices: dict[DeviceType, DeviceType] = Field(default={}, alias="_devices")
    native: Annotated[dict[str, Rows] | None, BeforeValidator(_native)] = Field(default=None, alias="_native")
    build: dict[str, list[_Rule]] = Field(default={}, alias="_build")
    members: dict[Literal["interfaces", "dictionaries"], dict[str, list[str]]] = Field(default={}, alias="_members")
    numerics: Numerics = Field(default=DEFAULT_NUMERICS, alias="_numerics")
    semantics: dict[str, Any] = Field(default={}, alias="_semantics")
    engine: str = Field(default="", alias="_engine")
    cpuFallback: bool = Field(default=True, alias="_cpuFallback")
    constantTensors: bool = Field(default=True, alias="_constantTensors")
    nativeRules: dict[str, list[_NativeRule]] = Field(default={}, alias="_nativeRules")
    lacks: list[_Type] = Field(default=[], alias="_lacks")
    preferredInputLayout: Literal["nchw", "nhwc"] = "nchw"
    maxTensorByteLength: int = Field(default=1, ge=1, le=2**53 - 1)
    input: _Row = _Row()
    constant: _Row = _Row()
    output: _Row = _Row()


#: The members that the IDL does not have.
_OWN = tuple(str(field.alias) for field in _File.model_fields.values() if field.alias)


def check(file: str, data: object) -> dict[str, Any]:
    """Check the shape of a file's content, and return it.

    Raises:
        ProfileError: With every problem: a name or a data type that is not known, a value of a wrong type, ranks that are not a range.
    """
    if not isinstance(data, dict):
        raise ProfileError(file, [("", f"must hold an object, got {webidl.describe(data)}")])
    unknown = {location: (text, known) for location, text, known in _unknown(data)}
    given = data.get("_semantics")
    switches = given.items() if isinstance(given, dict) else ()
    problems = [(_path(("_semantics", name)), wrong) for name, value in switches if (wrong := check_switch(name, value))]
    problems += [
        # Guessing the intended name is slow, so only the problems that the message lists get a guess.
        (_path(location), text + (_guess(str(location[-1]), known) if index < LISTED else ""))
        for index, (location, (text, known)) in enumerate(unknown.items())
    ]
    try:
        _File.model_validate(data)
    except ValidationError as invalid:
        for error in invalid.errors(include_url=False):
            # pydantic appends "[key]" to the location of an invalid key.
            location = error["loc"][:-1] if error["loc"][-1:] == ("[key]",) else error["loc"]
            # Problems below an unknown name are not reported.
            if not any(location[:depth] in unknown for depth in range(1, len(location) + 1)):
                problems.append((_path(location), _text(error)))
    if problems:
        raise ProfileError(file, problems)
    return data


def _unknown(data: Mapping[str, Any]) -> Iterator[tuple[_Location, str, Iterable[str]]]:
    """Find unknown names of operations and operands: the place, what must hold, and the known names."""
    names = operand_names()
    for member, value in data.items():
        if member in CONTEXT or member in _OWN:
            continue
        if member.startswith("_"):
            yield (member,), f"must be one of {list(_OWN)}", ()
        else:
            yield from _unknown_names((), member, value)
    native = data.get("_native")
    if isinstance(native, list):
        for index, operation in enumerate(native):
            if isinstance(operation, str) and operation not in names:
                yield ("_native", index), f"must be an operation of WebNN, got {webidl.describe(operation)}", ()
    elif isinstance(native, dict):
        for operation, rows in native.items():
            yield from _unknown_names(("_native",), operation, rows)
    for member, others in (("_build", (CONSTANT,)), ("_nativeRules", ())):
        given = data.get(member)
        for operation, rules in given.items() if isinstance(given, dict) else ():
            if operation not in (*names, *others):
                yield (member, operation), f"must be {', or '.join(('an operation of WebNN', *others))}", (*names, *others)
            else:
                for index, rule in enumerate(rules if isinstance(rules, list) else ()):
                    yield from _unknown_tests((member, operation, index), operation, rule)


#: The words of `_Test` that are about operands, and about arguments and options; the others are about both.
_OPERAND_WORDS = ("constant", "dataTypes", "rankRange", "maxByteLength")
_VALUE_WORDS = ("equals", "oneOf")


def _unknown_tests(location: _Location, operation: str, rule: object) -> Iterator[tuple[_Location, str, Iterable[str]]]:
    """Find the names in a rule that the operation does not have, and words that do not suit a name."""
    known = subjects(operation)
    parts = [(part, rule[part]) for part in ("must", "when") if part in rule] if isinstance(rule, dict) else []
    for part, tests in parts:
        for name, test in tests.items() if isinstance(tests, dict) else ():
            if name not in known:
                yield (*location, part, name), f"must be an operand, an argument or an option of {operation}, one of {list(known)}", ()
                continue
            wrong = _VALUE_WORDS if known[name] else _OPERAND_WORDS
            for word in [word for word in test if word in wrong] if isinstance(test, dict) else ():
                what = "an argument or an option, and this is an operand" if known[name] else "an operand, and this is none"
                yield (*location, part, name, word), f"must be of {what}", ()


def _unknown_names(location: _Location, operation: str, rows: object) -> Iterator[tuple[_Location, str, Iterable[str]]]:
    names = operand_names()
    known = names.get(operation)
    if known is None:
        yield (*location, operation), "must be an operation of WebNN", names
    elif isinstance(rows, dict):
        for name in rows:
            if name not in known:
                yield (*location, operation, name), f"must be an operand of {operation}, one of {list(known)}", ()


def _guess(name: str, known: Iterable[str]) -> str:
    """Say which name may be meant."""
    close = difflib.get_close_matches(name, known, 1)
    return f" (perhaps {close[0]})" if close else ""


def _path(location: _Location) -> str:
    """Write a place inside the file."""
    parts = [f"[{part}]" if isinstance(part, int) else f".{_key(part)}" for part in location]
    return "".join(parts).removeprefix(".")


def _key(name: str) -> str:
    """Write the name of a member: unchanged, or quoted and shortened if it is not a plain name."""
    return name if name.isidentifier() and len(name) <= _LONGEST else webidl.describe(name)


_REQUIRED = "must be given"

#: The text of an error, by the type of pydantic's error. Other types keep pydantic's message.
_WORDS: Mapping[str, str] = MappingProxyType(
    {
        "bool_type": "must be true or false",
        "dict_type": "must be an object",
        "extra_forbidden": "must not be there",
        "greater_than_equal": "must be at least {ge}",
        "int_type": "must be an integer",
        "less_than_equal": "must be at most {le}",
        "list_type": "must be a list",
        "literal_error": "must be one of {expected}",
        "missing": _REQUIRED,
        "too_short": "must not be empty",
        "model_type": "must be an object",
        "string_type": "must be a string",
    }
)


def _text(error: ErrorDetails) -> str:
    words = _WORDS.get(error["type"])
    text = error["msg"] if words is None else words.format(**error.get("ctx", {}))
    return text if error["type"] in {"missing", "extra_forbidden"} else f"{text}, got {webidl.describe(error['input'])}"


def resolve(file: str, name: str, data: Mapping[str, Any], base: Profile | None) -> Profile:
    """Make the profile of a file from its checked content. Members that it leaves out come from the profile that it extends.

    Raises:
        ProfileError: Members are missing in both. The error lists all of them.
    """
    said = {member: value for member, value in data.items() if member not in _OWN}
    limits = _overlay({} if base is None else base.limits(), said)
    problems = list(_missing(limits))
    if problems:
        raise ProfileError(file, problems)
    devices = dict(base.devices) if base is not None else {each: each for each in DEVICE_TYPES}
    native = None if base is None else base.native
    if "_native" in data:
        given = _native(data["_native"])
        native = None if given is None else MappingProxyType({operation: _rows(rows) for operation, rows in given.items()})
    built, native_rules = ({} if base is None else base.rules), ({} if base is None else base.native_rules)
    return Profile(
        name=name,
        source=MappingProxyType(_source(data.get("_source", _origin(data)))),
        max_byte_length=limits["maxTensorByteLength"],
        preferred_layout=limits["preferredInputLayout"],
        input=_limits(limits["input"]),
        constant=_limits(limits["constant"]),
        output=_limits(limits["output"]),
        operations=MappingProxyType(
            {
                operation: _rows({row: limits[operation][row] for row in rows})
                for operation, rows in operand_names().items()
                if limits.get(operation) is not None
            }
        ),
        devices=MappingProxyType(devices | data.get("_devices", {})),
        native=native,
        native_rules=_rules(native_rules, data.get("_nativeRules")),
        lacks=tuple(data.get("_lacks", () if base is None else base.lacks)),
        numerics=data.get("_numerics", None if base is None else base.numerics),
        semantics=tuple((dict(() if base is None else base.semantics) | data.get("_semantics", {})).items()),
        engine=data.get("_engine", "" if base is None else base.engine),
        cpu_fallback=data.get("_cpuFallback", base is None or base.cpu_fallback),
        constant_tensors=data.get("_constantTensors", base is None or base.constant_tensors),
        members=data.get("_members", {} if base is None else base.members),
        rules=_rules(built, data.get("_build")),
    )


def _overlay(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Merge two files; members of ``above`` replace those of ``below``."""
    result = dict(below)
    for name, value in above.items():
        old = result.get(name)
        result[name] = _overlay(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return result


def _missing(limits: Mapping[str, Any]) -> Iterator[Problem]:
    """Find missing members: those of the context, and rows or parts of rows of each operation."""
    yield from ((member, _REQUIRED) for member in CONTEXT if member not in limits)
    rows = {member: limits[member] for member in ("input", "constant", "output") if member in limits}
    for operation, names in operand_names().items():
        given = limits.get(operation)
        if given is not None:
            yield from ((f"{operation}.{row}", _REQUIRED) for row in names if row not in given)
            rows |= {f"{operation}.{row}": value for row, value in given.items()}
    for path, row in rows.items():
        yield from ((f"{path}.{member}", _REQUIRED) for member in ("dataTypes", "rankRange") if member not in row)


def _limits(row: Mapping[str, Any]) -> TensorLimits:
    """Make the limits of a row; members missing in a row of native operations restrict nothing."""
    ranks = row.get("rankRange", {"min": 0, "max": MAX_RANK})
    return TensorLimits(tuple(row.get("dataTypes", _EVERY_TYPE)), (ranks["min"], ranks["max"]))


def _rows(rows: Mapping[str, Any]) -> Mapping[str, TensorLimits]:
    return MappingProxyType({row: _limits(value) for row, value in rows.items()})


def _rules(below: Mapping[str, Sequence[Rule]], given: Mapping[str, Any] | None) -> Mapping[str, Sequence[Rule]]:
    """Return the rules of each operation: those that a file gives, otherwise those of the profile that it extends."""
    merged = {**below, **{operation: tuple(_rule(rule) for rule in rules) for operation, rules in (given or {}).items()}}
    return MappingProxyType({operation: rules for operation, rules in merged.items() if rules})


def _rule(rule: Mapping[str, Any]) -> Rule:
    return Rule(**{**rule, "must": MappingProxyType(rule["must"]), "when": MappingProxyType(rule.get("when", {}))})


def _origin(data: Mapping[str, Any]) -> str:
    """Describe the origin of a profile whose file has no source."""
    return f"extends {data['_extends']}" if "_extends" in data else "a file that does not say its source"
