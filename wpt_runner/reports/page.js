"use strict";
// The table of tests. Rows are made when they come into view; everything from the run becomes text, never markup.

const CHUNK = 150; // rows and subtests that are made at once
const FIRST = 200; // subtests of a test that are shown at first
const AUTOMATIC = 60; // a filter that leaves no more results than this opens the tests
const SLOW = 1000; // milliseconds

const $ = (id) => document.getElementById(id);
const count = (number) => number.toLocaleString("en");
const plural = (number, noun) => `${count(number)} ${noun}${number === 1 ? "" : "s"}`;

function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in made && !name.startsWith("aria")) made[name] = value;
    else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

function time(milliseconds) {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 60000) return `${(milliseconds / 1000).toFixed(2)} s`;
  const seconds = Math.round(milliseconds / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

// The run. A result is a subtest, or a test that has a word of its own to say: it did not end well, or was not expected to.

function makeResult(name, status, good, message, expected, reason, stack) {
  const passes = status === "PASS" || status === "OK";
  const kind = status === (expected || good) ? (passes ? "pass" : "known") : passes ? "surprise" : "fail";
  return { name, status, message, expected, reason, stack, kind };
}

function makeTest([id, status, milliseconds, subtests, message = "", expected = "", reason = "", title = "", output = "", subsuite = "", stack = ""], index) {
  const own = makeResult("", status, "OK", message, expected, reason, stack);
  const path = id.match(/^[^?#]*/)[0];
  const slash = path.lastIndexOf("/") + 1;
  const test = {
    id, index, own, milliseconds, title, output, subsuite, folder: path.slice(0, slash), name: path.slice(slash), variant: id.slice(path.length),
    subtests: subtests.map(([name, status, message = "", expected = "", reason = "", stack = ""]) =>
      makeResult(name, status, "PASS", message, expected, reason, stack)),
    kinds: { pass: 0, known: 0, fail: 0, surprise: 0 },
  };
  for (const subtest of test.subtests) test.kinds[subtest.kind]++;
  // Whatever has passed before it broke off: its bar shows that it did.
  test.parts = { ...test.kinds };
  if (own.kind !== "pass") test.parts[own.kind] += Math.max(1, test.subtests.length / 3);
  test.results = own.kind === "pass" ? test.subtests : [own, ...test.subtests];
  test.unexpected = test.results.filter((result) => FILTERS.unexpected.takes(result)).length;
  test.text = `${id}\n${subsuite}\n${title}\n${output}`.toLowerCase();
  return test;
}

const FILTERS = {
  all: { label: "All", takes: () => true },
  unexpected: { label: "Unexpected", takes: (result) => result.kind === "fail" || result.kind === "surprise" },
  failed: { label: "Failed", takes: (result) => result.kind === "fail" || result.kind === "known" },
  expected: { label: "Expected failures", takes: (result) => result.kind === "known" },
  passed: { label: "Passed", takes: (result) => result.kind === "pass" || result.kind === "surprise" },
  slow: { label: "Slow", takes: () => true, takesTest: (test) => test.milliseconds >= SLOW, title: "Tests of 1 s or longer" },
};

const rank = (test) => (test.own.kind === "fail" ? 1e9 : 0) + test.unexpected * 1e4 + test.kinds.known + (test.own.kind === "known" ? 1e3 : 0);
const COLUMNS = {
  test: { label: "Test", compare: (a, b) => a.index - b.index },
  status: { label: "Status", compare: (a, b) => rank(b) - rank(a) },
  passed: { label: "Passed", compare: (a, b) => b.kinds.pass + b.kinds.surprise - a.kinds.pass - a.kinds.surprise, css: "number" },
  time: { label: "Time", compare: (a, b) => b.milliseconds - a.milliseconds, css: "number time" },
};

const TESTS = JSON.parse($("data").textContent).map(makeTest);
const TOTAL = TESTS.reduce((sum, test) => sum + test.results.length, 0);
const anyUnexpected = TESTS.some((test) => test.unexpected);
const state = { show: "all", query: "", sort: "test", reverse: false, folders: true, terms: [], opened: new Map(), everything: null };

// What matches.

function lower(result) {
  result.text ??= `${result.name}\n${result.status}\n${result.message}\n${result.reason}\n${result.stack}`.toLowerCase();
  return result.text;
}

function match(test) {
  const filter = FILTERS[state.show];
  if (filter.takesTest && !filter.takesTest(test)) return null;
  const rest = state.terms.filter((term) => !test.text.includes(term));
  const takes = (result) => filter.takes(result) && rest.every((term) => lower(result).includes(term));
  const results = state.show === "all" && !rest.length ? test.results : test.results.filter(takes);
  const empty = !test.results.length && !rest.length && (filter.takesTest || filter.takes(test.own));
  return results.length || empty ? { test, results } : null;
}

// The table.

let queue = []; // what is still to be made: {folder} or {test, results}
let entries = []; // all of it
let body = null;

function layOut() {
  const { compare } = COLUMNS[state.sort];
  const matches = TESTS.map(match).filter(Boolean);
  const direction = state.reverse ? -1 : 1;
  matches.sort((a, b) => direction * compare(a.test, b.test) || a.test.index - b.test.index);
  const shown = matches.reduce((sum, entry) => sum + entry.results.length, 0);
  state.narrowed = state.show !== "all" || state.terms.length > 0;
  state.automatic = state.narrowed && shown <= AUTOMATIC && state.show !== "slow";
  entries = matches;
  if (state.folders) {
    const folders = new Map();
    for (const entry of matches) {
      const { folder } = entry.test;
      if (!folders.has(folder)) folders.set(folder, []);
      folders.get(folder).push(entry);
    }
    entries = [...folders].sort(([a], [b]) => (a < b ? -1 : 1)).flatMap(([folder, members]) => [{ folder, members }, ...members]);
  }
  queue = entries.slice();
  for (const old of [...$("tests").tBodies]) old.remove();
  body = null;
  $("end").replaceChildren();
  $("shown").textContent = state.narrowed
    ? `${plural(shown, "result")} in ${plural(matches.length, "test")}, of ${plural(TOTAL, "result")} in ${plural(TESTS.length, "test")}`
    : `${plural(TESTS.length, "test")}, ${plural(TOTAL, "result")}`;
  if (!matches.length) $("end").append(element("p", { className: "nothing" }, TESTS.length ? "Nothing matches." : "The run has no tests."));
  fill();
}

function fill(until = null) {
  let room = CHUNK;
  while (queue.length && (room > 0 || until)) {
    const entry = queue.shift();
    if (entry.members || !body) {
      body = element("tbody");
      $("tests").append(body);
    }
    body.append(entry.members ? folderRow(entry) : testRow(entry));
    if (entry.test && isOpen(entry.test)) room -= expand(entry);
    room -= 1;
    if (entry.test === until) until = null;
  }
}

const isOpen = (test) => state.opened.get(test.index) ?? state.everything ?? state.automatic;

function bar(kinds, css) {
  const parts = ["pass", "known", "surprise", "fail"].filter((kind) => kinds[kind]);
  return element("span", { className: css, "aria-hidden": "true" }, ...parts.map((kind) => {
    const part = element("i", { className: kind });
    part.style.flexGrow = kinds[kind];
    return part;
  }));
}

function passedCell(tests) {
  const kinds = { pass: 0, known: 0, fail: 0, surprise: 0 };
  for (const test of tests) for (const kind in kinds) kinds[kind] += test.kinds[kind];
  const parts = { pass: 0, known: 0, fail: 0, surprise: 0 };
  for (const test of tests) for (const kind in parts) parts[kind] += test.parts[kind];
  const total = kinds.pass + kinds.known + kinds.fail + kinds.surprise;
  return element("td", { className: "number" }, Object.values(parts).some(Boolean) ? bar(parts, "mini bar") : "",
    element("span", { className: "count" }, `${count(kinds.pass + kinds.surprise)} / ${count(total)}`));
}

function statusCell(tests) {
  const sum = (value) => tests.reduce((total, test) => total + value(test), 0);
  const unexpected = sum((test) => test.unexpected);
  const known = sum((test) => test.kinds.known + (test.own.kind === "known"));
  const own = tests.length === 1 && tests[0].own;
  const words = [];
  if (own && own.kind !== "pass") words.push(element("b", { className: own.kind }, own.status));
  else if (unexpected) words.push(element("span", { className: "fail" }, `${count(unexpected)} unexpected`));
  else if (known) words.push(element("span", { className: "known" }, `${count(known)} as expected`));
  else words.push(element("span", { className: "quiet" }, own ? own.status : "passed"));
  return element("td", { className: "status" }, ...words);
}

function folderRow({ folder, members }) {
  const tests = members.map((entry) => entry.test);
  const milliseconds = tests.reduce((sum, test) => sum + test.milliseconds, 0);
  return element("tr", { className: "folder" },
    element("th", { scope: "rowgroup" }, folder, element("span", { className: "quiet" }, ` ${plural(tests.length, "test")}`)),
    statusCell(tests), passedCell(tests), element("td", { className: "number time" }, time(milliseconds)));
}

function testRow(entry) {
  const { test } = entry;
  const name = element("span", {}, ...marked(state.folders ? test.name : test.folder + test.name),
    element("span", { className: "variant" }, ...marked(test.variant), test.subsuite ? ` (${test.subsuite})` : ""));
  const toggle = element("button", { type: "button", className: "toggle", "aria-expanded": "false" }, name);
  toggle.addEventListener("click", () => {
    const open = !entry.detail;
    state.opened.set(test.index, open);
    open ? expand(entry) : collapse(entry);
  });
  entry.toggle = toggle;
  entry.row = element("tr", { className: "test" }, element("td", {}, toggle), statusCell([test]), passedCell([test]),
    element("td", { className: "number time" }, time(test.milliseconds)));
  entry.row.entry = entry;
  return entry.row;
}

function collapse(entry) {
  entry.detail?.remove();
  entry.detail = null;
  entry.toggle.setAttribute("aria-expanded", "false");
}

function expand(entry) {
  const { test } = entry;
  const list = element("ul", { className: "subtests" });
  const cell = element("td", { colSpan: 4 });
  const link = element("a", { href: `#${encodeURI(test.id).replaceAll("#", "%23")}` }, "link to this test");
  const line = element("p", { className: "quiet" }, test.title ? `${test.title} \u00b7 ` : "", `${time(test.milliseconds)} \u00b7 `, link);
  cell.append(line);
  if (test.output) cell.append(element("details", { open: test.own.kind !== "pass" }, element("summary", {}, "Console output"), element("pre", {}, ...marked(test.output))));
  cell.append(list);
  // What became of the test as a whole explains the rest: it is always shown.
  const matching = new Set(entry.results).add(test.own);
  const results = entry.wide ? test.results : test.results.filter((result) => matching.has(result));
  const hidden = test.results.length - results.length;
  let next = 0;
  const more = element("button", { type: "button", className: "more" });
  const add = (number) => {
    list.append(...results.slice(next, next + number).map(resultItem));
    next = Math.min(results.length, next + number);
    more.textContent = `Show ${count(Math.min(5 * FIRST, results.length - next))} more of ${count(results.length)}`;
    if (next === results.length) more.remove();
  };
  cell.append(more);
  add(FIRST);
  more.addEventListener("click", () => {
    const last = list.lastChild;
    add(5 * FIRST);
    if (!more.isConnected) focusOn(last.nextSibling);
  });
  if (hidden) {
    const others = element("button", { type: "button", className: "plain" }, `show the other ${plural(hidden, "result")}`);
    others.addEventListener("click", () => {
      entry.wide = true;
      collapse(entry);
      expand(entry);
      entry.toggle.focus();
    });
    line.append(" \u00b7 ", others);
  }
  if (!results.length) list.replaceWith(element("p", { className: "quiet" }, "It has no subtests."));
  entry.detail = element("tr", { className: "detail", id: `detail-${test.index}` }, cell);
  entry.row.after(entry.detail);
  entry.toggle.setAttribute("aria-expanded", "true");
  entry.toggle.setAttribute("aria-controls", entry.detail.id);
  return next;
}

function focusOn(node) {
  node.tabIndex = -1;
  node.focus();
}

function resultItem(result) {
  const item = element("li", {}, element("span", { className: `word ${result.kind}` }, result.status),
    element("span", { className: "name" }, ...(result.name ? marked(result.name) : ["the test as a whole"])));
  if (result.kind === "known") item.append(element("span", { className: "reason" }, "Expected: ", ...marked(result.reason || "no reason given")));
  if (result.kind === "surprise") item.append(element("span", { className: "surprise" }, `Expected ${result.expected}: `, ...marked(result.reason || "no reason given")));
  if (result.kind === "fail" && result.expected) item.append(element("span", { className: "fail" }, `Expected ${result.expected}`));
  const text = [result.message, result.stack].filter(Boolean).join("\n");
  if (text) item.append(element("pre", { tabIndex: 0 }, ...marked(text)));
  return item;
}

function marked(text) {
  if (!state.pattern) return [text];
  return text.split(state.pattern).map((part, index) => (index % 2 ? element("mark", {}, part) : part));
}

// Head, legend, buttons.

function makeLegend() {
  const groups = new Map();
  for (const test of TESTS) {
    // A test that broke off counts, too: what it did not reach has no status.
    for (const { status, kind } of test.results) {
      const key = `${status} ${kind}`;
      groups.set(key, { status, kind, number: (groups.get(key)?.number ?? 0) + 1 });
    }
  }
  const order = ["pass", "known", "surprise", "fail"];
  const sorted = [...groups.values()].sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind) || b.number - a.number);
  const total = sorted.reduce((sum, group) => sum + group.number, 0);
  const notes = { pass: "", known: ", expected", surprise: ", unexpected", fail: ", unexpected" };
  for (const { status, kind, number } of sorted) {
    const part = element("i", { className: kind });
    part.style.flexGrow = number;
    $("bar").append(part);
    const percent = number === total ? "100 %" : `${Math.min(99.9, Math.max(0.1, (100 * number) / total)).toFixed(1)} %`;
    $("legend").append(element("li", {}, element("i", { className: `swatch ${kind}` }), `${status} ${count(number)} `,
      element("small", {}, `${percent}${notes[kind]}`)));
  }
  if (!total) $("legend").append(element("li", {}, "no subtests"));
}

function makeButtons() {
  for (const [name, filter] of Object.entries(FILTERS)) {
    const number = TESTS.reduce((sum, test) => sum + (filter.takesTest ? filter.takesTest(test) : test.results.filter(filter.takes).length), 0);
    const button = element("button", { type: "button", id: `show-${name}`, title: filter.title ?? "", disabled: !number && name !== "all" },
      filter.label, element("b", {}, count(number)));
    button.addEventListener("click", () => change({ show: name }));
    $("filters").append(button);
  }
  for (const [name, column] of Object.entries(COLUMNS)) {
    const button = element("button", { type: "button" }, column.label);
    button.addEventListener("click", () => change({ sort: name, reverse: state.sort === name && !state.reverse }));
    $("heads").append(element("th", { scope: "col", id: `head-${name}`, className: column.css ?? "" }, button));
  }
  $("folders").addEventListener("click", () => change({ folders: !state.folders }));
  for (const [id, open] of [["expand", true], ["collapse", false]]) {
    $(id).addEventListener("click", () => {
      state.opened.clear();
      state.everything = open;
      layOut();
    });
  }
  let timer = 0;
  $("query").addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => change({ query: $("query").value }), 120);
  });
}

