// WebNN, the draft 2026-09: written by tools/javascript_types.py from the IDL. A sequence that a program gives may be any iterable, as in Web IDL;
// dictionaries that it gets have all members.

type MLConv2dFilterOperandLayout = 'oihw' | 'hwio' | 'ohwi' | 'ihwo';

type MLConvTranspose2dFilterOperandLayout = 'iohw' | 'hwoi' | 'ohwi';

type MLGruWeightLayout = 'zrn' | 'rzn';

type MLInputOperandLayout = 'nchw' | 'nhwc';

type MLInterpolationMode = 'nearest-neighbor' | 'linear';

type MLLstmWeightLayout = 'iofg' | 'ifgo';

type MLOperandDataType = 'float32' | 'float16' | 'int32' | 'uint32' | 'int64' | 'uint64' | 'int8' | 'uint8';

type MLPaddingMode = 'constant' | 'edge' | 'reflection';

type MLPowerPreference = 'default' | 'high-performance' | 'low-power';

type MLRecurrentNetworkActivation = 'relu' | 'sigmoid' | 'tanh';

type MLRecurrentNetworkDirection = 'forward' | 'backward' | 'both';

type MLRoundingType = 'floor' | 'ceil';

type MLDataTypeList = MLOperandDataType[];

type MLNamedOperands = Record<string, MLOperand>;

type MLNamedTensors = Record<string, MLTensor>;

type MLNumber = bigint | number;

// Of WebGPU, whose declarations may add its members.
interface GPUDevice {
  readonly [Symbol.toStringTag]: 'GPUDevice';
}
interface GPUBuffer {
  readonly [Symbol.toStringTag]: 'GPUBuffer';
}

interface MLArgMinMaxOptions extends MLOperatorOptions {
  keepDimensions?: boolean;
  outputDataType?: MLOperandDataType;
}

interface MLBatchNormalizationOptions extends MLOperatorOptions {
  scale?: MLOperand;
  bias?: MLOperand;
  axis?: number;
  epsilon?: number;
}

interface MLBatchNormalizationSupportLimits {
  input: MLTensorLimits;
  mean: MLTensorLimits;
  variance: MLTensorLimits;
  scale: MLTensorLimits;
  bias: MLTensorLimits;
  output: MLTensorLimits;
}

interface MLBinarySupportLimits {
  a: MLTensorLimits;
  b: MLTensorLimits;
  output: MLTensorLimits;
}

interface MLClampOptions extends MLOperatorOptions {
  minValue?: MLNumber;
  maxValue?: MLNumber;
}

interface MLConcatSupportLimits {
  inputs: MLTensorLimits;
  output: MLTensorLimits;
}

interface MLContextLostInfo {
  message: string;
}

interface MLContextOptions {
  powerPreference?: MLPowerPreference;
  accelerated?: boolean;
}

interface MLConv2dOptions extends MLOperatorOptions {
  padding?: Iterable<number>;
  strides?: Iterable<number>;
  dilations?: Iterable<number>;
  groups?: number;
  inputLayout?: MLInputOperandLayout;
  filterLayout?: MLConv2dFilterOperandLayout;
  bias?: MLOperand;
}

interface MLConv2dSupportLimits {
  input: MLTensorLimits;
  filter: MLTensorLimits;
  bias: MLTensorLimits;
  output: MLTensorLimits;
}

interface MLConvTranspose2dOptions extends MLOperatorOptions {
  padding?: Iterable<number>;
  strides?: Iterable<number>;
  dilations?: Iterable<number>;
  outputPadding?: Iterable<number>;
  outputSizes?: Iterable<number>;
  groups?: number;
  inputLayout?: MLInputOperandLayout;
  filterLayout?: MLConvTranspose2dFilterOperandLayout;
  bias?: MLOperand;
}

interface MLCumulativeSumOptions extends MLOperatorOptions {
  exclusive?: boolean;
  reversed?: boolean;
}

interface MLEluOptions extends MLOperatorOptions {
  alpha?: number;
}

interface MLGatherOptions extends MLOperatorOptions {
  axis?: number;
}

interface MLGatherSupportLimits {
  input: MLTensorLimits;
  indices: MLTensorLimits;
  output: MLTensorLimits;
}

