"""The claims file (TOML): every claim with its tests, fixed before a run and named by its hash."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import Field, model_validator
from pydantic import ValidationError as PydanticError

from restbench.experiment.claim import Claim, Margin
from restbench.experiment.selection import Strict
from restbench.failures import BadConfiguration


class ClaimsFile(Strict):
    """The whole file."""

    title: str
    margin: Margin
    claims: Annotated[tuple[Claim, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _ids_are_unique(self) -> Self:
        ids = [claim.id for claim in self.claims]
        for each in ids:
            if ids.count(each) > 1:
                raise ValueError(f"id '{each}' is there twice")
        return self


@dataclass(frozen=True)
class Claims:
    """The claims, and what identifies the bytes that they were read from."""

    margin: float
    entries: tuple[Claim, ...]
    sha256: str


def load(path: Path) -> Claims:
    """Read a claims file. BadConfiguration names the file, the claim and the key."""
    try:
        return parse(path.read_bytes(), str(path))
    except OSError as error:
        raise BadConfiguration(f"{path}: cannot be read: {error.strerror}") from error


def parse(content: bytes, source: str) -> Claims:
    """The claims in these bytes; `source` is what an error calls them."""
    try:
        given = tomllib.loads(content.decode("utf-8"))
        file = ClaimsFile.model_validate(given)
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadConfiguration(f"{source}: not TOML: {error}") from error
    except PydanticError as error:
        raise BadConfiguration(f"{source}: {_first_problem(error, given)}") from error
    return Claims(file.margin, file.claims, hashlib.sha256(content).hexdigest())


def checked_text(path: Path, defined: Collection[str]) -> str:
    """The text of a file whose claims are on these levels of complexity; else BadConfiguration."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise BadConfiguration(f"{path}: cannot be read: {error.strerror}") from error
    check_complexities(parse(content, str(path)), defined, str(path))
    return content.decode("utf-8")


def check_complexities(claims: Claims, defined: Collection[str], source: str) -> None:
    """Refuse a claim on a complexity that the experiment does not define: it would be "not
    measured" in every run, as if by bad luck."""
    for claim in claims.entries:
        for cell in claim.cells:
            if cell.complexity not in defined:
                raise BadConfiguration(
                    f"{source}: claims.{claim.id}: complexity: '{cell.complexity}' is not one of "
                    f"the experiment's: {', '.join(defined)}"
                )


def _first_problem(error: PydanticError, given: dict[str, Any]) -> str:
    # An unknown key is named before what is then missing: it is most likely the same one, misspelt.
    problem = min(error.errors(), key=lambda each: each["type"] != "extra_forbidden")
    key = ".".join(_names(problem["loc"], given)) or "file"
    message = problem["msg"].removeprefix("Value error, ")
    return f"{key}: {'unknown key' if problem['type'] == 'extra_forbidden' else message}"


def _names(location: tuple[int | str, ...], given: Any) -> list[str]:
    """The keys to a place in the file; a claim is called by its id, not by its number."""
    names = []
    for step in location:
        try:
            given = given[step]
        except (KeyError, IndexError, TypeError):
            given = None
        called = given.get("id", step) if isinstance(given, dict) else step
        names.append(str(called))
    return names
