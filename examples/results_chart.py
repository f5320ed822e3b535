"""Our recorded counting errors beside the published ones, as one picture: `counting.png`."""

# %%
from pathlib import Path

from matplotlib.figure import Figure

from escgnn import records
from escgnn.experiments import counting
from escgnn.report import choose

results = Path(__file__).parents[1] / "results"
table = counting.TAB_COUNT
found = records.read(results)
floor = 1e-5  # whatever is smaller counts as exact

# %% One mark for each row and target
marks = {"MPNN": ("o", "#b0b0b0"), "I²-GNN": ("s", "#7a9cc6"), "ESC-GNN": ("D", "#d98c3f")}
ours = {"ESC-GNN": ("d", "#8c4a00"), counting.LADDER: ("*", "#1a7f37")}
figure = Figure(figsize=(9, 3.6), layout="constrained")
axes = figure.subplots()
for row, (marker, colour) in marks.items():
    axes.plot(table.columns, table.paper[row], marker, color=colour, label=f"{row}, published", alpha=0.9)
for row, (marker, colour) in ours.items():
    entries = [choose(table, row, column, found) for column in table.columns]
    points = [(entry.column, max(entry.mean, floor)) for entry in entries if entry.mean is not None]
    label = f"{row}, here" if row != counting.LADDER else "with wedges, paths and count skip, here"
    axes.plot(*zip(*points, strict=True) if points else ([], []), marker, color=colour, label=label, markersize=9)
axes.set_yscale("log")
axes.set(ylabel="norm MAE", ylim=(floor / 2, 1), title="Counting substructures at every node: test error")
axes.set_yticks([1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1], ["≤ 0.00001", "0.0001", "0.001", "0.01", "0.1", "1"])
axes.tick_params("x", rotation=20)
axes.spines[["top", "right"]].set_visible(False)
axes.grid(axis="y", alpha=0.3)
figure.legend(frameon=False, fontsize=8, ncols=5, loc="outside lower center")
figure.savefig("counting.png", dpi=130)
print("written to counting.png")