interface MLGemmOptions extends MLOperatorOptions {
  c?: MLOperand;
  alpha?: number;
  beta?: number;
  aTranspose?: boolean;
  bTranspose?: boolean;
}

interface MLGemmSupportLimits {
  a: MLTensorLimits;
  b: MLTensorLimits;
  c: MLTensorLimits;
  output: MLTensorLimits;
}

interface MLGruCellOptions extends MLOperatorOptions {
  bias?: MLOperand;
  recurrentBias?: MLOperand;
  resetAfter?: boolean;
  layout?: MLGruWeightLayout;
  activations?: Iterable<MLRecurrentNetworkActivation>;
}

interface MLGruCellSupportLimits {
  input: MLTensorLimits;
  weight: MLTensorLimits;
  recurrentWeight: MLTensorLimits;
  hiddenState: MLTensorLimits;
  bias: MLTensorLimits;
  recurrentBias: MLTensorLimits;
  output: MLTensorLimits;
}

interface MLGruOptions extends MLOperatorOptions {
  bias?: MLOperand;
  recurrentBias?: MLOperand;
  initialHiddenState?: MLOperand;
  resetAfter?: boolean;
  returnSequence?: boolean;
  direction?: MLRecurrentNetworkDirection;
  layout?: MLGruWeightLayout;
  activations?: Iterable<MLRecurrentNetworkActivation>;
}

interface MLGruSupportLimits {
  input: MLTensorLimits;
  weight: MLTensorLimits;
  recurrentWeight: MLTensorLimits;
  bias: MLTensorLimits;
  recurrentBias: MLTensorLimits;
  initialHiddenState: MLTensorLimits;
  output0: MLTensorLimits;
  output1: MLTensorLimits;
}

interface MLHardSigmoidOptions extends MLOperatorOptions {
  alpha?: number;
  beta?: number;
}

interface MLInstanceNormalizationOptions extends MLOperatorOptions {
  scale?: MLOperand;
  bias?: MLOperand;
  epsilon?: number;
  layout?: MLInputOperandLayout;
}

interface MLLayerNormalizationOptions extends MLOperatorOptions {
  scale?: MLOperand;
  bias?: MLOperand;
  axes?: Iterable<number>;
  epsilon?: number;
}

interface MLLeakyReluOptions extends MLOperatorOptions {
  alpha?: number;
}

interface MLLinearOptions extends MLOperatorOptions {
  alpha?: number;
  beta?: number;
}

interface MLLogicalNotSupportLimits {
  a: MLTensorLimits;
  output: MLTensorLimits;
}

interface MLLstmCellOptions extends MLOperatorOptions {
  bias?: MLOperand;
  recurrentBias?: MLOperand;
  peepholeWeight?: MLOperand;
  layout?: MLLstmWeightLayout;
  activations?: Iterable<MLRecurrentNetworkActivation>;
}

interface MLLstmCellSupportLimits {
  input: MLTensorLimits;
  weight: MLTensorLimits;
  recurrentWeight: MLTensorLimits;
  hiddenState: MLTensorLimits;
  cellState: MLTensorLimits;
  bias: MLTensorLimits;
  recurrentBias: MLTensorLimits;
  peepholeWeight: MLTensorLimits;
  output0: MLTensorLimits;
  output1: MLTensorLimits;
}

interface MLLstmOptions extends MLOperatorOptions {
  bias?: MLOperand;
  recurrentBias?: MLOperand;
  peepholeWeight?: MLOperand;
  initialHiddenState?: MLOperand;
  initialCellState?: MLOperand;
  returnSequence?: boolean;
  direction?: MLRecurrentNetworkDirection;
  layout?: MLLstmWeightLayout;
  activations?: Iterable<MLRecurrentNetworkActivation>;
}

interface MLLstmSupportLimits {
  input: MLTensorLimits;
  weight: MLTensorLimits;
  recurrentWeight: MLTensorLimits;
  bias: MLTensorLimits;
  recurrentBias: MLTensorLimits;
  peepholeWeight: MLTensorLimits;
  initialHiddenState: MLTensorLimits;
  initialCellState: MLTensorLimits;
  output0: MLTensorLimits;
  output1: MLTensorLimits;
  output2: MLTensorLimits;
}

