"use strict";
// Shows the state of the server, which it asks for again and again, and sends what a person wants changed. Everything that a page under
// test has said is text: no markup is made of it.

const at = (id) => document.getElementById(id);
const PAUSE = 1000;
const grouped = new Intl.NumberFormat("en");
const count = (number, one, several = `${one}s`) => `${grouped.format(number)} ${number === 1 ? one : several}`;

// The state that is shown, and the session in it that the person looks at.
let version = "", chosen = "", address = "", timer = 0;

function say(text, bad = false) {
  at("message").textContent = text;
  at("message").className = bad ? "bad" : "";
}

function show(id, text) {
  at(id).hidden = text === "";
  at(id).textContent = text;
}

// ---- Tables. A row that stays is changed in place, so that the focus stays, too.

// A cell is a text, or {text, className}, or {button, className, cellClass, label, title, disabled, pressed, act}.
function fillCell(cell, content) {
  const given = typeof content === "object" ? content : { text: String(content) };
  if (given.button === undefined) {
    if (cell.textContent !== given.text || cell.firstElementChild) cell.textContent = given.text;
    cell.className = given.className ?? "";
    return;
  }
  let button = cell.firstElementChild;
  if (!button) {
    button = document.createElement("button");
    button.type = "button";
    cell.replaceChildren(button);
  }
  if (button.textContent !== given.button) button.textContent = given.button;
  button.className = given.className ?? "";
  cell.className = given.cellClass ?? "";
  button.disabled = given.disabled === true;
  if (given.label) button.setAttribute("aria-label", given.label);
  if (given.pressed !== undefined) button.setAttribute("aria-pressed", String(given.pressed));
  button.title = given.title ?? "";
  button.onclick = given.act;
}

// Rows are {key, cells, className}.
function fill(id, rows) {
  const body = at(id).tBodies[0];
  const before = new Map([...body.rows].map((row) => [row.dataset.key, row]));
  rows.forEach(({ key, cells, className = "" }, place) => {
    const row = before.get(String(key)) ?? document.createElement("tr");
    before.delete(String(key));
    row.dataset.key = key;
    row.className = className;
    if (body.rows[place] !== row) body.insertBefore(row, body.rows[place] ?? null);
    while (row.cells.length > cells.length) row.deleteCell(-1);
    cells.forEach((each, index) => fillCell(row.cells[index] ?? row.insertCell(), each));
  });
  for (const row of before.values()) row.remove();
  at(id).parentElement.hidden = rows.length === 0;
}

const whole = (text) => ({ text, className: "whole" });
const long = (text, bad = false) => ({ text, className: bad ? "long bad" : "long" });
const number = (value) => ({ text: typeof value === "number" ? grouped.format(value) : value, className: "number" });

// ---- The state

function render(state) {
  const { options, sessions, session } = state;
  const draft = options.dialect ? `${options.revision} as in ${options.dialect}` : options.revision;
  at("facts").textContent = `Draft ${draft}. ${count(sessions.length + state.more, "session")} now, ${grouped.format(state.begun)} since the start.`;
  recording = options.timeline;
  renderForms(state);
  if (at("test").textContent !== state.test) at("test").textContent = state.test;
  at("no-sessions").hidden = sessions.length > 0;
  fill("sessions", sessions.map((each) => ({
    key: each.name,
    className: each.name === chosen ? "chosen" : "",
    cells: [
      whole(each.kind),
      { button: each.url || "without an address", className: "link", cellClass: "long", pressed: each.name === chosen, act: () => choose(each) },
      whole(new Date(each.since).toLocaleTimeString()),
      each.connected ? { text: "alive", className: "whole good" } : { text: "none yet", className: "whole bad" },
      number(each.contexts), number(each.graphs), number(each.calls),
      { text: grouped.format(each.refused), className: each.refused ? "number bad" : "number" },
      number(each.received), number(each.sent),
    ],
  })));
  show("more-sessions", state.more ? `${count(state.more, "older session")} not shown.` : "");
  if (session !== null) return renderSession(session);
  at("session").hidden = true;
  // A page that was loaded again has another session.
  const next = sessions.find((each) => each.url === address) ?? sessions[0];
  if (next) choose(next);
}

