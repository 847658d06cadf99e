"""Einsum: diagonals, sums, and one product after the other.

Each letter is a dimension. The dimensions of an ellipsis get digits, counted from the last one.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from webnn.builder.operand import MLOperand
from webnn.importing.steps import product
from webnn.importing.values import Refused
from webnn.onnx.node import Node
from webnn.onnx.rules.matmul import multiply

__all__ = ["RULES"]

#: The dimensions of an ellipsis, the last one first.
_ELLIPSIS = "0123456789"


@dataclass(frozen=True)
class _Term:
    """An operand, with a character for each of its dimensions."""

    operand: MLOperand
    letters: str

    @property
    def shape(self) -> tuple[int, ...]:
        return self.operand.descriptor.dimensions

    @property
    def sizes(self) -> dict[str, int]:
        return dict(zip(self.letters, self.shape, strict=True))


def _einsum(node: Node) -> MLOperand:
    """Map to slices of diagonals, reduceSum, mul and matmul, and a transpose at the end. Letters broadcast in an ellipsis only."""
    terms, target = _parse(node)
    terms = [_take_diagonals(node, term) for term in terms]
    while len(terms) > 1:
        first, second, *others = terms
        kept = target + "".join(term.letters for term in others)
        first, second = _sum_alone(node, first, kept + second.letters), _sum_alone(node, second, kept + first.letters)
        terms = [_join(node, first, second, kept, target), *others]
    result = _sum_alone(node, terms[0], target)
    return node.transpose(result.operand, [result.letters.index(letter) for letter in target])


def _parse(node: Node) -> tuple[list[_Term], str]:
    """Return the operands with their letters, and the letters of the result."""
    equation = node.text("equation").replace(" ", "")
    left, arrow, right = equation.partition("->")
    texts = left.split(",")
    if len(texts) != len(node.inputs):
        raise Refused(f"the equation {equation!r} must have {len(node.inputs)} terms, got {len(texts)}")
    terms = []
    for index, text in enumerate(texts):
        operand = node.operand(index)
        rank = len(operand.descriptor.dimensions)
        letters = _letters(equation, text, rank - len(text) + 3 if "..." in text else 0)
        if len(letters) != rank:
            raise Refused(f"the term {text!r} of the equation must have {rank} dimensions, got {len(letters)}")
        terms.append(_Term(operand, letters))
    _check_sizes(terms)
    used = "".join(term.letters for term in terms)
    longest = max((sum(each in _ELLIPSIS for each in term.letters) for term in terms), default=0)
    if not arrow:
        single = sorted(letter for letter in {*used} if used.count(letter) == 1 and letter not in _ELLIPSIS)
        return terms, _ELLIPSIS[:longest][::-1] + "".join(single)
    target = _letters(equation, right, longest if "..." in right else 0)
    if len({*target}) < len(target) or not {*target} <= {*used} or (longest and "..." not in right):
        raise Refused(f"the result of the equation {equation!r} must name each dimension once, those of the operands, and the ellipsis")
    return terms, target


def _letters(equation: str, text: str, count: int) -> str:
    """Return a term with characters for the `count` dimensions of its ellipsis."""
    head, dots, tail = text.partition("...")
    if not {*head, *tail} <= {*string.ascii_letters}:
        raise Refused(f"the equation {equation!r} must have letters and ellipses only")
    if not 0 <= count <= len(_ELLIPSIS):
        raise Refused(f"the ellipsis in {text!r} must be 0 to {len(_ELLIPSIS)} dimensions, got {count}")
    return head + (_ELLIPSIS[:count][::-1] if dots else "") + tail


def _check_sizes(terms: Sequence[_Term]) -> None:
    sizes: dict[str, int] = {}
    for term in terms:
        for letter, size in zip(term.letters, term.shape, strict=True):
            known = sizes.setdefault(letter, size)
            if known != size and (letter not in _ELLIPSIS or 1 not in (known, size)):
                raise Refused(f"the dimension {letter} must have one size in all terms, got {known} and {size}")
            sizes[letter] = max(known, size)


def _take_diagonals(node: Node, term: _Term) -> _Term:
    """Take the diagonal where a letter is repeated: every (size + 1)-th element of both dimensions together."""
    operand, letters = term.operand, term.letters
    for letter in dict.fromkeys(letters):
        while letters.count(letter) > 1:
            first = letters.index(letter)
            second = letters.index(letter, first + 1)
            others = [axis for axis in range(len(letters)) if axis not in (first, second)]
            shape = operand.descriptor.dimensions
            rest, size = [shape[axis] for axis in others], shape[first]
            flat = node.reshape(node.transpose(operand, [*others, first, second]), [*rest, size * size])
            starts, steps = [0] * (len(rest) + 1), [*[1] * len(rest), size + 1]
            operand = node.builder.slice(flat, starts, [*rest, size * size], strides=steps) if size > 1 else flat
            letters = "".join(letters[axis] for axis in others) + letter
    return _Term(operand, letters)


def _sum_alone(node: Node, term: _Term, kept: str) -> _Term:
    """Sum over the dimensions that are not kept."""
    axes = [axis for axis, letter in enumerate(term.letters) if letter not in kept]
    if not axes:
        return term
    summed = node.builder.reduceSum(term.operand, axes=axes, keepDimensions=False)
    return _Term(summed, "".join(letter for letter in term.letters if letter in kept))


def _join(node: Node, a: _Term, b: _Term, kept: str, target: str) -> _Term:
    """Multiply two operands, and sum over the dimensions of both that are not kept."""
    common = [letter for letter in a.letters if letter in b.letters]
    summed = "".join(letter for letter in common if letter not in kept)
    batch = "".join(letter for letter in common if letter in kept)
    if not summed:
        return _multiply_elements(node, a, b, target)
    rows, columns = ("".join(letter for letter in term.letters if letter not in common) for term in (a, b))
    if columns and (not rows or _place(target, columns) < _place(target, rows)):
        a, b, rows, columns = b, a, columns, rows
    left, right = _arrange(node, a, [batch, rows, summed]), _arrange(node, b, [batch, summed, columns])
    if all(a.sizes[letter] == b.sizes[letter] for letter in batch):
        heads = [[product([term.sizes[letter] for letter in batch])] if batch else [] for term in (a, b)]
    else:
        heads = [[term.sizes[letter] for letter in batch] for term in (a, b)]
    lengths = [product([term.sizes[letter] for letter in part]) for term, part in ((a, rows), (a, summed), (b, columns))]
    result = multiply(
        node, node.reshape(left, [*heads[0], lengths[0], lengths[1]]), node.reshape(right, [*heads[1], lengths[1], lengths[2]])
    )
    sizes = {letter: max(a.sizes.get(letter, 1), b.sizes.get(letter, 1)) for letter in batch + rows + columns}
    letters = batch + rows + columns
    return _Term(node.reshape(result, [sizes[letter] for letter in letters]), letters)


def _place(target: str, letters: str) -> int:
    """Return where the first of some letters is in the result; those that are not in it are last."""
    return min((target.index(letter) for letter in letters if letter in target), default=len(target))


def _arrange(node: Node, term: _Term, parts: Sequence[str]) -> MLOperand:
    return node.transpose(term.operand, [term.letters.index(letter) for letter in "".join(parts)])


def _multiply_elements(node: Node, a: _Term, b: _Term, target: str) -> _Term:
    """Multiply two operands that share no dimension to be summed; the dimensions come in the order of the result."""
    used = dict.fromkeys(a.letters + b.letters)
    letters = "".join(sorted(used, key=lambda letter: _place(target, letter)))
    factors = []
    for term in (a, b):
        own = "".join(letter for letter in letters if letter in term.letters)
        shape = [term.sizes.get(letter, 1) for letter in letters]
        factors.append(node.reshape(_arrange(node, term, [own]), shape))
    return _Term(node.builder.mul(factors[0], factors[1]), letters)


RULES: Mapping[str, Callable[[Node], MLOperand]] = {"Einsum": _einsum}