interface MLNormalizationSupportLimits {
  input: MLTensorLimits;
  scale: MLTensorLimits;
  bias: MLTensorLimits;
  output: MLTensorLimits;
}

interface MLOpSupportLimits {
  preferredInputLayout: MLInputOperandLayout;
  maxTensorByteLength: number;
  input: MLTensorLimits;
  constant: MLTensorLimits;
  output: MLTensorLimits;
  argMin: MLSingleInputSupportLimits;
  argMax: MLSingleInputSupportLimits;
  batchNormalization: MLBatchNormalizationSupportLimits;
  cast: MLSingleInputSupportLimits;
  clamp: MLSingleInputSupportLimits;
  concat: MLConcatSupportLimits;
  conv2d: MLConv2dSupportLimits;
  convTranspose2d: MLConv2dSupportLimits;
  cumulativeSum: MLSingleInputSupportLimits;
  add: MLBinarySupportLimits;
  sub: MLBinarySupportLimits;
  mul: MLBinarySupportLimits;
  div: MLBinarySupportLimits;
  max: MLBinarySupportLimits;
  min: MLBinarySupportLimits;
  pow: MLBinarySupportLimits;
  equal: MLBinarySupportLimits;
  notEqual: MLBinarySupportLimits;
  greater: MLBinarySupportLimits;
  greaterOrEqual: MLBinarySupportLimits;
  lesser: MLBinarySupportLimits;
  lesserOrEqual: MLBinarySupportLimits;
  logicalNot: MLLogicalNotSupportLimits;
  logicalAnd: MLBinarySupportLimits;
  logicalOr: MLBinarySupportLimits;
  logicalXor: MLBinarySupportLimits;
  isNaN: MLLogicalNotSupportLimits;
  isInfinite: MLLogicalNotSupportLimits;
  abs: MLSingleInputSupportLimits;
  ceil: MLSingleInputSupportLimits;
  cos: MLSingleInputSupportLimits;
  erf: MLSingleInputSupportLimits;
  exp: MLSingleInputSupportLimits;
  floor: MLSingleInputSupportLimits;
  identity: MLSingleInputSupportLimits;
  log: MLSingleInputSupportLimits;
  neg: MLSingleInputSupportLimits;
  reciprocal: MLSingleInputSupportLimits;
  roundEven: MLSingleInputSupportLimits;
  sin: MLSingleInputSupportLimits;
  sign: MLSingleInputSupportLimits;
  sqrt: MLSingleInputSupportLimits;
  tan: MLSingleInputSupportLimits;
  dequantizeLinear: MLQuantizeDequantizeLinearSupportLimits;
  quantizeLinear: MLQuantizeDequantizeLinearSupportLimits;
  elu: MLSingleInputSupportLimits;
  expand: MLSingleInputSupportLimits;
  gather: MLGatherSupportLimits;
  gatherElements: MLGatherSupportLimits;
  gatherND: MLGatherSupportLimits;
  gelu: MLSingleInputSupportLimits;
  gemm: MLGemmSupportLimits;
  gru: MLGruSupportLimits;
  gruCell: MLGruCellSupportLimits;
  hardSigmoid: MLSingleInputSupportLimits;
  hardSwish: MLSingleInputSupportLimits;
  instanceNormalization: MLNormalizationSupportLimits;
  layerNormalization: MLNormalizationSupportLimits;
  leakyRelu: MLSingleInputSupportLimits;
  linear: MLSingleInputSupportLimits;
  lstm: MLLstmSupportLimits;
  lstmCell: MLLstmCellSupportLimits;
  matmul: MLBinarySupportLimits;
  pad: MLSingleInputSupportLimits;
  averagePool2d: MLSingleInputSupportLimits;
  l2Pool2d: MLSingleInputSupportLimits;
  maxPool2d: MLSingleInputSupportLimits;
  prelu: MLPreluSupportLimits;
  reduceL1: MLSingleInputSupportLimits;
  reduceL2: MLSingleInputSupportLimits;
  reduceLogSum: MLSingleInputSupportLimits;
  reduceLogSumExp: MLSingleInputSupportLimits;
  reduceMax: MLSingleInputSupportLimits;
  reduceMean: MLSingleInputSupportLimits;
  reduceMin: MLSingleInputSupportLimits;
  reduceProduct: MLSingleInputSupportLimits;
  reduceSum: MLSingleInputSupportLimits;
  reduceSumSquare: MLSingleInputSupportLimits;
  relu: MLSingleInputSupportLimits;
  resample2d: MLSingleInputSupportLimits;
  reshape: MLSingleInputSupportLimits;
  reverse: MLSingleInputSupportLimits;
  scatterElements: MLScatterSupportLimits;
  scatterND: MLScatterSupportLimits;
  sigmoid: MLSingleInputSupportLimits;
  slice: MLSingleInputSupportLimits;
  softmax: MLSingleInputSupportLimits;
  softplus: MLSingleInputSupportLimits;
  softsign: MLSingleInputSupportLimits;
  split: MLSplitSupportLimits;
  tanh: MLSingleInputSupportLimits;
  tile: MLSingleInputSupportLimits;
  transpose: MLSingleInputSupportLimits;
  triangular: MLSingleInputSupportLimits;
  where: MLWhereSupportLimits;
}

