"""The classes have the members of their interfaces in both drafts, the twins of those that return promises, and nothing else.

Members that one draft has and the other one does not are refused in the other one's contexts.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import webnn
from tests.meta.specification import (
    ANCHORS,
    CLASSES,
    DICTIONARIES,
    DRAFTS,
    FORMER,
    INTERFACES,
    LATEST,
    SYNC,
    Draft,
    each_draft,
    is_promise,
    merged,
    of_each_draft,
    text,
)
from tests.support import make_context, refused
from webnn import ML, Document, MLActivation, MLContext, MLGraph, MLGraphBuilder, MLOperand, MLTensor, Navigator
from webnn.validation.drafts.idl import IdlOperation

#: Public members that no IDL has, with the reason.
EXTRA: dict[str, dict[str, str]] = {
    "MLContext": {"lostSync": "the twin of the attribute `lost`, a method because it takes a time"},
    "MLGraph": {
        "accuracy": "the emulator's own: each operator against the reference",
        "description": "the emulator's own: the graph as a value",
        "devices": "browsers have it: the device types that the graph runs on",
        "firstNaN": "the emulator's own: the first operator that makes NaN",
        "placement": "the emulator's own: where each operator runs",
        "profile": "the emulator's own: the time of each operator",
        "run": "the emulator's own: arrays in, arrays out",
        "trace": "the emulator's own: the results of all operators",
    },
    "MLOperand": {"descriptor": "the emulator's own, for its packages: type and shape as one value"},
}
#: Methods that the graphs of both drafts have; another one is refused in the contexts of June 2024.
IN_BOTH = {("MLGraph", name) for name in ("accuracy", "description", "devices", "firstNaN", "placement", "profile", "run", "trace")}
IN_BOTH |= {("MLOperand", "descriptor")}
#: Interfaces without a constructor that Python can make all the same, with the reason.
CONSTRUCTIBLE = {
    "ML": "there is no page that owns it: a program may want one of another revision, or with another permissions policy",
    "NavigatorML": "likewise",
}
#: How annotations write what methods take, and what they return.
TAKEN = {"AllowSharedBufferSource": "Bytes", "MLNamedArrayBufferViews": "Mapping[str, Bytes]", "MLNamedTensors": "Mapping[str, MLTensor]"}
#: Likewise for the arguments that methods write to. An optional buffer may be `None`.
WRITTEN = {
    ("AllowSharedBufferSource", "outputData"): "WritableBytes | None",
    ("MLNamedArrayBufferViews", "outputs"): "Mapping[str, WritableBytes]",
}
RETURNED = {
    # With a buffer nothing is returned, without one an array of the tensor's type.
    "Promise<ArrayBuffer>": "asyncio.Future[Any]",
    "Promise<undefined>": "asyncio.Future[Any]",
    "MLOpSupportLimits": "dict[str, Any]",
    # An object of the device's package.
    "GPUBuffer": "Any",
    "undefined": "None",
}
#: The return types of twins whose promise has no Python type.
TWINS = {"readTensor": "Array | None"}


def operations(interface: str) -> dict[str, list[IdlOperation]]:
    """Return the operations of an interface by name, with the overloads of the current draft, or of the other one if that alone has it."""
    return {**FORMER.overloads(interface), **LATEST.overloads(interface)}


def attributes(interface: str) -> list[str]:
    return merged(draft.attributes(interface) for draft in DRAFTS)


PROMISES = [(owner, name) for owner in INTERFACES for name, overloads in operations(owner).items() if is_promise(overloads[0]["returns"])]
#: The methods whose signatures are tested here; `test_operations` has those of the builder.
METHODS = [(interface, name) for interface in INTERFACES if interface != "MLGraphBuilder" for name in operations(interface)]


def public(cls: type) -> set[str]:
    return {name for name in dir(cls) if not name.startswith("_")}


def test_every_interface_is_public() -> None:
    classes = {name for name in webnn.__all__ if name.startswith("ML") and inspect.isclass(getattr(webnn, name))}
    assert classes - set(DICTIONARIES) == set(INTERFACES) - {"NavigatorML"}
    for draft in DRAFTS:
        assert draft.idl["includes"]["Navigator"] == ["NavigatorML"]


@pytest.mark.parametrize("name", INTERFACES)
def test_members(name: str) -> None:
    twins = {method + SYNC for interface, method in PROMISES if interface == name}
    assert public(CLASSES[name]) == {*operations(name), *attributes(name), *twins, *EXTRA.get(name, {})}
    for attribute in attributes(name):
        assert isinstance(inspect.getattr_static(CLASSES[name], attribute), property)
    for method in operations(name).keys() - set(attributes(name)):
        assert inspect.isfunction(getattr(CLASSES[name], method))


def test_an_attribute_of_one_draft_is_a_method_of_the_other() -> None:
    both = {(name, each) for name in INTERFACES for each in attributes(name) if each in operations(name)}
    assert both == {("MLOperand", "dataType"), ("MLOperand", "shape")}


# Signatures


def test_there_are_promises() -> None:
    assert PROMISES == [
        ("ML", "createContext"),
        ("MLContext", "compute"),
        ("MLContext", "createTensor"),
        ("MLContext", "createConstantTensor"),
        ("MLContext", "readTensor"),
        ("MLContext", "createExportableTensor"),
        ("MLGraphBuilder", "build"),
    ]


@pytest.mark.parametrize(("interface", "name"), PROMISES)
def test_a_twin(interface: str, name: str) -> None:
    asynchronous, synchronous = (inspect.signature(getattr(CLASSES[interface], each)) for each in (name, name + SYNC))
    assert asynchronous.parameters == synchronous.parameters
    promised = operations(interface)[name][0]["returns"]
    assert isinstance(promised, dict)
    assert synchronous.return_annotation == TWINS.get(name, promised["promise"])
    overloads = [typing.get_overloads(getattr(CLASSES[interface], each)) for each in (name, name + SYNC)]
    for first, second in zip(*overloads, strict=True):
        assert inspect.signature(first).parameters == inspect.signature(second).parameters


def signature(function: Callable[..., Any]) -> list[tuple[str, object, object]]:
    return [(each.name, each.annotation, each.default) for each in inspect.signature(function).parameters.values() if each.name != "self"]


EMPTY = inspect.Parameter.empty


def expected_signature(overloads: list[IdlOperation]) -> list[tuple[str, object, object]]:
    """Return the parameters of the longest overload: optional where another one has none, a last dictionary as keyword arguments, too."""
    longest, shortest = (choose(overloads, key=lambda each: len(each["arguments"])) for choose in (max, min))
    expected: list[tuple[str, object, object]] = []
    for index, argument in enumerate(longest["arguments"]):
        written = text(argument["type"])
        optional = argument.get("optional", False) or index >= len(shortest["arguments"])
        annotation = WRITTEN.get((written, argument["name"]), TAKEN.get(written, written))
        expected.append((argument["name"], annotation, None if optional else EMPTY))
    if expected and expected[-1][1] in DICTIONARIES:
        name, dictionary, _ = expected[-1]
        others = [text(each["arguments"][-1]["type"]) for each in overloads if each is not longest]
        expected[-1:] = [(name, " | ".join([str(dictionary), *others, "None"]), None), ("members", f"Unpack[{dictionary}]", EMPTY)]
    return expected


@pytest.mark.parametrize(("interface", "name"), METHODS)
def test_a_signature(interface: str, name: str) -> None:
    overloads = operations(interface)[name]
    if name in attributes(interface):
        assert [each["arguments"] for each in overloads] == [[]]
        return
    method = getattr(CLASSES[interface], name)
    expected = expected_signature(overloads)
    if typing.get_overloads(method):
        # An overload has the annotation of the keyword arguments.
        expected = [(each, "Any", default) if each == "members" else (each, written, default) for each, written, default in expected]
    assert signature(method) == expected
    returned = text(overloads[0]["returns"])
    assert inspect.signature(method).return_annotation == RETURNED.get(
        returned, returned.replace("Promise<", "asyncio.Future[").replace(">", "]")
    )


def test_a_required_dictionary_may_be_given_in_either_way() -> None:
    """Its required members would be required keyword arguments to a type checker: each way is an overload."""
    for name in ("createTensor", "createTensorSync"):
        by_dictionary, by_keywords = typing.get_overloads(getattr(MLContext, name))
        assert signature(by_dictionary) == [("descriptor", "MLTensorDescriptor", EMPTY)]
        assert signature(by_keywords) == [("members", "Unpack[MLTensorDescriptor]", EMPTY)]


def test_what_is_read_depends_on_the_buffer() -> None:
    new, given = operations("MLContext")["readTensor"]
    for name, returned in (("readTensor", "asyncio.Future[{}]"), ("readTensorSync", "{}")):
        into_new, into_given = typing.get_overloads(getattr(MLContext, name))
        assert [each for each, _, _ in signature(into_given)] == [argument["name"] for argument in given["arguments"]]
        assert signature(into_given)[:1] == signature(into_new)[:1] == expected_signature([new])
        assert signature(into_new)[1:] == [("outputData", "None", None)]
        assert inspect.signature(into_new).return_annotation == returned.format("Array")
        assert inspect.signature(into_given).return_annotation == returned.format("None")


@pytest.mark.parametrize("name", [name for name in INTERFACES if name not in CONSTRUCTIBLE])
def test_constructors(name: str) -> None:
    constructors = [each for draft in DRAFTS for each in draft.interfaces.get(name, {}).get("constructors", [])]
    if not constructors:
        for wrong in ([], [1], [make_context()]):
            with pytest.raises(TypeError, match=f"^{name}: illegal constructor"):
                CLASSES[name](*wrong)
        with pytest.raises(TypeError, match=f"^{name}: illegal constructor"):
            CLASSES[name](options={})
    else:
        # A page chooses the document of a builder by the window of its interface.
        own = ["document"] if name == "MLGraphBuilder" else []
        for arguments in constructors:
            assert [each for each, _, _ in signature(CLASSES[name])] == [argument["name"] for argument in arguments] + own


def test_what_python_can_make_all_the_same() -> None:
    assert all("constructors" not in draft.interfaces[name] for name in CONSTRUCTIBLE for draft in DRAFTS)
    # Things that a page cannot choose, and an emulator can.
    own = [
        "profile",
        "fallback",
        "faults",
        "order",
        "providerOptions",
        "engine",
        "reference",
        "numerics",
        "cache",
        "semantics",
        "simulators",
        "plugins",
        "isolate",
    ]
    assert [each for each, _, _ in signature(ML)] == ["revision", "document", *own]
    assert all(each.kind is inspect.Parameter.KEYWORD_ONLY for each in inspect.signature(ML).parameters.values())
    assert {each for each, _, _ in signature(Navigator)} == {"document", "revision"}
    assert isinstance(ML(revision="2024-06", document=Document()), ML)


@pytest.mark.parametrize("value", [None, 1, "context", {}, ML(revision="2024-06")], ids=lambda value: type(value).__name__)
def test_a_builder_needs_a_context(value: Any) -> None:
    with refused(rule="conversion", operation="MLGraphBuilder", argument="context"):
        MLGraphBuilder(value)


# Members that only one draft has


class Objects(SimpleNamespace):
    """One object of each interface, of a context of one draft."""

    context: MLContext
    builder: MLGraphBuilder
    operand: MLOperand
    graph: MLGraph


def objects(draft: Draft) -> Objects:
    context = make_context(str(draft))
    builder = MLGraphBuilder(context)
    operand = builder.input("x", {"dataType": "float32", draft.revision.shape: [2, 3]})
    return Objects(context=context, builder=builder, operand=operand, graph=builder.buildSync({"y": builder.relu(operand)}))


ARRAYS = {"x": np.zeros(2, np.float32)}
DESCRIPTOR: Any = {"dataType": "float32", "shape": [2]}
#: A use of each member in a context of the draft that does not have it, and what the error says of the form that the draft has.
REFUSED: dict[tuple[Draft, str, str], tuple[Callable[[Objects], object], str]] = {
    (FORMER, "MLContext", "accelerated"): (lambda each: each.context.accelerated, "takes deviceType"),
    (FORMER, "MLContext", "lost"): (lambda each: each.context.lost, r'ML\(revision="2026-06"\) has it'),
    (FORMER, "MLContext", "lostSync"): (lambda each: each.context.lostSync(0), r'ML\(revision="2026-06"\) has it'),
    (FORMER, "MLContext", "opSupportLimits"): (lambda each: each.context.opSupportLimits(), r'ML\(revision="2026-06"\) has it'),
    (FORMER, "MLContext", "destroy"): (lambda each: each.context.destroy(), r'ML\(revision="2026-06"\) has it'),
    (FORMER, "MLContext", "dispatch"): (lambda each: each.context.dispatch(each.graph, {}, {}), "it has compute"),
    (FORMER, "MLContext", "createTensor"): (lambda each: each.context.createTensor(DESCRIPTOR), "it has compute"),
    (FORMER, "MLContext", "createConstantTensor"): (
        lambda each: each.context.createConstantTensor(DESCRIPTOR, ARRAYS["x"]),
        "it has compute",
    ),
    (FORMER, "MLContext", "createExportableTensor"): (
        lambda each: each.context.createExportableTensor(DESCRIPTOR, webnn.GPUDevice()),
        r'ML\(revision="2026-09"\) has it',
    ),
    (FORMER, "MLContext", "exportToGPU"): (lambda each: each.context.exportToGPU(each.graph), r'ML\(revision="2026-09"\) has it'),
    (FORMER, "MLContext", "readTensor"): (lambda each: each.context.readTensor(each.graph), "it has compute"),
    (FORMER, "MLContext", "writeTensor"): (lambda each: each.context.writeTensor(each.graph, ARRAYS["x"]), "it has compute"),
    (FORMER, "MLGraph", "destroy"): (lambda each: each.graph.destroy(), r'ML\(revision="2026-06"\) has it'),
    (LATEST, "MLContext", "compute"): (lambda each: each.context.compute(each.graph, ARRAYS, ARRAYS), r"dispatch\(\)"),
    (LATEST, "MLOperand", "dataType"): (lambda each: each.operand.dataType(), "write operand.dataType"),
    (LATEST, "MLOperand", "shape"): (lambda each: each.operand.shape(), "write operand.shape"),
}


def members(draft: Draft, interface: str) -> set[tuple[str, bool]]:
    """Return the members that a draft's interface has, and which of them are attributes."""
    return {*((name, False) for name in draft.overloads(interface)), *((name, True) for name in draft.attributes(interface))}


