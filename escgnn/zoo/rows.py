"""The rows of the zoo: each network with its transforms, its paper, its cost and the settings of its authors."""

from escgnn.models import (
    CIN,
    DGN,
    DSSGNN,
    ESCGNN,
    GINAK,
    GSN,
    I2GNN,
    IDGNN,
    KGNN,
    LGPGNN,
    NGNN,
    OGBGIN,
    OSAN,
    PLGNN,
    PNA,
    PPGN,
    SUN,
    GraphGPS,
    GraphormerGD,
    OneGNN,
)
from escgnn.transforms import (
    Cells,
    ChoiceBags,
    ClosedWalks,
    Directions,
    PairDistances,
    PairRows,
    PatternCounts,
    PolicyBags,
    RootedNodes,
    RootedPairs,
    StructuralEncoding,
    Surroundings,
    Triples,
    WalkAndSpectrum,
)
from escgnn.zoo import ours, presets
from escgnn.zoo.recipe import Recipe

EDGES = "E: a message for every edge"
ATTENTION = "E + Σ n²: a message for every edge, and a weight for every two nodes"
BALLS = "Σ_v E(B(v)): a message for every edge of the ball around each node"
PAIRS = "Σ_v deg(v) E(B(v)): a message for every edge of the ball around each node, once for each neighbour"
WHOLES = "Σ n²: a row for every two nodes; Σ n E: a message for every node and edge, fewer in balls"
GPS = "Rampášek et al., Recipe for a General, Powerful, Scalable Graph Transformer, NeurIPS 2022"
OGB = "Hu et al., Open Graph Benchmark: Datasets for Machine Learning on Graphs, NeurIPS 2020"
ESC = "Yan et al., An Efficient Subgraph GNN with Provable Substructure Counting Power, KDD 2024"
K_GNN = "Morris et al., Weisfeiler and Leman Go Neural: Higher-order Graph Neural Networks, AAAI 2019"
DROP = {"outside": "drop"}  # the subgraph is the ball, and nothing else


def _plain(backbone: str, paper: str, cost: str = EDGES) -> Recipe:
    """Message passing as it is, without the structural encoding."""
    off = {"backbone": backbone, "num_bins": None, "node_tuples": False}
    return Recipe(ESCGNN, once=Surroundings, fixed=off, paper=paper, cost=cost)


