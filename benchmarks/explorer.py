"""How heavy the explorer's pages are, and how long people wait: from the command to ready, from a click to the picture.

    python benchmarks/explorer.py [--quick] [--pictures FOLDER]

Clicks are those of a real mouse in Chromium, timed inside the page. Every run is appended to `history.jsonl`; with
``--pictures`` the screenshots of the docs are made instead.
"""

import argparse
import csv
import gzip
import re
import resource
import subprocess
import sys
import time
from base64 import b64encode
from itertools import product
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from threading import Thread

from PIL import Image
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks.measure import record
from escgnn import datasets, graphs
from escgnn.encoding import PARTS
from escgnn.explorer import Server, compare, read, view
from escgnn.training import fit_ensemble, load_ensemble, read_config
from tests.browser import Tab
from tests.pages import unpacked

CAFFEINE = "CN1C=NC2=C1C(=O)N(C(=O)N2C)C"
DRUG = "CC(=O)Nc1ccc(cc1)OCC(O)CN2CCN(CC2)c3ccccc3OC"  # 29 atoms
# From the click itself to the frame after the one in which the new histograms are there.
TIMED = """new Promise(done => {
  const before = document.querySelector('.side h3');
  addEventListener('click', event => {
    const start = event.timeStamp;
    const look = () => document.querySelector('.side h3') === before ? setTimeout(look, 0)
      : requestAnimationFrame(() => requestAnimationFrame(now => done(performance.now() - start)));
    look();
  }, {once: true, capture: true});
})"""
console = Console(width=110)


def pages():
    """What is weighed, by name."""
    return {
        "view, caffeine, h = 2": lambda: view(CAFFEINE),
        "view, 29 atoms, h = 2": lambda: view(DRUG),
        "view, 29 atoms, all parts": lambda: view(DRUG, 2, tuple(PARTS)),
        "view, rook graph, h = 2": lambda: view(graphs.rook(4)),
        "compare, rook and Shrikhande": lambda: compare("rook"),
        "compare, CSL, h = 3": lambda: compare("csl", hops=3),
    }


def weights():
    """Bytes of pages, and the seconds that making them takes once everything is loaded."""
    table = Table("page", "kB", "of which data", "unpacked", "seconds to make", title="Pages, each one file")
    found = {}
    for name, make in pages().items():
        make()
        start = time.perf_counter()
        html = make().html
        seconds = time.perf_counter() - start
        size = len(html.encode())
        pieces = unpacked(html)
        plain = sum(len(piece.encode()) for piece in pieces)
        data = len(b64encode(gzip.compress(pieces.data.encode())))
        found[name] = {"bytes": size, "data": data, "unpacked": plain, "seconds": seconds}
        table.add_row(name, *(f"{number / 1000:.1f}" for number in (size, data, plain)), f"{seconds:.2f}")
    console.print(table)
    return {"pages": found}


