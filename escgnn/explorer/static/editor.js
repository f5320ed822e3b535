// A graph by hand: click free space for a node, two nodes for an edge (or to take it away), Delete to remove a node.
function showEditor(host, onUse) {
  let points = [];
  let edges = [];
  let picked = null;
  const canvas = svg("svg", {viewBox: "0 0 600 360", class: "canvas", role: "group",
    "aria-label": "Drawing. Arrow keys move between nodes, Enter picks one and then another to join them, Delete removes one."});
  const said = el("p", {role: "status", class: "said"});
  const key = (u, v) => Math.min(u, v) + "-" + Math.max(u, v);

  function add(x, y) {
    if (points.length >= 60) return void (said.textContent = "At most 60 nodes by hand; paste larger graphs.");
    points.push([x, y]);
    draw(points.length - 1);
    said.textContent = `Node ${points.length - 1} added.`;
  }

  function choose(node) {
    if (picked === null || picked === node) {
      picked = picked === node ? null : node;
      said.textContent = picked === null ? "Nothing is picked." : `Node ${node} is picked; pick another to join them.`;
    } else {
      const pair = key(picked, node);
      const had = edges.includes(pair);
      edges = had ? edges.filter(edge => edge !== pair) : [...edges, pair];
      said.textContent = had ? `Edge ${pair} removed.` : `Edge ${pair} added.`;
      picked = null;
    }
    draw(node);
  }

  function remove(node) {
    const after = number => number - (number > node);
    edges = edges.map(edge => edge.split("-").map(Number)).filter(edge => !edge.includes(node)).map(([u, v]) => key(after(u), after(v)));
    points.splice(node, 1);
    picked = null;
    draw(Math.min(node, points.length - 1));
    said.textContent = `Node ${node} removed; those behind it have new numbers.`;
  }

  function draw(focus) {
    const lines = edges.map(edge => edge.split("-").map(Number)).map(([u, v]) =>
      svg("line", {class: "bond", x1: points[u][0], y1: points[u][1], x2: points[v][0], y2: points[v][1]}));
    const nodes = points.map(([x, y], i) => {
      const node = svg("g", {class: "node" + (picked === i ? " root" : ""), role: "button", "aria-pressed": picked === i, "aria-label": `node ${i}`},
        svg("circle", {cx: x, cy: y, r: 13}), svg("text", {x, y, "font-size": 12}, i));
      press(node, event => { event.stopPropagation(); choose(i); });
      node.addEventListener("keydown", event => {
        if (event.key !== "Delete" && event.key !== "Backspace") return;
        event.preventDefault();
        remove(i);
      });
      return node;
    });
    canvas.replaceChildren(...lines, ...nodes);
    roving(nodes);
    if (focus >= 0 && nodes[focus]) nodes[focus].focus();
  }

  canvas.addEventListener("click", event => {
    const box = canvas.getBoundingClientRect();
    add((event.clientX - box.left) / box.width * 600, (event.clientY - box.top) / box.height * 360);
  });
  const free = () => {
    const turn = points.length * 2.4;
    add(300 + 12 * Math.sqrt(points.length) * 6 * Math.cos(turn) / 2, 180 + 12 * Math.sqrt(points.length) * 4 * Math.sin(turn) / 2);
  };
  host.replaceChildren(canvas, el("div", {class: "row"},
    el("button", {type: "button", onclick: free}, "Add a node"),
    el("button", {type: "button", onclick: () => { points = []; edges = []; picked = null; draw(-1); }}, "Clear"),
    el("button", {type: "button", class: "use", onclick: () => {
      if (!points.length) return void (said.textContent = "Draw a node first.");
      onUse([...points.keys(), ...edges].join(", "), points.map(([x, y]) => [x / 600, y / 600]));
    }}, "Use this drawing")), said);
}
