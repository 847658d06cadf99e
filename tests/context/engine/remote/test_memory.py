"""Shared memory: it is zero, it is free again with the last array over it, and nothing is left of it."""

from __future__ import annotations

import gc
import os
import sys

import numpy as np
import pytest

from webnn.context.engine.remote.memory import Arena, Segment, SharedMemory
from webnn.validation.descriptor import OperandDescriptor

SMALL = OperandDescriptor("float32", (3, 5))
LARGE = OperandDescriptor("float16", (1 << 20,))


@pytest.mark.parametrize("descriptor", [OperandDescriptor("int4", (3,)), OperandDescriptor("int64", ()), SMALL, LARGE], ids=str)
def test_memory_of_a_tensor(descriptor: OperandDescriptor) -> None:
    memory = SharedMemory(Arena(), descriptor)
    assert memory.array.shape == descriptor.array_shape
    assert not memory.array.any()
    assert memory.array.ctypes.data % 64 == 0


def test_memory_is_used_again_and_zero() -> None:
    arena = Arena()
    memory = SharedMemory(arena, SMALL)
    place = memory.place
    memory.array[...] = 7
    other = SharedMemory(arena, SMALL)
    assert other.place.segment == place.segment
    assert other.place.offset >= place.offset + place.size
    view = memory.array[0]
    del memory
    gc.collect()
    # A view keeps the memory.
    assert SharedMemory(arena, SMALL).place != place
    assert view.tolist() == [7.0] * 5
    del view
    again = SharedMemory(arena, SMALL)
    assert again.place == place
    assert not again.array.any()


def test_a_large_tensor_has_a_segment_of_its_own() -> None:
    arena = Arena()
    first, second, third = (SharedMemory(arena, LARGE) for _ in range(3))
    numbers = [each.place.segment for each in (first, second, third)]
    assert len({*numbers}) == 3
    first.array[...] = 1
    del first
    # A value of about the same size gets it, all zeros.
    assert not arena.dropped
    other = SharedMemory(arena, OperandDescriptor("float32", ((1 << 19) - 100,)))
    assert other.place.segment == numbers[0]
    assert not other.array.any()
    del other, second
    # More would be free than in use.
    assert [*arena.dropped] == [numbers[1]]
    del third
    assert sorted(arena.dropped) == sorted(numbers)
    assert not arena.segments


def test_memory_that_is_written_whole_needs_no_zeros() -> None:
    arena = Arena()
    kept, memory = SharedMemory(arena, SMALL), SharedMemory(arena, SMALL)
    memory.array[...] = 7
    place = memory.place
    del memory
    memory = SharedMemory(arena, SMALL)
    assert memory.place == place
    memory.replace()
    assert memory.read().tolist() == [[7.0] * 5] * 3
    del memory
    memory = SharedMemory(arena, SMALL)
    memory.fill(np.ones((3, 5), np.float32))
    memory.write(np.full(15, 2, np.float32))
    assert memory.read().tolist() == [[2.0] * 5] * 3
    assert not kept.array.any()


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not tell")
def test_values_that_grow_leave_little_behind() -> None:
    """The segment of small values has at most 1 MiB of each former size from 64 KiB on. The others end."""
    arena = Arena()
    kept: list[SharedMemory] = []
    used = []
    # Others begin at a page all the same.
    small = SharedMemory(arena, SMALL)
    for size in range(60, 1500, 20):
        made = [SharedMemory(arena, OperandDescriptor("uint8", (size << 10,))) for _ in range(8)]
        assert all(each.array.all() for each in kept)
        assert not any(each.array.any() for each in made)
        for each in made:
            each.array[...] = 1
        kept = made
        del made
        used.append(os.fstat(arena.segments[1].descriptor).st_blocks << 9)
    assert used[-1] <= 5 << 20 < max(used)
    assert len(arena.segments) <= 1 + 2 * 8
    assert not small.array.any()


def test_the_arena_may_end_first() -> None:
    memory = SharedMemory(Arena(), SMALL)
    memory.array[...] = 3
    gc.collect()
    assert memory.read().tolist() == [[3.0] * 5] * 3


def test_many_small_tensors_share_segments() -> None:
    arena = Arena()
    tensors = [SharedMemory(arena, SMALL) for _ in range(5000)]
    assert len({each.place for each in tensors}) == len(tensors)
    assert len(arena.segments) == 1
    for number, each in enumerate(tensors):
        each.array[...] = number
    assert all((each.array == number).all() for number, each in enumerate(tensors))


def test_no_memory() -> None:
    with pytest.raises(MemoryError, match="can be shared"):
        Segment(1 << 62)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no seals")
def test_the_other_process_cannot_take_memory_away() -> None:
    """An access to memory behind the end of a file would end this process by SIGBUS."""
    segment = Segment(4096)
    for size in (0, 8192):
        with pytest.raises(PermissionError):
            os.ftruncate(segment.descriptor, size)
    np.frombuffer(segment.map, np.uint8)[...] = 1
