// META: title=test the IDL of WebNN API window-limits
// META: global=window
// META: variant=?cpu
// META: script=./resources/utils_validation.js

'use strict';

// What changes:
//
//     dictionary MLOpSupportLimits {
//   -   MLConv2dSupportLimits conv2d;
//   -   MLSingleInputSupportLimits averagePool2d;
//   -   MLSingleInputSupportLimits l2Pool2d;
//   -   MLSingleInputSupportLimits maxPool2d;
//   +   MLFilterSupportLimits conv2d;
//   +   MLPool2dSupportLimits averagePool2d;
//   +   MLPool2dSupportLimits l2Pool2d;
//   +   MLPool2dSupportLimits maxPool2d;
//     };
//   + enum MLWindowBound {
//   +   "padded-input",
//   +   "window",
//   + };
//   + dictionary MLWindowLimits {
//   +   MLWindowBound size;
//   +   MLWindowBound strides;
//   +   MLWindowBound dilations;
//   +   MLWindowBound padding;
//   + };
//   + dictionary MLFilterSupportLimits {
//   +   MLTensorLimits input;
//   +   MLTensorLimits filter;
//   +   MLTensorLimits bias;
//   +   MLTensorLimits output;
//   +   MLWindowLimits window;
//   + };
//   + dictionary MLPool2dSupportLimits {
//   +   MLTensorLimits input;
//   +   MLTensorLimits output;
//   +   MLWindowLimits window;
//   + };

promise_test(async () => {
  assert_equals(typeof MLContext, 'function');
}, 'MLContext');
