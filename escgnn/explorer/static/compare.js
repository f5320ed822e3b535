// Two graphs: which tests tell them apart, in which round, and at which node first.
function classColour(number) {
  return `${Math.round(number * 137.508) % 360} 62% ${number % 3 === 1 ? 62 : 74}%`;
}

function showCompare(host, data) {
  const drawn = data.graphs.map((graph, i) => drawGraph(graph, `${i ? "Second" : "First"} graph: ${graph.title}`));
  const said = el("p", {role: "status", class: "said"});
  const range = el("input", {type: "range", id: "round", min: 0, max: 0, value: 0, "aria-label": "Round"});
  const back = el("button", {type: "button", onclick: () => step(-1)}, "Previous round");
  const forth = el("button", {type: "button", onclick: () => step(1)}, "Next round");
  let test = null;

  function place(told) {
    const names = told.nodes.map(node => nodeName(data.graphs[told.side], node));
    const what = names.length === 1 ? "node" : "tuple";
    return `${what} ${names.join(", ")} of the ${told.side ? "second" : "first"} graph`;
  }

  function verdict(one) {
    if (one.trouble) return one.trouble;
    if (one.told) return `told apart in round ${one.told.round}, at ${place(one.told)} first`;
    return `not told apart; stable after ${one.rounds.length - 1} round${one.rounds.length === 2 ? "" : "s"}`;
  }

  function step(by) {
    range.value = +range.value + by;
    showRound();
  }

  function showRound() {
    const number = +range.value;
    const colours = test.rounds[number];
    const times = colours.map(side => side.reduce((seen, colour) => seen.set(colour, (seen.get(colour) || 0) + 1), new Map()));
    const odd = colour => times[0].get(colour) !== times[1].get(colour);
    const told = test.told && number >= test.told.round ? test.told : null;
    colours.forEach((side, g) => side.forEach((colour, node) => {
      paint(drawn[g], node, classColour(colour), String(colour));
      drawn[g].nodes[node].classList.toggle("odd", odd(colour));
      drawn[g].nodes[node].classList.toggle("first", Boolean(told) && told.side === g && told.nodes.includes(node));
    }));
    range.setAttribute("aria-valuetext", `round ${number} of ${test.rounds.length - 1}`);
    back.disabled = number === 0;
    forth.disabled = number === test.rounds.length - 1;
    const seen = new Set([...times[0].keys(), ...times[1].keys()]).size;
    const now = told ? "the graphs are told apart" : "the graphs look the same";
    said.textContent = `${test.name}, round ${number} of ${test.rounds.length - 1}: ${seen} colour${seen === 1 ? "" : "s"} of nodes; ${now}.`;
  }

  function choose(one) {
    test = one;
    range.max = one.rounds.length - 1;
    range.value = one.told ? one.told.round : one.rounds.length - 1;
    showRound();
  }

  range.addEventListener("input", showRound);
  const name = "test-" + ++groups;
  const rows = data.tests.map(one => {
    const radio = el("input", {type: "radio", name, disabled: Boolean(one.trouble), onchange: () => choose(one)});
    const mark = one.trouble ? "?" : one.told ? "≠" : "=";
    return el("label", {class: "test" + (one.told ? " told" : "")}, radio, el("b", {}, mark), el("span", {class: "name"}, one.name),
      el("span", {class: "verdict"}, verdict(one)));
  });
  host.replaceChildren(
    el("h2", {}, data.graphs.map(graph => graph.title).join(" and ")),
    el("fieldset", {class: "tests"}, el("legend", {}, "Tests: = same to it, ≠ told apart"), ...rows),
    el("div", {class: "rounds"}, back, range, forth),
    said,
    el("div", {class: "pair"}, ...drawn.map((one, i) => el("figure", {class: "stage"}, one.picture, el("figcaption", {}, data.graphs[i].title)))),
    el("p", {class: "hint"}, "Numbers and fills are colours of that round; of tests of tuples, those of (v, v, v). A thick ring: its colour is there " +
      "more often in one graph than in the other. A dashed ring: where the test sees a difference first."));
  const first = data.tests.findIndex(one => one.told) < 0 ? data.tests.findIndex(one => !one.trouble) : data.tests.findIndex(one => one.told);
  if (first >= 0) {
    rows[first].querySelector("input").checked = true;
    choose(data.tests[first]);
  }
}
let groups = 0;
