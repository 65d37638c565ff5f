"""Running the tools that know Maven and pip."""

from __future__ import annotations

import re
import subprocess
import sys

COLOUR = re.compile(r"\x1b\[[0-9;]*m")


class ToolFailed(Exception):
    """A tool that the audit is made of did not do its work; the text is its last words."""


def run(*command: str, allowed: tuple[int, ...] = (0,)) -> str:
    """What the command printed.

    Raises ToolFailed for any other exit code than those allowed, and where it cannot be started.
    """
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise ToolFailed(f"{command[0]} cannot be started: {error.strerror}") from error
    if done.returncode not in allowed:
        raise ToolFailed(f"{command[0]} ended with {done.returncode}: {last_words(done)}")
    return done.stdout


def last_words(done: subprocess.CompletedProcess[str]) -> str:
    """The first line that says ERROR, else the last line there is."""
    lines = [line.strip() for line in f"{done.stdout}\n{done.stderr}".splitlines() if line.strip()]
    errors = [line for line in lines if "ERROR" in line]
    return next(iter([*errors, *reversed(lines)]), "it said nothing")


def maven(pom: str, *arguments: str) -> str:
    """What Maven printed, without colours: its launcher resets them even where none are wanted."""
    return COLOUR.sub("", run("mvn", "-q", "-B", "-Dstyle.color=never", "-f", pom, *arguments))


def module(name: str, *arguments: str, allowed: tuple[int, ...] = (0,)) -> str:
    """What a module of this virtual environment printed."""
    return run(sys.executable, "-m", name, *arguments, allowed=allowed)
