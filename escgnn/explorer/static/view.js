// One graph: click an edge and see its rooted subgraph, its histograms, exact counts and what decoding reads off.
const HUES = {u: 212, v: 24, both: 150};
const SHOWN = 12;
const counted = (n, what) => `${n} ${n === 1 ? what.replace(/(node|edge|walk|triangle|path|cycle)s/, "$1") : what}`;

function labelColour(a, b) {
  const hue = a === b ? HUES.both : a < b ? HUES.u : HUES.v;
  return `${hue} 70% ${Math.min(92, 55 + 13 * Math.min(a, b))}%`;
}

// lookUp(u, v) gives, now or later, what is known of a root: {bins, root}, or null if nothing is.
function showView(host, scene, lookUp, isLive) {
  const many = (n, what) => `${n} ${what}${n === 1 ? "" : "s"}`;
  const drawn = drawGraph(scene, `Graph with ${many(scene.names.length, "node")} and ${many(scene.edges.length, "edge")}. ` +
    "Arrow keys move between edges, Enter makes one the root.");
  const said = el("p", {role: "status", class: "said"});
  const side = el("div", {class: "side"});
  const legend = el("ul", {class: "legend", "aria-label": "Labels: distances to u and to v"});
  let pinned = null;
  let turn = 0;

  function pick(u, v) {
    const mine = ++turn;
    side.setAttribute("aria-busy", "true");
    return Promise.resolve(lookUp(u, v)).then(found => {
      if (mine !== turn) return;
      side.removeAttribute("aria-busy");
      if (found) showRoot(found.root, found.bins);
    }, error => {
      if (mine !== turn) return;
      side.removeAttribute("aria-busy");
      said.textContent = error.message;
    });
  }

  function showRoot(root, bins) {
    const label = new Map(root.labels.map(([node, a, b]) => [node, [a, b]]));
    const name = node => nodeName(scene, node);
    pinned = null;
    dim(drawn);
    drawn.nodes.forEach((node, i) => {
      const own = label.get(i);
      const roots = (i === root.u ? "u " : "") + (i === root.v ? "v " : "");
      paint(drawn, i, own ? labelColour(...own) : "", scene.names[i].slice(0, 5), own && drawn.radius > 6 ? roots + own.join() : roots);
      node.classList.toggle("outside", !own);
      node.classList.toggle("root", i === root.u || i === root.v);
      if (node.hasAttribute("role")) node.setAttribute("aria-pressed", i === root.u && i === root.v);
    });
    drawn.edges.forEach(edge => {
      const [a, b] = [+edge.dataset.u, +edge.dataset.v];
      const chosen = (a === root.u && b === root.v) || (a === root.v && b === root.u);
      edge.classList.toggle("outside", !label.has(a) || !label.has(b));
      edge.classList.toggle("root", chosen);
      if (edge.hasAttribute("role")) edge.setAttribute("aria-pressed", chosen);
    });
    const kinds = [...new Set(root.labels.map(([, a, b]) => a + "," + b))].sort();
    legend.replaceChildren(...kinds.map(kind => el("li", {}, swatch(labelColour(...kind.split(",").map(Number))), `(${kind})`)));
    const swap = el("button", {type: "button", class: "swap", onclick: () => pick(root.v, root.u).then(() => side.querySelector(".swap").focus())},
      "Swap u and v");
    const exact = scene.patterns.map((pattern, i) => [pattern, root.counts[i]]).filter(row => row[1] !== undefined);
    const read = scene.formulas.map(([pattern, means], i) => [pattern, means, ...(root.decoded[i] || [])]).filter(row => row.length > 2);
    side.replaceChildren(
      el("h3", {}, root.u === root.v ? `Root: node u = v = ${name(root.u)}` : `Root: u = ${name(root.u)}, v = ${name(root.v)}`),
      el("p", {}, `${many(root.labels.length, "node")} in the subgraph. `, root.u === root.v || !(isLive || lookUp(root.v, root.u)) ? null : swap),
      ...histograms(root, bins),
      exact.length ? table(`Copies through this ${root.u === root.v ? "node" : "edge"}, exactly`, ["pattern", "copies"], exact) : null,
      read.length ? table("Read off these histograms by formulas", ["pattern", "number", "where", "exact"],
        read.map(([pattern, means, value, same]) => [pattern, value, means, same === null ? "" : same === value ? `${same} ✓` : `${same} ≠`])) : null);
    said.textContent = `Root ${name(root.u)}, ${name(root.v)}: ${many(root.labels.length, "node")}, ${many(root.bins.length, "bin")}.`;
  }

  function histograms(root, bins) {
    const groups = new Map();
    for (const [number, count, flat] of root.bins) {
      const [heading, short, long, size] = bins[number];
      if (!groups.has(heading)) groups.set(heading, []);
      groups.get(heading).push({heading, short, long, size, count, flat});
    }
    return [...groups].map(([heading, own]) => {
      const most = Math.max(...own.map(bin => bin.count));
      const rows = own.map(bin => binRow(bin, most));
      roving(rows);
      const part = heading.split(" ").pop();
      return el("details", {class: "part", open: own.length <= 40, "data-part": heading},
        el("summary", {}, heading, el("small", {}, ` ${scene.parts[part] || ""}`)),
        el("div", {role: "group", "aria-label": heading}, ...rows));
    });
  }

  function binRow(bin, most) {
    const bar = el("i");
    bar.style.width = 100 * bin.count / most + "%";
    const row = el("button", {type: "button", class: "bin", "aria-pressed": "false", "aria-label": counted(bin.count, bin.long)},
      el("span", {class: "name"}, bin.short), el("span", {class: "bar"}, bar), el("span", {class: "count"}, bin.count));
    const show = () => {
      light(drawn, bin.heading.split(" ").pop(), bin.size, bin.flat);
      const listed = bin.flat.length / bin.size;
      const words = [];
      for (let i = 0; i < Math.min(listed, SHOWN); i++) {
        words.push(bin.flat.slice(i * bin.size, (i + 1) * bin.size).map(node => nodeName(scene, node)).join("–"));
      }
      const rest = listed > SHOWN ? ", …" : "";
      const some = listed < bin.count ? ` (${listed} of them are shown)` : "";
      said.textContent = `${counted(bin.count, bin.long)}${some}${listed ? ": " : ""}${words.join(", ")}${rest}`;
    };
    const hide = () => {
      if (!pinned) dim(drawn);
      else pinned.show();
    };
    row.addEventListener("mouseenter", show);
    row.addEventListener("mouseleave", hide);
    row.addEventListener("focus", show);
    row.addEventListener("blur", hide);
    row.addEventListener("click", () => {
      const again = pinned && pinned.row === row;
      if (pinned) pinned.row.setAttribute("aria-pressed", "false");
      pinned = again ? null : {row, show};
      row.setAttribute("aria-pressed", !again);
      show();
    });
    return row;
  }

  drawn.edges.forEach(edge => {
    const [u, v] = [+edge.dataset.u, +edge.dataset.v];
    if (!isLive && !lookUp(u, v) && !lookUp(v, u)) return;
    edge.setAttribute("role", "button");
    edge.setAttribute("aria-pressed", "false");
    edge.setAttribute("aria-label", `edge ${nodeName(scene, u)} to ${nodeName(scene, v)}`);
    press(edge, () => isLive || lookUp(u, v) ? pick(u, v) : pick(v, u));
  });
  drawn.nodes.forEach((node, i) => {
    if (!isLive && !lookUp(i, i)) return;
    node.setAttribute("role", "button");
    node.setAttribute("aria-pressed", "false");
    node.setAttribute("aria-label", `node ${nodeName(scene, i)}`);
    press(node, () => pick(i, i));
  });
  roving([...drawn.edges, ...drawn.nodes].filter(item => item.hasAttribute("role")));
  host.replaceChildren(
    el("h2", {}, scene.title),
    el("p", {class: "hint"}, "Click an edge, or move with the arrow keys and press Enter. Point at a bin to see what it counts; click it to keep it."),
    el("div", {class: "columns"}, el("figure", {class: "stage"}, drawn.picture, legend, said),
      el("div", {}, scene.prediction ? showPrediction(scene, drawn, legend, said) : null, side)),
    el("p", {class: "encoding"}, scene.encoding));
  return {pick, drawn};
}

