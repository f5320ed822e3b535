import pytest

from escgnn import datasets


@pytest.fixture(autouse=True, scope="session")
def cache(tmp_path_factory):
    """A cache folder of the tests' own, shared by all of them: what one parses the next reads."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("cache")
        patch.setenv("ESCGNN_CACHE", str(folder))
        yield folder


@pytest.fixture
def empty_cache(tmp_path, monkeypatch):
    """A cache folder with nothing in it, and no other place to look for raw files."""
    monkeypatch.setenv("ESCGNN_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("ESCGNN_DATA", raising=False)
    return tmp_path / "cache"


@pytest.fixture
def load(benchmark_data):
    """Loading from the raw benchmark data."""

    def load(name, **options):
        return datasets.load(name, root=benchmark_data, **options)

    return load
