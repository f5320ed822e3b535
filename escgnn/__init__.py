"""Graph neural networks that provably count substructures at the cost of message passing.

```python
import escgnn

escgnn.count(escgnn.graphs.petersen(), "5-cycle")
bundle = escgnn.load("zinc-12k")
escgnn.fit(bundle, escgnn.training.read_config(bundle=bundle), "runs/zinc")
```

Nothing is loaded before it is used: ``import escgnn`` takes no time.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # what type checkers and editors see; the tables below are what Python does
    from escgnn import counting as counting
    from escgnn import datasets as datasets
    from escgnn import decoding as decoding
    from escgnn import encoding as encoding
    from escgnn import explain as explain
    from escgnn import explorer as explorer
    from escgnn import graphs as graphs
    from escgnn import models as models
    from escgnn import theorems as theorems
    from escgnn import training as training
    from escgnn import transforms as transforms
    from escgnn import wl as wl
    from escgnn.counting import count as count
    from escgnn.datasets import load as load
    from escgnn.encoding import RootedEncoding as RootedEncoding
    from escgnn.models import ESCGNN as ESCGNN
    from escgnn.training import evaluate as evaluate
    from escgnn.training import fit as fit
    from escgnn.training import load_run as load_run
    from escgnn.training import predict as predict
    from escgnn.transforms import StructuralEncoding as StructuralEncoding

__version__ = "0.1.0"

ROOMS = (
    "graphs",
    "counting",
    "wl",
    "encoding",
    "decoding",
    "datasets",
    "transforms",
    "models",
    "training",
    "theorems",
    "explain",
    "explorer",
)
NAMES = {  # and the room of each
    "count": "counting",
    "load": "datasets",
    "RootedEncoding": "encoding",
    "StructuralEncoding": "transforms",
    "ESCGNN": "models",
    "fit": "training",
    "load_run": "training",
    "predict": "training",
    "evaluate": "training",
}

__all__ = ["__version__", *ROOMS, *NAMES]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


if not TYPE_CHECKING:  # or every name would be one to a type checker

    def __getattr__(name: str) -> Any:
        """Load a name, or a module of this package, when it is first asked for."""
        if name in NAMES:
            value = getattr(import_module(f"{__name__}.{NAMES[name]}"), name)
            globals()[name] = value  # so that this is not called again
            return value
        if not name.startswith("_") and find_spec(f"{__name__}.{name}") is not None:
            return import_module(f"{__name__}.{name}")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{_hint(name)}", name=name)


def _hint(name: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, [*ROOMS, *NAMES], 1)
    return f"; did you mean {near[0]!r}?" if near else ""
