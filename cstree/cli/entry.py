"""Where the command line begins and ends: exit codes, errors in one line, warnings in one line."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from typing import TextIO

from cstree.cli.commands import INTERRUPTED
from cstree.cli.parser import build_parser
from cstree.cli.tables import UsageError, one_line

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments; by default those of the process.

    Returns
    -------
    int
        0: done; 2: the request cannot be met, which one line on standard error explains; 130: interrupted,
        after what was found has been written.
    """
    _show_every_sign()
    try:
        parser = build_parser()
        arguments = parser.parse_args(argv)
        if arguments.run is None:
            parser.print_help(sys.stderr)
            return 2
        with _plain_warnings():
            return int(arguments.run(arguments))
    except BrokenPipeError:  # `cstree ... | head`: the reader has what it wants
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        print("cstree: interrupted", file=sys.stderr)
        return INTERRUPTED
    except (UsageError, ValueError, TypeError, ImportError, OSError, RuntimeError) as error:
        print(f"cstree: error: {one_line(error)}", file=sys.stderr)
        return 2
    except SystemExit as stop:  # argparse: 0 after --help, 2 after a wrong option
        return stop.code if isinstance(stop.code, int) else 2


def _show_every_sign() -> None:
    """Let no name stop the output: what the terminal's encoding lacks becomes a question mark."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


@contextlib.contextmanager
def _plain_warnings() -> Iterator[None]:
    """Print warnings meant for the user as one line, without the place in the code."""

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        print(f"cstree: warning: {' '.join(str(message).split())}", file=file or sys.stderr)

    with warnings.catch_warnings():
        warnings.simplefilter("default", UserWarning)
        warnings.showwarning = show
        yield
