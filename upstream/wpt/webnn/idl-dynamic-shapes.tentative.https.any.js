// META: title=test the IDL of WebNN API dynamic-shapes
// META: global=window
// META: variant=?cpu
// META: script=./resources/utils_validation.js

'use strict';

// What changes:
//
//     dictionary MLOpSupportLimits {
//   +   MLSingleInputSupportLimits shape;
//   +   MLRangeSupportLimits range;
//   +   MLBinarySupportLimits modulusFloor;
//   +   MLBinarySupportLimits modulusTruncate;
//   +   MLSingleInputSupportLimits squeeze;
//   +   MLSingleInputSupportLimits unsqueeze;
//   +   MLSingleInputSupportLimits reshapeTo2d;
//   +   MLReshapeDynamicSupportLimits reshapeDynamic;
//   +   MLExpandDynamicSupportLimits expandDynamic;
//   +   MLSliceDynamicSupportLimits sliceDynamic;
//   +   MLPadDynamicSupportLimits padDynamic;
//   +   MLSplitDynamicSupportLimits splitDynamic;
//   +   MLResample2dDynamicSupportLimits resample2dDynamic;
//   +   MLTileDynamicSupportLimits tileDynamic;
//     };
//     interface MLGraph {
//   +   MLNamedShapes computeShapes(MLNamedShapes inputShapes);
//     };
//     interface MLGraphBuilder {
//   -   MLOperand input(USVString name, MLOperandDescriptor descriptor);
//   +   MLOperand input(USVString name, MLInputOperandDescriptor descriptor);
//   +   MLOperand shape(MLOperand input, optional MLOperatorOptions options = {});
//   +   MLOperand range(MLOperand start, MLOperand limit, MLOperand delta, optional MLOperatorOptions options = {});
//   +   MLOperand modulusFloor(MLOperand a, MLOperand b, optional MLOperatorOptions options = {});
//   +   MLOperand modulusTruncate(MLOperand a, MLOperand b, optional MLOperatorOptions options = {});
//   +   MLOperand squeeze(MLOperand input, optional MLSqueezeOptions options = {});
//   +   MLOperand unsqueeze(MLOperand input, sequence<[EnforceRange] unsigned long> axes, optional MLOperatorOptions options = {});
//   +   MLOperand reshapeTo2d(MLOperand input, optional MLReshapeTo2dOptions options = {});
//   +   MLOperand reshapeDynamic(MLOperand input, MLOperand newShape, optional MLOperatorOptions options = {});
//   +   MLOperand expandDynamic(MLOperand input, MLOperand newShape, optional MLOperatorOptions options = {});
//   +   MLOperand sliceDynamic(MLOperand input, MLOperand starts, MLOperand sizes, optional MLSliceDynamicOptions options = {});
//   +   MLOperand padDynamic(MLOperand input, MLOperand beginningPadding, MLOperand endingPadding, optional MLOperatorOptions options = {});
//   +   sequence<MLOperand> splitDynamic(MLOperand input, MLOperand splits, optional MLSplitOptions options = {});
//   +   MLOperand resample2dDynamic(MLOperand input, optional MLResample2dDynamicOptions options = {});
//   +   MLOperand tileDynamic(MLOperand input, MLOperand repetitions, optional MLOperatorOptions options = {});
//     };
//     interface MLOperand {
//   -   readonly attribute FrozenArray<unsigned long> shape;
//   +   readonly attribute FrozenArray<MLDimension>? shape;
//     };
//   + typedef ([EnforceRange] unsigned long or DOMString) MLDimension;
//   + typedef record<USVString, sequence<[EnforceRange] unsigned long>> MLNamedShapes;
//   + dictionary MLInputOperandDescriptor {
//   +   required MLOperandDataType dataType;
//   +   required sequence<MLDimension> shape;
//   + };
//   + dictionary MLSqueezeOptions : MLOperatorOptions {
//   +   sequence<[EnforceRange] unsigned long> axes;
//   + };
//   + dictionary MLReshapeTo2dOptions : MLOperatorOptions {
//   +   [EnforceRange] unsigned long axis = 1;
//   + };
//   + dictionary MLSliceDynamicOptions : MLOperatorOptions {
//   +   sequence<[EnforceRange] unsigned long> strides;
//   + };
//   + dictionary MLResample2dDynamicOptions : MLOperatorOptions {
//   +   MLInterpolationMode mode = "nearest-neighbor";
//   +   sequence<float> scales;
//   +   MLOperand sizes;
//   +   sequence<[EnforceRange] unsigned long> axes;
//   + };
//   + dictionary MLRangeSupportLimits {
//   +   MLTensorLimits start;
//   +   MLTensorLimits limit;
//   +   MLTensorLimits delta;
//   +   MLTensorLimits output;
//   + };
//   + dictionary MLReshapeDynamicSupportLimits {
//   +   MLTensorLimits input;
//   +   MLTensorLimits newShape;
//   +   MLTensorLimits output;
//   + };
//   + dictionary MLExpandDynamicSupportLimits {
//   +   MLTensorLimits input;
//   +   MLTensorLimits newShape;
//   +   MLTensorLimits output;
//   + };
//   + dictionary MLSliceDynamicSupportLimits {
//   +   MLTensorLimits input;
//   +   MLTensorLimits starts;
//   +   MLTensorLimits sizes;
//   +   MLTensorLimits output;
//   + };
//   + dictionary MLPadDynamicSupportLimits {
//   +   MLTensorLimits input;
//   +   MLTensorLimits beginningPadding;
//   +   MLTensorLimits endingPadding;
//   +   MLTensorLimits output;
//   + };
//   + dictionary MLSplitDynamicSupportLimits {
//   +   MLTensorLimits input;
//   +   MLTensorLimits splits;
//   +   MLTensorLimits outputs;
//   + };
//   + dictionary MLResample2dDynamicSupportLimits {
//   +   MLTensorLimits input;
//   +   MLTensorLimits sizes;
//   +   MLTensorLimits output;
//   + };
//   + dictionary MLTileDynamicSupportLimits {
//   +   MLTensorLimits input;
//   +   MLTensorLimits repetitions;
//   +   MLTensorLimits output;
//   + };

