"""A tiny repository whose commits are builds of the stub service."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from stub_cli import STUB

#: What a commit's `make services` makes: a `restbench` that tells how its stub is started.
MAKEFILE = """\
services:
\tmkdir -p .venv/bin
\tcp tool .venv/bin/restbench
"""
TOOL = """\
#!/bin/sh
printf '{{"argv": ["env", %s, "{python}", "{stub}", "%s"]}}' '{faults}' "$2"
"""


@dataclass
class Repository:
    """A repository whose commits are builds of the stub."""

    path: Path

    def git(self, *arguments: str) -> str:
        line = ["git", "-C", str(self.path), "-c", "user.name=t", "-c", "user.email=t@t"]
        return subprocess.run(
            [*line, *arguments], check=True, capture_output=True, text=True
        ).stdout.strip()

    def commit(self, makefile: str = MAKEFILE, faults: dict[str, str] | None = None) -> str:
        """A commit whose services have these faults; returns it."""
        (self.path / "Makefile").write_text(makefile)
        (self.path / ".gitignore").write_text(".cache\n.venv\n")
        given = json.dumps(f"STUB_FAULTS={json.dumps(faults or {})}")
        text = TOOL.format(python=sys.executable, stub=STUB, faults=given)
        (self.path / "tool").write_text(text)
        (self.path / "tool").chmod(0o755)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "a build")
        return self.git("rev-parse", "HEAD")

    def worktrees(self) -> list[str]:
        """All but the repository itself: what git knows, and what lies on the disk."""
        known = self.git("worktree", "list", "--porcelain").split("\n\n")[1:]
        folder = self.path / ".cache" / "ab"
        return known + [str(each) for each in folder.glob("*/*")]


def made(path: Path) -> Repository:
    path.mkdir(parents=True)
    repository = Repository(path)
    repository.git("init", "-q")
    return repository
