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


def check_complexities(claims: Claims, defined: Collection[str], source: str) -> None:
    """Refuse a claim on a complexity that the experiment does not define: it would be "not
    measured" in every run, as if by bad luck."""
    for claim in claims.claims:
        for cell in claim.cells:
            if cell.complexity not in defined:
                raise BadConfiguration(
                    f"{source}: claims.{claim.id}: complexity: '{cell.complexity}' is not one of "
                    f"the experiment's: {', '.join(defined)}"
                )
