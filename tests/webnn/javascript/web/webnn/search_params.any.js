// META: title=URLSearchParams
// META: script=resources/helpers.js

'use strict';

// https://url.spec.whatwg.org/#interface-urlsearchparams

// A text, and the pairs in it.
const PARSED = [
  ['', []], ['?', []], ['a', [['a', '']]], ['?a=1&b=2', [['a', '1'], ['b', '2']]], ['??a=1', [['?a', '1']]], ['&&a=1&&', [['a', '1']]], ['=', [['', '']]],
  ['a=b=c', [['a', 'b=c']]], ['a+b=c+d', [['a b', 'c d']]], ['%61%3d=%26', [['a=', '&']]], ['a=%', [['a', '%']]], ['a=%4', [['a', '%4']]], ['a=%zz', [['a', '%zz']]],
  ['a=%C3%A9', [['a', '\u00e9']]], ['a=%F0%9F%98%80', [['a', '\u{1f600}']]], ['\u00e9=\ud800', [['\u00e9', '\ufffd']]],
  // Bytes that are no UTF-8.
  ['a=%FF', [['a', '\ufffd']]], ['a=%C3', [['a', '\ufffd']]], ['a=%C3x', [['a', '\ufffdx']]], ['a=%E0%80%80', [['a', '\ufffd\ufffd\ufffd']]],
  ['a=%ED%A0%80', [['a', '\ufffd\ufffd\ufffd']]], ['a=%F4%90%80%80', [['a', '\ufffd\ufffd\ufffd\ufffd']]], ['a=%F0%9F%98', [['a', '\ufffd']]],
  ['a=%C0%AF', [['a', '\ufffd\ufffd']]], ['a=%E2%82%41', [['a', '\ufffdA']]],
];
test(() => {
  for (const [text, pairs] of PARSED) assert_equals(JSON.stringify([...new URLSearchParams(text)]), JSON.stringify(pairs), text);
}, 'Texts');

test(() => {
  for (const [init, text] of [
    [undefined, ''], [null, 'null='], [5, '5='], [{a: 1, b: undefined}, 'a=1&b=undefined'], [[['a', 1], new Set(['b', 2])], 'a=1&b=2'],
    [new URLSearchParams('x=1&x=2'), 'x=1&x=2'], [new Map([['k', 'v']]), 'k=v'], [Object.assign(() => {}, {f: 1}), 'f=1'],
  ]) {
    assert_equals(String(new URLSearchParams(init)), text);
  }
  for (const init of [[['a']], [['a', 'b', 'c']], [5], {a: Symbol()}, Symbol()]) assert_throws_js(TypeError, () => new URLSearchParams(init));
  assert_throws_js(TypeError, () => URLSearchParams('a'));
}, 'What can be its argument');

test(() => {
  const params = new URLSearchParams();
  params.append('a b', "!'()*~-._");
  params.append('\u00e9', '\ud800&=+%');
  assert_equals(String(params), 'a+b=%21%27%28%29*%7E-._&%C3%A9=%EF%BF%BD%26%3D%2B%25');
}, 'Texts are written as forms are');

test(() => {
  const params = new URLSearchParams('a=1&b=2&a=3&c=&a=1');
  assert_equals(params.size, 5);
  assert_equals(params.get('a'), '1');
  assert_equals(params.get('none'), null);
  assert_array_equals(params.getAll('a'), ['1', '3', '1']);
  assert_true(params.has('c') && params.has('a', 3) && !params.has('a', 4) && params.has('a', undefined));
  params.set('a', 9);
  assert_equals(String(params), 'a=9&b=2&c=');
  params.append('b', 5);
  params.delete('b', '2');
  assert_equals(String(params), 'a=9&c=&b=5');
  params.set('d', 1);
  params.delete('c');
  params.sort();
  assert_array_equals([...params.keys()], ['a', 'b', 'd']);
  assert_array_equals([...params.values()], ['9', '5', '1']);
  const seen = [];
  params.forEach(function (value, name, all) { seen.push(name + value + this.x + (all === params)); }, {x: '!'});
  assert_equals(seen.join(), 'a9!true,b5!true,d1!true');
  for (const name of ['append', 'set']) assert_throws_js(TypeError, () => params[name]('a'));
  for (const name of ['get', 'getAll', 'has', 'delete', 'forEach']) assert_throws_js(TypeError, () => params[name]());
  assert_throws_js(TypeError, () => params.get.call({}, 'a'));
}, 'Methods');

test(() => {
  const params = new URLSearchParams('a=1&b=2'), iterator = params.entries();
  assert_equals(iterator[Symbol.iterator](), iterator);
  assert_array_equals(iterator.next().value, ['a', '1']);
  params.append('c', '3');
  assert_array_equals([...iterator].map(([name]) => name), ['b', 'c']);
  assert_true(iterator.next().done);
  assert_equals(URLSearchParams.prototype[Symbol.iterator], URLSearchParams.prototype.entries);
  assert_equals(Object.prototype.toString.call(params), '[object URLSearchParams]');
  assert_throws_js(TypeError, () => iterator.next.call({}));
}, 'Iterators look at what there is now');
