"""The SQL texts, which the other service and pgbench use too."""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parents[4] / "contract" / "database" / "statements"
_PARAMETER = re.compile(r"(?<!:):([a-z_]+)")


@cache
def statements() -> Mapping[str, bytes]:
    """By the names of their files, with the driver's form of parameters."""
    return {path.stem: in_driver_s_form(path.read_text("utf-8")) for path in FOLDER.glob("*.sql")}


def in_driver_s_form(text: str) -> bytes:
    """`:name` as `%(name)s`: the driver sends values apart from the text."""
    return _PARAMETER.sub(r"%(\1)s", text.replace("%", "%%")).encode()
