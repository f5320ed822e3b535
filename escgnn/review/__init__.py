"""A run looked at: how good it is and how surely, where it errs, as one page or as a card.

```python
run = training.load_ensemble("runs/logp")
found = review(run, datasets.load("molecules.csv", **training.table_options(run, "molecules.csv")))
write_page(found, "runs/logp/report.html")
card(found)
```
"""

from escgnn.review.card import card
from escgnn.review.measuring import Band, Measured, Review, bootstrap, precision_recall, reliability, review, roc
from escgnn.review.page import page, plots, write_page

__all__ = [
    "Band",
    "Measured",
    "Review",
    "bootstrap",
    "card",
    "page",
    "plots",
    "precision_recall",
    "reliability",
    "review",
    "roc",
    "write_page",
]