function choose({ name, url }) {
  if (name !== chosen) at("graph").hidden = true;
  [chosen, address] = [name, url];
  void poll();
}

function renderSession(session) {
  at("session").hidden = false;
  const { url } = session;
  at("session-title").textContent = `${session.kind}: ${url.length > 100 ? `${url.slice(0, 100)}…` : url || "without an address"}`;
  const warnings = session.warnings.map((each) => each.count > 1 ? `${each.text} (${count(each.count, "time")})` : each.text);
  if (session.moreWarnings) warnings.push(count(session.moreWarnings, "other warning"));
  at("warnings").hidden = warnings.length === 0;
  if (JSON.stringify(warnings) !== at("warnings").dataset.shown) {
    at("warnings").dataset.shown = JSON.stringify(warnings);
    at("warnings").replaceChildren(...warnings.map((each) => Object.assign(document.createElement("li"), { textContent: each })));
  }
  fill("contexts", session.contexts.map((each) => ({
    key: each.handle,
    cells: [
      number(each.handle), whole(each.requested), each.reason ? long(`${each.device}: ${each.reason}`, true) : whole(each.device), each.profile || "none", each.fallback, whole(each.power), each.providers,
      each.lost === null ? { text: "alive", className: "good" } : long(`lost: ${each.lost}`, true),
      { button: "Lose", label: `Lose context ${each.handle}`, disabled: each.lost !== null, act: () => send("lose", { session: session.name, context: each.handle }, `Context ${each.handle} is lost.`) },
    ],
  })));
  show("more-contexts", session.contexts.length ? session.moreContexts ? `${count(session.moreContexts, "older context")} not shown.` : "" : "There is none. The page has not called navigator.ml.createContext().");
  fill("graphs", session.graphs.map((each) => ({
    key: each.number,
    cells: [
      number(each.number), long(each.inputs || "none"), long(each.outputs), number(each.operators), number(`${grouped.format(each.constants)} bytes`), number(each.computations),
      each.devices.join(", "),
      long(each.reasons.map((reason) => `${reason.count} × ${reason.text || "the whole context runs elsewhere"}`).join("; "), true),
      { button: "Open", label: `Open graph ${each.number} in the viewer`, disabled: each.released, title: each.released ? each.note : "", act: () => open(`status/viewer?session=${encodeURIComponent(session.name)}&graph=${each.number}`, "_blank", "noopener") },
      { button: "Placement", label: `Placement of graph ${each.number}`, act: () => look(session.name, each.number) },
      { button: "Measure times", label: `Measure times of graph ${each.number}${each.note ? `: not possible, ${each.note}` : ""}`, disabled: each.note !== "", title: each.note, act: () => measure(session.name, each.number) },
    ],
  })));
  show("more-graphs", session.graphs.length ? session.moreGraphs ? `${count(session.moreGraphs, "older graph")} not shown.` : "" : "There is none. The page has not called MLGraphBuilder.build().");
  renderTimeline(session);
  fill("calls", session.calls.map((each) => ({
    key: each.number,
    cells: [
      number(each.number), whole(each.member), long(each.arguments), long(each.result, each.refused), number(each.seconds),
      number(each.received), number(each.sent),
    ],
  })));
  show("more-calls", session.calls.length ? session.moreCalls ? `${count(session.moreCalls, "older call")} not shown.` : "" : "There is none.");
}

// ---- The time line: a row for each thread, context and process

let recording = false;

