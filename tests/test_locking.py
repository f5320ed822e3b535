import pytest

from escgnn.disk import is_unused, locked


def test_one_at_a_time(tmp_path):
    with locked(tmp_path, "training"):
        assert is_unused(tmp_path)
        with pytest.raises(ValueError, match="another process is training there"), locked(tmp_path, "training"):
            pass
    with locked(tmp_path, "training"):
        (tmp_path / "file").touch()
    assert not is_unused(tmp_path)


def test_what_goes_wrong_inside_is_not_mistaken(tmp_path):
    (tmp_path / "inner").mkdir()
    with locked(tmp_path / "inner", "searching"):
        message = "inner: another process is training there"
        with (
            pytest.raises(ValueError, match=message),
            locked(tmp_path, "searching"),
            locked(tmp_path / "inner", "training"),
        ):
            pass
    with locked(tmp_path, "searching"):
        pass