function showState() {
  for (const name in FILTERS) $(`show-${name}`).setAttribute("aria-pressed", state.show === name);
  for (const [name, column] of Object.entries(COLUMNS)) {
    const sorted = state.sort === name;
    const up = (name === "test") !== state.reverse;
    $(`head-${name}`).setAttribute("aria-sort", sorted ? (up ? "ascending" : "descending") : "none");
    $(`head-${name}`).firstChild.textContent = column.label + (sorted ? (up ? " \u2191" : " \u2193") : "");
  }
  $("folders").setAttribute("aria-pressed", state.folders);
  if ($("query").value !== state.query) $("query").value = state.query;
}

// The address: "#/path/of/a/test" opens a test, "#show=failed&q=text&sort=-time&folders=0" is a view.

function change(changes) {
  Object.assign(state, changes, { everything: null });
  state.opened.clear();
  const view = new URLSearchParams();
  if (state.show !== initial()) view.set("show", state.show);
  if (state.query) view.set("q", state.query);
  if (state.sort !== "test" || state.reverse) view.set("sort", (state.reverse ? "-" : "") + state.sort);
  if (!state.folders) view.set("folders", "0");
  history.replaceState(null, "", `#${view}`);
  apply();
  if ($("shown").getBoundingClientRect().top < 0) $("shown").scrollIntoView();
}

