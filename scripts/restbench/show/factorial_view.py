"""What a factorial design explains of a run: a sentence, a table, two figures."""

from __future__ import annotations

from collections.abc import Sequence

from restbench.analyse import factorial
from restbench.analyse.comparison import series
from restbench.analyse.factorial import Factorial
from restbench.analyse.measures import Row
from restbench.experiment import experiment
from restbench.show import effects
from restbench.store.store import Run
from restbench.store.writing import write_json, write_text

EFFECTS, RESIDUALS = "factorial-effects", "factorial-residuals"


def of(run: Run, rows: Sequence[Row]) -> Factorial | None:
    """The effects of the run's design, block by block; None where it has none. CellsFailed where no
    block has measured every corner."""
    definition = experiment.load(run.experiment_file)
    if definition.factorial is None:
        return None
    response, by_cell = definition.factorial.response, {row.cell: row for row in rows}
    values = [
        series(by_cell[cell], response).values if cell in by_cell else {}
        for cell in definition.corners()
    ]
    return factorial.analyse(definition.factorial, values)


def write(run: Run, found: Factorial) -> None:
    """`tables/factorial.md`, `.json` and the figures."""
    write_text(run.factorial_markdown, f"# {run.manifest().title}\n\n{effects.section(found)}\n")
    write_json(run.factorial_markdown.with_suffix(".json"), found.to_json())
    for name, drawn in figures(found).items():
        write_text(run.named_figure(name), drawn)


def figures(found: Factorial) -> dict[str, str]:
    """SVG by name; no residuals of one block."""
    residuals = effects.residuals_svg(found)
    return {EFFECTS: effects.effects_svg(found)} | ({RESIDUALS: residuals} if residuals else {})
