"""Graph neural networks under one contract, `Network`; those of the zoo, and the structural embedding for any other."""

from escgnn.models.cin import CIN
from escgnn.models.count_skip import CountSkip
from escgnn.models.dgn import DGN
from escgnn.models.dss_gnn import DSSGNN
from escgnn.models.environments import EnvironmentTable
from escgnn.models.esc_gnn import ESCGNN
from escgnn.models.exporting import export_program, size_of, to_onnx
from escgnn.models.frame import Frame, Network, Term
from escgnn.models.gin_ak import GINAK
from escgnn.models.graph_gps import GraphGPS
from escgnn.models.graphormer_gd import GraphormerGD
from escgnn.models.gsn import GSN
from escgnn.models.i2_gnn import I2GNN
from escgnn.models.id_gnn import IDGNN
from escgnn.models.k_gnn import KGNN, OneGNN
from escgnn.models.lgp_gnn import LGPGNN
from escgnn.models.ngnn import NGNN
from escgnn.models.ogb_gin import OGBGIN
from escgnn.models.osan import OSAN
from escgnn.models.pl_gnn import PLGNN
from escgnn.models.pna import PNA
from escgnn.models.ppgn import PPGN
from escgnn.models.sizes import Bounded
from escgnn.models.sun import SUN
from escgnn.models.wrapping import with_structure

__all__ = [
    "CIN",
    "DGN",
    "DSSGNN",
    "ESCGNN",
    "GINAK",
    "GSN",
    "I2GNN",
    "IDGNN",
    "KGNN",
    "LGPGNN",
    "NGNN",
    "OGBGIN",
    "OSAN",
    "PLGNN",
    "PNA",
    "PPGN",
    "SUN",
    "Bounded",
    "CountSkip",
    "EnvironmentTable",
    "Frame",
    "GraphGPS",
    "GraphormerGD",
    "Network",
    "OneGNN",
    "Term",
    "export_program",
    "size_of",
    "to_onnx",
    "with_structure",
]
