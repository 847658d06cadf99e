"""The windows of pooling, compared with a count of their elements one by one."""

from __future__ import annotations

import itertools

from webnn.validation.windows import PoolingAxis, pooling_axes, same_scale


def test_elements_and_padding() -> None:
    count = 0
    sizes = itertools.product(range(1, 6), range(1, 5), range(1, 4), range(1, 3), range(1, 4), range(3))
    for size, output, window, stride, dilation, begin in sizes:
        axis = PoolingAxis(axis=2, size=size, output=output, window=window, stride=stride, dilation=dilation, begin=begin)
        places = [[start * stride + tap * dilation - begin for tap in range(window)] for start in range(output)]
        assert axis.counts().tolist() == [sum(0 <= each < size for each in taken) for taken in places]
        assert axis.reach == places[-1][-1] + begin + 1
        assert axis.end == max(0, places[-1][-1] - size + 1)
        count += 1
    assert count == 5 * 4 * 3 * 2 * 3 * 3


def test_layouts_and_defaults() -> None:
    for layout, first in (("nchw", 2), ("nhwc", 1)):
        shapes = ([2, 3, 5, 7], [2, 3, 1, 1]) if layout == "nchw" else ([2, 5, 7, 3], [2, 1, 1, 3])
        height, width = pooling_axes(layout, *shapes)
        assert (height.axis, width.axis) == (first, first + 1)
        wanted = [(5, 5, 1, 0, 0), (7, 7, 1, 0, 0)]
        assert [(each.size, each.window, each.output, each.begin, each.end) for each in (height, width)] == wanted


def test_one_element_has_no_gaps() -> None:
    height, width = pooling_axes("nchw", [1, 1, 5, 5], [1, 1, 5, 1], [1, 3], None, None, [2, 2])
    assert (height.dilation, width.dilation) == (1, 2)


def test_same_upper() -> None:
    shapes = [1, 1, 5, 5], [1, 1, 3, 3]
    same, explicit = (pooling_axes("nchw", *shapes, [2, 2], [top, 1, 0, 1], [2, 2]) for top in (0, 1))
    assert [axis.is_same for axis in same] == [True, True]
    assert [axis.is_same for axis in explicit] == [False, True]
    # The last window needs the same padding, but the program does not state it.
    assert [axis.is_same for axis in pooling_axes("nchw", *shapes, [2, 2], None, [2, 2])] == [False, False]


def test_the_scale_of_same_upper() -> None:
    """Windows of 2 x 2 over 3 x 3: half of each is outside at an edge, three quarters in the corner."""
    for layout, shapes in (("nchw", ([1, 1, 3, 3], [1, 1, 3, 3])), ("nhwc", ([1, 3, 3, 1], [1, 3, 3, 1]))):
        scale = same_scale(pooling_axes(layout, *shapes, [2, 2], [0, 1, 0, 1]), layout)
        assert scale is not None
        assert scale.shape == ((3, 3, 1) if layout == "nhwc" else (3, 3))
        assert scale.reshape(3, 3).tolist() == [[1, 1, 2], [1, 1, 2], [2, 2, 4]]
        assert same_scale(pooling_axes(layout, *shapes, [2, 2], [1, 0, 1, 0]), layout) is None
        assert same_scale(pooling_axes(layout, *shapes, [1, 1]), layout) is None
