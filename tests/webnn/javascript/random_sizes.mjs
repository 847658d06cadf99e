// Random calls of every operation with a rule of foresight.js: most sizes fit together, and some do not. It prints each result, or the error.
let state = 7;
const below = count => (state = state * 48271 % 2147483647) % count, pick = list => list[below(list.length)], maybe = value => below(3) ? value : undefined;
const TYPES = ['float32', 'float16', 'int32', 'uint8'], shape = (rank = below(4)) => Array.from({length: rank}, () => pick([1, 2, 3, 3, 6]));
const type = () => pick([...TYPES, 'float32', 'float32']), context = await navigator.ml.createContext();
let builder, made, count = 0;
const operand = (dataType = 'float32', sizes = shape()) => builder.input(`${count++}`, {dataType, shape: sizes});
const some = () => operand(type()), axes = () => maybe(pick([[0], [1], [0, 1], [1, 0], [0, 0], []]));
const like = sizes => sizes.map(size => pick([size, size, size, 1])), names = text => text.split(' ');
const pair = () => { const dataType = type(), sizes = shape(); return [operand(dataType, like(sizes)), operand(pick([dataType, dataType, type()]), like(sizes.slice(below(2))))]; };
const unary = 'abs ceil cos erf exp floor identity log neg reciprocal roundEven sign sin sqrt tan relu sigmoid tanh gelu hardSwish softplus softsign logicalNot isNaN isInfinite';
const binary = 'add sub mul div max min pow equal notEqual greater greaterOrEqual lesser lesserOrEqual logicalAnd logicalOr logicalXor';
const reductions = 'reduceL1 reduceL2 reduceLogSum reduceLogSumExp reduceMax reduceMean reduceMin reduceProduct reduceSum reduceSumSquare';
const bytes = {float32: Float32Array, int32: Int32Array, uint8: Uint8Array, float16: Uint16Array};
const CALLS = [
  () => [pick(names(unary)), some()], () => [pick(names(binary)), ...pair()],
  () => [pick(names(reductions)), some(), {axes: axes(), keepDimensions: maybe(true)}],
  () => [pick(names('elu hardSigmoid leakyRelu linear')), some(), {alpha: pick([0.5, 1])}],
  () => ['clamp', some(), {minValue: 0, maxValue: pick([6, 1])}], () => ['cast', pick([some, some, () => operand('int4', [4])])(), type()], () => ['softmax', some(), below(3)],
  () => ['cumulativeSum', some(), below(3), {reversed: maybe(true)}],
  () => { const [a, b] = pair(); return ['where', operand('uint8', like(a.shape)), a, b]; },
  () => { const k = pick([2, 3]); return ['matmul', operand('float32', [...shape(below(2)), 2, k]), operand('float32', [...shape(below(2)), pick([k, k, 3]), 6])]; },
  () => { const k = pick([2, 3]); return ['gemm', operand('float32', pick([[6, k], [k, 6], [6, k], [k, 6], [6, k, 1], [k]])), operand('float32', pick([[k, 2], [2, k]])),
    {aTranspose: maybe(true), bTranspose: maybe(true), alpha: maybe(pick([2, NaN, 1e39])), c: maybe(operand('float32', pick([[2], [6, 2], [1, 2], [3]])))}]; },
  () => { const sizes = shape(2); return ['concat', Array.from({length: pick([0, 1, 2, 2, 3])}, () => operand('float32', pick([sizes, sizes, [sizes[0], 6], [1, sizes[1]]]))), below(3)]; },
  () => ['split', operand('float32', shape(2)), pick([1, 2, 3, 2 ** 32 - 1, 0, [1, 2], [1, 1, 1], [2], []]), {axis: maybe(below(3))}],
  () => { const sizes = shape(3); return ['layerNormalization', operand('float32', sizes), {axes: pick([undefined, [2], [1, 2], [2, 1], [1, 1], [3]]), epsilon: maybe(1e-5),
    scale: maybe(operand('float32', pick([sizes.slice(1), sizes.slice(2), [3]]))), bias: maybe(operand('float32', pick([sizes.slice(1), sizes.slice(2)])))}]; },
  () => { const groups = pick([1, 1, 2, 3]), c = pick([2, 3, 6]), nhwc = below(2), window = [pick([1, 2, 3]), pick([1, 2, 3])], i = pick([c, c / groups]), o = pick([2, 6]);
    const sizes = [6, pick([3, 6])], legal = i === Math.trunc(i) ? i : c;
    return ['conv2d', operand('float32', nhwc ? [1, ...sizes, c] : [1, c, ...sizes]), operand('float32', nhwc ? [o, ...window, legal] : [o, legal, ...window]),
      {groups: maybe(groups), inputLayout: nhwc ? 'nhwc' : 'nchw', filterLayout: nhwc ? 'ohwi' : 'oihw', padding: maybe(pick([[0, 1, 1, 0], [0, 1], [2 ** 31, 0, 0, 0]])), strides: maybe(pick([[1, 2], [1, 2], [0, 1], [1], [7, 9]])),
        dilations: maybe(pick([[1, 1], [2, 3]])), bias: maybe(operand('float32', [pick([o, o, 3])]))}]; },
  () => ['transpose', operand('float32', shape(pick([2, 3]))), {permutation: pick([undefined, [1, 0], [2, 0, 1], [0, 0]])}],
  () => ['gather', operand('float32', shape(pick([1, 2, 3]))), operand(pick(['int32', 'int32', 'float32']), shape()), {axis: maybe(below(3))}],
  () => ['reshape', some(), pick([shape(), [6], [3, 2], [1, 9], [1], Array(9).fill(1)])], () => ['expand', some(), shape()],
  () => { const sizes = shape(2), blocks = like(sizes), zeros = pick([blocks, blocks, [1, 1]]); return pick([
    ['quantizeLinear', operand('float32', sizes), operand('float32', blocks), operand('uint8', zeros)],
    ['dequantizeLinear', operand('uint8', sizes), operand('float32', blocks), operand(pick(['uint8', 'int8']), zeros)]]); },
  () => { const dataType = type(), sizes = shape(), size = sizes.reduce((a, b) => a * b, 1); return ['constant', {dataType, shape: sizes}, new (pick([bytes[dataType], bytes[dataType], Uint8Array]))(pick([size, size, size * 2]))]; },
  () => ['constant', type(), pick([0, 1, 2.5, 127, 200, -1, 1e6])], () => ['input', `${pick([count, count++, ''])}`, {dataType: type(), shape: pick([shape(), [0], [2 ** 31]])}],
];
const lines = [];
for (let call = 0; call < 1600; call++) {
  if (call % 40 === 0) builder = new MLGraphBuilder(context);
  let name = 'input';
  try {
    const [member, ...values] = pick(CALLS)();
    name = member;
    made = [builder[name](...values)].flat();
    lines.push(`${name} ${made.map(each => `${each.dataType} ${each.shape}`).join(' ')}`);
  } catch (error) { lines.push(`${name} ${error.message}`); }
}
console.log(lines.join('\n'));