const initial = () => (anyUnexpected ? "unexpected" : "all");

function apply() {
  state.terms = state.query.toLowerCase().split(/\s+/).filter(Boolean);
  const escaped = state.terms.map((term) => term.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  state.pattern = escaped.length ? new RegExp(`(${escaped.join("|")})`, "i") : null;
  showState();
  layOut();
}

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function readAddress() {
  const hash = location.hash.slice(1);
  const wanted = hash.startsWith("/") && TESTS.find((test) => test.id === hash || test.id === decode(hash));
  const view = new URLSearchParams(wanted ? "show=all" : hash);
  const [, minus, sort] = (view.get("sort") ?? "").match(/^(-?)(\w+)$/) ?? [];
  state.show = Object.hasOwn(FILTERS, view.get("show") ?? "") ? view.get("show") : initial();
  state.query = view.get("q") ?? "";
  state.sort = Object.hasOwn(COLUMNS, sort ?? "") ? sort : "test";
  state.reverse = Boolean(minus) && state.sort === sort;
  state.folders = view.get("folders") !== "0";
  state.everything = null;
  state.opened.clear();
  if (wanted) state.opened.set(wanted.index, true);
  apply();
  if (!wanted) return;
  const entry = entries.find(({ test }) => test === wanted);
  if (!entry.row) fill(wanted);
  entry.row.scrollIntoView();
  entry.toggle.focus({ preventScroll: true });
}

function onKey(event) {
  const typing = event.target === $("query");
  if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    $("query").focus();
    $("query").select();
  } else if (event.key === "Escape" && typing && state.query) {
    change({ query: "" });
  } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && event.target.classList?.contains("toggle")) {
    const toggles = [...document.querySelectorAll(".toggle")];
    const next = toggles[toggles.indexOf(event.target) + (event.key === "ArrowDown" ? 1 : -1)];
    if (next) event.preventDefault();
    next?.focus();
  }
}

makeLegend();
makeButtons();
readAddress();
addEventListener("hashchange", readAddress);
addEventListener("keydown", onKey);
new IntersectionObserver((seen) => {
  if (seen.some((each) => each.isIntersecting)) more();
}, { rootMargin: "1000px" }).observe($("end"));

function more() {
  fill();
  // The observer only speaks when the end comes or goes: while it stays in view, go on.
  if (queue.length) requestAnimationFrame(() => $("end").getBoundingClientRect().top < innerHeight + 1000 && more());
}
