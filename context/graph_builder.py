"""`MLGraphBuilder`: `#api-mlgraphbuilder`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NoReturn

from webnn.builder.graph_builder import GraphBuilder
from webnn.context.context import MLContext
from webnn.context.document import Document
from webnn.context.promise import rejected
from webnn.context.tensor import MLTensor
from webnn.validation import webidl
from webnn.validation.caller import find_caller
from webnn.validation.errors import WebNNTypeError
from webnn.validation.member import class_of_draft

if TYPE_CHECKING:
    import asyncio

    from webnn.builder.operand import MLOperand
    from webnn.context.graph import MLGraph
    from webnn.context.graph_steps import BuildSteps

__all__ = ["MLGraphBuilder"]


class MLGraphBuilder(GraphBuilder):
    """Builds a computational graph, operation by operation, and compiles it. `#api-mlgraphbuilder`.

    Each method validates its arguments as the specification's steps say and returns new operands; nothing is computed before `build`.
    An options dictionary is given as a ``dict`` or as keyword arguments. A member or argument that is ``None`` counts as missing.

    Args:
        context: The context that will compile and compute the graph.
        document: The document of the window that has this interface, by default that of the context. A page can take the interface of a
            frame of its own origin.

    Raises:
        WebNNTypeError: ``context`` is not an `MLContext`, or ``document`` not a `Document`.
        SecurityError: The document is not allowed to use the feature ``webnn``. `#api-mlgraphbuilder-constructor`.
    """

    __slots__ = ("_buildSteps",)

    _buildSteps: BuildSteps

    _tensorClass = MLTensor

    def __init__(self, context: MLContext, *, document: Document | None = None) -> None:
        """Run the steps of `#api-mlgraphbuilder-constructor`."""
        if not webidl.isInstance(context, MLContext):
            raise WebNNTypeError(
                f"MLGraphBuilder: context must be an MLContext, got {webidl.describe(context)}",
                operation="MLGraphBuilder",
                argument="context",
                anchor="#api-mlgraphbuilder-constructor",
                rule="conversion",
            )
        if document is not None and not isinstance(document, Document):
            raise WebNNTypeError(
                f"MLGraphBuilder: document must be a Document, got {webidl.describe(document)}",
                operation="MLGraphBuilder",
                argument="document",
                anchor="#api-mlgraphbuilder-constructor",
                rule="conversion",
            )
        # [1] The document may use the feature.
        (document or context._state.document)._checkAllowed("MLGraphBuilder", context._revision.draft)
        # 2. (Since 2026-06.) The context is not lost. 3.-4. (2.) The builder is bound to it, and has not built yet.
        super().__init__(context._state)
        self._buildSteps = context._buildSteps
        # Not in `__new__`: a program's subclass may have a constructor with other arguments.
        if context._revision.reshapes:
            self.__class__ = class_of_draft(type(self), "MLGraphBuilder", context._revision)

    def __reduce__(self) -> NoReturn:
        raise TypeError("MLGraphBuilder cannot be pickled: pickle webnn.describe(outputs), or the graph that it builds")

    def __repr__(self) -> str:
        return f"<MLGraphBuilder {self._revision.draft}: {self._count} operators{', built' if self._hasBuilt else ''}>"

    def _repr_html_(self) -> str:
        from webnn.display.table import facts  # noqa: PLC0415 (only notebooks need it)

        values = {"draft": self._revision.draft, "operators": str(self._count), "built": "yes" if self._hasBuilt else "not yet"}
        return facts("MLGraphBuilder", values)

    def build(self, outputs: Mapping[str, MLOperand]) -> asyncio.Future[MLGraph]:
        """Compile the graph up to the outputs, on the context's timeline. `#api-mlgraphbuilder-build`.

        Args:
            outputs: The operands to be computed, by non-empty names. Inputs and constants cannot be outputs.

        Returns:
            A future of the graph. It fails with `WebNNTypeError` if the outputs are not valid or two inputs share a name, and with
            `OperationError` if the engine refuses an operator.
        """
        try:
            graph = self._collect(outputs)
        except Exception as error:  # a failed step rejects the promise
            return rejected(error)
        return self._buildSteps.build(graph, find_caller(2))

    def buildSync(self, outputs: Mapping[str, MLOperand]) -> MLGraph:
        """Compile the graph up to the outputs and wait for it: `build` for scripts.

        Args:
            outputs: As for `build`.

        Raises:
            WebNNTypeError: The outputs are not valid, or two inputs share a name.
            OperationError: The engine refuses an operator.
        """
        return self._buildSteps.build_sync(self._collect(outputs), find_caller(2))
