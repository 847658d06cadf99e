// The panel about a node or a group, and the list of what a search finds. All texts are set as text.

function make(tag, { text, ...attributes } = {}, ...inside) {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...inside.filter((each) => each !== null));
  return element;
}

const UNITS = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]];
const SIZES = [[2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"]];
const round = (number) => String(Number(number.toPrecision(3)));

function write(amount, unit) {
  if (unit === "seconds") {
    const [size, name] = UNITS.find(([least]) => amount >= least) ?? UNITS.at(-1);
    return amount ? `${round(amount / size)} ${name}` : "0 s";
  }
  if (unit === "bytes") {
    const found = SIZES.find(([least]) => amount >= least);
    return found ? `${round(amount / found[0])} ${found[1]}` : `${amount} bytes`;
  }
  return round(amount);
}

function nodeName(graph, node) {
  const { kind, title, label, number } = graph.nodes[node];
  return [kind === "operator" ? title : `${kind} ${title}`, label, kind === "operator" ? `#${number}` : ""].filter(Boolean).join(" ");
}

const describeValue = ({ type, shape, bytes }) => `${type} ${shape}, ${write(bytes, "bytes")}`;

function makeHistogram({ histogram, minimum, maximum }) {
  const most = Math.max(...histogram);
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const [width, height] = [240, 48];
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", `Histogram from ${round(minimum)} to ${round(maximum)}; most elements near ${round(peak(histogram, minimum, maximum))}`);
  histogram.forEach((count, place) => {
    const bar = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    const tall = count ? Math.max(1, (count / most) * height) : 0;
    for (const [name, value] of Object.entries({ x: (place * width) / histogram.length, y: height - tall, width: width / histogram.length - 1, height: tall })) bar.setAttribute(name, value);
    svg.append(bar);
  });
  return svg;
}

function peak(histogram, minimum, maximum) {
  const place = histogram.indexOf(Math.max(...histogram));
  return minimum + ((place + 0.5) / histogram.length) * (maximum - minimum);
}

function makeWeights({ weights }) {
  if (!weights) return null;
  const { count, sampled, first, minimum, maximum, mean, histogram, notFinite, zeros } = weights;
  const facts = [`${count.toLocaleString("en")} ${count === 1 ? "element" : "elements"}`];
  if (histogram) facts.push(minimum === maximum ? `all ${round(minimum)}` : `from ${round(minimum)} to ${round(maximum)}, mean ${round(mean)}`);
  if (zeros) facts.push(`${zeros.toLocaleString("en")} ${zeros === 1 ? "zero" : "zeros"}`);
  if (notFinite) facts.push(`${notFinite.toLocaleString("en")} not finite`);
  return make("div", { class: "weights" },
    make("div", { text: facts.join("; ") + (sampled ? " (of a sample)" : "") }),
    histogram && minimum !== maximum ? makeHistogram(weights) : null,
    make("div", { class: "first", text: first.length ? `first: ${first.join(", ")}${count > first.length ? ", …" : ""}` : "empty" }));
}

// The panel about a node. `go(node)` leads to another one.
function makeNodePanel(graph, node, { colourings, path, go, mark }) {
  const { kind, title, label, line, number, inputs, outputs, options, notes } = graph.nodes[node];
  const link = (other) => make("button", { type: "button", class: "link", text: nodeName(graph, other), onclick: () => go(other) });
  const operands = inputs.map(([name, place]) => {
    const value = graph.values[place];
    const from = graph.makers[place];
    return make("li", {},
      make("b", { text: name || "from" }), ` ${value.name}: ${describeValue(value)}${value.constant ? ", a constant" : ""}`,
      from === undefined ? makeWeights(value) : make("div", { class: "way" }, "←", link(from)));
  });
  const results = outputs.map((place) => {
    const value = graph.values[place];
    const users = graph.users[place] ?? [];
    return make("li", {}, `${value.name}: ${describeValue(value)}`,
      ...users.slice(0, 50).map((user) => make("div", { class: "way" }, "→", link(user))),
      users.length > 50 ? make("div", { text: `and ${users.length - 50} more` }) : null);
  });
  const amounts = colourings.filter(({ amounts }) => amounts && amounts[node] !== null).map(({ name, unit, amounts }) => [name, write(amounts[node], unit)]);
  const classes = colourings.filter(({ of }) => of && of[node] >= 0).map(({ name, classes: all, of }) => [name, all[of[node]].name]);
  return make("div", { class: "panel" },
    make("p", { class: "name", text: kind === "operator" ? `${title} #${number}` : `${kind} ${title}` }),
    label ? make("p", { class: "label", text: label }) : null,
    line ? make("p", { class: "line", text: `made at ${line}` }) : null,
    path.length ? make("p", { class: "path", text: `in ${path.join(" › ")}` }) : null,
    mark ? make("p", { class: "mark", text: mark }) : null,
    ...(notes ?? []).map((text) => make("p", { class: "label", text })),
    makeFacts([...classes, ...amounts]),
    options?.length ? makeFacts(options, "Options") : null,
    operands.length ? make("p", { class: "head", text: kind === "output" ? "Value" : "Operands" }) : null,
    operands.length ? make("ul", {}, ...operands) : null,
    results.length ? make("p", { class: "head", text: kind === "input" ? "Value" : "Results" }) : null,
    results.length ? make("ul", {}, ...results) : null);
}

function makeGroupPanel(tree, box, { paint, toggle, go }) {
  const kinds = new Map();
  for (const node of paint.nodes(box)) {
    const { kind, title } = tree.graph.nodes[node];
    const name = kind === "operator" ? title : kind;
    kinds.set(name, (kinds.get(name) ?? 0) + 1);
  }
  const listed = [...kinds].sort((one, other) => other[1] - one[1]).slice(0, 20).map(([name, count]) => [name, String(count)]);
  const amount = paint.amount(box);
  const { name, unit, total } = paint.colouring;
  return make("div", { class: "panel" },
    make("p", { class: "name", text: tree.title(box) }),
    make("p", { class: "label", text: `A group of ${box.count.toLocaleString("en")}` }),
    make("p", {}, make("button", { type: "button", text: box.open ? "Close the group" : "Open the group", onclick: () => toggle(box) })),
    amount === null ? null : makeFacts([[`${name}, ${total === "sum" ? "together" : "at most"}`, write(amount, unit)]]),
    makeFacts(listed, "Content"),
    make("p", { class: "head", text: "First" }),
    make("ul", {}, make("li", {}, make("button", { type: "button", class: "link", text: nodeName(tree.graph, box.first), onclick: () => go(box.first) }))));
}

function makeFacts(pairs, title) {
  if (!pairs.length) return make("div");
  return make("div", {},
    title ? make("p", { class: "head", text: title }) : null,
    make("dl", {}, ...pairs.map(([name, value]) => make("div", {}, make("dt", { text: name }), make("dd", { text: value })))));
}
