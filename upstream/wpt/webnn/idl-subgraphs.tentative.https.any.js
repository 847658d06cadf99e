// META: title=test the IDL of WebNN API subgraphs
// META: global=window
// META: variant=?cpu
// META: script=./resources/utils_validation.js

'use strict';

// What changes:
//
//     interface MLGraphBuilder {
//   +   MLSubgraph buildSubgraph(MLNamedOperands outputs, MLSubgraphOptions options);
//   +   MLNamedOperands subgraph(MLSubgraph subgraph, MLNamedOperands operands);
//     };
//   + dictionary MLSubgraphOptions {
//   +   USVString name = "";
//   +   required MLNamedOperands inputs;
//   +   record<USVString, (boolean or unrestricted double or USVString)?> config;
//   + };
//   + interface MLSubgraph {
//   +   readonly attribute USVString name;
//   +   [SameObject] readonly attribute object config;
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
  assertOperation('MLGraphBuilder', 'buildSubgraph', 2);
}, 'MLGraphBuilder: buildSubgraph');

promise_test(async () => {
  assertOperation('MLGraphBuilder', 'subgraph', 2);
}, 'MLGraphBuilder: subgraph');

promise_test(async () => {
  assert_equals(typeof self['MLSubgraph'], 'function');
}, 'interface MLSubgraph');

promise_test(async () => {
  assertAttribute('MLSubgraph', 'name');
}, 'MLSubgraph: name');

promise_test(async () => {
  assertAttribute('MLSubgraph', 'config');
}, 'MLSubgraph: config');
