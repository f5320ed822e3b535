"""Settings of our own, by benchmark, for ``preset=ours/...``: what is learnt with all that the encoding can count."""

from escgnn.zoo.presets import Presets

ESC_GNN: Presets = {
    "ours/zinc-12k": {  # parts, types and pool as validation found them; see docs/log.md
        "optimizer": "adamw",
        "weight_decay": 1e-5,
        "schedule": "cosine",
        "gradient_clip": 1.0,
        "lr": 1e-3,
        "warmup": 5,
        "batch_size": 64,
        "epochs": 400,
        "transform": {
            "hops": 3,
            "parts": ["degree", "node", "joint", "edge", "resistance", "cycle"],
            "types": ["x", "edge_attr"],
            "typed": ["edge"],
            "nodes": True,
        },
        "network": {"hidden": 96, "layers": 6, "pool": "sum+mean"},
    },
}