interface MLOperandDescriptor {
  dataType: MLOperandDataType;
  shape: Iterable<number>;
}

interface MLOperatorOptions {
  label?: string;
}

interface MLPadOptions extends MLOperatorOptions {
  mode?: MLPaddingMode;
  value?: MLNumber;
}

interface MLPool2dOptions extends MLOperatorOptions {
  windowDimensions?: Iterable<number>;
  padding?: Iterable<number>;
  strides?: Iterable<number>;
  dilations?: Iterable<number>;
  layout?: MLInputOperandLayout;
  outputShapeRounding?: MLRoundingType;
  outputSizes?: Iterable<number>;
}

interface MLPreluSupportLimits {
  input: MLTensorLimits;
  slope: MLTensorLimits;
  output: MLTensorLimits;
}

interface MLQuantizeDequantizeLinearSupportLimits {
  input: MLTensorLimits;
  scale: MLTensorLimits;
  zeroPoint: MLTensorLimits;
  output: MLTensorLimits;
}

interface MLRankRange {
  min: number;
  max: number;
}

interface MLReduceOptions extends MLOperatorOptions {
  axes?: Iterable<number>;
  keepDimensions?: boolean;
}

interface MLResample2dOptions extends MLOperatorOptions {
  mode?: MLInterpolationMode;
  scales?: Iterable<number>;
  sizes?: Iterable<number>;
  axes?: Iterable<number>;
}

interface MLReverseOptions extends MLOperatorOptions {
  axes?: Iterable<number>;
}

interface MLScatterOptions extends MLOperatorOptions {
  axis?: number;
}

interface MLScatterSupportLimits {
  input: MLTensorLimits;
  indices: MLTensorLimits;
  updates: MLTensorLimits;
  output: MLTensorLimits;
}

interface MLSingleInputSupportLimits {
  input: MLTensorLimits;
  output: MLTensorLimits;
}

interface MLSliceOptions extends MLOperatorOptions {
  strides?: Iterable<number>;
}

interface MLSplitOptions extends MLOperatorOptions {
  axis?: number;
}

interface MLSplitSupportLimits {
  input: MLTensorLimits;
  outputs: MLTensorLimits;
}

interface MLTensorDescriptor extends MLOperandDescriptor {
  readable?: boolean;
  writable?: boolean;
}

interface MLTensorLimits {
  dataTypes: MLDataTypeList;
  rankRange: MLRankRange;
}

interface MLTransposeOptions extends MLOperatorOptions {
  permutation?: Iterable<number>;
}

interface MLTriangularOptions extends MLOperatorOptions {
  upper?: boolean;
  diagonal?: number;
}

interface MLWhereSupportLimits {
  condition: MLTensorLimits;
  trueValue: MLTensorLimits;
  falseValue: MLTensorLimits;
  output: MLTensorLimits;
}

interface NavigatorML {
  readonly ml: ML;
}

interface Navigator extends NavigatorML {}

interface WorkerNavigator extends NavigatorML {}

