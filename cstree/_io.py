"""Files are written whole or not at all: to a temporary file beside the target, then moved over it."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["replacing", "write_bytes", "write_text"]

PathLike = str | os.PathLike[str]


@contextmanager
def replacing(path: PathLike) -> Iterator[Path]:
    """Give a temporary path in the target's folder, which takes the target's place at the end.

    Parameters
    ----------
    path : str or path
        The file to make or to replace. A link is followed; what is no regular file (a device, a pipe) is
        written to directly.

    Yields
    ------
    Path
        Where to write. If the block raises, the target stays as it was.

    Raises
    ------
    OSError
        The folder does not exist, or nothing can be written there.
    """
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise IsADirectoryError(f"{os.fspath(path)} is a folder; name a file in it")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"the folder {target.parent} does not exist; make it first")
    if target.exists() and not target.is_file():
        yield target
        return
    # The suffix stays: programs that are asked to write here choose a format by it.
    temporary = target.with_name(f".tmp-{secrets.token_hex(8)}{target.suffix}")
    try:
        yield temporary
        if target.exists():
            temporary.chmod(stat.S_IMODE(target.stat().st_mode))
        os.replace(temporary, target)
    except OSError as error:
        if error.filename is None or str(error.filename) != str(temporary):
            raise
        # Who reads the message knows the file that was asked for, not this one beside it.
        raise type(error)(error.errno, error.strerror, os.fspath(path)) from error
    finally:
        temporary.unlink(missing_ok=True)


def write_bytes(path: PathLike, data: bytes) -> None:
    """Write a file whole or not at all.

    Parameters
    ----------
    path : str or path
        The file to make or to replace.
    data : bytes
        What it shall hold.
    """
    with replacing(path) as temporary, open(temporary, "wb") as file:
        file.write(data)
        file.flush()
        if temporary.is_file():
            os.fsync(file.fileno())


def write_text(path: PathLike, text: str) -> None:
    """Write a text file (UTF-8, line ends as they are) whole or not at all.

    Parameters
    ----------
    path : str or path
        The file to make or to replace.
    text : str
        What it shall hold.
    """
    write_bytes(path, text.encode("utf-8"))
