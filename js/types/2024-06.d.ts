// WebNN, the draft 2024-06: written by tools/javascript_types.py from the IDL. A sequence that a program gives may be any iterable, as in Web IDL;
// dictionaries that it gets have all members.

type MLConv2dFilterOperandLayout = 'oihw' | 'hwio' | 'ohwi' | 'ihwo';

type MLConvTranspose2dFilterOperandLayout = 'iohw' | 'hwoi' | 'ohwi';

type MLDeviceType = 'cpu' | 'gpu' | 'npu';

type MLGruWeightLayout = 'zrn' | 'rzn';

type MLInputOperandLayout = 'nchw' | 'nhwc';

type MLInterpolationMode = 'nearest-neighbor' | 'linear';

type MLLstmWeightLayout = 'iofg' | 'ifgo';

type MLOperandDataType = 'float32' | 'float16' | 'int32' | 'uint32' | 'int64' | 'uint64' | 'int8' | 'uint8';

type MLPaddingMode = 'constant' | 'edge' | 'reflection' | 'symmetric';

type MLPowerPreference = 'default' | 'high-performance' | 'low-power';

type MLRecurrentNetworkDirection = 'forward' | 'backward' | 'both';

type MLRoundingType = 'floor' | 'ceil';

type MLNamedArrayBufferViews = Record<string, ArrayBufferView>;

type MLNamedOperands = Record<string, MLOperand>;

// Of WebGPU, whose declarations may add its members.
interface GPUDevice {
  readonly [Symbol.toStringTag]: 'GPUDevice';
}

interface MLArgMinMaxOptions {
  axes?: Iterable<number>;
  keepDimensions?: boolean;
  selectLastIndex?: boolean;
}

interface MLBatchNormalizationOptions {
  scale?: MLOperand;
  bias?: MLOperand;
  axis?: number;
  epsilon?: number;
}

interface MLClampOptions {
  minValue?: number;
  maxValue?: number;
}

interface MLComputeResult {
  inputs: MLNamedArrayBufferViews;
  outputs: MLNamedArrayBufferViews;
}

interface MLContextOptions {
  deviceType?: MLDeviceType;
  powerPreference?: MLPowerPreference;
}

interface MLConv2dOptions {
  padding?: Iterable<number>;
  strides?: Iterable<number>;
  dilations?: Iterable<number>;
  groups?: number;
  inputLayout?: MLInputOperandLayout;
  filterLayout?: MLConv2dFilterOperandLayout;
  bias?: MLOperand;
}

