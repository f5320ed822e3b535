import os
import signal
from pathlib import Path

import hypothesis
import pytest

hypothesis.settings.register_profile("escgnn", deadline=None, max_examples=100)  # a first call compiles
hypothesis.settings.load_profile("escgnn")
if (
    signal.getsignal(signal.SIGINT) is signal.SIG_IGN
):  # a shell's job in the background, whose children would not hear Ctrl-C
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def benchmark_data() -> Path:
    """The folder of raw benchmark data; without it the tests that compare with published files do not run."""
    folder = os.environ.get("ESCGNN_DATA")
    if not folder:
        pytest.skip("ESCGNN_DATA does not name a folder of benchmark data")
    return Path(folder)
