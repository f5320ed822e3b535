"""The metrics of an epoch that several processes share."""

from torch import Tensor
from torchmetrics import Metric
from torchmetrics.utilities import dim_zero_cat

from escgnn.metrics import Scaling, score
from escgnn.task import Task


class Scores(Metric):
    """The metrics of an epoch, exactly: outputs and targets are kept, of all processes, and judged together."""

    full_state_update = False
    output: list[Tensor]
    y: list[Tensor]

    def __init__(self, task: Task, scaling: Scaling) -> None:
        super().__init__()
        self.task = task
        self.scaling = scaling
        self.add_state("output", [], dist_reduce_fx="cat")
        self.add_state("y", [], dist_reduce_fx="cat")

    def update(self, output: Tensor, y: Tensor) -> None:
        """Add a batch."""
        self.output.append(output.detach().float())
        self.y.append(y)

    def compute(self) -> dict[str, float]:
        """The metrics of all batches."""
        return score(self.task, self.scaling, dim_zero_cat(self.output), dim_zero_cat(self.y))
