"""`Revision`: a draft of the specification, as conversion and validators read it.

Each context has one. `webnn.validation.drafts` has the drafts themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

from webnn.validation import numbers
from webnn.validation.checks import DRAFT_CHECKS, Checks
from webnn.validation.descriptor import DATA_TYPES, MAX_BYTE_LENGTH, MAX_DIMENSION, MAX_RANK, DataType, Ranks, Types
from webnn.validation.extension import Extension
from webnn.validation.webidl import domString

if TYPE_CHECKING:
    from webnn.validation.context_options import ContextOptions
    from webnn.validation.drafts.idl import Idl
    from webnn.validation.drafts.limits import Limits
    from webnn.validation.operation import Acceptance, Operation

__all__ = ["Revision", "RevisionName"]

T = TypeVar("T")

#: The drafts, and the newest one whose text is known with an addition of the package or a proposal: the names that type checkers know.
RevisionName = Literal[
    "2024-06",
    "2026-06",
    "2026-09",
    "2026-06+browsers",
    "2026-06+browsers+chromium",
    "2026-06+compute",
    "2026-06+checked-descriptors",
    "2026-06+compute-policy",
    "2026-06+dynamic-shapes",
    "2026-09+export-usages",
    "2026-06+exportable-tensors",
    "2026-06+inferred-groups",
    "2026-09+interop-device",
    "2026-06+low-precision",
    "2026-06+no-lstm-gru",
    "2026-06+subgraphs",
    "2026-06+window-limits",
    "2026-06+zero-size",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """One draft of the specification, and what is added to it.

    Attributes:
        name: The draft's year and month; behind each plus sign the name of an addition.
        history: The names of the drafts before it, its own, and those of its additions, in order.
        operations: The row of each operation, by its name.
        members: The members of interfaces that it has and other drafts lack: ``"MLContext.compute"``.
        removed: The members that only an earlier draft has, with their replacements, empty for none.
        mixins: For an interface, classes with members that the package's own class lacks.
        conflicts: Why an addition of it, the first of a pair of names, cannot be combined with the second.
        references: Returns functions of `webnn.reference` for operations of additions, by the operation's name.
        reshapes: Interfaces have members that the package's classes lack, or lack members that every draft of the package has.
        idl: Returns its IDL, which must not be changed.
        data_types: The data types an operation allows for an operand, where it restricts them.
        ranks: The smallest and largest rank an operation allows for an operand, where it restricts them.
        min_dimension: The smallest size of a dimension, 1; or 0.
        max_tensor_count: The largest number of operands that an operation takes as a sequence or returns as one.
        checks_operands: The tables have a row for every operand, and the driver checks each against it; otherwise they have rows where the
            draft restricts an operand, and the validators check these.
        tensors: Graphs are computed by `MLContext.dispatch` over `MLTensor`; otherwise by `MLContext.compute` over buffers.
        activations: Recurrent operations take `MLActivation`, which overloads without an input make; otherwise names.
        shape: The member of ``MLOperandDescriptor`` that holds the shape.
        former_shape: The name of that member in an earlier draft, which is accepted, too; empty for none.
        attributes: The type and shape of an operand are attributes; otherwise methods.
        build_once: A builder builds one graph, and can do nothing after that.
        any_buffer: A constant's bytes may come from any buffer, not only from one of its element type.
        big_numbers: Numbers that are converted to an operand's type are ``MLNumber``: integers of any size, infinities and NaN; otherwise
            doubles.
        cast: Converts such a number to the type.
        checks: Differences from the draft's checks.
        convert_name: The Web IDL conversion of the names of inputs and outputs: ``DOMString``, or ``USVString``.
        acceptance: The device whose limits hold beside the draft's, if there is one.
        context_only: The names of those additions that change contexts only, not graphs.
        graph_draft: The draft that descriptions of graphs name: the last one that changed more than contexts.
        extensions: Values of additions for single places of the package, by typed keys: `extension`.
    """

    name: str
    history: tuple[str, ...]
    operations: Mapping[str, Operation]
    members: frozenset[str]
    removed: Mapping[str, str]
    mixins: Mapping[str, tuple[type, ...]]
    idl: Callable[[], Idl] = field(compare=False)
    context_options: type[ContextOptions]
    limits: Limits | None
    data_types: Mapping[str, Mapping[str, Types]]
    ranks: Mapping[str, Mapping[str, Ranks]]
    max_rank: int = MAX_RANK
    max_byte_length: int = MAX_BYTE_LENGTH
    min_dimension: int = 1
    max_dimension: int = MAX_DIMENSION
    max_tensor_count: int = MAX_DIMENSION
    checks_operands: bool = False
    tensors: bool = False
    activations: bool = True
    shape: Literal["dimensions", "shape"] = "dimensions"
    former_shape: Literal["", "dimensions"] = ""
    attributes: bool = False
    build_once: bool = False
    any_buffer: bool = False
    big_numbers: bool = False
    cast: Callable[[float, DataType], int | float] = numbers.cast
    checks: Checks = DRAFT_CHECKS
    types: Types = DATA_TYPES
    convert_name: Callable[[object], str] = domString
    conflicts: Mapping[tuple[str, str], str] = field(default_factory=dict)
    references: tuple[Callable[[], Mapping[str, Callable[..., Any]]], ...] = ()
    reshapes: bool = False
    acceptance: Acceptance | None = None
    context_only: frozenset[str] = frozenset()
    graph_draft: str
    extensions: Mapping[Extension[Any], Any] = field(default_factory=dict, compare=False)

    def __hash__(self) -> int:
        return hash(self.name)

    def extension(self, key: Extension[T]) -> T | None:
        """Return the value that an addition has for a key; ``None`` if there is none."""
        return cast("T | None", self.extensions.get(key))

    @property
    def draft(self) -> str:
        """The name of the draft itself, without its additions."""
        return self.name.partition("+")[0]

    @property
    def of_graphs(self) -> str:
        """The name that descriptions of graphs have: without the draft's and the additions' names that change contexts only."""
        _, *additions = self.name.split("+")
        return "+".join([self.graph_draft, *(each for each in additions if each not in self.context_only)])
