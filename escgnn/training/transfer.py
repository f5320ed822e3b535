"""Beginning with what another run has learnt, and letting it rest while the new targets are learnt."""

from torch import Tensor

from escgnn.models import Network
from escgnn.task import Task
from escgnn.training.config import TrainConfig
from escgnn.training.folder import load_run

OF_TARGETS = ("described", "environments", "head", "skip")  # parts of a network that belong to its targets


def check_transfer(network: Network, task: Task, config: TrainConfig) -> None:
    """Complain about a run that cannot be begun with.

    Raises:
        ValueError: Nothing of it fits; or what is to rest does not fit; or it is not there.
    """
    if config.init_from is not None:
        taken_weights(network, task, config)
    elif config.freeze:
        raise ValueError("freeze: there is nothing to keep as it is without init_from")


def taken_weights(network: Network, task: Task, config: TrainConfig) -> dict[str, Tensor]:
    """Weights, scales and running numbers of the run that the settings name, as far as names and sizes are the same.

    What belongs to the targets is taken only if they are the same, too.

    Raises:
        ValueError: As `check_transfer` says.
    """
    assert config.init_from is not None
    source = load_run(config.init_from)
    given = source.model.state_dict()
    is_same = (source.task.targets, source.task.kind) == (task.targets, task.kind)
    found = {
        name: given[name]
        for name, like in network.state_dict().items()
        if name in given and given[name].shape == like.shape and (is_same or not _is_of_targets(name))
    }
    parameters = {name for name, _ in network.named_parameters() if not _is_of_targets(name)}
    if not parameters & found.keys():
        raise ValueError(f"init_from: no weights of {config.init_from} fit; choose the same model and sizes")
    if config.freeze and (missing := sorted(parameters - found.keys())):
        raise ValueError(
            f"freeze: {config.init_from} has no {missing[0]} of this size, and it would rest as it was drawn; choose the "
            "same model and sizes, or do not freeze"
        )
    return found


def rest(network: Network) -> None:
    """Keep all but what belongs to the targets as it is: weights, and what batch normalisation has seen."""
    for name, parameter in network.named_parameters():
        if not _is_of_targets(name):
            parameter.requires_grad_(False)
    for name, part in network.named_children():
        if not _is_of_targets(name):
            part.eval()


def _is_of_targets(name: str) -> bool:
    return name.partition(".")[0] in OF_TARGETS