function renderTimeline({ name, timeline }) {
  const button = recording ? "Record no longer" : "Record the contexts that are made from now on";
  if (at("record").textContent !== button) at("record").textContent = button;
  show("no-timeline", timeline?.count ? "" : recording || timeline ? "There is nothing yet. Load the page again, so that it makes a context." : "It is not recorded.");
  at("trace").hidden = !timeline?.count;
  at("trace").href = `status/timeline.json?session=${encodeURIComponent(name)}`;
  at("timeline").parentElement.hidden = !timeline?.count;
  if (!timeline?.count) return;
  const [left, width, high] = [200, 900, 26];
  const svg = at("timeline");
  const element = (tag, attributes, text = "") => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.textContent = text;
    return made;
  };
  const scale = (width - left - 10) / (timeline.length || 1);
  svg.setAttribute("viewBox", `0 0 ${width} ${timeline.tracks.length * high + 20}`);
  svg.replaceChildren(...timeline.tracks.flatMap((track, row) => [
    element("text", { x: 4, y: row * high + 17 }, track.name),
    ...track.events.map(([method, begin, took]) => {
      const bar = element("rect", { x: left + begin * scale, y: row * high + 4, width: Math.max(took * scale, 1), height: high - 8, class: method });
      bar.append(element("title", {}, `${method}: ${took} ms, at ${begin} ms`));
      return bar;
    }),
  ]), element("text", { x: left, y: timeline.tracks.length * high + 14 }, `the newest ${grouped.format(timeline.tracks.reduce((sum, track) => sum + track.events.length, 0))} of ${grouped.format(timeline.count)}, in ${timeline.length.toFixed(1)} ms`));
  fillTable("times", timeline.table);
}

at("record").addEventListener("click", () => send("record", { on: !recording }, recording ? "Contexts that are made from now on are not recorded." : "Contexts that are made from now on are recorded: load the page again."));

// ---- A graph

function fillTable(id, table) {
  at(id).tHead.rows[0].replaceChildren(...table.columns.map(({ name, number: isNumber }) =>
    Object.assign(document.createElement("th"), { textContent: name, scope: "col", className: isNumber ? "number" : "" })));
  fill(id, table.rows.map((row, place) => ({
    key: place, cells: row.map((text, column) => ({ text, className: table.columns[column].number ? "number" : "" })),
  })));
}

function renderTables(title, tables) {
  at("graph").hidden = false;
  at("graph-title").textContent = title;
  const [table] = tables;
  at("graph-facts").replaceChildren(...table.facts.map((fact) => Object.assign(document.createElement("p"), { textContent: fact, className: "note" })));
  fillTable("operators", table);
  show("more-operators", table.more ? `${count(table.more, "operator")} more.` : "");
  at("graph-title").focus();
}

async function look(session, graph) {
  const answer = await ask(`status/graph?session=${encodeURIComponent(session)}&graph=${graph}`);
  if (answer) renderTables(`Graph ${graph}: where its operators run`, answer.tables);
}

async function measure(session, graph) {
  say(`Taking the times of graph ${graph} …`);
  const answer = await send("profile", { session, graph }, "");
  if (answer) renderTables(`Graph ${graph}: times of its operators`, answer.tables);
}

// ---- Forms. What a person has edited and not sent stays as it is.

const edited = new Set();
for (const form of document.forms) {
  form.addEventListener("input", (event) => edited.add(event.target));
  form.addEventListener("submit", (event) => event.preventDefault());
}

function renderForms({ options, choices, faults, counted }) {
  const form = at("change").elements;
  for (const name of ["profile", "fallback", "numerics"]) {
    const select = form[name];
    if (select.options.length !== choices[name].length) {
      select.replaceChildren(...choices[name].map((value) => new Option(value || "default", value)));
    }
    if (!edited.has(select)) select.value = options[name];
  }
  at("counted").textContent =
    `So far: ${count(counted.contexts, "context")}, ${count(counted.builds, "build")}, ${count(counted.computations, "computation")}.`;
  for (const field of at("faults").querySelectorAll("input")) {
    const value = faults[field.name];
    if (edited.has(field)) continue;
    if (field.type === "checkbox") field.checked = value.includes(field.value);
    else field.value = Array.isArray(value) ? value.join(", ") : value ?? "";
  }
}

