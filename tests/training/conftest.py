import pytest
import torch

from escgnn.training import fitting


@pytest.fixture(scope="session", autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(autouse=True)
def no_pictures(monkeypatch, request):
    """Drawing takes longer than training, so it is done only where it is looked at."""
    if request.node.name != "test_run_folder":
        monkeypatch.setattr(fitting, "draw_curves", lambda *_: None)
