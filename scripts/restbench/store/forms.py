"""The form of what lies on disk: which forms this version reads, and what is wrong with a file.

A record's form is its `schema_version`. It grows when a member is added, so that an older restbench
refuses what it would misread; what an older one wrote is read as long as nothing was taken away.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from restbench.experiment.records import SCHEMA_VERSION
from restbench.failures import Unreadable

M = TypeVar("M", bound=BaseModel)
OLDEST = 1


def read_record(path: Path, kind: type[M], mend: str) -> M:
    """One record; Unreadable, in one line with the mend, where the file is missing, cut off, of
    another form or has members that it should not have."""
    document = read_object(path, mend)
    if "schema_version" in kind.model_fields:
        _require_known(path, document)
    try:
        return kind.model_validate_json(json.dumps(document))
    except ValidationError as error:
        problem = error.errors()[0]
        place = ".".join(str(part) for part in problem["loc"]) or "the whole"
        raise Unreadable(
            f"{path}: not a {kind.__name__}: {place}: {problem['msg']}: {mend}"
        ) from error


def read_object(path: Path, mend: str) -> dict[str, Any]:
    """One JSON object; Unreadable where the file has none."""
    document = read_json(path, mend)
    if not isinstance(document, dict):
        raise Unreadable(f"{path}: not a JSON object: {mend}")
    return document


def read_json(path: Path, mend: str) -> Any:
    """One JSON document; Unreadable where the file is missing, empty, cut off or no text."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise Unreadable(f"{path}: cannot be read: {error.strerror}: {mend}") from error
    except UnicodeDecodeError as error:
        raise Unreadable(f"{path}: not text in UTF-8: {mend}") from error
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        what = "not a whole JSON document" if text.strip() else "empty"
        raise Unreadable(f"{path}: {what}: {mend}") from error


def _require_known(path: Path, document: dict[str, Any]) -> None:
    form = document.get("schema_version")
    if not isinstance(form, int) or form < OLDEST:
        raise Unreadable(
            f"{path}: of a form that was never in use ({form!r}): this version reads forms "
            f"{OLDEST} to {SCHEMA_VERSION}; measure again"
        )
    if form > SCHEMA_VERSION:
        commit = document.get("git_commit")
        newer = f"the one of git commit {commit}" if commit else "a newer restbench"
        raise Unreadable(
            f"{path}: of form {form}, this version reads forms {OLDEST} to {SCHEMA_VERSION}: "
            f"read it with {newer}, which wrote it"
        )
