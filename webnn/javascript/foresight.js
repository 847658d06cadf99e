// Calls whose outcome is certain before Python has answered: they need not wait for it.
//
// Two kinds of calls have the same outcome as an equal one that succeeded:
// - operations of a builder, as functions of descriptors and options. Equal are two calls in one context with operands of the same type and
//   shape, and the same other arguments; labels and the bytes of views do not matter. An error is never foreseen: its message has the label;
// - `writeTensor`, `dispatch` and `compute` with the same objects, and views of the same type and size, until anything is destroyed, exported or lost. That of
//   `compute` is that Python begins it.
// Whatever else an outcome depends on makes it uncertain, and the call waits: a builder of its own state (inputs have different names, and it
// builds once), another object than an operand, an operand of another builder, a context that may have been lost since the last answer.
//
// `slotOf(handle)` and `contextOf(slot)` are binding.js's. Operations are not foreseen if their outcome `dependsOnElements` of operands.
(function (global, slotOf, contextOf, dependsOnElements) {
'use strict';
const {Array, JSON, Map, Set} = global;
const {stringify} = JSON, {isArray} = Array;

const MOST = 4096;
const NOT_OPERATIONS = new Set(['constructor', 'input', 'build']), UNTIL_DESTROYED = new Set(['writeTensor', 'dispatch', 'compute']);
// What calls returned, by what equal calls share: the facts of an operand, in an array if there are several, or null.
const outcomes = new Map();
// The handles of objects that are made without an answer.
let lowest = 0;
// A computation without an answer yet may have lost its context: how many there were, how many of them are done, and how many of them are done when
// the operations are that were started.
let computations = 0, settled = 0, settling = 0;

// The type and shape of an operand as text.
const typeOf = slot => slot.type ??= stringify([slot.facts.dataType, slot.facts.shape]);

// A value among the arguments as text, undefined if more than the text matters. Every text but an operand's is JSON, which has no $.
function textOf(value, builder, views) {
  if (typeof value !== 'object' || value === null) return stringify(value) ?? 'null';
  let text = '';
  if (isArray(value)) {
    for (const element of value) {
      const each = textOf(element, builder, views);
      if (each === undefined) return undefined;
      text += `${each},`;
    }
    return `[${text}]`;
  }
  if (value.$h !== undefined) {
    const slot = slotOf(value.$h);
    return slot.owner === builder && slot.facts !== undefined ? `$${typeOf(slot)}` : undefined;
  }
  if (value.$v !== undefined) {
    const {kind, length, detached} = views[value.$v];
    return `$${stringify([kind, length, detached])}`;
  }
  for (const name in value) {
    if (name === 'label') continue;
    const each = textOf(value[name], builder, views);
    if (each === undefined) return undefined;
    text += `${stringify(name)}:${each},`;
  }
  return `{${text}}`;
}

// The text that equal calls share, undefined if the outcome of a call cannot be certain. `request` is the request's text, without
// the objects that were dropped.
function keyOf(interfaceName, member, slot, values, views, request) {
  const context = contextOf(slot);
  if (context?.isLost !== false) return undefined;
  if (interfaceName === 'MLContext') return UNTIL_DESTROYED.has(member) ? request : undefined;
  if (interfaceName !== 'MLGraphBuilder' || dependsOnElements || NOT_OPERATIONS.has(member) || slot.hasBuilt || computations > settled) return undefined;
  const text = textOf(values, slot, views);
  return text && `${context.handle} ${member} ${text}`;
}

// What a call returns, {value, handles}: the handles are those of the objects that the value names. Undefined if nobody knows.
function foresee(key) {
  const known = outcomes.get(key);
  if (known === undefined) return undefined;
  if (known === null) return {value: null, handles: []};
  const make = $a => ({$i: 'MLOperand', $h: --lowest, $a});
  const value = isArray(known) ? known.map(make) : make(known), made = isArray(value) ? value : [value];
  return {value, handles: made.map(({$h}) => $h)};
}

// Remember what a call returned.
function learn(key, value) {
  const known = value === null ? null : isArray(value) ? value.map(({$a}) => $a) : value.$a;
  // An activation is not an operand.
  if (known === undefined) return;
  if (outcomes.size >= MOST) outcomes.clear();
  outcomes.set(key, known);
}

return {
  keyOf, foresee, learn,
  // A request is sent, and waits for an answer or does not.
  sending(member, slot, waits) {
    if (member === 'build') slot.hasBuilt = true;
    if (member === 'destroy' || member === 'exportToGPU') outcomes.clear();
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
