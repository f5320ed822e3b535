"use strict";
// Elements, graphs as SVG, and keys that move between things of a kind. Every text is set as text, never as HTML.
const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 600;
const MARGIN = 64;

function make(space, name, attributes, children) {
  const made = space ? document.createElementNS(space, name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (key.startsWith("aria-")) made.setAttribute(key, value);
    else if (value !== null && value !== false) made.setAttribute(key, value === true ? "" : value);
  }
  for (const child of children) if (child !== null && child !== undefined) made.append(child);
  return made;
}
const el = (name, attributes, ...children) => make(null, name, attributes, children);
const svg = (name, attributes, ...children) => make(SVG, name, attributes, children);

function table(caption, head, rows) {
  const cells = row => row.map((cell, i) => el(i ? "td" : "th", i ? {} : {scope: "row"}, cell));
  return el("div", {class: "scroll"}, el("table", {},
    el("caption", {}, caption),
    el("thead", {}, el("tr", {}, ...head.map(name => el("th", {scope: "col"}, name)))),
    el("tbody", {}, ...rows.map(row => el("tr", {}, ...cells(row))))));
}

// One of several can be reached by Tab, the others from it by arrow keys.
function roving(items) {
  items.forEach((item, i) => {
    item.setAttribute("tabindex", i ? "-1" : "0");
    item.addEventListener("focus", () => items.forEach(other => other.setAttribute("tabindex", other === item ? "0" : "-1")));
    item.addEventListener("keydown", event => {
      const steps = {ArrowRight: i + 1, ArrowDown: i + 1, ArrowLeft: i - 1, ArrowUp: i - 1, Home: 0, End: items.length - 1};
      if (!(event.key in steps)) return;
      event.preventDefault();
      items[(steps[event.key] + items.length) % items.length].focus();
    });
  });
}

// A thing in a picture that acts like a button.
function press(item, action) {
  item.addEventListener("click", action);
  item.addEventListener("keydown", event => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    action(event);
  });
}

function nodeName(graph, node) {
  const name = graph.names[node];
  return name === String(node) ? name : `${name} ${node}`;
}

// Where a word beside a node stands: in the widest gap between its edges.
function gap(at, node, edges) {
  const ends = edges.filter(edge => edge.includes(node)).map(([u, v]) => at[u === node ? v : u]);
  const angles = ends.map(([x, y]) => Math.atan2(y - at[node][1], x - at[node][0])).sort((a, b) => a - b);
  if (!angles.length) return -1;
  const sizes = angles.map((angle, i) => (i + 1 < angles.length ? angles[i + 1] : angles[0] + 2 * Math.PI) - angle);
  const widest = sizes.indexOf(Math.max(...sizes));
  return angles[widest] + sizes[widest] / 2;
}

// A graph; gives the picture, the elements of nodes and edges, and a layer above them.
function drawGraph(graph, label) {
  const ys = graph.points.map(point => point[1]);
  const low = Math.min(...ys), high = Math.max(...ys);
  const height = Math.max(0.2, high - low) * WIDTH;
  const shift = (low + high) / 2 * WIDTH - height / 2;
  const at = graph.points.map(([x, y]) => [x * WIDTH, y * WIDTH - shift]);
  const radius = Math.max(4, Math.min(17, 90 / Math.sqrt(at.length)));
  const edges = graph.edges.map(([u, v], i) => {
    const [[x1, y1], [x2, y2]] = [at[u], at[v]];
    const long = Math.hypot(x2 - x1, y2 - y1) || 1;
    const order = graph.orders[i];
    const sides = order === 2 ? [-3, 3] : order === 3 ? [-5, 0, 5] : [0];
    const lines = sides.map(side => {
      const [dx, dy] = [(y1 - y2) / long * side, (x2 - x1) / long * side];
      return svg("line", {class: "bond", x1: x1 + dx, y1: y1 + dy, x2: x2 + dx, y2: y2 + dy});
    });
    if (order === 1.5) lines.push(svg("line", {class: "bond dashed", x1: x1 + (y1 - y2) / long * 5, y1: y1 + (x2 - x1) / long * 5,
      x2: x2 + (y1 - y2) / long * 5, y2: y2 + (x2 - x1) / long * 5}));
    return svg("g", {class: "edge", "data-u": u, "data-v": v}, svg("line", {class: "reach", x1, y1, x2, y2}), ...lines);
  });
  const size = radius > 9 ? 14 : 8;
  const nodes = at.map(([x, y], i) => {
    const turn = gap(at, i, graph.edges);
    return svg("g", {class: "node", "data-node": i},
      svg("circle", {cx: x, cy: y, r: radius}),
      svg("text", {x, y, "font-size": size}, radius > 6 ? graph.names[i].slice(0, 5) : ""),
      svg("text", {class: "tag", x: x + (radius + 1.7 * size) * Math.cos(turn), y: y + (radius + 0.7 * size) * Math.sin(turn), "font-size": size}));
  });
  const above = svg("g", {class: "above"});
  const box = `${-MARGIN} ${-MARGIN} ${WIDTH + 2 * MARGIN} ${height + 2 * MARGIN}`;
  const picture = svg("svg", {viewBox: box, role: "group", "aria-label": label, class: "graph"},
    svg("g", {}, ...edges), svg("g", {}, ...nodes), above);
  return {picture, edges, nodes, above, at, radius};
}

function paint(drawn, node, fill, text, tag) {
  const [circle, word, beside] = drawn.nodes[node].children;
  circle.setAttribute("fill", fill ? `hsl(${fill})` : "");
  if (!fill) circle.removeAttribute("fill");
  if (text !== undefined) word.textContent = drawn.radius > 6 ? text : "";
  beside.textContent = tag || "";
}

// What a bin counts, one shape for each member, over the picture.
function light(drawn, part, size, flat) {
  dim(drawn);
  const lit = new Set(flat);
  const pairs = new Set();
  for (let i = 0; i < flat.length; i += size) {
    const nodes = flat.slice(i, i + size);
    const closed = part === "triangle" || part === "cycle";
    const away = flat.length > size && size > 2 ? (i / size) % 7 - 3 : 0;
    const points = nodes.map(node => drawn.at[node].map(place => place + 1.2 * away).join()).join(" ");
    const [x, y] = drawn.at[nodes[0]];
    const shape = size === 1 ? svg("circle", {cx: x, cy: y, r: drawn.radius + 5}) : svg(closed ? "polygon" : "polyline", {points});
    shape.setAttribute("class", "member");
    drawn.above.append(shape);
    for (let k = 0; k + 1 < size + (closed ? 1 : 0); k++) {
      const [a, b] = [nodes[k], nodes[(k + 1) % size]];
      pairs.add(Math.min(a, b) + "-" + Math.max(a, b));
    }
  }
  drawn.nodes.forEach((node, i) => node.classList.toggle("lit", lit.has(i)));
  drawn.edges.forEach(edge => edge.classList.toggle("lit", pairs.has(edge.dataset.u + "-" + edge.dataset.v)));
}

function dim(drawn) {
  drawn.above.replaceChildren();
  for (const item of [...drawn.nodes, ...drawn.edges]) item.classList.remove("lit");
}
