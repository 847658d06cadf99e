"""Recurrent networks: `#api-mlgraphbuilder-gru` and its kin."""

from __future__ import annotations

from typing import Unpack

from webnn.builder.base import BuilderBase
from webnn.builder.operand import MLOperand
from webnn.builder.options import MLGruCellOptions, MLGruOptions, MLLstmCellOptions, MLLstmOptions

__all__ = ["RecurrentOps"]


class RecurrentOps(BuilderBase):
    """GRU and LSTM, whole sequences and single steps.

    Activation functions are given by their names, "relu", "sigmoid" or "tanh"; until 2024-06 they are `MLActivation`, and there
    are more of them.
    """

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
            steps: The number of time steps, the first dimension of ``input``.
            hiddenSize: The number of features in the hidden state, at least 1.
            options: ``bias`` and ``recurrentBias`` [numDirections, 3 * hiddenSize] (0), ``initialHiddenState``
                [numDirections, batchSize, hiddenSize] (0), ``resetAfter`` (True), ``returnSequence`` (False), ``direction`` ("forward";
                "backward"; "both", with which numDirections is 2), ``layout`` of the gates ("zrn"; "rzn"), ``activations`` for the
                update and reset gates and for the new gate (sigmoid, tanh).

        Returns:
            The last hidden state, [numDirections, batchSize, hiddenSize]; with ``returnSequence`` also all of them,
            [steps, numDirections, batchSize, hiddenSize], each at the index of its input in every direction.

        Raises:
            WebNNTypeError: A type, shape or option does not fit.
        """
        return self._sequence("gru", (input, weight, recurrentWeight), (steps, hiddenSize), options, members)

    def gruCell(
        self,
        input: MLOperand,
        weight: MLOperand,
        recurrentWeight: MLOperand,
        hiddenState: MLOperand,
        hiddenSize: int,
        options: MLGruCellOptions | None = None,
        **members: Unpack[MLGruCellOptions],
    ) -> MLOperand:
        """Run one step of a gated recurrent unit. `#api-mlgraphbuilder-grucell`.

        Args:
            input: The input of the step, float32 or float16, [batchSize, inputSize].
            weight: The input weights, [3 * hiddenSize, inputSize].
            recurrentWeight: The recurrent weights, [3 * hiddenSize, hiddenSize].
            hiddenState: The hidden state before the step, [batchSize, hiddenSize].
            hiddenSize: The number of features in the hidden state, at least 1.
            options: ``bias`` and ``recurrentBias`` [3 * hiddenSize] (0), ``resetAfter`` (True), ``layout`` of the gates ("zrn"; "rzn"),
                ``activations`` for the update and reset gates and for the new gate (sigmoid, tanh).

        Returns:
            The hidden state after the step, [batchSize, hiddenSize].

        Raises:
            WebNNTypeError: A type, shape or option does not fit.
        """
        return self._single("gruCell", (input, weight, recurrentWeight, hiddenState), (hiddenSize,), options, members)

    def lstm(
        self,
        input: MLOperand,
        weight: MLOperand,
        recurrentWeight: MLOperand,
        steps: int,
        hiddenSize: int,
        options: MLLstmOptions | None = None,
        **members: Unpack[MLLstmOptions],
    ) -> list[MLOperand]:
        """Run a long short-term memory over a sequence. `#api-mlgraphbuilder-lstm`.

        Args:
            input: The sequence, float32 or float16, [steps, batchSize, inputSize].
            weight: The input weights, [numDirections, 4 * hiddenSize, inputSize].
            recurrentWeight: The recurrent weights, [numDirections, 4 * hiddenSize, hiddenSize].
            steps: The number of time steps, the first dimension of ``input``.
            hiddenSize: The number of features in the hidden state, at least 1.
            options: ``bias`` and ``recurrentBias`` [numDirections, 4 * hiddenSize] (0), ``peepholeWeight`` of the input, output and forget
                gates [numDirections, 3 * hiddenSize] (0), ``initialHiddenState`` and ``initialCellState``
                [numDirections, batchSize, hiddenSize] (0), ``returnSequence`` (False), ``direction`` ("forward"; "backward"; "both",
                with which numDirections is 2), ``layout`` of the gates ("iofg"; "ifgo"), ``activations`` for the input, output and
                forget gates, for the cell gate, and for the cell state on its way out (sigmoid, tanh, tanh).

        Returns:
            The last hidden and the last cell state, each [numDirections, batchSize, hiddenSize]; with ``returnSequence`` also all hidden
            states, [steps, numDirections, batchSize, hiddenSize], each at the index of its input in every direction.

        Raises:
            WebNNTypeError: A type, shape or option does not fit. The error is a ``DataError`` as well.
        """
        return self._sequence("lstm", (input, weight, recurrentWeight), (steps, hiddenSize), options, members)

    def lstmCell(
        self,
        input: MLOperand,
        weight: MLOperand,
        recurrentWeight: MLOperand,
        hiddenState: MLOperand,
        cellState: MLOperand,
        hiddenSize: int,
        options: MLLstmCellOptions | None = None,
        **members: Unpack[MLLstmCellOptions],
    ) -> list[MLOperand]:
        """Run one step of a long short-term memory. `#api-mlgraphbuilder-lstmcell`.

        Args:
            input: The input of the step, float32 or float16, [batchSize, inputSize].
            weight: The input weights, [4 * hiddenSize, inputSize].
            recurrentWeight: The recurrent weights, [4 * hiddenSize, hiddenSize].
            hiddenState: The hidden state before the step, [batchSize, hiddenSize].
            cellState: The cell state before the step, [batchSize, hiddenSize].
            hiddenSize: The number of features in the hidden state, at least 1.
            options: ``bias`` and ``recurrentBias`` [4 * hiddenSize] (0), ``peepholeWeight`` of the input, output and forget gates
                [3 * hiddenSize] (0), ``layout`` of the gates ("iofg"; "ifgo"), ``activations`` for the input, output and forget gates,
                for the cell gate, and for the cell state on its way out (sigmoid, tanh, tanh).

        Returns:
            The hidden and the cell state after the step, each [batchSize, hiddenSize].

        Raises:
            WebNNTypeError: A type, shape or option does not fit.
        """
        operands = (input, weight, recurrentWeight, hiddenState, cellState)
        return self._sequence("lstmCell", operands, (hiddenSize,), options, members)