const assertOperation = (interfaceName, name, length) => {
  const {prototype} = self[interfaceName];
  assert_own_property(prototype, name);
  const {value, writable, enumerable, configurable} =
      Object.getOwnPropertyDescriptor(prototype, name);
  assert_equals(typeof value, 'function');
  assert_equals(value.name, name);
  assert_equals(value.length, length, 'number of required arguments');
  assert_true(writable && enumerable && configurable);
};

const assertAttribute = (interfaceName, name) => {
  const {prototype} = self[interfaceName];
  assert_own_property(prototype, name);
  const {get, enumerable, configurable} =
      Object.getOwnPropertyDescriptor(prototype, name);
  assert_equals(typeof get, 'function');
  assert_equals(get.name, `get ${name}`);
  assert_true(enumerable && configurable);
};

promise_test(async () => {
  assertOperation('MLGraph', 'computeShapes', 1);
}, 'MLGraph: computeShapes');

promise_test(async () => {
  assertOperation('MLGraphBuilder', 'input', 2);
}, 'MLGraphBuilder: input');

promise_test(async () => {
  assertOperation('MLGraphBuilder', 'shape', 1);
}, 'MLGraphBuilder: shape');

promise_test(async () => {
  assertOperation('MLGraphBuilder', 'range', 3);
}, 'MLGraphBuilder: range');

promise_test(async () => {
  assertOperation('MLGraphBuilder', 'modulusFloor', 2);
}, 'MLGraphBuilder: modulusFloor');

promise_test(async () => {
  assertOperation('MLGraphBuilder', 'modulusTruncate', 2);
}, 'MLGraphBuilder: modulusTruncate');