ZOO: dict[str, Recipe] = {
    "esc-gnn": Recipe(
        ESCGNN,
        each=StructuralEncoding,
        once=Surroundings,
        paper=ESC,
        cost=f"{EDGES}; structure is counted before",
        presets=ours.ESC_GNN,
    ),
    "gin": _plain("gin", "Hu et al., Strategies for Pre-training Graph Neural Networks, ICLR 2020"),
    "mpnn": _plain("mpnn", "Gilmer et al., Neural Message Passing for Quantum Chemistry, ICML 2017"),
    "gps": _plain("gps", GPS, ATTENTION),
    "pna": _plain("pna", "Corso et al., Principal Neighbourhood Aggregation for Graph Nets, NeurIPS 2020"),
    "gatedgcn": _plain("gatedgcn", "Bresson and Laurent, Residual Gated Graph ConvNets, 2017"),
    "graphgps": Recipe(
        GraphGPS,
        once=WalkAndSpectrum,
        fixed={"num_bins": None},
        paper=GPS,
        cost=f"{ATTENTION}; encodings are made before",
        presets=presets.GRAPH_GPS,
    ),
    "graph-transformer": Recipe(
        GraphGPS,
        fixed={"num_bins": None, "walks": 0, "frequencies": 0},
        paper=GPS,
        cost=ATTENTION,
        presets=presets.GRAPH_TRANSFORMER,
    ),
    "esc-graphgps": Recipe(
        GraphGPS,
        each=StructuralEncoding,
        once=WalkAndSpectrum,
        fixed={"nodes": False},
        paper=f"{ESC}; {GPS}",
        cost=f"{ATTENTION}; structure and encodings are made before",
        presets={**presets.ESC_GRAPH_GPS, **ours.ESC_GRAPH_GPS},
    ),
    "ogb-gin": Recipe(
        OGBGIN,
        fixed={"num_bins": None, "virtual_node": False},
        paper=OGB,
        cost=EDGES,
        presets=presets.OGB_GIN,
    ),
    "ogb-gin-vn": Recipe(
        OGBGIN,
        fixed={"num_bins": None, "virtual_node": True},
        paper=OGB,
        cost=EDGES,
        presets=presets.OGB_GIN,
    ),
    "esc-ogb-gin": Recipe(
        OGBGIN,
        each=StructuralEncoding,
        fixed={"nodes": False},
        paper=f"{ESC}; {OGB}",
        cost=f"{EDGES}; structure is counted before",
        presets=presets.ESC_OGB_GIN,
    ),
    "id-gnn": Recipe(
        IDGNN,
        each=RootedNodes,
        fixed={**DROP, "resistance": False},
        paper="You et al., Identity-aware Graph Neural Networks, AAAI 2021",
        cost=BALLS,
        presets=presets.ID_GNN,
    ),
    "ngnn": Recipe(
        NGNN,
        each=RootedNodes,
        fixed=DROP,
        paper="Zhang and Li, Nested Graph Neural Networks, NeurIPS 2021",
        cost=BALLS,
        presets=presets.NGNN,
    ),
    "gin-ak": Recipe(
        GINAK,
        each=RootedNodes,
        fixed={**DROP, "resistance": False},
        paper="Zhao et al., From Stars to Subgraphs: Uplifting Any GNN with Local Structure Awareness, ICLR 2022",
        cost=BALLS,
        presets=presets.GIN_AK,
    ),
    "i2-gnn": Recipe(
        I2GNN,
        each=RootedPairs,
        paper="Huang et al., Boosting the Cycle Counting Power of Graph Neural Networks with I²-GNNs, ICLR 2023",
        cost=PAIRS,
        presets=presets.I2_GNN,
    ),
    "dss-gnn": Recipe(
        DSSGNN,
        each=PolicyBags,
        paper="Bevilacqua et al., Equivariant Subgraph Aggregation Networks, ICLR 2022",
        cost=f"{WHOLES}; with ED every edge in place of every node",
        presets=presets.DSS_GNN,
    ),
    "sun": Recipe(
        SUN,
        each=PolicyBags,
        paper="Frasca et al., Understanding and Extending Subgraph GNNs by Rethinking their Symmetries, NeurIPS 2022",
        cost=WHOLES,
        presets=presets.SUN,
    ),
    "osan": Recipe(
        OSAN,
        each=ChoiceBags,
        paper="Qian et al., Ordered Subgraph Aggregation Networks, NeurIPS 2022",
        cost="(T + 1) E: a message for every edge of the graph and of each of T chosen subgraphs",
        presets=presets.OSAN,
    ),
    "pl-gnn": Recipe(
        PLGNN,
        paper="Bevilacqua et al., Efficient Subgraph GNNs by Learning Effective Selection Policies, ICLR 2024",
        cost="(T² + 3 T + 2) / 2 E: a message for every edge of T + 1 copies, and of those before as T nodes are chosen",
        presets=presets.PL_GNN,
    ),
    "gsn": Recipe(
        GSN,
        once=PatternCounts,
        paper="Bouritsas et al., Improving GNN Expressivity via Subgraph Isomorphism Counting, TPAMI 2022",
        cost=f"{EDGES}; patterns are counted before",
        presets=presets.GSN,
    ),
    "ppgn": Recipe(
        PPGN,
        each=PairRows,
        paper="Maron et al., Provably Powerful Graph Networks, NeurIPS 2019",
        cost="Σ n²: a row for every two nodes; Σ n³: products of matrices",
        presets=presets.PPGN,
    ),
    "graphormer-gd": Recipe(
        GraphormerGD,
        each=PairDistances,
        paper="Zhang et al., Rethinking the Expressive Power of GNNs via Graph Biconnectivity, ICLR 2023",
        cost="Σ n²: a weight and a message for every two nodes, whose distances are measured before",
        presets=presets.GRAPHORMER_GD,
    ),
    "lgp-gnn": Recipe(
        LGPGNN,
        once=ClosedWalks,
        paper="Barceló et al., Graph Neural Networks with Local Graph Parameters, NeurIPS 2021",
        cost=f"{EDGES}; walks are counted before",
        presets=presets.LGP_GNN,
    ),
    "pna-towers": Recipe(
        PNA,
        paper="Corso et al., Principal Neighbourhood Aggregation for Graph Nets, NeurIPS 2020",
        cost=f"{EDGES}, aggregated in four ways",
        presets=presets.PNA_TOWERS,
    ),
    "dgn": Recipe(
        DGN,
        once=Directions,
        paper="Beaini et al., Directional Graph Networks, ICML 2021",
        cost=f"{EDGES}, aggregated in five ways; directions are found before",
        presets=presets.DGN,
    ),
    "cin": Recipe(
        CIN,
        each=Cells,
        paper="Bodnar et al., Weisfeiler and Lehman Go Cellular: CW Networks, NeurIPS 2021",
        cost=f"{EDGES}; a row for every node, edge and ring, and for every edge of each ring",
        presets=presets.CIN,
    ),
    "1-gnn": Recipe(
        OneGNN,
        fixed={"sets": [1]},
        paper=K_GNN,
        cost=f"{EDGES}, with a matrix each if it has features",
        presets=presets.ONE_GNN,
    ),
    "1-2-3-gnn": Recipe(
        KGNN,
        each=Triples,
        fixed={"sets": [1, 2, 3], "connected": True},
        paper=K_GNN,
        cost="Σ n²: a row for every two nodes; Σ n³: products of matrices; a row for every three nodes that hang together",
        presets=presets.ONE_TWO_THREE_GNN,
    ),
    "3-gnn": Recipe(
        KGNN,
        each=Triples,
        fixed={"sets": [3], "connected": False},
        paper=K_GNN,
        cost="Σ n³ / 6: a row for every three nodes; Σ n E: a message to each for each neighbour of one of them",
        presets=presets.THREE_GNN,
    ),
}