def missing(draft: Draft) -> set[tuple[Draft, str, str]]:
    """Return the members of the other draft that the interfaces of this one do not have, or have as attributes and not as methods.

    An attribute of the other draft that is a method here cannot be refused: reading it returns the method.
    """
    found: set[tuple[Draft, str, str]] = set()
    for interface in draft.interfaces.keys() - {"MLGraphBuilder"}:
        own = members(draft, interface)
        every = {each for other in DRAFTS for each in members(other, interface)}
        extra = {name for name in EXTRA.get(interface, {}) if draft is FORMER and (interface, name) not in IN_BOTH}
        names = {name for name, _ in every - own if (name, False) not in own}
        found |= {(draft, interface, name) for name in names.union(extra)}
    return found


@each_draft
def test_every_missing_member_is_listed(draft: Draft) -> None:
    assert {each for each in REFUSED if each[0] is draft} == missing(draft)


@pytest.mark.parametrize("refused", REFUSED, ids=lambda each: "-".join(map(str, each)))
def test_a_member_of_the_other_draft(refused: tuple[Draft, str, str]) -> None:
    draft, _, name = refused
    use, instead = REFUSED[refused]
    with pytest.raises(webnn.WebNNTypeError, match=instead) as caught:
        use(objects(draft))
    assert caught.value.operation == name.removesuffix(SYNC)
    assert caught.value.anchor in ANCHORS or name in {"dataType", "shape"}


