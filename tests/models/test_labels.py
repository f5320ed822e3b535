"""What copies know of their place in a subgraph, against vectors written down by hand."""

import torch

from benchmarks.power import as_data
from escgnn import graphs
from escgnn.bags import node_bag, pair_bag
from escgnn.models import GINAK
from escgnn.models.bagged import CopyLabels
from escgnn.transforms import RootedNodes, RootedPairs


def labels_of(kind, bag, **options):
    torch.manual_seed(0)
    labels = CopyLabels(kind, 2, 3, **options)
    return labels, labels(bag)


def test_two_ways_to_the_root_are_more_than_one():
    """In a square the node opposite the root is reached in two ways, so that its distance counts twice."""
    bag = node_bag(RootedNodes(2)(as_data(graphs.cycle(4))))
    for kind, again in (("hop", 0), ("distance", 1)):
        labels, found = labels_of(kind, bag)
        w = labels.root.weight
        row = dict(zip(bag.node[:4].tolist(), found[:4], strict=True))  # of the ball of node 0
        nothing = again * w[0]
        torch.testing.assert_close(row[0], w[1] + nothing)
        torch.testing.assert_close(row[1], w[2] + nothing)
        torch.testing.assert_close(row[2], w[3] + again * w[3])
        torch.testing.assert_close(row[3], w[2] + nothing)


def test_pairs_know_the_distance_to_the_mate():
    bag = pair_bag(RootedPairs(2)(as_data(graphs.cycle(4))))
    labels, found = labels_of("hop", bag, pairs=True)
    mate = int(bag.node[bag.mate[0]])
    first = bag.node[:4].tolist()  # of the ball of node 0 with its first mate
    apart = [min((node - mate) % 4, (mate - node) % 4) for node in first]
    expected = labels.root.weight[bag.hop[:4] + 1] + labels.mate.weight[torch.tensor(apart) + 1]
    torch.testing.assert_close(found[:4], expected)


def test_gates_of_gin_ak_know_distances():
    """What is said of a node one step away is weighed as such."""
    torch.manual_seed(0)
    model = GINAK(1, 1, hidden=4, layers=1).double().eval()
    data = RootedNodes(1)(as_data(graphs.star(3)))
    before = model(data)
    with torch.no_grad():
        model.layers[0].hops.weight[1] += 1
    assert (model(data) - before).abs().max() > 1e-6
