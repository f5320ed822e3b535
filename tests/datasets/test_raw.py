"""Raw files that are missing, damaged or elsewhere."""

import functools
import hashlib
import http.server
import shutil
import threading
import zipfile
from dataclasses import replace

import pytest

from escgnn import datasets
from escgnn.datasets import RawFile
from escgnn.datasets.loading import DATASETS
from escgnn.datasets.raw import SUMS, accept

TWO_TRIANGLES = {
    "A": "1, 2\n2, 1\n2, 3\n3, 2\n1, 3\n3, 1\n4, 5\n5, 4\n",
    "graph_indicator": "1\n1\n1\n2\n2\n",
    "graph_labels": "1\n-1\n",
}


@pytest.fixture
def copied(benchmark_data, tmp_path):
    """Copies the raw files of a dataset into a folder of its own."""

    def copy(name):
        for file in DATASETS[name].files:
            (tmp_path / file.path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(benchmark_data / file.path, tmp_path / file.path)
        return tmp_path

    return copy


def no_network(url, timeout):
    raise OSError("no network")


def test_only_what_lacks_is_named(copied, empty_cache, monkeypatch):
    monkeypatch.setattr("urllib.request.urlopen", no_network)
    folder = copied("mutag")
    (folder / "tu/MUTAG/raw/MUTAG_A.txt").unlink()
    with pytest.raises(datasets.DatasetError, match=r"mutag: tu/MUTAG/raw/MUTAG_A\.txt not found; put what is missing"):
        datasets.load("mutag", root=folder)


def test_a_pickle_is_not_opened(tmp_path, monkeypatch):
    import numpy as np

    (tmp_path / "zinc").mkdir()
    with (tmp_path / "zinc/zinc12k.npz").open("wb") as stream:
        np.savez(stream, num_nodes=np.array([{}], object))
    accept(tmp_path, ["zinc/zinc12k.npz"])
    with pytest.raises(datasets.DatasetError, match=r"zinc12k\.npz is damaged: Object arrays cannot be loaded"):
        datasets.load("zinc-12k", root=tmp_path)


class Handler(http.server.SimpleHTTPRequestHandler):
    requests: list[str]

    def do_GET(self):
        self.requests.append(self.path)
        super().do_GET()

    def log_message(self, *arguments):
        pass


@pytest.fixture
def server(tmp_path):
    """A folder that is served, its address, and what was asked for."""
    folder = tmp_path / "served"
    folder.mkdir()
    Handler.requests = []
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=folder)) as served:
        threading.Thread(target=served.serve_forever, daemon=True).start()
        yield folder, f"http://127.0.0.1:{served.server_port}"
        served.shutdown()


@pytest.fixture
def zipped(server, monkeypatch):
    """A tiny dataset in an archive on the server, in place of mutag."""
    folder, address = server
    with zipfile.ZipFile(folder / "TINY.zip", "w") as archive:
        for part, text in TWO_TRIANGLES.items():
            archive.writestr(f"TINY/TINY_{part}.txt", text)
    files = tuple(
        RawFile(f"tiny/TINY_{part}.txt", f"{address}/TINY.zip", f"TINY/TINY_{part}.txt") for part in TWO_TRIANGLES
    )
    monkeypatch.setitem(DATASETS, "mutag", replace(DATASETS["mutag"], files=files))
    return folder


def test_an_archive_is_downloaded_once(zipped, empty_cache):
    for _ in range(2):
        assert datasets.load("mutag").statistics.edges == 2
    assert Handler.requests == ["/TINY.zip"]
    data = empty_cache / "data"
    assert {path.name for path in (data / "tiny").iterdir()} == {f"TINY_{part}.txt" for part in TWO_TRIANGLES}
    assert not [path for path in data.iterdir() if path.name.startswith(".download-")]
    (data / "tiny/TINY_A.txt").write_text("1, 2\n2, 1\n")  # not what was downloaded
    with pytest.raises(datasets.DatasetError, match=r"TINY_A\.txt is damaged, or another version"):
        datasets.load("mutag")


def test_what_else_an_archive_has_is_taken_too(zipped, empty_cache, monkeypatch):
    entry = DATASETS["mutag"]
    url = entry.files[0].url
    others = [
        RawFile(f"tiny/TINY_{part}.txt", url, f"TINY/TINY_{part}.txt", optional=True) for part in ("names", "poses")
    ]
    with zipfile.ZipFile(zipped / "TINY.zip", "a") as archive:
        archive.writestr("TINY/TINY_names.txt", "a\nb\n")
    monkeypatch.setitem(DATASETS, "mutag", replace(entry, files=(*entry.files, *others)))
    assert datasets.load("mutag").statistics.edges == 2
    assert (empty_cache / "data/tiny/TINY_names.txt").read_text() == "a\nb\n"
    assert not (empty_cache / "data/tiny/TINY_poses.txt").exists()


def test_two_at_once_download_once(zipped, empty_cache):
    found = []
    threads = [threading.Thread(target=lambda: found.append(datasets.load("mutag").statistics)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert found == found[:1] * 4
    assert Handler.requests == ["/TINY.zip"]


def test_a_download_goes_to_the_root(zipped, empty_cache, tmp_path):
    datasets.load("mutag", root=tmp_path / "mine")
    assert (tmp_path / "mine/tiny/TINY_A.txt").is_file()
    assert (tmp_path / "mine" / SUMS).is_file()
    assert not (empty_cache / "data").exists()


def test_an_archive_that_is_none(zipped, empty_cache):
    whole = (zipped / "TINY.zip").read_bytes()
    for bad in (whole[: len(whole) // 2], b"<html>404</html>"):
        (zipped / "TINY.zip").write_bytes(bad)
        with pytest.raises(datasets.DatasetError, match=r"Downloading from http://\S+ failed: File is not a zip file"):
            datasets.load("mutag")
        assert not (empty_cache / "data/tiny").exists()


def test_a_download_must_match_its_checksum(server, empty_cache, monkeypatch):
    folder, address = server

    def expect(sha256):
        file = RawFile("tiny/sr25.g6", f"{address}/sr25.g6", sha256=sha256)
        monkeypatch.setitem(DATASETS, "sr25", replace(DATASETS["sr25"], files=(file,)))

    (folder / "sr25.g6").write_text("DQc\nDQw\n")
    expect("0" * 64)
    with pytest.raises(datasets.DatasetError, match=r"sr25\.g6 is refused: its sha256 is \w+, expected 0000"):
        datasets.load("sr25")
    assert not (empty_cache / "data/tiny").exists()
    expect(hashlib.sha256(b"DQc\nDQw\n").hexdigest())
    assert datasets.load("sr25").statistics.graphs == 2


def test_a_connection_that_breaks(server, empty_cache, monkeypatch):
    folder, address = server
    (folder / "sr25.g6").write_text("DQc\nDQw\n")
    monkeypatch.setattr(Handler, "copyfile", lambda self, source, sink: sink.write(source.read()[:5]))
    file = RawFile("tiny/sr25.g6", f"{address}/sr25.g6")
    monkeypatch.setitem(DATASETS, "sr25", replace(DATASETS["sr25"], files=(file,)))
    with pytest.raises(datasets.DatasetError, match="failed: the connection ended after 5 of 8 bytes"):
        datasets.load("sr25")
