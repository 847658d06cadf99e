"""`emulate`: what holds for every `ML` of the process, how blocks nest and end, and the environment outside of them."""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

from tests.support import PATIENCE, modules_after, refused
from webnn import ML, GraphDescription, MLContext, MLGraph, MLGraphBuilder, Navigator, NotSupportedError, navigator
from webnn.context import emulation
from webnn.context.emulation import Settings, ambient, emulate
from webnn.context.faults import Faults
from webnn.context.profiles import ProfileError, load_profile

CUDA = "CUDAExecutionProvider"


@pytest.fixture(autouse=True)
def outside(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nothing holds from outside; nothing is left behind."""
    for name in ("WEBNN_PROFILE", "WEBNN_FALLBACK", "WEBNN_NUMERICS"):
        monkeypatch.delenv(name, raising=False)
    assert emulation._LAYERS == []
    yield
    assert emulation._LAYERS == []


def refuses(ml: ML) -> bool:
    """Tell whether an `ML` makes no context."""
    try:
        ml.createContextSync()
    except NotSupportedError:
        return True
    return False


# The settings of a block


def test_nothing_is_set() -> None:
    assert ambient() == Settings()
    with emulate() as settings:
        assert settings == Settings()
        assert ambient() == Settings()


def test_a_block_sets_what_it_says() -> None:
    faults = Faults()
    with emulate(
        profile="coreml", fallback="silent", faults=faults, order={"gpu": [CUDA]}, providerOptions={CUDA: {"device_id": 1}}
    ) as own:
        settings = ambient()
        assert settings == own
        assert settings.profile is load_profile("coreml")
        assert settings.fallback == "silent"
        assert settings.faults is faults
        assert settings.order == {"gpu": (CUDA,)}
        assert settings.providerOptions == {CUDA: {"device_id": "1"}}
    assert ambient() == Settings()


def test_a_profile_is_a_name_a_file_or_itself(tmp_path: Path) -> None:
    profile = load_profile("dml")
    file = tmp_path / "mine.json"
    file.write_text(json.dumps({"_source": {"what": "a test"}, "_extends": "dml"}), encoding="utf-8")
    for given in (profile, "dml"):
        with emulate(profile=given):
            assert ambient().profile is profile
    for path in (file, str(file)):
        with emulate(profile=path):
            found = ambient().profile
            assert found is not None
            assert found.operations == profile.operations


BAD: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"profile": "tensorflow"}, ProfileError, "tensorflow: must be a device profile, one of coreml"),
    ({"profile": "none.json"}, ProfileError, "none.json: must be a file that can be read"),
    ({"profile": ""}, ProfileError, "must be a device profile"),
    ({"profile": 3}, TypeError, "emulate: profile must be the name or the file of a device profile, or a Profile, got 3"),
    ({"fallback": "never"}, ValueError, "emulate: fallback must be one of ['allow', 'silent', 'deny'], got 'never'"),
    ({"fallback": True}, ValueError, "got True"),
    ({"faults": "npu"}, TypeError, "emulate: faults must be a webnn.Faults, got 'npu'"),
    ({"faults": Faults}, TypeError, "emulate: faults must be a webnn.Faults"),
    ({"order": ["gpu"]}, TypeError, "order must be a mapping"),
    ({"on_build": "print"}, TypeError, "emulate: on_build must be a function, got 'print'"),
    ({"on_compute": 3}, TypeError, "emulate: on_compute must be a function, got 3"),
    ({"on_context": []}, TypeError, "emulate: on_context must be a function, got []"),
    ({"order": {"tpu": []}}, ValueError, "order must have keys of"),
    ({"providerOptions": CUDA}, TypeError, "providerOptions must be a mapping"),
]


@pytest.mark.parametrize(("parameters", "kind", "message"), BAD, ids=[str(parameters)[:50] for parameters, _, _ in BAD])
def test_what_is_no_parameter(parameters: dict[str, Any], kind: type[Exception], message: str) -> None:
    """It is refused by the call, before the block."""
    with pytest.raises(kind, match=re.escape(message)):
        emulate(**parameters)


def test_what_a_block_shows() -> None:
    assert repr(emulate(fallback="deny")).startswith("<emulate(profile=None, fallback='deny', faults=None,")


# The objects that a block affects


def test_every_ml_obeys_while_the_block_lasts() -> None:
    page, own = Navigator(), ML(revision="2024-06", faults=Faults())
    before = ML(revision="2026-06")
    everybody = [navigator.ml, page.ml, before]
    assert [refuses(ml) for ml in everybody] == [False, False, False]
    with emulate(faults=Faults(refuse=["cpu", "gpu", "npu"])):
        assert [refuses(ml) for ml in [*everybody, ML(revision="2024-06")]] == [True, True, True, True]
        # The program's own settings go first.
        assert not refuses(own)
    assert [refuses(ml) for ml in everybody] == [False, False, False]


def test_a_context_keeps_what_it_was_made_with() -> None:
    faults = Faults()
    with emulate(faults=faults):
        context = ML(revision="2024-06").createContextSync()
    assert getattr(context._computeSteps, "_faults", None) is faults
    other = ML(revision="2024-06").createContextSync()
    with emulate(faults=faults):
        assert getattr(other._computeSteps, "_faults", None) is None


async def test_other_tasks_and_threads_obey() -> None:
    """Threads that were started before, too, which no context variable would reach."""
    go, done = threading.Event(), []

    def work() -> None:
        go.wait(PATIENCE)
        done.append(refuses(ML(revision="2024-06")))

    async def task() -> bool:
        await asyncio.to_thread(go.wait, PATIENCE)
        return refuses(navigator.ml)

    thread = threading.Thread(target=work)
    thread.start()
    waiting = asyncio.create_task(task())
    await asyncio.sleep(0)
    with emulate(faults=Faults(refuse="cpu")):
        go.set()
        assert await waiting
        await asyncio.to_thread(thread.join)
    assert done == [True]


def test_the_policy_of_a_request() -> None:
    """A device type that this machine has none of: what a policy does to the request, seen by an error of its own."""
    context = ML(revision="2024-06").createContextSync()
    empty: dict[str, Any] = {"gpu": [], "npu": []}
    with emulate(order=empty, fallback="deny"), refused(NotSupportedError, rule="device", operation="createContext"):
        ML(revision="2024-06").createContextSync(deviceType="npu")
    with emulate(order=empty, fallback="silent"):
        assert ML(revision="2024-06").createContextSync(deviceType="npu")._state.selection.device == "cpu"
    assert context._state.selection.device == "cpu"


# How blocks nest and end


def test_the_inner_block_goes_first_member_by_member() -> None:
    outer, inner = Faults(), Faults()
    with emulate(profile="dml", fallback="deny", faults=outer):
        with emulate(faults=inner):
            settings = ambient()
            assert (settings.profile, settings.fallback, settings.faults) == (load_profile("dml"), "deny", inner)
            with emulate(profile="ort", fallback="allow"):
                settings = ambient()
                assert (settings.profile, settings.fallback, settings.faults) == (load_profile("ort"), "allow", inner)
        assert ambient().faults is outer


def test_graphs_are_handed_out() -> None:
    """The innermost function sees each graph of the contexts that were made in its block, of both drafts, and of queued builds."""
    seen: list[tuple[GraphDescription, MLGraph]] = []
    with emulate(on_build=lambda *_: pytest.fail("not the innermost")), emulate(on_build=lambda *each: seen.append(each)):
        contexts = [ML(revision=draft).createContextSync() for draft in ("2024-06", "2026-06")]

    async def build(context: MLContext) -> MLGraph:
        builder = MLGraphBuilder(context)
        return await builder.build({"y": builder.relu(builder.constant("float32", 1))})

    graphs = [asyncio.run(build(context)) for context in contexts]
    assert [graph for _, graph in seen] == graphs
    wanted = [("2024-06", ["relu"]), ("2026-06", ["relu"])]
    assert [(each.draft, [operator.operation for operator in each.operators]) for each, _ in seen] == wanted


def test_a_failure_of_the_function_is_the_build_s() -> None:
    fail = Mock(side_effect=LookupError("seen"))
    with emulate(on_build=fail):
        builder = MLGraphBuilder(ML(revision="2024-06").createContextSync())
        with pytest.raises(LookupError, match="seen"):
            builder.buildSync({"y": builder.relu(builder.constant("float32", 1))})
    assert [len(description.operators) for (description, _), _ in fail.call_args_list] == [1]


def test_blocks_end_in_any_order() -> None:
    blocks = [emulate(fallback="allow"), emulate(fallback="silent"), emulate(fallback="deny")]
    for block in blocks:
        block.__enter__()
    seen = []
    for index in (1, 2, 0):
        blocks[index].__exit__(None, None, None)
        seen.append(ambient().fallback)
    assert seen == ["deny", "allow", None]


def test_a_block_can_be_used_again_and_within_itself() -> None:
    block = emulate(fallback="deny")
    with block:
        with emulate(fallback="silent"):
            with block:
                assert ambient().fallback == "deny"
            assert ambient().fallback == "silent"
        assert ambient().fallback == "deny"
    assert ambient().fallback is None
    with block:
        assert ambient().fallback == "deny"


def test_an_error_ends_a_block() -> None:
    with pytest.raises(ZeroDivisionError), emulate(fallback="deny"):
        _ = 1 // 0
    assert ambient().fallback is None


def test_a_block_that_was_not_entered() -> None:
    block = emulate(fallback="deny")
    with pytest.raises(RuntimeError, match="a block must be entered before it is left"):
        block.__exit__(None, None, None)
    with block:
        pass
    with pytest.raises(RuntimeError, match="entered"):
        block.__exit__(None, None, None)


def test_threads_enter_and_leave_at_once() -> None:
    shared, policies = emulate(fallback="deny"), set()

    def work(_: int) -> None:
        for _ in range(200):
            with shared, emulate(faults=Faults()):
                policies.add(ambient().fallback)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    assert policies == {"deny"}
    assert ambient() == Settings()


# The environment


def test_the_environment_stands_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEBNN_PROFILE", "coreml")
    monkeypatch.setenv("WEBNN_FALLBACK", "deny")
    assert (ambient().profile, ambient().fallback) == (load_profile("coreml"), "deny")
    with emulate(fallback="allow"):
        assert (ambient().profile, ambient().fallback) == (load_profile("coreml"), "allow")
    # It is read each time; what is empty is not set.
    monkeypatch.setenv("WEBNN_PROFILE", "")
    monkeypatch.setenv("WEBNN_FALLBACK", "")
    assert ambient() == Settings()


ENVIRONMENT = [
    ("WEBNN_PROFILE", "tensorflow", "tensorflow: must be a device profile, one of coreml"),
    ("WEBNN_NUMERICS", "Fast", "WEBNN_NUMERICS must be one of ['exact', 'fast'], got 'Fast'"),
    ("WEBNN_FALLBACK", "Deny", "WEBNN_FALLBACK must be one of ['allow', 'silent', 'deny'], got 'Deny'"),
    ("WEBNN_ISOLATE", "yes", "WEBNN_ISOLATE must be 1 or 0, got 'yes'"),
    ("WEBNN_ENGINE", "tflite", "WEBNN_ENGINE must be one of 'onnxruntime', "),
    ("WEBNN_HANG_LIMIT", "0", "WEBNN_HANG_LIMIT must be a number of seconds above 0 (2.5), got '0'"),
    ("WEBNN_HANG_LIMIT", "inf", "WEBNN_HANG_LIMIT must be a number of seconds above 0 (2.5), got 'inf'"),
    ("WEBNN_MEMORY_LIMIT", "1.5G", "WEBNN_MEMORY_LIMIT must be a number of bytes, or of K, M, G or T (512M), got '1.5G'"),
]


@pytest.mark.parametrize(("variable", "text", "message"), ENVIRONMENT)
async def test_a_bad_variable_is_an_error_of_the_request(monkeypatch: pytest.MonkeyPatch, variable: str, text: str, message: str) -> None:
    monkeypatch.setenv(variable, text)
    ml = ML(revision="2024-06")
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        ml.createContextSync()
    assert variable in f"{caught.value}{getattr(caught.value, '__notes__', '')}"
    future = ml.createContext()
    with pytest.raises(ValueError, match=re.escape(message)):
        await future


#: A program, a module that it loads, and one that it does not.
LOADED = {
    "no emulation": ("from webnn.context.emulation import ambient; ambient()", "webnn.context.emulation", "webnn.context.profiles.load"),
    "no profile": (
        "import webnn, webnn.context.travel; webnn.ML(revision='2024-06').createContextSync()",
        "webnn.context.profiles.load",
        "webnn.context.profiles.schema",
    ),
}


@pytest.mark.processes
@pytest.mark.parametrize(("program", "module", "other"), LOADED.values(), ids=LOADED)
def test_what_is_not_needed_is_not_loaded(program: str, module: str, other: str) -> None:
    loaded = modules_after(program)
    assert module in loaded
    assert other not in loaded


# Computations


def test_computations_are_handed_out() -> None:
    """Before each computation, in both drafts: the graph, and what it computes from."""
    seen: list[tuple[MLGraph, dict[str, list[float]], bool]] = []

    def observe(graph: MLGraph, inputs: Mapping[str, np.ndarray[Any, Any]]) -> None:
        seen.append((graph, {name: array.tolist() for name, array in inputs.items()}, inputs["x"].flags.writeable))

    with emulate(on_compute=observe):
        former, newest = (ML(revision=draft).createContextSync() for draft in ("2024-06", "2026-06"))
    graphs = []
    for context in (former, newest):
        builder = MLGraphBuilder(context)
        descriptor: Any = {"dataType": "float32", builder._revision.shape: [2]}
        x, y = builder.input("x", descriptor), builder.input("y", descriptor)
        graphs.append(builder.buildSync({"z": builder.sub(x, y)}))
    arrays = {"x": np.array([1, 2], np.float32), "y": np.array([3, 5], np.float32)}
    tensors = {name: newest.createTensorSync(dataType="float32", shape=[2], writable=True) for name in ("x", "y")}
    result = newest.createTensorSync(dataType="float32", shape=[2], readable=True)
    for name, tensor in tensors.items():
        newest.writeTensor(tensor, arrays[name])
    # In another order than the graph's, and changed after the call.
    newest.dispatch(graphs[1], {"y": tensors["y"], "x": tensors["x"]}, {"z": result})
    newest.writeTensor(tensors["x"], np.zeros(2, np.float32))
    assert newest.readTensorSync(result).tolist() == [-2, -3]
    former.computeSync(graphs[0], arrays, {"z": np.empty(2, np.float32)})
    expected = {"x": [1, 2], "y": [3, 5]}
    assert seen == [(graphs[1], expected, False), (graphs[0], expected, False)]


def test_no_computation_is_left_out() -> None:
    """Though the same call is repeated."""
    seen: list[MLGraph] = []
    with emulate(on_compute=lambda graph, _: seen.append(graph)):
        former, newest = (ML(revision=draft).createContextSync() for draft in ("2024-06", "2026-06"))
    builder = MLGraphBuilder(newest)
    graph = builder.buildSync({"y": builder.neg(builder.input("x", dataType="float32", shape=[2]))})
    x, y = (newest.createTensorSync(dataType="float32", shape=[2], readable=True) for _ in range(2))
    for _ in range(3):
        newest.dispatch(graph, {"x": x}, {"y": y})
        newest.readTensorSync(y)
    assert seen == [graph] * 3
    builder = MLGraphBuilder(former)
    again = builder.buildSync({"y": builder.neg(builder.input("x", {"dataType": "float32", "dimensions": [2]}))})
    result: Any = {"inputs": {"x": np.zeros(2, np.float32)}, "outputs": {"y": np.zeros(2, np.float32)}}
    for _ in range(3):
        result = former.computeSync(again, result["inputs"], result["outputs"])
    assert seen[3:] == [again] * 3


def test_a_failure_of_the_observer_is_the_computation_s() -> None:
    with emulate(on_compute=Mock(side_effect=LookupError("observed"))):
        context = ML(revision="2024-06").createContextSync()
    builder = MLGraphBuilder(context)
    graph = builder.buildSync({"y": builder.relu(builder.input("x", dataType="float32", dimensions=[1]))})
    with pytest.raises(LookupError, match="observed"):
        context.computeSync(graph, {"x": np.ones(1, np.float32)}, {"y": np.ones(1, np.float32)})


# Contexts


@pytest.mark.parametrize("faults", [None, Faults()])
def test_contexts_are_handed_out(faults: Faults | None) -> None:
    """Before the program has them; those of an inner block, of the inner function."""
    seen: list[tuple[str, MLContext]] = []
    before = ML(revision="2024-06").createContextSync()
    with emulate(on_context=lambda context: seen.append(("outer", context)), faults=faults):
        first = ML(revision="2024-06").createContextSync()
        with emulate(on_context=lambda context: seen.append(("inner", context))):
            second = asyncio.run(_create())
    after = ML(revision="2024-06").createContextSync()
    assert seen == [("outer", first), ("inner", second)]
    assert len({before, first, second, after}) == 4


async def _create() -> MLContext:
    return await ML(revision="2026-06").createContext()


def test_a_failure_of_the_function_is_the_context_s() -> None:
    with emulate(on_context=Mock(side_effect=LookupError("watched"))), pytest.raises(LookupError, match="watched"):
        ML(revision="2024-06").createContextSync()
