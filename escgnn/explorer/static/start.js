// What is on the page decides what it shows.
const data = JSON.parse(document.getElementById("data").textContent);
const main = document.getElementById("main");
const kind = document.body.dataset.kind;
if (kind === "view") {
  const known = new Map(data.roots.map(root => [root.u + " " + root.v, {root, bins: data.bins}]));
  const shown = showView(main, data, (u, v) => known.get(u + " " + v) || null, false);
  const fullest = data.roots.reduce((best, root) => !best || root.bins.length > best.bins.length ? root : best, null);
  if (fullest) shown.pick(fullest.u, fullest.v);
}
if (kind === "compare") showCompare(main, data);
if (kind === "live") startLive(main, data);
