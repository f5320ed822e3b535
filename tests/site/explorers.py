"""The pages of the explorer that the docs show as they are."""

from escgnn import explorer, graphs
from tests.site.tutorials import ROOT

SHOWN = ROOT / "docs" / "explorers"


def pages() -> dict[str, explorer.Page]:
    """By file, what `docs/explorer.md` shows: a molecule, a graph with further parts, and two graphs."""
    return {
        "caffeine.html": explorer.view("CN1C=NC2=C1C(=O)N(C(=O)N2C)C", hops=2, title="Caffeine"),
        "petersen.html": explorer.view(graphs.petersen(), hops=1, parts=("edge", "cycle"), title="The Petersen graph"),
        "rook.html": explorer.compare("rook"),
    }


def keep() -> None:
    """Write them."""
    SHOWN.mkdir(exist_ok=True)
    for name, page in pages().items():
        page.save(SHOWN / name)
