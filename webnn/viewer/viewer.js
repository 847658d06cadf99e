// `show`: a graph, or two beside each other, in an element of a page.

function show(element, source) {
  if (!(element instanceof Element)) throw new TypeError("show: element must be an element of the page");
  if (source?.format !== "webnn-viewer" || source.version !== 1) throw new TypeError("show: document must have the format webnn-viewer, version 1");
  const place = make("div", { class: "webnn-viewer" });
  const shadow = place.attachShadow({ mode: "open" });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(STYLE);
  shadow.adoptedStyleSheets = [sheet];
  element.append(place);
  const tell = (graph) => (node) => {
    const number = node === null ? null : (graph.nodes[node].number ?? null);
    element.dispatchEvent(new CustomEvent("webnn-select", { detail: { number, label: node === null ? "" : (graph.nodes[node].label ?? "") } }));
  };
  const views = source.graphs ? showTwo(shadow, source, tell) : [new View(shadow, source, { onSelect: tell(source) })];
  return {
    select(number, graph = 0) {
      const node = views[graph].graph.nodes.findIndex((each) => each.number === number);
      if (node >= 0) views[graph].select(node);
      return node >= 0;
    },
    remove() {
      for (const view of views) view.remove();
      place.remove();
    },
  };
}

function showTwo(shadow, source, tell) {
  const { pairs, differences, count } = source;
  const others = [new Map(pairs), new Map(pairs.map(([one, other]) => [other, one]))];
  const marks = [new Map(), new Map()];
  for (const { kind, text, nodes } of differences) {
    nodes.forEach((node, side) => { if (node !== null) marks[side].set(node, [marks[side].get(node), `${kind}: ${text}`].filter(Boolean).join("\n")); });
  }
  const two = make("div", { class: "two" });
  const views = [];
  source.graphs.forEach((graph, side) => {
    const told = tell(graph);
    const half = make("div", { class: "half", role: "group", "aria-label": `${side ? "Second" : "First"} graph: ${graph.title}` }, make("p", { class: "name", text: graph.title }));
    two.append(half);
    const onSelect = (node) => {
      told(node);
      const other = node === null ? undefined : others[side].get(node);
      if (other !== undefined) views[1 - side].select(other, { quiet: true });
    };
    views.push(new View(half, graph, { marks: marks[side], onSelect }));
  });
  const open = ({ nodes }) => nodes.forEach((node, side) => { if (node !== null) views[side].select(node, { quiet: true }); });
  const list = differences.map((each) => {
    const text = `${each.kind}: ${each.text}`;
    return make("li", {}, each.nodes.some((node) => node !== null) ? make("button", { type: "button", class: "link", text, onclick: () => open(each) }) : text);
  });
  const told = count ? `${count.toLocaleString("en")} ${count === 1 ? "difference" : "differences"}${count > list.length ? `, the first ${list.length}` : ""}` : "No differences";
  shadow.append(make("div", { class: "compared" }, two, make("div", { class: "differences", role: "group", "aria-label": "Differences", tabindex: "0" }, make("p", { class: "name", text: told }), make("ul", {}, ...list))));
  return views;
}