at("change").addEventListener("submit", async () => {
  const form = at("change").elements;
  const values = Object.fromEntries(["profile", "fallback", "numerics"].map((name) => [name, form[name].value]));
  if (await send("change", values, "Contexts that are made from now on use this.")) forget("change");
});

function forget(id) {
  for (const field of at(id).elements) edited.delete(field);
}

// Which calls fail: a number, several, or all.
function readWhich(text) {
  if (text === "") return null;
  if (text === "all") return text;
  if (!/^\d{1,9}(\s*,\s*\d{1,9})*$/.test(text)) throw new TypeError('must be a number, several numbers with commas, or "all"');
  const numbers = text.split(",").map(Number);
  return numbers.length === 1 ? numbers[0] : numbers;
}

at("faults").addEventListener("submit", async () => {
  const form = at("faults"), fields = [...form.querySelectorAll("input")], values = {};
  // Setting a fault counts from now: only what was edited is sent, or everything if nothing was.
  const changed = fields.filter((each) => edited.has(each));
  for (const field of changed.length ? changed : fields) {
    const { name } = field, text = field.value.trim();
    try {
      if (name === "refuse") values.refuse = fields.filter((each) => each.name === "refuse" && each.checked).map((each) => each.value);
      else values[name] = field.type === "number" ? (text === "" ? null : Number(text)) : readWhich(text);
    } catch (error) {
      field.focus();
      return say(`${field.labels[0].textContent.trim()}: ${error.message}`, true);
    }
  }
  if (await send("faults", values, "The faults are set.")) forget("faults");
});

at("disarm").addEventListener("click", async () => {
  const values = { refuse: [], failBuild: null, failCompute: null, memoryLimit: null, loseAfter: null, delay: null };
  if (await send("faults", values, "There are no faults.")) forget("faults");
});

at("copy").addEventListener("click", async () => {
  try {
    await navigator.clipboard.writeText(at("test").textContent);
    say("The test is copied.");
  } catch (error) {
    getSelection().selectAllChildren(at("test"));
    say(`The browser does not copy (${error.message}): the test is selected instead.`, true);
  }
});

// ---- Requests

async function ask(path, init) {
  try {
    const response = await fetch(path, { cache: "no-store", ...init });
    const answer = await response.json();
    if (response.ok) return answer;
    say(answer.error, true);
  } catch (error) {
    say(`webnn serve does not answer: ${error.message}`, true);
  }
  return undefined;
}

async function send(action, values, done) {
  const headers = { "Content-Type": "application/json", "X-WebNN-Status": "1" };
  const answer = await ask(`status/${action}`, { method: "POST", headers, body: JSON.stringify(values) });
  if (answer) say(done);
  void poll();
  return answer;
}

let polling = false, again = false, silent = false;
async function poll() {
  if (polling) {
    again = true;
    return;
  }
  polling = true;
  clearTimeout(timer);
  do {
    again = false;
    try {
      const response = await fetch(`status.json?since=${version}&session=${encodeURIComponent(chosen)}`, { cache: "no-store" });
      if (!response.ok) throw new Error(`status ${response.status}`);
      if (silent) say("");
      silent = false;
      if (response.status === 200) {
        version = response.headers.get("X-WebNN-Version");
        render(await response.json());
      }
    } catch (error) {
      silent = true;
      say(`webnn serve does not answer: ${error.message}`, true);
    }
  } while (again);
  polling = false;
  if (!document.hidden) timer = setTimeout(poll, PAUSE);
}
document.addEventListener("visibilitychange", () => { if (!document.hidden) void poll(); });
void poll();