def absent(draft: Draft) -> set[tuple[str, str]]:
    """Return the members, with their twins, that the objects of a draft's context must not have, the builder's operations included."""
    names = {(interface, name) for _, interface, name in missing(draft) if interface != "MLOperand"}
    every = {name for other in DRAFTS for name in other.operation_names}
    names |= {("MLGraphBuilder", name) for name in every - set(draft.operation_names)}
    return names | {(interface, name + SYNC) for interface, name in names if (interface, name) in PROMISES}


@each_draft
async def test_feature_detection(draft: Draft) -> None:
    """A member that the draft lacks is not there, as in a page, and all other ones are."""
    each = objects(draft)
    for interface, instance in (("MLContext", each.context), ("MLGraphBuilder", each.builder), ("MLGraph", each.graph)):
        lacking = {name for owner, name in absent(draft) if owner == interface}
        assert lacking < public(CLASSES[interface])
        assert {name for name in public(CLASSES[interface]) if not hasattr(instance, name)} == lacking
        assert {name for name in dir(instance) if not name.startswith("_")} == public(CLASSES[interface]) - lacking
        for name in lacking:
            assert getattr(instance, name, None) is None
            with refused(webnn.MissingMemberError, rule="draft") as caught:
                getattr(instance, name)
            assert isinstance(caught.value, webnn.WebNNTypeError)
            assert isinstance(caught.value, AttributeError)
            assert caught.value.anchor in ANCHORS
            # A function of the class asks its first argument.
            function = getattr(CLASSES[interface], name)
            if inspect.isfunction(function):
                with refused(webnn.MissingMemberError, rule="draft"):
                    function(instance)


