"""What the README's tables say a property is without being given is what the plans have."""

import re
from pathlib import Path

import pytest

PLANS = Path(__file__).parents[1]
README = (PLANS / "README.md").read_text(encoding="utf-8")


def told(heading: str) -> dict[str, str]:
    """Name and default of each property in the tables below a heading."""
    section = README.partition(f"\n## {heading}")[2].partition("\n## ")[0]
    return dict(re.findall(r"^\| `([\w.]+)` \| ([^|]*?) +\|", section, re.MULTILINE))


@pytest.mark.parametrize(("plan", "heading"), [("closed-load", "Properties"), ("trials", "Trials")])
def test_a_property_is_without_being_given_what_its_table_says(plan: str, heading: str) -> None:
    text = (PLANS / f"{plan}.jmx").read_text(encoding="utf-8")
    defaults = set(re.findall(r"__P\(([\w.]+),([^()]*)\)", text))
    assert len(defaults) >= 4
    known = told("Properties") | told(heading)
    assert sorted(defaults) == sorted((name, known.get(name)) for name, _ in defaults)
