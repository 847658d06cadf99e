// META: title=test the IDL of WebNN API no-lstm-gru
// META: global=window
// META: variant=?cpu
// META: script=./resources/utils_validation.js

'use strict';

// What changes:
//
//   - enum MLRecurrentNetworkDirection {
//   -   "forward",
//   -   "backward",
//   -   "both",
//   - };
//   - dictionary MLGruOptions : MLOperatorOptions {
//   -   MLOperand bias;
//   -   MLOperand recurrentBias;
//   -   MLOperand initialHiddenState;
//   -   boolean resetAfter = true;
//   -   boolean returnSequence = false;
//   -   MLRecurrentNetworkDirection direction = "forward";
//   -   MLGruWeightLayout layout = "zrn";
//   -   sequence<MLRecurrentNetworkActivation> activations;
//   - };
//   - dictionary MLGruSupportLimits {
//   -   MLTensorLimits input;
//   -   MLTensorLimits weight;
//   -   MLTensorLimits recurrentWeight;
//   -   MLTensorLimits bias;
//   -   MLTensorLimits recurrentBias;
//   -   MLTensorLimits initialHiddenState;
//   -   MLTensorLimits output0;
//   -   MLTensorLimits output1;
//   - };
//   - dictionary MLLstmOptions : MLOperatorOptions {
//   -   MLOperand bias;
//   -   MLOperand recurrentBias;
//   -   MLOperand peepholeWeight;
//   -   MLOperand initialHiddenState;
//   -   MLOperand initialCellState;
//   -   boolean returnSequence = false;
//   -   MLRecurrentNetworkDirection direction = "forward";
//   -   MLLstmWeightLayout layout = "iofg";
//   -   sequence<MLRecurrentNetworkActivation> activations;
//   - };
//   - dictionary MLLstmSupportLimits {
//   -   MLTensorLimits input;
//   -   MLTensorLimits weight;
//   -   MLTensorLimits recurrentWeight;
//   -   MLTensorLimits bias;
//   -   MLTensorLimits recurrentBias;
//   -   MLTensorLimits peepholeWeight;
//   -   MLTensorLimits initialHiddenState;
//   -   MLTensorLimits initialCellState;
//   -   MLTensorLimits output0;
//   -   MLTensorLimits output1;
//   -   MLTensorLimits output2;
//   - };
//     dictionary MLOpSupportLimits {
//   -   MLGruSupportLimits gru;
//   -   MLLstmSupportLimits lstm;
//     };
//     interface MLGraphBuilder {
//   -   sequence<MLOperand> gru(MLOperand input, MLOperand weight, MLOperand recurrentWeight, [EnforceRange] unsigned long steps, [EnforceRange] unsigned long hiddenSize, optional MLGruOptions options = {});
//   -   sequence<MLOperand> lstm(MLOperand input, MLOperand weight, MLOperand recurrentWeight, [EnforceRange] unsigned long steps, [EnforceRange] unsigned long hiddenSize, optional MLLstmOptions options = {});
//     };

promise_test(async () => {
  assert_false('gru' in MLGraphBuilder.prototype);
}, 'MLGraphBuilder has no gru');

promise_test(async () => {
  assert_false('lstm' in MLGraphBuilder.prototype);
}, 'MLGraphBuilder has no lstm');
