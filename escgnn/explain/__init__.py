"""Why a network predicts what it does: what every atom contributes, and every part of the encoding.

```python
run = training.load_run("runs/logp")
explain.masked(run, graphs)[0]  # of the first graph: (atoms, outputs), how much lower without each atom
explain.integrated(run, graphs)[0].total  # the same by integrated gradients; they add up
explain.masked_parts(run, graphs)[0]  # by part of the encoding
explain.explain_file(run, "molecules.csv", "page.html")  # all of it, drawn
```
"""

from escgnn.explain.gradients import Integrated, integrated, masked_parts
from escgnn.explain.masking import masked, without_each_node
from escgnn.explain.molecules import Explained, Explanation, explain_file, explain_molecules
from escgnn.explain.outputs import names_of, units_of

__all__ = [
    "Explained",
    "Explanation",
    "Integrated",
    "explain_file",
    "explain_molecules",
    "integrated",
    "masked",
    "masked_parts",
    "names_of",
    "units_of",
    "without_each_node",
]
