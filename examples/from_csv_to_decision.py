r"""Molecules: from a CSV to a decision.

A table of molecules with something measured goes in; which new molecules to make, which to measure first and which to
forget comes out, with the reasons. RDKit and scikit-learn are needed: `pip install 'escgnn[chem,sklearn]'`. Each step
is also a command, named beside it, so that none of this has to be programmed.
"""

# %% [markdown]
# ## A table
#
# Yours is a file with a column `smiles`. So that this page needs none, it makes one: substituents on a few rings,
# with RDKit's Crippen logP in the place of a measurement, which is noisy, and a row that is no molecule, as there
# always is one.

# %%
import csv
import random
from itertools import product
from pathlib import Path

from rdkit import Chem
from rdkit.Chem.Crippen import MolLogP

RINGS = ["c1cc({})cc({})c1", "c1nc({})cc({})c1", "C1CC({})CN({})C1", "c1c({})sc({})c1", "c1ccc2c({})[nH]c({})c2c1"]
GROUPS = ["C", "CC", "CO", "CCO", "CCl", "CC#N", "CN(C)C", "CC(C)C", "CCCCC", "CC(=O)O", "CC(=O)N", "CC(F)(F)F"]

chance = random.Random(0)
every = sorted({Chem.CanonSmiles(ring.format(a, b)) for ring, a, b in product(RINGS, GROUPS, GROUPS)})
chance.shuffle(every)
measured = every[:400]
with Path("molecules.csv").open("w", newline="") as file:
    table = csv.writer(file)
    table.writerow(["smiles", "logP"])
    for smiles in measured:
        table.writerow([smiles, f"{MolLogP(Chem.MolFromSmiles(smiles)) + chance.gauss(0, 0.1):.2f}"])
    table.writerow(["c1cc(C)cc", "1.7"])

# %%
from escgnn import datasets

bundle = datasets.load("molecules.csv", targets=["logP"], descriptors=["morgan-count"])
print(len(bundle.train), "to train,", len(bundle.validation), "to validate,", len(bundle.test), "to test")
for row in bundle.rejected:
    print(f"left out: line {row.line}, {row.reason}")

# %% [markdown]
# ## A network, or five
#
# An ensemble of networks that differ in their seeds is better than each, and says how sure it is. This one is small
# and trained briefly; for a real table leave the settings out.
#
# ```sh
# escgnn train molecules.csv -o runs/logp --targets logP --ensemble 5
# ```

# %%
from escgnn import training

settings = ["epochs=15", "network.hidden=24", "network.layers=3", "lr=0.005", "batch_size=32"]
config = training.read_config(overrides=settings, bundle=bundle)
training.fit_ensemble(bundle, config, "runs/logp", 2, progress=False)
ensemble = training.load_ensemble("runs/logp")
print(f"mean absolute error on the test rows: {training.evaluate(ensemble, bundle, 'test')['mae']:.2f}")

# %% [markdown]
# ## Is it worth it?
#
# Trees on fingerprints are what has to be beaten. They are fitted to the same rows, judged by the same split, and the
# difference comes with the bounds that 95 % of redrawn test sets keep.
#
# ```sh
# escgnn baseline molecules.csv --targets logP --beside runs/logp
# ```

# %%
from escgnn.baseline import fit_baseline

compared = fit_baseline(bundle, beside=ensemble, trees=60)
for name, scores in compared.scores.items():
    print(f"{name:14} {scores['test']:.2f}")
print(compared.verdict.partition(":")[0])

# %% [markdown]
# ## Predictions that say how sure they are
#
# Every row of the new table is answered, in order. `pred_logP_low` and `pred_logP_high` hold the truth with 90 %, by
# the errors on the validation rows; `similarity` is that to the nearest training molecule, and says how far to trust
# both. A row that is no molecule says so.
#
# ```sh
# escgnn predict runs/logp new.csv -o predicted.csv --interval 0.9 --similarity
# ```

# %%
others = ["CCCCCCc1ccc(CC(C)C)s1", "c1ccc2c(c1)CCC1C2CCC2(C)C(O)CCC12", "not a molecule"]
new = [*every[400:404], *others]
Path("new.csv").write_text("\n".join(["smiles", *new]) + "\n")
wanted = training.Extras(interval=0.9, similarity=True)
training.predict_file(ensemble, "new.csv", "predicted.csv", extras=wanted)
with Path("predicted.csv").open() as file:
    predicted = [*csv.DictReader(file)]
for row in predicted:
    if row["status"] == "ok":
        columns = ("pred_logP", "pred_logP_low", "pred_logP_high", "similarity")
        logp, low, high, near = (float(row[name]) for name in columns)
        print(f"{row['smiles'][:30]:30} {logp:.2f}, {low:.2f} to {high:.2f}, similarity {near:.2f}")
    else:
        print(f"{row['smiles'][:30]:30}  {row['status']}")

# %% [markdown]
# ## Why
#
# What does the prediction owe to each atom? It is taken out, and everything is computed anew. Bars upwards are atoms
# that raise logP; a page draws this on the molecules.
#
# ```sh
# escgnn explain runs/logp new.csv -o why.html
# ```

# %%
from matplotlib.figure import Figure

from escgnn.explain import Explanation, explain_molecules

why = next(explain_molecules(ensemble, "new.csv", Explanation(Path("why.html"))))
atoms = [f"{atom.GetSymbol()}{atom.GetIdx()}" for atom in Chem.MolFromSmiles(why.smiles).GetAtoms()]
figure = Figure(figsize=(7, 3), layout="constrained")
axes = figure.subplots()
axes.bar(atoms, why.masked[:, 0].tolist(), color="#3a6ea5")
axes.axhline(0, color="black", linewidth=0.8)
axes.set(title=why.smiles, ylabel="logP lost without the atom")
figure

# %% [markdown]
# ## The decision
#
# Say logP should be below 2.7. A molecule whose whole interval is below is worth making; one whose interval holds the
# bound is worth measuring first; the others are not. And nothing is decided about what is unlike all that was
# measured.

# %%
LARGEST = 2.7
LEAST_SIMILAR = 0.3


def decision(row: dict[str, str]) -> str:
    """What to do with a molecule."""
    if row["status"] != "ok":
        return "correct the row"
    if float(row["similarity"]) < LEAST_SIMILAR:
        return "unlike the table: no statement"
    if float(row["pred_logP_high"]) < LARGEST:
        return "make"
    if float(row["pred_logP_low"]) < LARGEST:
        return "measure first"
    return "forget"


for row in predicted:
    print(f"{row['smiles'][:40]:40} {decision(row)}")

# %% [markdown]
# [Molecules](../molecules.md) has the rest: scaffold splits, descriptors beside the graph, classes and their
# calibrated probabilities, cross-validation, blends of network and trees; `escgnn report runs/logp --data
# molecules.csv` writes a page about the run, and `escgnn push` shares it.