interface ML {
  createContext(options?: MLContextOptions): Promise<MLContext>;
  createContext(gpuDevice: GPUDevice): Promise<MLContext>;
  readonly [Symbol.toStringTag]: 'ML';
}
declare var ML: {readonly prototype: ML} & (abstract new () => ML);

interface MLContext {
  readonly accelerated: boolean;
  readonly lost: Promise<MLContextLostInfo>;
  dispatch(graph: MLGraph, inputs: MLNamedTensors, outputs: MLNamedTensors): void;
  createTensor(descriptor: MLTensorDescriptor): Promise<MLTensor>;
  createConstantTensor(descriptor: MLOperandDescriptor, inputData: ArrayBufferLike | ArrayBufferView): Promise<MLTensor>;
  readTensor(tensor: MLTensor): Promise<ArrayBuffer>;
  readTensor(tensor: MLTensor, outputData: ArrayBufferLike | ArrayBufferView): Promise<void>;
  writeTensor(tensor: MLTensor, inputData: ArrayBufferLike | ArrayBufferView): void;
  opSupportLimits(): MLOpSupportLimits;
  destroy(): void;
  createExportableTensor(descriptor: MLTensorDescriptor, gpuDevice: GPUDevice): Promise<MLTensor>;
  exportToGPU(tensor: MLTensor): GPUBuffer;
  readonly [Symbol.toStringTag]: 'MLContext';
}
declare var MLContext: {readonly prototype: MLContext} & (abstract new () => MLContext);

interface MLGraph {
  destroy(): void;
  readonly [Symbol.toStringTag]: 'MLGraph';
}
declare var MLGraph: {readonly prototype: MLGraph} & (abstract new () => MLGraph);

