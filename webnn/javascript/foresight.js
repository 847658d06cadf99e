// Calls whose outcome is certain before Python has answered: they need not wait for it.
//
// Three kinds of calls have the same outcome as an equal one that succeeded:
// - operations of a builder, as functions of descriptors and options. Equal are two calls in one context with operands of the same type and
//   shape, and the same other arguments; labels and the bytes of views do not matter. An error is never foreseen: its message has the label.
//   For operations with a rule below, two calls are equal even if sizes differ: the rule has the conditions for sizes, and the result's shape.
//   A rule is used for calls of one form (member, types, ranks, other arguments) once Python has given the same answer to one of them, or at
//   once if the call is plain: no device limits it, and all that Python checks is checked here;
// - a builder of a context that has made one or that no device limits, and inputs with names that are new in their builder;
// - `writeTensor`, `dispatch` and `compute` with the same objects, and views of the same type and size, until anything is destroyed, exported or lost. That of
//   `compute` is that Python begins it. The first `writeTensor` and `dispatch` are certain, too, if no device limits the context, and the tensors are
//   those that Python asks for.
// Whatever else an outcome depends on makes it uncertain, and the call waits: a builder that has built, another object than an operand, an operand
// of another builder, a context that may have been lost since the last answer.
//
// `slotOf(handle)` and `contextOf(slot)` are binding.js's. Operations are not foreseen if their outcome `dependsOnElements` of operands.
// The facts of a context are `largest`, the most bytes of an operand; `rank`, its most dimensions; `ruled`, the operations with rules of the device that may look at sizes; and
// `shared`, whether every context with this fact accepts the same calls.
(function (global, slotOf, contextOf, dependsOnElements) {
'use strict';
const {Array, JSON, Map, Math, Number, Object, Set} = global;
const {stringify} = JSON, {isArray} = Array, {entries, fromEntries} = Object;

const MOST = 4096;
const UNTIL_DESTROYED = new Set(['writeTensor', 'dispatch', 'compute']);
// What calls returned, by what equal calls share: the facts of an operand, in an array if there are several; null; the name of an interface.
const outcomes = new Map(), repeated = new Map();
// The data type of the results of calls of a form, by its text; null if the rule is not Python's.
const forms = new Map();
// The handles of objects that are made without an answer.
let lowest = 0;
// A computation without an answer yet may have lost its context: how many there were, how many of them are done, and how many of them are done when
// the operations are that were started.
let computations = 0, settled = 0, settling = 0;

// The type and shape of an operand as text.
const typeOf = slot => slot.type ??= stringify([slot.facts.dataType, slot.facts.shape]);

// A value among the arguments as text, undefined if more than the text matters. `write(slot)` writes an operand. Every text but an operand's is
// JSON, which has no $.
function textOf(value, builder, views, write) {
  if (typeof value !== 'object' || value === null) return stringify(value) ?? 'null';
  let text = '';
  if (isArray(value)) {
    for (const element of value) {
      const each = textOf(element, builder, views, write);
      if (each === undefined) return undefined;
      text += `${each},`;
    }
    return `[${text}]`;
  }
  if (value.$h !== undefined) {
    const slot = slotOf(value.$h);
    return slot.owner === builder && slot.facts !== undefined ? `$${write(slot)}` : undefined;
  }
  if (value.$v !== undefined) {
    const {kind, length, detached} = views[value.$v];
    return `$${stringify([kind, length, detached])}`;
  }
  for (const name in value) {
    if (name === 'label') continue;
    const each = textOf(value[name], builder, views, write);
    if (each === undefined) return undefined;
    text += `${stringify(name)}:${each},`;
  }
  return `{${text}}`;
}
// What becomes of an empty operand is another question.
const writeForm = ({facts: {dataType, shape}}) => `${dataType}/${shape.includes(0) ? stringify(shape) : shape.length}`;

// ---- Rules: the shape of the result, in an array of shapes if there are several, for the arguments of an operation; undefined if that is not
// certain. `form` replaces the arguments whose sizes do not belong to the form. The validators of webnn/validation have the conditions.

const WIDTHS = {float32: 4, float16: 2, int64: 8, uint64: 8, int32: 4, uint32: 4, int8: 1, uint8: 1};
const KINDS = {
  float32: 'Float32Array', int64: 'BigInt64Array', uint64: 'BigUint64Array', int32: 'Int32Array', uint32: 'Uint32Array', int8: 'Int8Array', uint8: 'Uint8Array',
};
const shapeOf = ({$h}) => slotOf($h).facts.shape;
const product = shape => shape.reduce((a, b) => a * b, 1);
const isSame = (a, b) => a.length === b.length && a.every((size, axis) => size === b[axis]);
const without = (shape, axis, ...sizes) => [...shape.slice(0, axis), ...sizes, ...shape.slice(axis + 1)];

// The shape to which both can be stretched. For one way only, that is the second one.
function broadcast(a, b) {
  if (a === undefined) return undefined;
  const [short, long] = a.length < b.length ? [a, b] : [b, a], padding = long.length - short.length;
  const shape = long.map((size, axis) => {
    const other = axis < padding ? 1 : short[axis - padding];
    return other === 1 ? size : size === 1 || size === other ? other : undefined;
  });
  return shape.includes(undefined) ? undefined : shape;
}
const stretched = (from, to) => { const shape = broadcast(from, to); return shape && isSame(shape, to) ? to : undefined; };

const unary = ([input]) => shapeOf(input);
const elementwise = values => values.filter(isOperand).map(shapeOf).reduce(broadcast);
const reduction = ([input, {axes, keepDimensions} = {}]) =>
  shapeOf(input).flatMap((size, axis) => axes !== undefined && !axes.includes(axis) ? [size] : keepDimensions ? [1] : []);
const quantization = ([input, scale, zeroPoint]) => {
  const [shape, blocks, zeros] = [input, scale, zeroPoint].map(shapeOf);
  return isSame(blocks, zeros) && blocks.length === shape.length && shape.every((size, axis) => size % blocks[axis] === 0) ? shape : undefined;
};
function matmul([left, right]) {
  const [a, b] = [left, right].map(shapeOf);
  if (a.length < 2 || b.length < 2 || a.at(-1) !== b.at(-2)) return undefined;
  const batches = broadcast(a.slice(0, -2), b.slice(0, -2));
  return batches && [...batches, a.at(-2), b.at(-1)];
}
function gemm([left, right, {c, aTranspose, bTranspose} = {}]) {
  const a = aTranspose ? shapeOf(left).toReversed() : shapeOf(left), b = bTranspose ? shapeOf(right).toReversed() : shapeOf(right);
  if (a[1] !== b[0]) return undefined;
  return c === undefined ? [a[0], b[1]] : stretched(shapeOf(c), [a[0], b[1]]);
}
function concat([inputs, axis]) {
  const shapes = inputs.map(shapeOf), first = shapes[0];
  const fits = shape => shape.length === first.length && shape.every((size, each) => each === axis || size === first[each]);
  if (first === undefined || !shapes.every(fits)) return undefined;
  return without(first, axis, shapes.reduce((sum, shape) => sum + shape[axis], 0));
}
function split([input, splits, {axis = 0} = {}]) {
  const shape = shapeOf(input);
  if (!(splits <= shape[axis]) && !isArray(splits)) return undefined;
  const sizes = isArray(splits) ? splits : Array.from({length: splits}, () => shape[axis] / splits);
  return sizes.every(Number.isInteger) && sizes.reduce((a, b) => a + b, 0) === shape[axis] ? sizes.map(size => without(shape, axis, size)) : undefined;
}
function layerNormalization([input, {scale, bias, axes} = {}]) {
  const shape = shapeOf(input), wanted = axes === undefined ? shape.slice(1) : axes.map(axis => shape[axis]);
  return [scale, bias].every(each => each === undefined || isSame(shapeOf(each), wanted)) ? shape : undefined;
}
function conv2d([input, filter, options = {}]) {
  const {padding = [0, 0, 0, 0], strides = [1, 1], dilations = [1, 1], groups = 1, inputLayout = 'nchw', filterLayout = 'oihw', bias} = options;
  const sizes = fromEntries([...inputLayout].map((name, axis) => [name, shapeOf(input)[axis]]));
  const {o, i, h, w} = fromEntries([...filterLayout].map((name, axis) => [name, shapeOf(filter)[axis]]));
  if (sizes.c !== i * groups || o % groups !== 0 || (bias !== undefined && !isSame(shapeOf(bias), [o]))) return undefined;
  const span = (size, window, at) => Math.floor((size + padding[2 * at] + padding[2 * at + 1] - (window - 1) * dilations[at] - 1) / strides[at]) + 1;
  const [height, width] = [span(sizes.h, h, 0), span(sizes.w, w, 1)];
  return inputLayout === 'nchw' ? [sizes.n, o, height, width] : [sizes.n, height, width, o];
}

const SHAPE = ([input, shape, ...rest]) => [input, shape.length, ...rest];
// The usual form of a descriptor: other forms are not foreseen.
const isDescriptor = value => isArray(value?.shape) && Object.keys(value).length === 2 && Object.hasOwn(WIDTHS, value.dataType);
const INPUT = ([, descriptor]) => isDescriptor(descriptor) ? ['input', descriptor.dataType, descriptor.shape.length] : undefined;
function CONSTANT([first, second], views) {
  const {kind, detached} = views[second?.$v] ?? {};
  if (isDescriptor(first) && detached === false) return [first.dataType, first.shape.length, kind];
  // Such a number is one of the type: others may be refused.
  if (typeof first !== 'string' || typeof second !== 'number' || !Object.hasOwn(WIDTHS, first)) return undefined;
  return first.startsWith('float') ? Math.abs(second) <= 65504 && [first] : Number.isInteger(second) && second >= 0 && second < 128 && [first];
}
const constant = ([first, second], views) => {
  if (typeof first === 'string') return [];
  return views[second.$v].length === product(first.shape) * WIDTHS[first.dataType] ? first.shape : undefined;
};

// The options that the rules look at, and those that neither change a shape nor depend on one.
const OPTIONS = new Set(
  ('aTranspose alpha axes axis bTranspose beta bias c dilations epsilon exclusive filterLayout groups inputLayout keepDimensions label maxValue minValue ' +
  'padding permutation reversed scale strides').split(' '),
);
const isOperand = value => value?.$h !== undefined;
const isKnown = value => typeof value !== 'object' || value === null || isArray(value) || isOperand(value) || Object.keys(value).every(name => OPTIONS.has(name));

// Without an operand, an activation is made.
const ofOperands = form => values => (isOperand(values[0]) || isArray(values[0])) && values.every(isKnown) ? form(values) : undefined;
const rows = (names, infer, form = values => values) => names.split(' ').map(name => [name, {infer, form: ofOperands(form)}]);
const RULES = fromEntries([
  ...rows('abs ceil cos erf exp floor identity log neg reciprocal roundEven sign sin sqrt tan relu sigmoid tanh gelu elu hardSigmoid hardSwish leakyRelu', unary),
  ...rows('linear softplus softsign clamp cast softmax logicalNot isNaN isInfinite cumulativeSum', unary),
  ...rows('add sub mul div max min pow equal notEqual greater greaterOrEqual lesser lesserOrEqual logicalAnd logicalOr logicalXor where', elementwise),
  ...rows('reduceL1 reduceL2 reduceLogSum reduceLogSumExp reduceMax reduceMean reduceMin reduceProduct reduceSum reduceSumSquare', reduction),
  ...rows('dequantizeLinear quantizeLinear', quantization),
  ...entries({matmul, gemm, concat, split, layerNormalization, conv2d}).flatMap(([name, infer]) => rows(name, infer)),
  ...rows('transpose', ([input, {permutation} = {}]) => permutation === undefined ? shapeOf(input).toReversed() : permutation.map(axis => shapeOf(input)[axis])),
  ...rows('gather', ([input, indices, {axis = 0} = {}]) => without(shapeOf(input), axis, ...shapeOf(indices))),
  ...rows('reshape', ([input, shape]) => product(shape) === product(shapeOf(input)) ? shape : undefined, SHAPE),
  ...rows('expand', ([input, shape]) => stretched(shapeOf(input), shape), SHAPE),
]);
RULES.input = {infer: ([, {shape}]) => shape, form: INPUT};
RULES.constant = {infer: constant, form: CONSTANT};

// ---- Plain calls: the data type of the results, undefined if it is not certain that Python accepts the call. `shapes` are those of all operands.

const FLOATS = new Set(['float32', 'float16']), INDICES = new Set(['int32', 'uint32', 'int64']);
const typesOf = operands => new Set(operands.map(({$h}) => slotOf($h).facts.dataType));
// The type that all of some operands have, if it is a float: every operation below takes those.
const floatOf = operands => { const [dataType, ...others] = typesOf(operands); return others.length === 0 && FLOATS.has(dataType) ? dataType : undefined; };
// Whether options have these members at most.
const hasOnly = (options, ...names) => Object.keys(options ?? {}).every(name => name === 'label' || names.includes(name));
const areAxes = (axes, rank) => axes === undefined || (new Set(axes).size === axes.length && axes.every(axis => axis < rank));
const plain = (count, dataType = floatOf) => values => hasOnly(values[count]) ? dataType(values.slice(0, count)) : undefined;
const withAxis = (accepts = () => true) => ([input, argument, options]) => {
  const {axis = 0} = options ?? {}, [first] = [input].flat();
  return first !== undefined && hasOnly(options, 'axis') && axis < shapeOf(first).length && accepts(argument) ? floatOf([input].flat()) : undefined;
};
const kinds = (names, type) => names.split(' ').map(name => [name, type]);
const isOfRank = rank => operand => shapeOf(operand).length === rank, given = (...operands) => operands.filter(isOperand);
// A number that every float type holds.
const isModest = value => typeof value === 'number' && Math.abs(value) <= 65504;
const PLAIN = fromEntries([
  ...kinds('abs ceil cos erf exp floor identity log neg reciprocal roundEven sign sin sqrt tan relu sigmoid tanh gelu hardSwish softsign', plain(1)),
  ...kinds('add sub mul div max min pow matmul', plain(2)),
  ...kinds('equal notEqual greater greaterOrEqual lesser lesserOrEqual', plain(2, operands => floatOf(operands) && 'uint8')),
  ...kinds('reduceL1 reduceL2 reduceLogSum reduceLogSumExp reduceMax reduceMean reduceMin reduceProduct reduceSum reduceSumSquare', ([input, options]) =>
    hasOnly(options, 'axes', 'keepDimensions') && areAxes(options?.axes, shapeOf(input).length) ? floatOf([input]) : undefined),
  ...kinds('reshape expand', ([input, , options]) => hasOnly(options) ? floatOf([input]) : undefined),
  ['softmax', ([input, axis, options]) => hasOnly(options) && axis < shapeOf(input).length ? floatOf([input]) : undefined],
  ['cast', ([input, dataType, options]) =>
    hasOnly(options) && [dataType, ...typesOf([input])].every(each => Object.hasOwn(WIDTHS, each)) ? dataType : undefined],
  ['transpose', ([input, options]) => {
    const {length} = shapeOf(input), {permutation} = options ?? {};
    return hasOnly(options, 'permutation') && (permutation === undefined || permutation.length === length) && areAxes(permutation, length) ? floatOf([input]) : undefined;
  }],
  ['concat', ([inputs, axis, options]) => hasOnly(options) ? withAxis()([inputs, undefined, {axis}]) : undefined],
  ['split', withAxis(splits => isArray(splits) ? splits.length > 0 : splits > 0)],
  ['gather', withAxis(indices => [...typesOf([indices])].every(each => INDICES.has(each)))],
  ['gemm', ([a, b, options]) => {
    const {alpha = 1, beta = 1, c} = options ?? {};
    const isRight = hasOnly(options, 'c', 'alpha', 'beta', 'aTranspose', 'bTranspose') && [a, b].every(isOfRank(2)) && [alpha, beta].every(isModest);
    return isRight ? floatOf(given(a, b, c)) : undefined;
  }],
  ['layerNormalization', ([input, options]) => {
    const {axes, epsilon = 0, scale, bias} = options ?? {}, {length} = shapeOf(input);
    const isRight = hasOnly(options, 'axes', 'epsilon', 'scale', 'bias') && length > 1 && areAxes(axes, length) && isModest(epsilon);
    return isRight ? floatOf(given(input, scale, bias)) : undefined;
  }],
  ['conv2d', ([input, filter, options]) => {
    const {padding, strides, dilations, groups = 1, bias} = options ?? {};
    const isList = (sizes, length, least) => sizes === undefined || (sizes.length === length && sizes.every(size => size >= least && isModest(size)));
    const isRight = hasOnly(options, 'padding', 'strides', 'dilations', 'groups', 'inputLayout', 'filterLayout', 'bias') && [input, filter].every(isOfRank(4)) &&
      isList(padding, 4, 0) && isList(strides, 2, 1) && isList(dilations, 2, 1) && groups > 0 && isModest(groups);
    return isRight ? floatOf(given(input, filter, bias)) : undefined;
  }],
  ['where', ([condition, ...rest]) => typesOf([condition]).has('uint8') ? plain(2)(rest) : undefined],
]);
PLAIN.input = ([, {dataType}]) => dataType;
PLAIN.constant = ([{dataType}, second], views) => views[second?.$v]?.kind === KINDS[dataType] ? dataType : undefined;

// The type of the results of a plain call: no device limits the context, and no operand is empty.
function plainType({context: {facts}, member, values, views, found: {shapes}}) {
  if (!facts.shared || !Object.hasOwn(PLAIN, member)) return undefined;
  const made = isArray(shapes[0]) ? shapes : [shapes], given = values.flat().filter(isOperand).map(shapeOf);
  const isPlain = [...made, ...given].every(shape => shape.length <= facts.rank && !shape.includes(0));
  return isPlain && made.length > 0 ? PLAIN[member](values, views) : undefined;
}

// The form of a call, and the shapes of its results by the rule: {form, shapes}, undefined if there is no rule, or it does not say.
function apply({context, member, slot, values, views}) {
  const {facts} = context, rule = facts !== undefined && Object.hasOwn(RULES, member) && !facts.ruled.includes(member) ? RULES[member] : undefined;
  const given = rule?.form(values, views), form = given && textOf(given, slot, views, writeForm);
  if (!form) return undefined;
  const shapes = rule.infer(values, views), all = isArray(shapes?.[0]) ? shapes : [shapes];
  // The width of a type that is not known is at most 8.
  const fits = shape => shape?.every(size => Number.isInteger(size) && size > 0) && 8 * product(shape) <= facts.largest;
  return all.every(fits) ? {form: `${facts.shared ? '' : context.handle} ${member} ${form}`, shapes} : undefined;
}

// ---- Tensors: a call that is not like an earlier one, in a context that no device limits. The facts of a tensor are its attributes, unless
// it is a constant; those of a graph are the types and shapes of its `inputs` and `outputs` by name.

let hasExported = false;
const VIEWS = new Set([...Object.values(KINDS), 'Float16Array', 'ArrayBuffer']);
const sizeOf = ({dataType, shape}) => Object.hasOwn(WIDTHS, dataType) && !shape.includes(0) ? product(shape) * WIDTHS[dataType] : undefined;
function usable({$h} = {}, name, context) {
  const slot = $h === undefined ? undefined : slotOf($h);
  return slot?.name === name && slot.facts !== undefined && !slot.isDestroyed && contextOf(slot) === context ? slot : undefined;
}
function canWrite({context, values, views}) {
  const tensor = usable(values[0], 'MLTensor', context), {kind, length, detached} = views[values[1]?.$v] ?? {};
  return values.length === 2 && tensor?.facts.writable === true && detached === false && VIEWS.has(kind) && length === sizeOf(tensor.facts);
}
function canDispatch({context, values: [first, ...given]}) {
  const graph = usable(first, 'MLGraph', context), tensors = new Set();
  const fits = (wanted, {$r: named}) => named.length === Object.keys(wanted).length && named.every(([name, value]) => {
    const tensor = usable(value, 'MLTensor', context), isNew = tensor !== undefined && !tensors.has(tensor);
    tensors.add(tensor);
    const {dataType, shape} = isNew && Object.hasOwn(wanted, name) ? wanted[name] : {};
    return dataType !== undefined && dataType === tensor.facts.dataType && isSame(shape, tensor.facts.shape);
  });
  return graph !== undefined && given.length === 2 && fits(graph.facts.inputs, given[0]) && fits(graph.facts.outputs, given[1]);
}
const CERTAIN = {writeTensor: canWrite, dispatch: canDispatch};

// ---- Keys

// What equal calls share, undefined if the outcome of a call cannot be certain. `request` is the request's text, without the objects that
// were dropped.
function keyOf(interfaceName, member, slot, values, views, request) {
  const isConstructor = member === 'constructor', context = isConstructor ? slotOf(values[0]?.$h) : contextOf(slot);
  if (context?.isLost !== false) return undefined;
  // A call that waits for bytes may be one too many.
  if (context.awaits > 0) return undefined;
  if (interfaceName === 'MLContext') return UNTIL_DESTROYED.has(member) ? {map: repeated, text: request, context, member, values, views} : undefined;
  if (interfaceName !== 'MLGraphBuilder' || dependsOnElements || member === 'build' || slot?.hasBuilt || computations > settled) return undefined;
  const key = {map: outcomes, text: `${context.handle} ${member}`, context, member, slot, values, views};
  if (isConstructor) return key;
  if (member === 'input') {
    const [name] = values, names = slot.names ??= new Set();
    if (name === '' || names.has(name) || !name.isWellFormed()) return undefined;
    // The outcome depends on the builder's other inputs.
    key.text = undefined;
    return key;
  }
  const text = textOf(values, slot, views, typeOf);
  if (text === undefined) return undefined;
  key.text += ` ${text}`;
  return key;
}

// What a call returns, {value, handles}: the handles are those of the objects that the value names. Undefined if nobody knows.
function foresee(key) {
  let known = outcomeOf(key);
  if (known === undefined) return undefined;
  if (known === null) return {value: null, handles: []};
  if (typeof known === 'string') return {value: {$i: known, $h: --lowest}, handles: [lowest]};
  const make = $a => ({$i: 'MLOperand', $h: --lowest, $a});
  const value = isArray(known) ? known.map(make) : make(known), made = isArray(value) ? value : [value];
  if (key.member === 'input') key.slot.names.add(key.values[0]);
  return {value, handles: made.map(({$h}) => $h)};
}
function outcomeOf(key) {
  const {map, text} = key, known = text === undefined ? undefined : map.get(text);
  if (known !== undefined) return known;
  if (map === repeated) {
    if (!key.context.facts?.shared || hasExported || !CERTAIN[key.member]?.(key)) return undefined;
    keep(key, null);
    return null;
  }
  if (key.slot === undefined) return key.context?.facts?.shared ? 'MLGraphBuilder' : undefined;
  key.found = apply(key);
  const {form} = key.found ?? {}, dataType = forms.has(form) ? forms.get(form) : key.found && plainType(key);
  if (!dataType) return undefined;
  const {shapes} = key.found, make = shape => ({dataType, shape}), made = isArray(shapes[0]) ? shapes.map(make) : make(shapes);
  keep(key, made);
  return made;
}
function keep({map, text}, known) {
  if (text === undefined) return;
  if (map.size >= MOST) map.clear();
  map.set(text, known);
}

// Remember what a call returned.
function learn(key, value) {
  if (key.member === 'constructor') return keep(key, value.$i);
  const known = value === null ? null : isArray(value) ? value.map(({$a}) => $a) : value.$a;
  // An activation is not an operand.
  if (known === undefined) return undefined;
  if (key.member === 'input') key.slot.names.add(key.values[0]);
  if (key.found) {
    const {form, shapes} = key.found, facts = isArray(known) ? known : [known];
    const isRight = stringify(isArray(known) ? shapes : [shapes]) === stringify(facts.map(({shape}) => shape)) &&
      facts.every(({dataType}) => dataType === facts[0].dataType);
    if (forms.size >= MOST) forms.clear();
    forms.set(form, isRight && forms.get(form) !== null ? facts[0].dataType : null);
  }
  return keep(key, known);
}

return {
  keyOf, foresee, learn,
  // A request is sent, and waits for an answer or does not.
  sending(member, slot, waits) {
    if (member === 'build') slot.hasBuilt = true;
    if (member === 'destroy' || member === 'exportToGPU') repeated.clear();
    if (member === 'destroy') slot.isDestroyed = true;
    if (member === 'exportToGPU') hasExported = true;
    if ((member === 'dispatch' || member === 'compute') && !waits) computations++;
  },
  // An operation was started: the mark says what is done when it is.
  mark: () => (settling = computations),
  // An answer came: all requests before it, or before a mark, are done. The contexts that were lost are known.
  settle(mark = computations) { settled = mark > settled ? mark : settled; },
  // Whether no computation is without an answer, or an operation that was started will tell.
  willSettle: () => settled === computations || settling === computations,
};
})