def test_a_subclass_has_the_same_members() -> None:
    class Mine(MLGraphBuilder):
        def tile(self, *values: Any) -> MLOperand:  # type: ignore[override]
            return super().tile(*values)

    former, latest = (Mine(make_context(str(draft))) for draft in (FORMER, LATEST))
    x = latest.input("x", dataType="float32", shape=[2])
    assert latest.tile(x, [2]).shape == (4,)
    with refused(AttributeError, rule="draft", operation="tile"):
        former.tile(x, [2])
    assert not hasattr(former, "sign")


@each_draft
def test_graphs_of_the_other_draft_s_context(draft: Draft) -> None:
    """A graph belongs to its context: one of the other draft is as foreign as any."""
    mine, other = objects(draft), objects(*[each for each in DRAFTS if each is not draft])
    run = mine.context.dispatch if draft is LATEST else mine.context.computeSync
    with refused(rule="owner", argument="graph"):
        run(other.graph, {}, {})
    with refused(rule="owner", operation="relu", argument="input"):
        MLGraphBuilder(mine.context).relu(other.operand)


# Rules for all of them


def test_the_attribute_of_the_navigator() -> None:
    for draft in DRAFTS:
        (attribute,) = draft.interfaces["NavigatorML"]["attributes"]
        assert attribute["readonly"]
        assert "SameObject" in attribute["extendedAttributes"]
    navigator = Navigator()
    assert isinstance(navigator.ml, ML)
    assert navigator.ml is navigator.ml
    with pytest.raises(AttributeError):
        navigator.ml = ML(revision="2024-06")  # type: ignore[misc]