interface MLGraphBuilder {
  input(name: string, descriptor: MLOperandDescriptor): MLOperand;
  constant(descriptor: MLOperandDescriptor, buffer: ArrayBufferLike | ArrayBufferView): MLOperand;
  constant(dataType: MLOperandDataType, value: MLNumber): MLOperand;
  constant(tensor: MLTensor): MLOperand;
  build(outputs: MLNamedOperands): Promise<MLGraph>;
  argMin(input: MLOperand, axis: number, options?: MLArgMinMaxOptions): MLOperand;
  argMax(input: MLOperand, axis: number, options?: MLArgMinMaxOptions): MLOperand;
  batchNormalization(input: MLOperand, mean: MLOperand, variance: MLOperand, options?: MLBatchNormalizationOptions): MLOperand;
  cast(input: MLOperand, dataType: MLOperandDataType, options?: MLOperatorOptions): MLOperand;
  clamp(input: MLOperand, options?: MLClampOptions): MLOperand;
  concat(inputs: Iterable<MLOperand>, axis: number, options?: MLOperatorOptions): MLOperand;
  conv2d(input: MLOperand, filter: MLOperand, options?: MLConv2dOptions): MLOperand;
  convTranspose2d(input: MLOperand, filter: MLOperand, options?: MLConvTranspose2dOptions): MLOperand;
  cumulativeSum(input: MLOperand, axis: number, options?: MLCumulativeSumOptions): MLOperand;
  add(a: MLOperand, b: MLOperand, options?: MLOperatorOptions): MLOperand;
  sub(a: MLOperand, b: MLOperand, options?: MLOperatorOptions): MLOperand;
  mul(a: MLOperand, b: MLOperand, options?: MLOperatorOptions): MLOperand;
  div(a: MLOperand, b: MLOperand, options?: MLOperatorOptions): MLOperand;
  max(a: MLOperand, b: MLOperand, options?: MLOperatorOptions): MLOperand;
  min(a: MLOperand, b: MLOperand, options?: MLOperatorOptions): MLOperand;
  pow(a: MLOperand, b: MLOperand, options?: MLOperatorOptions): MLOperand;
  equal(a: MLOperand, b: MLOperand, options?: MLOperatorOptions): MLOperand;
  notEqual(a: MLOperand, b: MLOperand, options?: MLOperatorOptions): MLOperand;
  greater(a: MLOperand, b: MLOperand, options?: MLOperatorOptions): MLOperand;
  greaterOrEqual(a: MLOperand, b: MLOperand, options?: MLOperatorOptions): MLOperand;
  lesser(a: MLOperand, b: MLOperand, options?: MLOperatorOptions): MLOperand;
  lesserOrEqual(a: MLOperand, b: MLOperand, options?: MLOperatorOptions): MLOperand;
  logicalNot(a: MLOperand, options?: MLOperatorOptions): MLOperand;
  logicalAnd(a: MLOperand, b: MLOperand, options?: MLOperatorOptions): MLOperand;
  logicalOr(a: MLOperand, b: MLOperand, options?: MLOperatorOptions): MLOperand;
  logicalXor(a: MLOperand, b: MLOperand, options?: MLOperatorOptions): MLOperand;
  isNaN(a: MLOperand, options?: MLOperatorOptions): MLOperand;
  isInfinite(a: MLOperand, options?: MLOperatorOptions): MLOperand;
  abs(input: MLOperand, options?: MLOperatorOptions): MLOperand;
  ceil(input: MLOperand, options?: MLOperatorOptions): MLOperand;
  cos(input: MLOperand, options?: MLOperatorOptions): MLOperand;
  erf(input: MLOperand, options?: MLOperatorOptions): MLOperand;
  exp(input: MLOperand, options?: MLOperatorOptions): MLOperand;
  floor(input: MLOperand, options?: MLOperatorOptions): MLOperand;
  identity(input: MLOperand, options?: MLOperatorOptions): MLOperand;
  log(input: MLOperand, options?: MLOperatorOptions): MLOperand;
  neg(input: MLOperand, options?: MLOperatorOptions): MLOperand;
  reciprocal(input: MLOperand, options?: MLOperatorOptions): MLOperand;
  roundEven(input: MLOperand, options?: MLOperatorOptions): MLOperand;
  sin(input: MLOperand, options?: MLOperatorOptions): MLOperand;
  sign(input: MLOperand, options?: MLOperatorOptions): MLOperand;
  sqrt(input: MLOperand, options?: MLOperatorOptions): MLOperand;
  tan(input: MLOperand, options?: MLOperatorOptions): MLOperand;
  dequantizeLinear(input: MLOperand, scale: MLOperand, zeroPoint: MLOperand, options?: MLOperatorOptions): MLOperand;
  quantizeLinear(input: MLOperand, scale: MLOperand, zeroPoint: MLOperand, options?: MLOperatorOptions): MLOperand;
  elu(input: MLOperand, options?: MLEluOptions): MLOperand;
  expand(input: MLOperand, newShape: Iterable<number>, options?: MLOperatorOptions): MLOperand;
  gather(input: MLOperand, indices: MLOperand, options?: MLGatherOptions): MLOperand;
  gatherElements(input: MLOperand, indices: MLOperand, options?: MLGatherOptions): MLOperand;
  gatherND(input: MLOperand, indices: MLOperand, options?: MLOperatorOptions): MLOperand;
  gelu(input: MLOperand, options?: MLOperatorOptions): MLOperand;
  gemm(a: MLOperand, b: MLOperand, options?: MLGemmOptions): MLOperand;
  gru(input: MLOperand, weight: MLOperand, recurrentWeight: MLOperand, steps: number, hiddenSize: number, options?: MLGruOptions): MLOperand[];
  gruCell(input: MLOperand, weight: MLOperand, recurrentWeight: MLOperand, hiddenState: MLOperand, hiddenSize: number, options?: MLGruCellOptions): MLOperand;
  hardSigmoid(input: MLOperand, options?: MLHardSigmoidOptions): MLOperand;
  hardSwish(input: MLOperand, options?: MLOperatorOptions): MLOperand;
  instanceNormalization(input: MLOperand, options?: MLInstanceNormalizationOptions): MLOperand;
  layerNormalization(input: MLOperand, options?: MLLayerNormalizationOptions): MLOperand;
  leakyRelu(input: MLOperand, options?: MLLeakyReluOptions): MLOperand;
  linear(input: MLOperand, options?: MLLinearOptions): MLOperand;
  lstm(input: MLOperand, weight: MLOperand, recurrentWeight: MLOperand, steps: number, hiddenSize: number, options?: MLLstmOptions): MLOperand[];
  lstmCell(input: MLOperand, weight: MLOperand, recurrentWeight: MLOperand, hiddenState: MLOperand, cellState: MLOperand, hiddenSize: number, options?: MLLstmCellOptions): MLOperand[];
  matmul(a: MLOperand, b: MLOperand, options?: MLOperatorOptions): MLOperand;
  pad(input: MLOperand, beginningPadding: Iterable<number>, endingPadding: Iterable<number>, options?: MLPadOptions): MLOperand;
  averagePool2d(input: MLOperand, options?: MLPool2dOptions): MLOperand;
  l2Pool2d(input: MLOperand, options?: MLPool2dOptions): MLOperand;
  maxPool2d(input: MLOperand, options?: MLPool2dOptions): MLOperand;
  prelu(input: MLOperand, slope: MLOperand, options?: MLOperatorOptions): MLOperand;
  reduceL1(input: MLOperand, options?: MLReduceOptions): MLOperand;
  reduceL2(input: MLOperand, options?: MLReduceOptions): MLOperand;
  reduceLogSum(input: MLOperand, options?: MLReduceOptions): MLOperand;
  reduceLogSumExp(input: MLOperand, options?: MLReduceOptions): MLOperand;
  reduceMax(input: MLOperand, options?: MLReduceOptions): MLOperand;
  reduceMean(input: MLOperand, options?: MLReduceOptions): MLOperand;
  reduceMin(input: MLOperand, options?: MLReduceOptions): MLOperand;
  reduceProduct(input: MLOperand, options?: MLReduceOptions): MLOperand;
  reduceSum(input: MLOperand, options?: MLReduceOptions): MLOperand;
  reduceSumSquare(input: MLOperand, options?: MLReduceOptions): MLOperand;
  relu(input: MLOperand, options?: MLOperatorOptions): MLOperand;
  resample2d(input: MLOperand, options?: MLResample2dOptions): MLOperand;
  reshape(input: MLOperand, newShape: Iterable<number>, options?: MLOperatorOptions): MLOperand;
  reverse(input: MLOperand, options?: MLReverseOptions): MLOperand;
  scatterElements(input: MLOperand, indices: MLOperand, updates: MLOperand, options?: MLScatterOptions): MLOperand;
  scatterND(input: MLOperand, indices: MLOperand, updates: MLOperand, options?: MLOperatorOptions): MLOperand;
  sigmoid(input: MLOperand, options?: MLOperatorOptions): MLOperand;
  slice(input: MLOperand, starts: Iterable<number>, sizes: Iterable<number>, options?: MLSliceOptions): MLOperand;
  softmax(input: MLOperand, axis: number, options?: MLOperatorOptions): MLOperand;
  softplus(input: MLOperand, options?: MLOperatorOptions): MLOperand;
  softsign(input: MLOperand, options?: MLOperatorOptions): MLOperand;
  split(input: MLOperand, splits: number | Iterable<number>, options?: MLSplitOptions): MLOperand[];
  tanh(input: MLOperand, options?: MLOperatorOptions): MLOperand;
  tile(input: MLOperand, repetitions: Iterable<number>, options?: MLOperatorOptions): MLOperand;
  transpose(input: MLOperand, options?: MLTransposeOptions): MLOperand;
  triangular(input: MLOperand, options?: MLTriangularOptions): MLOperand;
  where(condition: MLOperand, trueValue: MLOperand, falseValue: MLOperand, options?: MLOperatorOptions): MLOperand;
  readonly [Symbol.toStringTag]: 'MLGraphBuilder';
}
declare var MLGraphBuilder: {new (context: MLContext): MLGraphBuilder; readonly prototype: MLGraphBuilder};

interface MLOperand {
  readonly dataType: MLOperandDataType;
  readonly shape: readonly number[];
  readonly [Symbol.toStringTag]: 'MLOperand';
}
declare var MLOperand: {readonly prototype: MLOperand} & (abstract new () => MLOperand);

interface MLTensor {
  readonly dataType: MLOperandDataType;
  readonly shape: readonly number[];
  readonly readable: boolean;
  readonly writable: boolean;
  readonly constant: boolean;
  destroy(): void;
  readonly [Symbol.toStringTag]: 'MLTensor';
}
declare var MLTensor: {readonly prototype: MLTensor} & (abstract new () => MLTensor);
