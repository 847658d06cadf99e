// Draws the visible boxes and lines of a tree on a canvas. What is outside of it is left out, and small boxes have no text.

const THEMES = {
  light: { ground: "#ffffff", raised: "#f5f7f9", ink: "#1b1f24", dim: "#57606a", line: "#6e7781", border: "#c5ccd3", mark: "#0b5cad", to: "#C2410C", heat: [234, 88, 12] },
  dark: { ground: "#14181d", raised: "#1b2128", ink: "#e6edf3", dim: "#a3adb8", line: "#8b949e", border: "#3d444d", mark: "#79b8ff", to: "#FF9A62", heat: [234, 88, 12] },
};
const FONT = '"DejaVu Sans Mono", Menlo, Consolas, monospace';
// Below this scale boxes have no borders.
const TINY = 0.15;
// The smallest part of the largest amount that has a colour.
const RANGE = 1e-3;

const themeName = () => (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");

// The colours and amounts of boxes in one colouring.
class Paint {
  constructor(tree, colouring, theme) {
    Object.assign(this, { tree, colouring, theme });
    this.amounts = new Map();
    this.most = colouring.amounts ? colouring.amounts.reduce((most, each) => Math.max(most, each ?? 0), 0) : 0;
  }

  // The nodes in a box.
  *nodes(box) {
    if (!box.isGroup) yield box.node;
    else for (const each of box.children) yield* this.nodes(each);
  }

  amount(box) {
    if (!this.colouring.amounts) return null;
    if (!box.isGroup) return this.colouring.amounts[box.node];
    if (!this.amounts.has(box)) {
      let found = null;
      for (const node of this.nodes(box)) {
        const each = this.colouring.amounts[node];
        if (each !== null) found = this.colouring.total === "sum" ? (found ?? 0) + each : Math.max(found ?? 0, each);
      }
      this.amounts.set(box, found);
    }
    return this.amounts.get(box);
  }

  // The classes of the nodes in a box, each with its share.
  shares(box) {
    if (!this.amounts.has(box)) {
      const counts = this.colouring.classes.map(() => 0);
      let all = 0;
      for (const node of this.nodes(box)) {
        const place = this.colouring.of[node];
        if (place < 0) continue;
        counts[place] += 1;
        all += 1;
      }
      this.amounts.set(box, counts.flatMap((count, place) => (count ? [{ css: this.colouring.classes[place][this.theme], share: count / all }] : [])));
    }
    return this.amounts.get(box);
  }

  // The colour of a box by its amount, or null.
  heat(box) {
    const amount = this.amount(box);
    if (!amount || !this.most) return null;
    const part = Math.min(amount / this.most, 1);
    const share = part > RANGE ? 1 - Math.log(part) / Math.log(RANGE) : 0;
    return `rgba(${THEMES[this.theme].heat.join(",")},${(share * 0.75).toFixed(3)})`;
  }
}

function drawGraph(context, { tree, paint, view, width, height, ratio, selected, found, near }) {
  const theme = THEMES[paint.theme];
  const { scale } = view;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.fillStyle = theme.ground;
  context.fillRect(0, 0, width, height);
  context.setTransform(ratio * scale, 0, 0, ratio * scale, ratio * view.x, ratio * view.y);
  const left = -view.x / scale, top = -view.y / scale, right = left + width / scale, bottom = top + height / scale;
  const seen = (box) => box.left <= right && box.left + box.w >= left && box.top <= bottom && box.top + box.h >= top;
  const legible = scale > 0.42;
  // Boxes of a few pixels are patches of colour, without lines between them.
  const tiny = scale < TINY;

  context.textBaseline = "alphabetic";
  for (const box of tree.open) {
    if (box === tree.root || !seen(box)) continue;
    context.fillStyle = box.depth % 2 ? theme.raised : theme.ground;
    context.strokeStyle = theme.border;
    context.lineWidth = 1 / scale;
    context.fillRect(box.left, box.top, box.w, box.h);
    context.strokeRect(box.left, box.top, box.w, box.h);
    const size = Math.min(13 / Math.min(scale, 1), HEADER - 14);
    if (size * scale > 5) {
      context.fillStyle = theme.dim;
      context.font = `${size}px ${FONT}`;
      context.fillText(`⊟ ${tree.title(box)}`, box.left + 6, box.top + HEADER - 13);
    }
  }

  context.strokeStyle = context.fillStyle = theme.line;
  context.lineWidth = Math.max(1, 0.8 / scale);
  context.beginPath();
  const heads = [];
  for (const box of tree.open) {
    if (!seen(box) || (tiny && !box.holdsGroups)) continue;
    const x = box.left + INNER, y = box.top + HEADER;
    for (const { points } of box.routes) {
      const [a, z] = [points[0], points.at(-1)];
      if (Math.max(a[0], z[0]) + x < left - 300 || Math.min(a[0], z[0]) + x > right + 300 || Math.max(a[1], z[1]) + y < top || Math.min(a[1], z[1]) + y > bottom) continue;
      context.moveTo(x + a[0], y + a[1]);
      for (let each = 1; each < points.length; each += 1) context.lineTo(x + points[each][0], y + points[each][1]);
      heads.push([x + points.at(-2)[0], y + points.at(-2)[1], x + z[0], y + z[1]]);
    }
  }
  // A short line where values come from outside of the group, or leave it.
  for (const box of tree.visible) {
    if (!legible || !(box.enters || box.leaves) || !seen(box)) continue;
    const middle = box.left + box.w / 2;
    if (box.enters) { context.moveTo(middle - 10, box.top - 8); context.lineTo(middle - 10, box.top); }
    if (box.leaves) { context.moveTo(middle + 10, box.top + box.h); context.lineTo(middle + 10, box.top + box.h + 8); }
  }
  context.stroke();
  if (legible) for (const each of heads) drawHead(context, ...each);

  if (tiny) drawPatches(context, tree.visible.filter(seen), { paint, theme, found });
  else for (const box of tree.visible) if (seen(box)) drawBox(context, box, { tree, paint, theme, legible, scale, dimmed: found && !found.has(box) });
  for (const { box, colour } of near ?? []) outline(context, box, colour === "to" ? theme.to : theme.mark, 2 / scale, scale);
  if (selected) {
    for (const { box, colour } of near ?? []) drawReach(context, selected, box, colour === "to", theme, scale);
    outline(context, selected, theme.ink, 3 / Math.min(scale, 1), scale);
  }
}

// Draw boxes by their colours: a change of the colour costs more than a box.
function drawPatches(context, boxes, { paint, theme, found }) {
  const patches = new Map();
  const add = (css, ...patch) => {
    if (!patches.has(css)) patches.set(css, []);
    patches.get(css).push(patch);
  };
  for (const box of boxes) {
    if (found && !found.has(box)) {
      add(theme.border, box.left, box.top, box.w, box.h);
    } else if (paint.colouring.amounts) {
      add(theme.border, box.left, box.top, box.w, box.h);
      const heat = paint.heat(box);
      if (heat) add(heat, box.left, box.top, box.w, box.h);
    } else {
      const shares = paint.shares(box);
      if (!shares.length) add(theme.line, box.left, box.top, box.w, box.h);
      let { top } = box;
      for (const { css, share } of shares) {
        add(css, box.left, top, box.w, box.h * share);
        top += box.h * share;
      }
    }
  }
  for (const [css, all] of patches) {
    context.fillStyle = css;
    for (const patch of all) context.fillRect(...patch);
  }
}

function drawHead(context, x0, y0, x1, y1) {
  const angle = Math.atan2(y1 - y0, x1 - x0);
  context.beginPath();
  context.moveTo(x1, y1);
  for (const side of [-0.45, 0.45]) context.lineTo(x1 - 7 * Math.cos(angle + side), y1 - 7 * Math.sin(angle + side));
  context.fill();
}

function outline(context, box, colour, width, scale) {
  context.strokeStyle = colour;
  context.lineWidth = width;
  const gap = 2 / Math.min(scale, 1);
  context.strokeRect(box.left - gap, box.top - gap, box.w + 2 * gap, box.h + 2 * gap);
}

// A line from the selected box to one that takes its result, or makes what it takes.
function drawReach(context, from, box, to, theme, scale) {
  if (from === box) return;
  const [above, below] = to ? [from, box] : [box, from];
  const x0 = above.left + above.w / 2, y0 = above.top + above.h, x1 = below.left + below.w / 2, y1 = below.top;
  const bend = Math.min(Math.abs(y1 - y0) / 2 + 12, 120);
  context.strokeStyle = to ? theme.to : theme.mark;
  context.lineWidth = Math.max(2, 2 / scale);
  context.beginPath();
  context.moveTo(x0, y0);
  context.bezierCurveTo(x0, y0 + bend, x1, y1 - bend, x1, y1);
  context.stroke();
}

function drawBox(context, box, { tree, paint, theme, legible, scale, dimmed }) {
  const heated = Boolean(paint.colouring.amounts);
  const heat = heated ? paint.heat(box) : null;
  context.globalAlpha = dimmed ? 0.25 : 1;
  if (box.isGroup && legible) {
    // A closed group is a pile of boxes.
    context.fillStyle = theme.raised;
    context.strokeStyle = theme.border;
    context.lineWidth = 1 / scale;
    context.fillRect(box.left + 4, box.top + 4, box.w, box.h);
    context.strokeRect(box.left + 4, box.top + 4, box.w, box.h);
  }
  context.fillStyle = theme.raised;
  context.fillRect(box.left, box.top, box.w, box.h);
  if (heat) {
    context.fillStyle = heat;
    context.fillRect(box.left, box.top, box.w, box.h);
  } else if (!heated) {
    // What cannot be read has its colours all over; a group those of its parts.
    const wide = legible ? 5 : box.w;
    let top = box.top;
    for (const { css, share } of paint.shares(box)) {
      context.fillStyle = css;
      context.fillRect(box.left, top, wide, box.h * share);
      top += box.h * share;
    }
  }
  context.strokeStyle = box.isGroup || tree.graph.nodes[box.node].kind !== "operator" ? theme.line : theme.border;
  context.lineWidth = 1;
  context.strokeRect(box.left, box.top, box.w, box.h);
  if (legible) {
    let y = box.top + 15;
    tree.lines(box).forEach((line, place) => {
      context.fillStyle = place && !heat ? theme.dim : theme.ink;
      context.font = place ? `11px ${FONT}` : `bold 12px ${FONT}`;
      context.fillText(place || !box.isGroup ? line : `⊞ ${line}`, box.left + PAD + 3, y);
      y += HEIGHT.small;
    });
  }
  context.globalAlpha = 1;
}
