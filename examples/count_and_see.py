r"""Count and see.

How many 5-cycles go through an atom? Message passing cannot tell: two hexagons and a ring of twelve look the same to
it from every node. This page counts exactly, looks at the histograms that let a network count, and at graphs that
other tests take for the same.

Blocks are run from top to bottom, in a notebook or as a script; a notebook shows the last line of each.
"""

# %% [markdown]
# ## Exact counts
#
# A graph is whatever you have: a `Data` of PyTorch Geometric, a networkx graph, pairs of nodes, or a named one. A
# pattern has a name, or is a connected graph of up to six nodes.

# %%
from escgnn import counting, graphs

petersen = graphs.petersen()
print("5-cycles:", counting.count(petersen, "5-cycle"))
print("at each node:", counting.count(petersen, "5-cycle", per="node"))
print("induced 4-paths:", counting.count(petersen, "4-path", induced=True))
petersen

# %% [markdown]
# The same for a molecule. `explorer.read` understands SMILES, graph6 and edges such as `0-1 1-2`; this is caffeine,
# whose two rings share a bond, so every atom is in none, one or both of them.

# %%
from escgnn import explorer

caffeine = explorer.read("CN1C=NC2=C1C(=O)N(C(=O)N2C)C").graph
rings = {f"{size}-cycle": counting.count(caffeine, f"{size}-cycle", per="node") for size in (5, 6)}
for name, at_atoms in rings.items():
    print(name, at_atoms)

# %% [markdown]
# A pattern of your own is a list of edges. Per node it may sit in different positions: `orbit` says which. Here is a
# atom with three neighbours, counted at its centre and at its ends.

# %%
claw = [(0, 1), (0, 2), (0, 3)]
print("as the centre:", counting.count(caffeine, claw, per="node", orbit=0))
print("as an end:    ", counting.count(caffeine, claw, per="node", orbit=1))

# %% [markdown]
# ## What a network gets to see
#
# ESC-GNN looks at the subgraph around each edge \((u, v)\). Every node \(w\) there has a label, its distances to both
# ends, \(f(w) = (d(w, u), d(w, v))\), and the encoding \(s_{uv}\) counts nodes and edges by label. It is made once,
# before any network runs, and a plain GNN gets it as edge features.

# %%
from escgnn.encoding import RootedEncoding

encoding = RootedEncoding(hops=2)
encoding

# %%
u = 4  # the ends of the bond
v = 5  # that both rings share
row = encoding.row(caffeine, u, v)
for part in encoding.parts:
    bins = [f"{' '.join(map(str, name.label))}: {number}" for name, number in row.items() if name.part == part]
    print(f"{part:7}", ", ".join(bins))

# %%
from escgnn.pictures import draw_root

draw_root(caffeine, u, v, encoding)

# %% [markdown]
# Counts can be read off these histograms, without looking at the graph again. With \(n(a,b\,|\,c,d)\) the edges
# between the labels \((a, b)\) and \((c, d)\), the 4-cycles through an edge are
#
# \[ n(1,2\,|\,2,1) + n(1,1\,|\,2,1) + n(1,1\,|\,1,2) + 2\,n(1,1\,|\,1,1). \]
#
# [`escgnn.decoding`](../counting.md) has these formulas, and they are exact.

# %%
from escgnn.decoding import decode

random = graphs.counting_random(1, seed=3)
exact = counting.count(random, "4-cycle", per="node")
read_off = decode(random, RootedEncoding(hops=1), "4-cycle", per="node")
print("4-cycles at each node: ", exact)
print("read off the encoding: ", read_off)

# %% [markdown]
# ## Look around
#
# The explorer shows all of it. Click a bond, or move between bonds with the arrow keys and press Enter; point at a
# bin, and what it counts lights up.

# %%
explorer.view("CN1C=NC2=C1C(=O)N(C(=O)N2C)C", hops=2)

# %% [markdown]
# And it compares. The rook graph and the Shrikhande graph have 16 nodes of degree 6 each, and the 3-dimensional
# Weisfeiler-Leman test takes them for the same. One hop of the encoding tells them apart: around a node of the one
# there are two triangles, around a node of the other a ring of six.

# %%
from escgnn import wl

rook = graphs.rook(4)
shrikhande = graphs.shrikhande()
for test in (wl.OneWL(), wl.ObliviousWL(3), wl.ESCWL(RootedEncoding(hops=1))):
    print(f"{type(test).__name__:12} tells them apart: {wl.distinguishes(rook, shrikhande, test)}")

# %%
explorer.compare("rook")  # or any two graphs

# %% [markdown]
# Next: [make a model of PyTorch Geometric count](any_pyg_model.md), or read [what the encoding is](../encoding.md)
# and [what it provably counts](../theory.md).
