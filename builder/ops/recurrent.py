"""Recurrent networks: `#api-mlgraphbuilder-gru` and its kin."""

from __future__ import annotations

from typing import Unpack

from webnn.builder.base import BuilderBase
from webnn.builder.operand import MLOperand
from webnn.builder.options import MLGruOptions

__all__ = ["RecurrentOps"]


class RecurrentOps(BuilderBase):
    """GRU and LSTM, whole sequences and single steps."""

    __slots__ = ()

    def gru(
        self,
        input: MLOperand,
        weight: MLOperand,
        recurrentWeight: MLOperand,
        steps: int,
        hiddenSize: int,
        options: MLGruOptions | None = None,
        **members: Unpack[MLGruOptions],
    ) -> list[MLOperand]:
        """Run a gated recurrent unit over a sequence. `#api-mlgraphbuilder-gru`.

        Args:
            input: The sequence, float32 or float16, [steps, batchSize, inputSize].
            weight: The input weights, [numDirections, 3 * hiddenSize, inputSize].
            recurrentWeight: The recurrent weights, [numDirections, 3 * hiddenSize, hiddenSize].
            steps: The number of time steps.
            hiddenSize: The number of features in the hidden state.
            options: ``bias`` and ``recurrentBias`` [numDirections, 3 * hiddenSize], ``initialHiddenState``
                [numDirections, batchSize, hiddenSize], ``resetAfter`` (True), ``returnSequence`` (False), ``direction`` ("forward",
                "backward" or "both"), ``layout`` of the gates ("zrn" or "rzn"), ``activations`` for update/reset and new gate
                (sigmoid, tanh).
            members: The options as keyword arguments.

        Returns:
            The last hidden state, [numDirections, batchSize, hiddenSize]; with ``returnSequence`` also all of them,
            [steps, numDirections, batchSize, hiddenSize].

        Raises:
            WebNNTypeError: A type, shape or option does not fit.
        """
        return self._sequence("gru", (input, weight, recurrentWeight), (steps, hiddenSize), options, members)