@of_each_draft(lambda draft: [name for name in draft.interfaces if draft.attributes(name)])
def test_attributes_cannot_be_set(draft: Draft, name: str) -> None:
    for attribute in draft.interfaces[name]["attributes"]:
        assert attribute["readonly"]
        assert inspect.getattr_static(CLASSES[name], attribute["name"]).fset is None


@pytest.mark.parametrize("cls", CLASSES.values(), ids=CLASSES)
def test_names_are_the_specification_s(cls: type) -> None:
    """No second, snake_case surface."""
    assert [name for name in public(cls) if "_" in name] == []


def test_objects_take_no_other_attributes() -> None:
    """A misspelled attribute is an error, and objects stay small."""
    former, latest = objects(FORMER), objects(LATEST)
    tensor = latest.context.createTensorSync(DESCRIPTOR)
    for each, cls in (
        (former.context, MLContext),
        (former.builder, MLGraphBuilder),
        (former.operand, MLOperand),
        (former.builder.relu(), MLActivation),
        (former.graph, MLGraph),
        (tensor, MLTensor),
    ):
        # A context's class may be a subclass for its draft, of the same name.
        assert type(each) is cls or (cls is MLContext and issubclass(type(each), cls) and repr(type(each)) == repr(cls))
        with pytest.raises(AttributeError):
            each.unheard = 1


def test_what_operands_return() -> None:
    former, latest = (objects(draft).operand for draft in (FORMER, LATEST))
    assert former.dataType() == latest.dataType == "float32"
    assert latest.dataType in LATEST.idl["enumerations"]["MLOperandDataType"]
    # A sequence is returned as a new list: to change it changes nothing. A frozen array cannot be changed.
    former.shape().append(4)
    assert former.shape() == list(latest.shape) == [2, 3]
    assert isinstance(latest.shape, tuple)