function swatch(colour) {
  const made = el("i", {class: "swatch"});
  made.style.background = `hsl(${colour})`;
  return made;
}

// What a trained run says: numbers, intervals where it has them, and what would be lost without each node.
function showPrediction(scene, drawn, legend, said) {
  const {run, lines, nodes, atoms, similarity, warning} = scene.prediction;
  const number = value => typeof value === "number" ? String(+value.toPrecision(4)) : value === null ? "none" : value;
  const hasBounds = lines.some(line => line.interval);
  const bounds = line => hasBounds ? [line.interval ? `${number(line.interval[0])} to ${number(line.interval[1])}` : ""] : [];
  const rows = lines.map(line => [line.target, number(line.value), ...bounds(line)]);

  function colour(what, values, signs) {
    const isNumber = values.every(value => typeof value === "number");
    const size = value => isNumber ? Math.abs(value) : 0;
    const most = Math.max(...values.map(size), 1e-12);
    const digits = Math.max(0, Math.min(6, 1 - Math.floor(Math.log10(most))));
    const short = value => isNumber ? value.toFixed(digits) : number(value);
    dim(drawn);
    [...drawn.nodes, ...drawn.edges].forEach(item => item.classList.remove("outside", "root"));
    values.forEach((value, i) => paint(drawn, i, isNumber ? `${value < 0 ? HUES.u : HUES.v} 75% ${95 - 40 * size(value) / most}%` : "", undefined, short(value)));
    legend.replaceChildren(...(isNumber ? [[signs[0], HUES.v], [signs[1], HUES.u]] : []).map(([words, hue]) =>
      el("li", {}, swatch(`${hue} 75% 55%`), words)));
    const order = values.map((_, i) => i).sort((a, b) => size(values[b]) - size(values[a])).slice(0, 6);
    said.textContent = `${what}. ${isNumber ? "Most at" : "At"} ${order.map(i => `${nodeName(scene, i)}: ${short(values[i])}`).join(", ")}${values.length > 6 ? ", …" : ""}`;
  }

  const columns = [
    ...Object.entries(nodes || {}).map(([target, values]) => [`Colour nodes by ${target}`, `${target} of every node`, values, ["more than 0", "less than 0"]]),
    ...Object.entries(atoms || {}).map(([output, values]) => [`Colour nodes by what they add to ${output}`, `How much lower ${output} would be without each node`, values, ["raises it", "lowers it"]])];
  return el("section", {class: "prediction", "aria-label": "Prediction"},
    el("h3", {}, `Prediction of ${run}`),
    warning ? el("p", {class: "warning"}, warning) : null,
    rows.length ? table("What it predicts", ["target", "value", ...(hasBounds ? ["90 % interval"] : [])], rows) : null,
    similarity === null ? null : el("p", {}, `The nearest training molecule has similarity ${similarity.toFixed(2)} (1 is the same).`),
    el("div", {class: "row"}, ...columns.map(([button, ...shown]) => el("button", {type: "button", onclick: () => colour(...shown)}, button))));
}
