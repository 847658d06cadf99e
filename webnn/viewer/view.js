// One graph on the screen: the canvas, its keys and pointers, the search and the panel.

// The most boxes that are open at first, and the most results of a search.
const FIRST = 260, RESULTS = 100;
const KEYS = "Arrow keys go from box to box, Enter opens a group or the details, Escape leaves a group, plus and minus zoom, 0 fits, slash searches.";

class View {
  constructor(element, source, { marks = new Map(), onSelect = () => {} } = {}) {
    this.graph = prepare(source);
    this.marks = marks;
    this.onSelect = onSelect;
    this.state = { x: 0, y: 0, scale: 1 };
    this.trees = [];
    this.colouring = source.colourings[0];
    this.selected = this.found = null;
    this.frame = 0;
    this.build(element);
    this.group(0);
    this.listen();
  }

  // The parts of the page.
  build(element) {
    const { graph } = this;
    const choice = (text, options, onchange) => {
      const select = make("select", { onchange: () => onchange(Number(select.value)) }, ...options.map((name, place) => make("option", { value: place, text: name })));
      return make("label", {}, `${text} `, select);
    };
    const button = (text, label, onclick) => make("button", { type: "button", text, "aria-label": label === text ? undefined : label, title: label === text ? undefined : label, onclick });
    this.query = make("input", { type: "search", placeholder: "operation, label, value", autocomplete: "off", spellcheck: "false", oninput: () => this.search() });
    this.context2d = (this.canvas = make("canvas")).getContext("2d", { alpha: false });
    this.stage = make("div", { class: "stage", tabindex: "0", role: "application", "aria-label": `Graph ${graph.title}. ${KEYS}` }, this.canvas);
    this.legend = make("div", { class: "legend" });
    this.panel = make("div", { class: "side", role: "group", "aria-label": `Details of ${graph.title}`, tabindex: "0" });
    this.live = make("div", { class: "live", role: "status" });
    this.all = button("Open all", "Open all", () => this.openAll());
    this.element = make("div", { class: "view" },
      make("div", { class: "bar", role: "group", "aria-label": `Controls of ${graph.title}` },
        make("label", {}, "Find ", this.query),
        choice("Colour", graph.colourings.map(({ name }) => name), (place) => this.colour(place)),
        choice("Group by", graph.groupings.map(({ name }) => name), (place) => this.group(place)),
        this.all,
        button("Close all", "Close all", () => this.closeAll()),
        button("−", "Zoom out", () => this.zoom(1 / 1.4)), button("+", "Zoom in", () => this.zoom(1.4)), button("Fit", "Fit", () => this.fit())),
      make("div", { class: "facts", text: graph.facts }),
      make("div", { class: "body" }, make("div", { class: "left" }, this.stage, this.legend), this.panel),
      this.live);
    element.append(this.element);
  }

  // Choose a grouping.
  group(place) {
    if (!this.trees[place]) {
      this.trees[place] = new Tree(this.graph, this.graph.groupings[place]);
      this.trees[place].openSome(FIRST);
    }
    const node = this.selected?.node ?? -1;
    this.tree = this.trees[place];
    this.tree.layout();
    this.selected = null;
    this.paint = null;
    if (node >= 0) this.select(node, { quiet: true });
    else this.describe();
    this.search();
    this.showLegend();
    this.begin();
  }

  // Choose a colouring.
  colour(place) {
    this.colouring = this.graph.colourings[place];
    this.paint = null;
    this.showLegend();
    this.describe();
    this.draw();
  }

  get painter() {
    if (this.paint?.theme !== themeName()) this.paint = new Paint(this.tree, this.colouring, themeName());
    return this.paint;
  }

  showLegend() {
    const { classes, name, unit } = this.colouring;
    const theme = themeName();
    const entry = (css, text) => {
      const patch = make("i");
      patch.style.background = css;
      return make("span", {}, patch, text);
    };
    const most = this.painter.most;
    const entries = classes ? classes.map((each) => entry(each[theme], each.name)) : [];
    if (!classes) {
      const shades = [0.15, 0.45, 0.75].map((share) => `rgba(${THEMES[theme].heat.join(",")},${share})`);
      entries.push(entry(`linear-gradient(to right, ${shades.join(",")})`, most ? `${name}, logarithmic, up to ${write(most, unit)}` : `${name}: none`));
    }
    this.legend.replaceChildren(...entries);
  }

  // Places on the screen.