def command_to_ready(repeats):
    """Seconds from ``escgnn explore`` to the line that says it is ready, kernels compiled before."""
    found = []
    busy = []
    for _ in range(repeats + 1):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        start = time.perf_counter()
        command = [sys.executable, "-m", "escgnn", "explore", CAFFEINE, "--no-browser"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        line = process.stdout.readline()
        found.append(time.perf_counter() - start)
        process.terminate()
        process.communicate()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        busy.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        assert re.match(r"ready at http://127\.0\.0\.1:\d+/", line), line
    return {"command_to_ready": median(found[1:]), "command_to_ready_cpu": median(busy[1:])}


def click_to_picture(repeats):
    """Milliseconds from a click on an edge to its histograms on the screen: of a saved page, and with a server."""
    found = {}
    with TemporaryDirectory() as folder:
        server = Server(read(DRUG))
        server.warm_up()
        thread = Thread(target=server.serve, daemon=True)
        thread.start()
        path = Path(folder, "page.html")
        view(DRUG).save(path)
        with Tab(Path(folder)) as tab:
            for name, url in (("saved page", path.as_uri()), ("server", server.url)):
                tab.goto(url)
                tab.until("document.querySelectorAll('.bin').length")
                times = []
                for edge in range(repeats):
                    tab.js(f"void (globalThis.timed = {TIMED})")
                    u, v = tab.js(f"(e => [e.dataset.u, e.dataset.v])(document.querySelectorAll('.edge')[{2 * edge}])")
                    tab.click(f'.edge[data-u="{u}"][data-v="{v}"]')
                    times.append(tab.js("globalThis.timed"))
                found[name] = median(times)
        server.stop()
        thread.join()
    return {"click_to_picture_ms": found}


def trained(folder):
    """An ensemble that has learnt RDKit's logP of a few hundred small molecules, for its panel."""
    from rdkit.Chem import MolFromSmiles
    from rdkit.Chem.Crippen import MolLogP

    rings = ["c1cc({})cc({})c1", "c1nc({})cc({})c1", "C1CC({})CN({})C1", "c1ccc2c({})[nH]c({})c2c1"]
    groups = ["C", "CC", "CO", "CCO", "CCl", "CC#N", "CN(C)C", "CC(C)C", "CC(=O)O", "CC(=O)N", "OC", "C(F)(F)F"]
    made = [ring.format(a, b) for ring, a, b in product(rings, groups, groups)]
    with (folder / "molecules.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["smiles", "logP"])
        table.writerows([smiles, f"{MolLogP(MolFromSmiles(smiles)):.3f}"] for smiles in made)
    bundle = datasets.load(str(folder / "molecules.csv"), targets=["logP"])
    settings = ["epochs=60", "network.hidden=48", "network.layers=3", "lr=0.003", "batch_size=32"]
    fit_ensemble(bundle, read_config(overrides=settings, bundle=bundle), folder / "logp", 2, progress=False)
    return load_ensemble(folder / "logp")


def photograph(tab, path):
    """A screenshot in few colours, which is a third of the size."""
    tab.screenshot(path)
    with Image.open(path) as picture:
        picture.convert("RGB").quantize(128).save(path, optimize=True)


def pictures(folder):
    """The screenshots of the docs."""
    with TemporaryDirectory() as held, Tab(Path(held), 1000, 640) as tab:
        path = Path(held, "page.html")
        view(CAFFEINE).save(path)
        tab.goto(path.as_uri())
        tab.click('.edge[data-u="4"][data-v="5"]')
        tab.click("[data-part=edge] .bin:nth-of-type(4)")
        tab.resize(1000, 760)
        tab.hover("h2")
        photograph(tab, folder / "explorer-view.png")
        compare("rook").save(path)
        tab.goto(path.as_uri())
        tab.resize(1000, 720)
        photograph(tab, folder / "explorer-compare.png")
        view("COc1cc(CC(=O)O)cc(CCl)c1", run=trained(Path(held))).save(path)
        tab.goto(path.as_uri())
        tab.resize(1000, 560)
        tab.click(".prediction button")
        tab.hover("h2")
        photograph(tab, folder / "explorer-run.png")
        view(CAFFEINE).save(path)
        tab.resize(375, 720)
        tab.goto(path.as_uri())
        tab.click("[data-part=edge] .bin:nth-of-type(4)")
        photograph(tab, folder / "explorer-phone.png")
        tab.resize(1000, 640)
        server = Server(read("0-1 1-2 2-0 2-3"))
        server.warm_up()
        thread = Thread(target=server.serve, daemon=True)
        thread.start()
        tab.goto(server.url)
        tab.until("document.querySelectorAll('.bin').length")
        tab.click(".drawing summary")
        x, y = tab.place(".canvas")
        for dx, dy in ((-120, -60), (60, -80), (140, 40), (-20, 80), (-160, 60)):
            tab.click_at(x + dx, y + dy)
        for u, v in ((1, 2), (2, 3), (3, 4), (4, 5), (5, 1), (2, 4)):
            tab.click(f".canvas .node:nth-of-type({u})")
            tab.click(f".canvas .node:nth-of-type({v})")
        tab.resize(1000, 860)
        tab.js("scrollTo(0, 0)")
        photograph(tab, folder / "explorer-live.png")
        server.stop()
        thread.join()


def main():
    """Run everything and record it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer repeats, no record")
    parser.add_argument("--pictures", type=Path, help="folder to write screenshots to, and do nothing else")
    options = parser.parse_args()
    if options.pictures:
        pictures(options.pictures)
        return
    repeats = 2 if options.quick else 5
    figures = weights() | command_to_ready(repeats) | click_to_picture(3 * repeats)
    console.print(
        f"command to ready: {figures['command_to_ready']:.1f} s, {figures['command_to_ready_cpu']:.1f} s of a core's time"
    )
    for name, milliseconds in figures["click_to_picture_ms"].items():
        console.print(f"click to picture, {name}: {milliseconds:.0f} ms")
    if not options.quick:
        record("explorer", figures)


if __name__ == "__main__":
    main()
