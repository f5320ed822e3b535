// A page's style, data and script are packed, which makes it a third as heavy; all that they are is known by its hash.
(async () => {
  const letters = atob(document.getElementById("packed").textContent);
  const stream = new Blob([Uint8Array.from(letters, letter => letter.charCodeAt(0))]).stream();
  const text = await new Response(stream.pipeThrough(new DecompressionStream("gzip"))).text();
  for (const [name, attributes, textContent] of JSON.parse(text)) {
    document.head.append(Object.assign(document.createElement(name), attributes, {textContent}));
  }
})().catch(error => {
  document.getElementById("main").textContent = `This page needs a browser of 2023 or later (${error.message}).`;
});
