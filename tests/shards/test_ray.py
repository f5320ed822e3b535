"""Shards on a Ray cluster, one of whose nodes dies; only where Ray is installed."""

import os
import sys
import threading
import time

import pytest

from escgnn.engines import RayEngine
from escgnn.shards import read_status, run_shards
from tests.shards.toys import Measure

ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'escgnn[ray]'")


@pytest.fixture
def nodes():
    """Two nodes of one core each on this machine; the driver is connected to the first."""
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    second = cluster.add_node(num_cpus=1)
    variables = {"PYTHONPATH": os.pathsep.join(sys.path)}
    ray.init(address=cluster.address, log_to_driver=False, runtime_env={"env_vars": variables})
    yield cluster, second
    ray.shutdown()
    cluster.shutdown()


@pytest.mark.filterwarnings("ignore")  # Ray's own
def test_a_node_that_dies_costs_nothing(nodes, tmp_path):
    """Both cores are at work when one node goes; its shards are done on the other, byte for byte as here."""
    cluster, second = nodes
    (tmp_path / "in").mkdir()
    for number in range(4):
        (tmp_path / "in" / f"{number}.smi").write_text("S\nCC\n")

    def kill():
        end = time.monotonic() + 120
        while len([*tmp_path.glob("at-work-*")]) < 2 and time.monotonic() < end:
            time.sleep(0.05)
        cluster.remove_node(second, allow_graceful=False)
        (tmp_path / "go").touch()

    killer = threading.Thread(target=kill)
    killer.start()
    summary = run_shards(Measure(tmp_path), [str(tmp_path / "in")], str(tmp_path / "out"), engine=RayEngine())
    killer.join()
    assert (summary.failed, summary.shards, summary.graphs) == ((), 4, 8)
    assert read_status(str(tmp_path / "out")).done == 4
    run_shards(Measure(tmp_path), [str(tmp_path / "in")], str(tmp_path / "here"))
    for number in range(4):
        name = f"part-0000{number}.parquet"
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "here" / name).read_bytes()
