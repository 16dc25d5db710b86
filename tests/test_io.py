import os
import stat

import pytest

from cstree import _io


def leftovers(folder) -> list[str]:
    return [name for name in os.listdir(folder) if name.startswith(".tmp-")]


def test_writes_and_replaces(tmp_path) -> None:
    path = tmp_path / "a.txt"
    _io.write_text(path, "eins\r\n年")
    assert path.read_bytes() == "eins\r\n年".encode()
    _io.write_bytes(path, b"zwei")
    assert path.read_bytes() == b"zwei"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_a_failure_leaves_the_old_file_and_no_rubbish(tmp_path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(RuntimeError), _io.replacing(path) as temporary:
        temporary.write_text("half")
        assert temporary.suffix == ".txt"
        assert temporary.parent == tmp_path
        raise RuntimeError
    assert path.read_text() == "old"
    assert leftovers(tmp_path) == []
    with pytest.raises(UnicodeEncodeError):
        _io.write_text(path, "\ud800")
    assert path.read_text() == "old"


@pytest.mark.skipif(os.name == "nt", reason="permissions and links of POSIX")
def test_permissions_and_links_stay(tmp_path) -> None:
    path, link = tmp_path / "a.txt", tmp_path / "link.txt"
    before = os.umask(0o027)
    try:
        _io.write_text(path, "x")
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    path.chmod(0o600)
    link.symlink_to(path)
    _io.write_text(link, "y")
    assert link.is_symlink()
    assert path.read_text() == "y"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.skipif(not os.path.exists("/dev/null"), reason="needs a device file")
def test_devices_are_written_to_directly() -> None:
    _io.write_text("/dev/null", "x")
    assert not os.path.isfile("/dev/null")


def test_clear_errors(tmp_path) -> None:
    with pytest.raises(FileNotFoundError, match=r"folder .*absent does not exist"):
        _io.write_text(tmp_path / "absent" / "a.txt", "x")
    with pytest.raises(IsADirectoryError, match="is a folder"):
        _io.write_text(tmp_path, "x")


def test_errors_name_the_file_that_was_asked_for(tmp_path) -> None:
    path = tmp_path / "a.txt"
    with pytest.raises(PermissionError) as caught, _io.replacing(path) as temporary:
        raise PermissionError(13, "Permission denied", str(temporary))
    assert caught.value.filename == str(path)
    with pytest.raises(PermissionError) as caught, _io.replacing(path):
        raise PermissionError(13, "Permission denied", "another")
    assert caught.value.filename == "another"
