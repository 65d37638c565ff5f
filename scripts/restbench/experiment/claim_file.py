"""The claims file (TOML): every claim with its tests, fixed before a run."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, model_validator

from restbench.experiment import toml_file
from restbench.experiment.claim import Claim, Margin
from restbench.experiment.selection import Strict
from restbench.failures import BadConfiguration


class Claims(Strict):
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


def load(path: Path) -> Claims:
    """Read a claims file. BadConfiguration names the file, the claim and the key."""
    return toml_file.read(path, Claims)


def parse(content: bytes, source: str) -> Claims:
    """The claims in these bytes; `source` is what an error calls them."""
    return toml_file.parse(content, Claims, source)


def checked_text(path: Path, defined: Collection[str]) -> str:
    """The text of a file whose claims are on these levels of complexity; else BadConfiguration: a
    claim on another would be "not measured" in every run, as if by bad luck."""
    content = toml_file.content(path)
    for claim in toml_file.parse(content, Claims, path).claims:
        for cell in claim.cells:
            if cell.complexity not in defined:
                raise BadConfiguration(
                    f"{path}: claims.{claim.id}: complexity: '{cell.complexity}' is not one of "
                    f"the experiment's: {', '.join(defined)}"
                )
    return content.decode("utf-8")
