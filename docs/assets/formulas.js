// Renders the formulas of a page, when it is loaded and whenever another takes its place.
document$.subscribe(({ body }) => {
  for (const place of body.querySelectorAll(".arithmatex:not(:has(.katex))")) {
    const text = place.textContent.trim(); // \( ... \), or \[ ... \] on a line of its own
    katex.render(text.slice(2, -2), place, { displayMode: text.startsWith("\\["), throwOnError: false });
  }
});