interface MLConvTranspose2dOptions {
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

interface MLEluOptions {
  alpha?: number;
}

interface MLGatherOptions {
  axis?: number;
}

interface MLGemmOptions {
  c?: MLOperand;
  alpha?: number;
  beta?: number;
  aTranspose?: boolean;
  bTranspose?: boolean;
}

interface MLGruCellOptions {
  bias?: MLOperand;
  recurrentBias?: MLOperand;
  resetAfter?: boolean;
  layout?: MLGruWeightLayout;
  activations?: Iterable<MLActivation>;
}

interface MLGruOptions {
  bias?: MLOperand;
  recurrentBias?: MLOperand;
  initialHiddenState?: MLOperand;
  resetAfter?: boolean;
  returnSequence?: boolean;
  direction?: MLRecurrentNetworkDirection;
  layout?: MLGruWeightLayout;
  activations?: Iterable<MLActivation>;
}

interface MLHardSigmoidOptions {
  alpha?: number;
  beta?: number;
}

interface MLInstanceNormalizationOptions {
  scale?: MLOperand;
  bias?: MLOperand;
  epsilon?: number;
  layout?: MLInputOperandLayout;
}

interface MLLayerNormalizationOptions {
  scale?: MLOperand;
  bias?: MLOperand;
  axes?: Iterable<number>;
  epsilon?: number;
}

interface MLLeakyReluOptions {
  alpha?: number;
}

interface MLLinearOptions {
  alpha?: number;
  beta?: number;
}

interface MLLstmCellOptions {
  bias?: MLOperand;
  recurrentBias?: MLOperand;
  peepholeWeight?: MLOperand;
  layout?: MLLstmWeightLayout;
  activations?: Iterable<MLActivation>;
}

interface MLLstmOptions {
  bias?: MLOperand;
  recurrentBias?: MLOperand;
  peepholeWeight?: MLOperand;
  initialHiddenState?: MLOperand;
  initialCellState?: MLOperand;
  returnSequence?: boolean;
  direction?: MLRecurrentNetworkDirection;
  layout?: MLLstmWeightLayout;
  activations?: Iterable<MLActivation>;
}

interface MLOperandDescriptor {
  dataType: MLOperandDataType;
  dimensions?: Iterable<number>;
}

interface MLPadOptions {
  mode?: MLPaddingMode;
  value?: number;
}

interface MLPool2dOptions {
  windowDimensions?: Iterable<number>;
  padding?: Iterable<number>;
  strides?: Iterable<number>;
  dilations?: Iterable<number>;
  layout?: MLInputOperandLayout;
  roundingType?: MLRoundingType;
  outputSizes?: Iterable<number>;
}

interface MLReduceOptions {
  axes?: Iterable<number>;
  keepDimensions?: boolean;
}

interface MLResample2dOptions {
  mode?: MLInterpolationMode;
  scales?: Iterable<number>;
  sizes?: Iterable<number>;
  axes?: Iterable<number>;
}

interface MLSplitOptions {
  axis?: number;
}

interface MLTransposeOptions {
  permutation?: Iterable<number>;
}

interface MLTriangularOptions {
  upper?: boolean;
  diagonal?: number;
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

interface MLActivation {
  readonly [Symbol.toStringTag]: 'MLActivation';
}
declare var MLActivation: {readonly prototype: MLActivation} & (abstract new () => MLActivation);

interface MLContext {
  compute(graph: MLGraph, inputs: MLNamedArrayBufferViews, outputs: MLNamedArrayBufferViews): Promise<MLComputeResult>;
  readonly [Symbol.toStringTag]: 'MLContext';
}
declare var MLContext: {readonly prototype: MLContext} & (abstract new () => MLContext);

interface MLGraph {
  readonly [Symbol.toStringTag]: 'MLGraph';
}
declare var MLGraph: {readonly prototype: MLGraph} & (abstract new () => MLGraph);

interface MLGraphBuilder {
  input(name: string, descriptor: MLOperandDescriptor): MLOperand;
  constant(descriptor: MLOperandDescriptor, bufferView: ArrayBufferView): MLOperand;
  constant(type: MLOperandDataType, value: number): MLOperand;
  build(outputs: MLNamedOperands): Promise<MLGraph>;
  argMin(input: MLOperand, options?: MLArgMinMaxOptions): MLOperand;
  argMax(input: MLOperand, options?: MLArgMinMaxOptions): MLOperand;
  batchNormalization(input: MLOperand, mean: MLOperand, variance: MLOperand, options?: MLBatchNormalizationOptions): MLOperand;
  cast(input: MLOperand, type: MLOperandDataType): MLOperand;
  clamp(input: MLOperand, options?: MLClampOptions): MLOperand;
  concat(inputs: Iterable<MLOperand>, axis: number): MLOperand;
  conv2d(input: MLOperand, filter: MLOperand, options?: MLConv2dOptions): MLOperand;
  convTranspose2d(input: MLOperand, filter: MLOperand, options?: MLConvTranspose2dOptions): MLOperand;
  add(a: MLOperand, b: MLOperand): MLOperand;
  sub(a: MLOperand, b: MLOperand): MLOperand;
  mul(a: MLOperand, b: MLOperand): MLOperand;
  div(a: MLOperand, b: MLOperand): MLOperand;
  max(a: MLOperand, b: MLOperand): MLOperand;
  min(a: MLOperand, b: MLOperand): MLOperand;
  pow(a: MLOperand, b: MLOperand): MLOperand;
  equal(a: MLOperand, b: MLOperand): MLOperand;
  greater(a: MLOperand, b: MLOperand): MLOperand;
  greaterOrEqual(a: MLOperand, b: MLOperand): MLOperand;
  lesser(a: MLOperand, b: MLOperand): MLOperand;
  lesserOrEqual(a: MLOperand, b: MLOperand): MLOperand;
  logicalNot(a: MLOperand): MLOperand;
  abs(input: MLOperand): MLOperand;
  ceil(input: MLOperand): MLOperand;
  cos(input: MLOperand): MLOperand;
  erf(input: MLOperand): MLOperand;
  exp(input: MLOperand): MLOperand;
  floor(input: MLOperand): MLOperand;
  identity(input: MLOperand): MLOperand;
  log(input: MLOperand): MLOperand;
  neg(input: MLOperand): MLOperand;
  reciprocal(input: MLOperand): MLOperand;
  sin(input: MLOperand): MLOperand;
  sqrt(input: MLOperand): MLOperand;
  tan(input: MLOperand): MLOperand;
  elu(input: MLOperand, options?: MLEluOptions): MLOperand;
  elu(options?: MLEluOptions): MLActivation;
  expand(input: MLOperand, newShape: Iterable<number>): MLOperand;
  gather(input: MLOperand, indices: MLOperand, options?: MLGatherOptions): MLOperand;
  gelu(input: MLOperand): MLOperand;
  gelu(): MLActivation;
  gemm(a: MLOperand, b: MLOperand, options?: MLGemmOptions): MLOperand;
  gru(input: MLOperand, weight: MLOperand, recurrentWeight: MLOperand, steps: number, hiddenSize: number, options?: MLGruOptions): MLOperand[];
  gruCell(input: MLOperand, weight: MLOperand, recurrentWeight: MLOperand, hiddenState: MLOperand, hiddenSize: number, options?: MLGruCellOptions): MLOperand;
  hardSigmoid(input: MLOperand, options?: MLHardSigmoidOptions): MLOperand;
  hardSigmoid(options?: MLHardSigmoidOptions): MLActivation;
  hardSwish(input: MLOperand): MLOperand;
  hardSwish(): MLActivation;
  instanceNormalization(input: MLOperand, options?: MLInstanceNormalizationOptions): MLOperand;
  layerNormalization(input: MLOperand, options?: MLLayerNormalizationOptions): MLOperand;
  leakyRelu(input: MLOperand, options?: MLLeakyReluOptions): MLOperand;
  leakyRelu(options?: MLLeakyReluOptions): MLActivation;
  linear(input: MLOperand, options?: MLLinearOptions): MLOperand;
  linear(options?: MLLinearOptions): MLActivation;
  lstm(input: MLOperand, weight: MLOperand, recurrentWeight: MLOperand, steps: number, hiddenSize: number, options?: MLLstmOptions): MLOperand[];
  lstmCell(input: MLOperand, weight: MLOperand, recurrentWeight: MLOperand, hiddenState: MLOperand, cellState: MLOperand, hiddenSize: number, options?: MLLstmCellOptions): MLOperand[];
  matmul(a: MLOperand, b: MLOperand): MLOperand;
  pad(input: MLOperand, beginningPadding: Iterable<number>, endingPadding: Iterable<number>, options?: MLPadOptions): MLOperand;
  averagePool2d(input: MLOperand, options?: MLPool2dOptions): MLOperand;
  l2Pool2d(input: MLOperand, options?: MLPool2dOptions): MLOperand;
  maxPool2d(input: MLOperand, options?: MLPool2dOptions): MLOperand;
  prelu(input: MLOperand, slope: MLOperand): MLOperand;
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
  relu(input: MLOperand): MLOperand;
  relu(): MLActivation;
  resample2d(input: MLOperand, options?: MLResample2dOptions): MLOperand;
  reshape(input: MLOperand, newShape: Iterable<number>): MLOperand;
  sigmoid(input: MLOperand): MLOperand;
  sigmoid(): MLActivation;
  slice(input: MLOperand, starts: Iterable<number>, sizes: Iterable<number>): MLOperand;
  softmax(input: MLOperand, axis: number): MLOperand;
  softplus(input: MLOperand): MLOperand;
  softplus(): MLActivation;
  softsign(input: MLOperand): MLOperand;
  softsign(): MLActivation;
  split(input: MLOperand, splits: number | Iterable<number>, options?: MLSplitOptions): MLOperand[];
  tanh(input: MLOperand): MLOperand;
  tanh(): MLActivation;
  transpose(input: MLOperand, options?: MLTransposeOptions): MLOperand;
  triangular(input: MLOperand, options?: MLTriangularOptions): MLOperand;
  where(condition: MLOperand, input: MLOperand, other: MLOperand): MLOperand;
  readonly [Symbol.toStringTag]: 'MLGraphBuilder';
}
declare var MLGraphBuilder: {new (context: MLContext): MLGraphBuilder; readonly prototype: MLGraphBuilder};

interface MLOperand {
  dataType(): MLOperandDataType;
  shape(): number[];
  readonly [Symbol.toStringTag]: 'MLOperand';
}
declare var MLOperand: {readonly prototype: MLOperand} & (abstract new () => MLOperand);
