"""What a factorial design explains of a run: block by block."""

from __future__ import annotations

from collections.abc import Sequence

from restbench.analyse import factorial
from restbench.analyse.comparison import series
from restbench.analyse.factorial import Factorial
from restbench.analyse.measures import Row
from restbench.experiment.experiment import Experiment


def of(definition: Experiment, rows: Sequence[Row]) -> Factorial | None:
    """The effects of the run's design, block by block; None where it has none. CellsFailed where no
    block has measured every corner."""
    if definition.factorial is None:
        return None
    response, by_cell = definition.factorial.response, {row.cell: row for row in rows}
    values = [
        series(by_cell[cell], response).values if cell in by_cell else {}
        for cell in definition.corners()
    ]
    return factorial.analyse(definition.factorial, values)