promise_test(async () => {
  assertOperation('MLGraphBuilder', 'squeeze', 1);
}, 'MLGraphBuilder: squeeze');

promise_test(async () => {
  assertOperation('MLGraphBuilder', 'unsqueeze', 2);
}, 'MLGraphBuilder: unsqueeze');

promise_test(async () => {
  assertOperation('MLGraphBuilder', 'reshapeTo2d', 1);
}, 'MLGraphBuilder: reshapeTo2d');

promise_test(async () => {
  assertOperation('MLGraphBuilder', 'reshapeDynamic', 2);
}, 'MLGraphBuilder: reshapeDynamic');

promise_test(async () => {
  assertOperation('MLGraphBuilder', 'expandDynamic', 2);
}, 'MLGraphBuilder: expandDynamic');

promise_test(async () => {
  assertOperation('MLGraphBuilder', 'sliceDynamic', 3);
}, 'MLGraphBuilder: sliceDynamic');

promise_test(async () => {
  assertOperation('MLGraphBuilder', 'padDynamic', 3);
}, 'MLGraphBuilder: padDynamic');

promise_test(async () => {
  assertOperation('MLGraphBuilder', 'splitDynamic', 2);
}, 'MLGraphBuilder: splitDynamic');

promise_test(async () => {
  assertOperation('MLGraphBuilder', 'resample2dDynamic', 1);
}, 'MLGraphBuilder: resample2dDynamic');

promise_test(async () => {
  assertOperation('MLGraphBuilder', 'tileDynamic', 2);
}, 'MLGraphBuilder: tileDynamic');

promise_test(async () => {
  assertAttribute('MLOperand', 'shape');
}, 'MLOperand: shape');

promise_test(async () => {
  assert_own_property(context.opSupportLimits(), 'shape');
}, 'opSupportLimits() lists shape');

promise_test(async () => {
  assert_own_property(context.opSupportLimits(), 'range');
}, 'opSupportLimits() lists range');

promise_test(async () => {
  assert_own_property(context.opSupportLimits(), 'modulusFloor');
}, 'opSupportLimits() lists modulusFloor');

promise_test(async () => {
  assert_own_property(context.opSupportLimits(), 'modulusTruncate');
}, 'opSupportLimits() lists modulusTruncate');

promise_test(async () => {
  assert_own_property(context.opSupportLimits(), 'squeeze');
}, 'opSupportLimits() lists squeeze');

promise_test(async () => {
  assert_own_property(context.opSupportLimits(), 'unsqueeze');
}, 'opSupportLimits() lists unsqueeze');

promise_test(async () => {
  assert_own_property(context.opSupportLimits(), 'reshapeTo2d');
}, 'opSupportLimits() lists reshapeTo2d');

promise_test(async () => {
  assert_own_property(context.opSupportLimits(), 'reshapeDynamic');
}, 'opSupportLimits() lists reshapeDynamic');

promise_test(async () => {
  assert_own_property(context.opSupportLimits(), 'expandDynamic');
}, 'opSupportLimits() lists expandDynamic');

promise_test(async () => {
  assert_own_property(context.opSupportLimits(), 'sliceDynamic');
}, 'opSupportLimits() lists sliceDynamic');

promise_test(async () => {
  assert_own_property(context.opSupportLimits(), 'padDynamic');
}, 'opSupportLimits() lists padDynamic');

promise_test(async () => {
  assert_own_property(context.opSupportLimits(), 'splitDynamic');
}, 'opSupportLimits() lists splitDynamic');

promise_test(async () => {
  assert_own_property(context.opSupportLimits(), 'resample2dDynamic');
}, 'opSupportLimits() lists resample2dDynamic');

promise_test(async () => {
  assert_own_property(context.opSupportLimits(), 'tileDynamic');
}, 'opSupportLimits() lists tileDynamic');