  fit() {
    const [width, height] = this.size();
    const { w, h } = this.tree.root;
    const scale = Math.max(0.01, Math.min(1.2, (width - 20) / w, (height - 20) / h));
    this.state = { scale, x: (width - scale * w) / 2, y: (height - scale * h) / 2 };
    this.draw();
  }

  // Show the whole graph, or of a long one the beginning, large enough to be read.
  begin() {
    this.fit();
    const [width, height] = this.size();
    const { w, h } = this.tree.root;
    if (this.state.scale > 0.45 || Math.max(w, h) < 2 * Math.min(w, h)) return;
    const scale = Math.min(0.8, h > w ? (width - 20) / w : (height - 20) / h);
    this.state = h > w ? { scale, x: (width - scale * w) / 2, y: 10 } : { scale, x: 10, y: (height - scale * h) / 2 };
  }

  size() {
    return [Math.max(this.stage.clientWidth, 50), Math.max(this.stage.clientHeight, 50)];
  }

  zoom(factor, at) {
    const [width, height] = this.size();
    const [x, y] = at ?? (this.selected ? this.point(this.selected) : [width / 2, height / 2]);
    const scale = Math.min(4, Math.max(0.01, this.state.scale * factor));
    const real = scale / this.state.scale;
    this.state = { scale, x: x - (x - this.state.x) * real, y: y - (y - this.state.y) * real };
    this.draw();
  }

  pan(x, y) {
    this.state = { ...this.state, x: this.state.x + x, y: this.state.y + y };
    this.draw();
  }

  point(box) {
    const { x, y, scale } = this.state;
    return [x + scale * (box.left + box.w / 2), y + scale * (box.top + Math.min(box.h, 60 / scale) / 2)];
  }

  // Move a box into sight, and make it legible.
  bring(box) {
    const [width, height] = this.size();
    const [x, y] = this.point(box);
    if (this.state.scale < 0.5) this.state = { ...this.state, scale: 0.8 };
    else if (x > 60 && x < width - 60 && y > 40 && y < height - 40) return;
    const [newX, newY] = this.point(box);
    this.state = { ...this.state, x: this.state.x + width / 2 - newX, y: this.state.y + height / 2 - newY };
  }

