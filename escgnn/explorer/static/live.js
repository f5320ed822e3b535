// The same page with a server behind it: graphs are typed, pasted or drawn.
async function post(path, body) {
  let answer;
  try {
    answer = await fetch(path, {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(body)});
  } catch {
    throw new Error("The explorer does not answer; is escgnn explore still running?");
  }
  const found = await answer.json();
  if (!answer.ok) throw new Error(found.error);
  return found;
}

function startLive(main, data) {
  const one = el("section", {"aria-label": "One graph"});
  const two = el("section", {"aria-label": "Two graphs", hidden: true});
  const stage = el("div", {id: "stage"});
  const pair = el("div", {id: "pair"});
  const kinds = chosen => data.kinds.map(kind => el("option", {value: kind, selected: kind === chosen}, kind === "auto" ? "guess the kind" : kind));
  const chosen = names => ({
    hops: names.hops.value.split(",").map(word => Number(word.trim())),
    parts: [...names.form.querySelectorAll("[name=part]:checked")].map(box => box.value),
  });

  function settings(form, hops) {
    const radius = el("input", {size: 5, value: hops.join(), inputmode: "numeric"});
    const boxes = Object.entries(data.all_parts).map(([part, counts]) => el("label", {title: counts},
      el("input", {type: "checkbox", name: "part", value: part, checked: data.parts.includes(part)}), part));
    form.append(el("label", {}, "Radius ", radius), el("fieldset", {class: "parts"}, el("legend", {}, "Parts"), ...boxes));
    return {form, hops: radius};
  }

  async function work(form, said, action) {
    const button = form.querySelector("[type=submit]");
    button.disabled = true;
    said.textContent = "Working …";
    said.classList.remove("warning");
    try {
      await action();
      said.textContent = "";
    } catch (error) {
      said.classList.add("warning");
      said.textContent = error.message;
    }
    button.disabled = false;
  }

  function show(scene) {
    const shown = showView(stage, scene, (u, v) => post("/root", {id: scene.id, u, v}).then(found => ({root: found.roots[0], bins: found.bins})), true);
    const degree = scene.names.map((_, i) => scene.edges.filter(edge => edge.includes(i)).length);
    const busy = ([u, v]) => degree[u] + degree[v];
    const first = scene.edges.reduce((best, edge) => !best || busy(edge) > busy(best) ? edge : best, null);
    return shown.pick(...(first || [0, 0]));
  }

  const text = el("textarea", {rows: 2, id: "text", spellcheck: "false", placeholder: "CN1C=NC2=C1C(=O)N(C(=O)N2C)C"});
  const said = el("p", {role: "status", class: "said"});
  const sort = el("select", {"aria-label": "Kind of text"}, ...kinds("auto"));
  const example = el("select", {"aria-label": "Examples", onchange: () => {
    text.value = data.examples[example.value] || text.value;
    sort.value = "auto";
    points = null;
  }}, el("option", {value: ""}, "examples"), ...Object.keys(data.examples).map(name => el("option", {}, name)));
  let points = null;
  text.addEventListener("input", () => { points = null; });
  const form = el("form", {class: "ask"}, el("label", {for: "text"}, "SMILES, graph6, or edges such as 0-1 1-2 (names: a b, b c)"), text,
    el("div", {class: "row"}, sort, example, el("button", {type: "submit"}, "Show")), said);
  const drawing = el("details", {class: "drawing"}, el("summary", {}, "Draw a graph by hand"), el("div"));
  const own = settings(form, data.hops);
  form.addEventListener("submit", event => {
    event.preventDefault();
    work(form, said, async () => show(await post("/scene", {text: text.value, kind: sort.value, points, ...chosen(own)})));
  });
  showEditor(drawing.lastChild, (edges, places) => {
    text.value = edges;
    sort.value = "edges";
    points = places;
    form.requestSubmit();
  });
  one.append(form, drawing, stage);

  const preset = el("select", {id: "preset"}, ...data.presets.map(name => el("option", {}, name)), el("option", {value: ""}, "two graphs of my own"));
  const number = el("input", {type: "number", min: 0, value: 0, id: "number"});
  const depth = el("input", {type: "number", min: 1, max: 4, value: 2, id: "depth"});
  const texts = ["First graph", "Second graph"].map(name => el("textarea", {rows: 2, "aria-label": name, placeholder: name, spellcheck: "false"}));
  const heard = el("p", {role: "status", class: "said"});
  const ask = el("form", {class: "ask"}, el("div", {class: "row"}, el("label", {for: "preset"}, "Pair"), preset,
    el("label", {for: "number"}, "Number, of exp and brec"), number, el("label", {for: "depth"}, "Nodes singled out"), depth,
    el("button", {type: "submit"}, "Compare")), el("div", {class: "row", id: "own", hidden: true}, ...texts), heard);
  const theirs = settings(ask, [1]);
  preset.addEventListener("change", () => { ask.querySelector("#own").hidden = preset.value !== ""; });
  ask.addEventListener("submit", event => {
    event.preventDefault();
    const numbered = preset.value === "exp" || preset.value === "brec";
    const graphs = preset.value ? {preset: preset.value + (numbered ? " " + number.value : "")} :
      {a: {text: texts[0].value}, b: {text: texts[1].value}};
    work(ask, heard, async () => showCompare(pair, await post("/compare", {...graphs, depth: Number(depth.value), ...chosen(theirs)})));
  });
  two.append(ask, pair);

  const tabs = [["One graph", one], ["Two graphs", two]].map(([name, panel], i) => el("button", {type: "button", role: "tab", "aria-selected": !i,
    onclick: () => tabs.forEach((tab, k) => {
      tab.setAttribute("aria-selected", k === i);
      [one, two][k].hidden = k !== i;
    })}, name));
  roving(tabs);
  main.append(el("h1", {}, "ESC-GNN explorer"), el("div", {role: "tablist", class: "tabs"}, ...tabs), one, two);
  if (data.run) main.querySelector("h1").after(el("p", {}, `Predictions come from the run ${data.run}.`));
  show(data.scene);
}
