// The boxes of a graph in one of its groupings, and their places. Each open group is laid out by itself, so that opening one moves no more
// than the groups around it.

const LETTER = 7.25, SMALL = 6.6, HEIGHT = { title: 18, small: 15 };
const PAD = 8, HEADER = 30, INNER = 14;
// The most letters of a line on a box.
const LONGEST = 34;

const cut = (text) => (text.length > LONGEST ? text.slice(0, LONGEST - 1) + "…" : text);
// The end of a path says more than its beginning.
const cutPath = (text) => (text.length > LONGEST ? "…" + text.slice(1 - LONGEST) : text);

class Box {
  constructor(parent, group, node) {
    Object.assign(this, { parent, group, node, children: [], links: new Map(), open: false, dirty: true, across: false });
    Object.assign(this, { x: 0, y: 0, w: 0, h: 0, left: 0, top: 0, routes: [], first: node, count: node < 0 ? 0 : 1, enters: false, leaves: false });
    this.depth = parent ? parent.depth + 1 : 0;
    this.place = parent ? parent.children.push(this) - 1 : 0;
  }
  get isGroup() { return this.node < 0; }
  get holdsGroups() { return this.children.some((each) => each.isGroup); }
}

class Tree {
  constructor(graph, grouping) {
    this.graph = graph;
    this.grouping = grouping;
    this.root = new Box(null, -1, -1);
    this.root.open = true;
    this.root.across = grouping.across;
    this.groups = new Array(grouping.groups.length).fill(null);
    this.nodes = graph.nodes.map((_, node) => {
      const box = new Box(this.groupBox(grouping.of[node]), -1, node);
      for (let each = box.parent; each; each = each.parent) {
        each.count += 1;
        if (each.first < 0) each.first = node;
      }
      return box;
    });
    for (const { from, to } of graph.edges) this.connect(this.nodes[from], this.nodes[to]);
  }

  groupBox(group) {
    if (group < 0) return this.root;
    if (!this.groups[group]) {
      const told = this.grouping.groups[group];
      this.groups[group] = new Box(this.groupBox(told.parent), group, -1);
      this.groups[group].across = told.across;
    }
    return this.groups[group];
  }

  title(box) {
    return box === this.root ? this.graph.title : box.isGroup ? this.grouping.groups[box.group].title : this.graph.nodes[box.node].title;
  }

  // A line between two nodes is drawn in the innermost group around both.
  connect(from, to) {
    while (from.depth > to.depth) { from.leaves = true; from = from.parent; }
    while (to.depth > from.depth) { to.enters = true; to = to.parent; }
    while (from.parent !== to.parent) {
      from.leaves = to.enters = true;
      from = from.parent;
      to = to.parent;
    }
    if (from === to) return;
    const links = from.parent.links;
    const key = `${from.place},${to.place}`;
    const known = links.get(key);
    if (known) known.count += 1;
    else links.set(key, { from, to, count: 1 });
  }

  // Open the groups from the outside inwards, all of a level or none of it, while there are not too many boxes.
  openSome(most) {
    let count = this.root.children.length;
    let level = this.root.children.filter((each) => each.isGroup);
    while (level.length) {
      count += level.reduce((sum, each) => sum + each.children.length, 0);
      if (count > most) return;
      for (const each of level) each.open = true;
      level = level.flatMap((each) => each.children.filter((child) => child.isGroup));
    }
  }

  // Open or close a group.
  toggle(box, open = !box.open) {
    box.open = open;
    for (let each = box; each; each = each.parent) each.dirty = true;
  }

  // Open all groups around a node or a group.
  reveal(box) {
    for (let each = box.parent; each; each = each.parent) if (!each.open) this.toggle(each, true);
  }

  // The box that shows a node: its own, or the closed group around it.
  shown(node) {
    let found = this.nodes[node];
    for (let each = found.parent; each; each = each.parent) if (!each.open) found = each;
    return found;
  }

  lines(box) {
    const node = this.graph.nodes[box.node];
    if (box.isGroup) return [cut(this.title(box)), box.count === 1 ? "1 box" : `${box.count.toLocaleString("en")} boxes`];
    const value = this.graph.values[node.outputs[0] ?? node.inputs[0]?.[1]];
    return [cut(node.title), ...(node.label ? [cutPath(node.label)] : []), ...(value ? [cut(`${value.type} ${value.shape}`)] : [])];
  }

  measure(box) {
    const [title, ...rest] = this.lines(box);
    box.w = Math.max(title.length * LETTER, ...rest.map((line) => line.length * SMALL)) + 2 * PAD + 6;
    box.h = HEIGHT.title + rest.length * HEIGHT.small + PAD;
  }

  // The groups that must be laid out again, each after those inside it.
  *stale(box = this.root) {
    if (!box.dirty || !box.isGroup) return;
    if (box.open) for (const each of box.children) yield* this.stale(each);
    yield box;
  }

  layout() {
    for (const each of this.stale()) this.place(each);
    this.settle();
  }

  place(box) {
    box.dirty = false;
    if (!box.open) {
      this.measure(box);
      return;
    }
    for (const each of box.children) if (!each.isGroup && !each.w) this.measure(each);
    const size = inRow(box) ?? byLibrary(box);
    box.w = Math.max(size.w + 2 * INNER, this.title(box).length * LETTER + 40);
    box.h = size.h + HEADER + INNER;
  }

  // Find the places on the ground, and what is visible.
  settle() {
    this.visible = [];
    this.open = [];
    const walk = (box, left, top) => {
      box.left = left;
      box.top = top;
      if (box.isGroup && box.open) {
        this.open.push(box);
        for (const each of box.children) walk(each, left + INNER + each.x, top + HEADER + each.y);
      } else this.visible.push(box);
    };
    walk(this.root, 0, 0);
  }
}

// Boxes of which each has a line to the next one and to no other are a row, which needs no search.
function inRow(box) {
  const { children, links } = box;
  if (links.size !== children.length - 1) return null;
  for (let each = 0; each + 1 < children.length; each += 1) if (!links.has(`${each},${each + 1}`)) return null;
  const gap = 26;
  const across = box.across;
  const width = Math.max(...children.map((each) => (across ? each.h : each.w)));
  let along = 0;
  for (const each of children) {
    const aside = across ? 0 : (width - each.w) / 2;
    [each.x, each.y] = across ? [along, aside] : [aside, along];
    along += (across ? each.w : each.h) + gap;
  }
  box.routes = [...links.values()].map(({ from, to, count }) => {
    const level = Math.min(from.h, to.h) / 2;
    const points = across
      ? [[from.x + from.w, level], [to.x, level]]
      : [[width / 2, from.y + from.h], [width / 2, to.y]];
    return { from, to, count, points };
  });
  return across ? { w: along - gap, h: width } : { w: width, h: along - gap };
}

function byLibrary(box) {
  const graph = new dagre.graphlib.Graph();
  graph.setGraph({ rankdir: box.across ? "LR" : "TB", nodesep: 22, ranksep: 30, edgesep: 12 });
  box.children.forEach((each, place) => graph.setNode(String(place), { width: each.w, height: each.h }));
  for (const key of box.links.keys()) graph.setEdge(...key.split(","), {});
  dagre.layout(graph);
  box.children.forEach((each, place) => {
    const found = graph.node(String(place));
    each.x = found.x - each.w / 2;
    each.y = found.y - each.h / 2;
  });
  box.routes = [...box.links].map(([key, link]) => ({ ...link, points: graph.edge(...key.split(",")).points.map(({ x, y }) => [x, y]) }));
  const { width, height } = graph.graph();
  return { w: width, h: height };
}