  draw() {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.paintNow();
    });
  }

  paintNow() {
    const [width, height] = this.size();
    const ratio = Math.min(devicePixelRatio || 1, 2);
    if (this.canvas.width !== Math.round(width * ratio) || this.canvas.height !== Math.round(height * ratio)) {
      this.canvas.width = Math.round(width * ratio);
      this.canvas.height = Math.round(height * ratio);
    }
    drawGraph(this.context2d, { tree: this.tree, paint: this.painter, view: this.state, width, height, ratio, selected: this.selected, found: this.found, near: this.near });
    this.element.dataset.drawn = String(Number(this.element.dataset.drawn ?? 0) + 1);
  }

  // What is selected.

  select(node, { quiet = false } = {}) {
    const box = this.tree.nodes[node];
    if (!box) return;
    this.tree.reveal(box);
    this.tree.layout();
    this.choose(box, { quiet });
  }

  choose(box, { quiet = false } = {}) {
    this.selected = box;
    this.near = box ? this.neighbours(box) : null;
    if (box) {
      this.found = null;
      this.bring(box);
    }
    this.describe();
    if (box) this.live.textContent = this.say(box);
    this.draw();
    if (!quiet) this.onSelect(box && !box.isGroup ? box.node : null);
  }

  neighbours(box) {
    if (box.isGroup) return [];
    const { inputs, outputs } = this.graph.nodes[box.node];
    const makers = inputs.map(([, place]) => this.graph.makers[place]).filter((each) => each !== undefined);
    const users = outputs.flatMap((place) => this.graph.users[place] ?? []);
    const near = (nodes, colour) => [...new Set(nodes.slice(0, 200).map((node) => this.tree.shown(node)))].map((each) => ({ box: each, colour }));
    return [...near(makers, "from"), ...near(users, "to")];
  }

  say(box) {
    if (box.isGroup) return `Group ${this.tree.title(box)}, ${box.open ? "open" : "closed"}, ${box.count} in it`;
    const { inputs, outputs } = this.graph.nodes[box.node];
    const results = outputs.map((place) => `${this.graph.values[place].type} ${this.graph.values[place].shape}`);
    const users = outputs.flatMap((place) => this.graph.users[place] ?? []).length;
    const parts = [nodeName(this.graph, box.node), results.join(", "), inputs.length ? `${inputs.length} in` : "", outputs.length ? `used by ${users}` : ""];
    return parts.filter(Boolean).join(", ");
  }

  path(box) {
    const names = [];
    for (let each = box.parent; each && each !== this.tree.root; each = each.parent) names.unshift(this.tree.title(each));
    return names;
  }

  describe() {
    const box = this.selected;
    const go = (node) => {
      this.select(node);
      this.panel.focus();
    };
    if (this.query.value.trim() && !box) return;
    if (!box) this.panel.replaceChildren(make("p", { class: "hint", text: `Click a box, or find one. Drag to move, turn the wheel to zoom. ${KEYS}` }));
    else if (box.isGroup) this.panel.replaceChildren(makeGroupPanel(this.tree, box, { paint: this.painter, toggle: (each) => this.toggle(each), go }));
    else this.panel.replaceChildren(makeNodePanel(this.graph, box.node, { colourings: this.graph.colourings, path: this.path(box), go, mark: this.marks.get(box.node) }));
  }

  toggle(box) {
    const [x, y] = this.point(box);
    this.tree.toggle(box);
    this.tree.layout();
    // The group stays where it is.
    const [newX, newY] = this.point(box);
    this.state = { ...this.state, x: this.state.x + x - newX, y: this.state.y + y - newY };
    this.choose(box);
  }

  closeAll() {
    for (const box of this.tree.groups) if (box?.open) this.tree.toggle(box, false);
    this.tree.layout();
    this.choose(null);
    this.fit();
  }

  // Open every group, and lay them out in pieces, between which the page answers.
  async openAll() {
    const { tree } = this;
    for (const box of tree.groups) if (box && !box.open) tree.toggle(box, true);
    const stale = [...tree.stale()];
    this.all.disabled = true;
    let last = performance.now();
    for (const [place, box] of stale.entries()) {
      tree.place(box);
      if (performance.now() - last < 50) continue;
      this.live.textContent = `${place + 1} of ${stale.length} groups`;
      await new Promise((resolve) => setTimeout(resolve));
      last = performance.now();
    }
    this.all.disabled = false;
    tree.layout();
    this.live.textContent = `${stale.length} groups are open`;
    if (tree === this.tree) this.fit();
  }

  search() {
    const text = this.query.value.trim().toLowerCase();
    if (!text) {
      this.found = null;
      this.describe();
      this.draw();
      return;
    }
    // Every word must occur. Nodes that are called like one of them come first.
    const words = text.split(/\s+/);
    const nodes = this.graph.nodes.flatMap((_, node) => (words.every((word) => this.graph.searched(node).includes(word)) ? [node] : []));
    const called = (node) => Number(words.includes(this.graph.nodes[node].title.toLowerCase()));
    nodes.sort((one, other) => called(other) - called(one));
    this.found = new Set(nodes.map((node) => this.tree.shown(node)));
    const entry = (node) => make("li", {}, make("button", { type: "button", class: "link", text: nodeName(this.graph, node), onclick: () => this.select(node) }));
    const count = `${nodes.length.toLocaleString("en")} found${nodes.length > RESULTS ? `, the first ${RESULTS}` : ""}`;
    this.panel.replaceChildren(make("p", { class: "name", text: count }), make("ul", { class: "results" }, ...nodes.slice(0, RESULTS).map(entry)));
    this.live.textContent = count;
    this.draw();
  }

  remove() {
    cancelAnimationFrame(this.frame);
    this.watcher.disconnect();
    this.dark.removeEventListener("change", this.redraw);
    this.element.remove();
  }
}

// Index a graph: its lines, the maker and the users of each value, and the text of each node that a search looks at.
function prepare(source) {
  const makers = [], users = [], edges = [];
  source.nodes.forEach(({ outputs }, node) => outputs.forEach((place) => { makers[place] = node; }));
  source.nodes.forEach(({ inputs }, node) => {
    for (const [, place] of inputs) {
      (users[place] ??= []).push(node);
      if (makers[place] !== undefined) edges.push({ from: makers[place], to: node });
    }
  });
  const texts = [];
  const searched = (node) => {
    const { title, label, number, inputs, outputs } = source.nodes[node];
    return (texts[node] ??= [title, label, number && `#${number}`, ...outputs.map((place) => source.values[place].name), ...inputs.map(([, place]) => source.values[place].constant ? source.values[place].name : "")].filter(Boolean).join("\n").toLowerCase());
  };
  return { ...source, makers, users, edges, searched };
}
