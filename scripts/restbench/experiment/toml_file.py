"""A TOML file read into a model, with one line that says what is wrong with it."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel
from pydantic import ValidationError as PydanticError

from restbench.failures import BadConfiguration

M = TypeVar("M", bound=BaseModel)


def read(path: Path, kind: type[M]) -> M:
    """The file as a model; BadConfiguration names the file, the key and what is wrong with it."""
    try:
        return kind.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadConfiguration(f"{path}: cannot be read: {error}") from error
    except PydanticError as error:
        problem = error.errors()[0]
        key = ".".join(str(part) for part in problem["loc"]) or "file"
        raise BadConfiguration(f"{path}: {key}: {problem['msg']}") from error


def is_old_npb(path: Path) -> bool:
    """Whether a file says, as only earlier versions did, that it is an NPB experiment."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8")).get("kind") == "npb"
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        return False
