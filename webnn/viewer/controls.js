// The keys and pointers of a view.

// How far a pointer may move in a click, in pixels, and how far a key moves the graph.
const CLICK = 4, STEP = 80;

const DIRECTIONS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

View.prototype.listen = function () {
  const { stage } = this;
  this.redraw = () => {
    this.showLegend();
    this.draw();
  };
  this.dark = matchMedia("(prefers-color-scheme: dark)");
  this.dark.addEventListener("change", this.redraw);
  let known = false;
  this.watcher = new ResizeObserver(() => {
    // What was shown at another size, or in a hidden element, is fitted again; later sizes leave the place as it is.
    if (!known && stage.clientWidth) {
      known = true;
      this.begin();
    } else this.draw();
  });
  this.watcher.observe(stage);
  stage.addEventListener("keydown", (event) => this.key(event));
  this.query.addEventListener("keydown", (event) => {
    const first = this.panel.querySelector(".results button");
    if (!first || !["Enter", "ArrowDown"].includes(event.key)) return;
    event.preventDefault();
    if (event.key === "Enter") first.click();
    else first.focus();
  });
  this.panel.addEventListener("keydown", (event) => {
    if (event.key === "Escape") stage.focus();
  });
  stage.addEventListener("wheel", (event) => {
    // A page that is scrolled through is not stopped by a picture.
    if (!event.ctrlKey && !event.metaKey && this.element.getRootNode().activeElement !== stage && document.documentElement.scrollHeight > innerHeight) return;
    event.preventDefault();
    const area = stage.getBoundingClientRect();
    this.zoom(Math.exp(-Math.sign(event.deltaY) * Math.min(Math.abs(event.deltaY), 200) / 400), [event.clientX - area.left, event.clientY - area.top]);
  }, { passive: false });
  this.drag();
};

View.prototype.drag = function () {
  const { stage } = this;
  const pointers = new Map();
  let moved = 0;
  stage.addEventListener("pointerdown", (event) => {
    stage.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, [event.clientX, event.clientY]);
    if (pointers.size === 1) moved = 0;
  });
  stage.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId);
    if (!before) return;
    const now = [event.clientX, event.clientY];
    const other = [...pointers].find(([id]) => id !== event.pointerId)?.[1];
    pointers.set(event.pointerId, now);
    moved += Math.abs(now[0] - before[0]) + Math.abs(now[1] - before[1]);
    if (other) {
      const area = stage.getBoundingClientRect();
      const apart = (point) => Math.hypot(point[0] - other[0], point[1] - other[1]) || 1;
      this.zoom(apart(now) / apart(before), [(now[0] + other[0]) / 2 - area.left, (now[1] + other[1]) / 2 - area.top]);
    } else this.pan(now[0] - before[0], now[1] - before[1]);
  });
  const end = (event) => {
    if (!pointers.delete(event.pointerId) || event.type === "pointercancel" || moved > CLICK) return;
    this.choose(this.boxAt(event.clientX, event.clientY), {});
  };
  stage.addEventListener("pointerup", end);
  stage.addEventListener("pointercancel", end);
  stage.addEventListener("dblclick", (event) => {
    const box = this.boxAt(event.clientX, event.clientY);
    if (box?.isGroup) this.toggle(box);
  });
};

// The innermost box at a point of the screen: a visible one, or the open group around it; not the whole graph.
View.prototype.boxAt = function (clientX, clientY) {
  const area = this.stage.getBoundingClientRect();
  const x = (clientX - area.left - this.state.x) / this.state.scale, y = (clientY - area.top - this.state.y) / this.state.scale;
  const holds = (box) => x >= box.left && x <= box.left + box.w && y >= box.top && y <= box.top + box.h;
  const { root } = this.tree;
  let found = root;
  while (found.isGroup && found.open) {
    const inner = found.children.find(holds);
    if (!inner) break;
    found = inner;
  }
  return found === root ? null : found;
};

View.prototype.key = function (event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const { key } = event;
  const box = this.selected;
  const actions = {
    "+": () => this.zoom(1.25),
    "=": () => this.zoom(1.25),
    "-": () => this.zoom(0.8),
    0: () => this.fit(),
    "/": () => this.query.focus(),
    Home: () => this.choose(this.tree.visible[0]),
    End: () => this.choose(this.tree.visible.at(-1)),
    Escape: () => this.choose(box && box.parent !== this.tree.root ? box.parent : null),
    Enter: () => (box?.isGroup ? this.toggle(box) : box && this.panel.focus()),
    " ": () => (box?.isGroup ? this.toggle(box) : box && this.panel.focus()),
  };
  const direction = DIRECTIONS[key];
  if (direction && event.shiftKey) this.pan(-direction[0] * STEP, -direction[1] * STEP);
  else if (direction) this.step(...direction);
  else if (actions[key]) actions[key]();
  else return;
  event.preventDefault();
};

// Go to the next box in a direction: down to one that takes the result, up to one that makes an operand, otherwise the nearest one.
View.prototype.step = function (dx, dy) {
  const box = this.selected;
  if (!box) {
    this.choose(this.tree.visible[0]);
    return;
  }
  if (dy) {
    const follows = this.near.find(({ colour }) => colour === (dy > 0 ? "to" : "from"));
    if (follows && follows.box !== box) {
      this.choose(follows.box);
      return;
    }
  }
  const [x, y] = [box.left + box.w / 2, box.top + box.h / 2];
  let best = null, least = Infinity;
  for (const each of this.tree.visible) {
    const ahead = dx * (each.left + each.w / 2 - x) + dy * (each.top + each.h / 2 - y);
    const aside = Math.abs(dy * (each.left + each.w / 2 - x)) + Math.abs(dx * (each.top + each.h / 2 - y));
    if (each !== box && ahead > 1 && ahead + 3 * aside < least) [best, least] = [each, ahead + 3 * aside];
  }
  if (best) this.choose(best);
};
