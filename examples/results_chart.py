"""Our recorded counting errors beside the published ones, as one picture: `counting.png`."""

# %%
from pathlib import Path

from escgnn import records
from escgnn.experiments import counting
from escgnn.pictures import draw_errors, save
from escgnn.report import choose

results = records.read(Path(__file__).parents[1] / "results")
table = counting.TAB_COUNT

# %% One mark for each system and target
published = {"MPNN": ("o", "#b0b0b0", 6), "I²-GNN": ("s", "#7a9cc6", 6), "ESC-GNN": ("D", "#d98c3f", 6)}
here = {"ESC-GNN": ("d", "#8c4a00", 9), counting.LADDER: ("*", "#1a7f37", 9)}
names = {"ESC-GNN": "ESC-GNN, here", counting.LADDER: "with wedges, paths and count skip, here"}
rows = {f"{row}, published": table.paper[row] for row in published}
styles = {f"{row}, published": style for row, style in published.items()}
for row, style in here.items():
    rows[names[row]] = [choose(table, row, column, results).mean for column in table.columns]
    styles[names[row]] = style

# %% The picture
title = "Counting substructures at every node: test error"
save(draw_errors(table.columns, rows, styles=styles, title=title, y_label=table.metric), Path("counting.png"), dpi=130)
print("written to counting.png")
