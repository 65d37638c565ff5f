"""What else than the techniques may have made a claim's ratio: a load generator at its end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from restbench.analyse.measures import Row
from restbench.experiment.cell import Cell
from restbench.experiment.claim import Part

#: The audit's flag of a cell where the load generator was the limit.
GENERATOR_BOUND = "generator-bound"
#: And that of a cell where it may have been, as nobody has looked what it can do.
GENERATOR_BUSY = "generator-busy"
#: What it may have done to a ratio.
ACROSS_USERS = "the load generator was the limit, which depends on the number of users"
ALIKE = "the load generator was the limit, which makes techniques look alike"
PERHAPS_ALIKE = (
    "the load generator may have been the limit, which makes techniques look alike: what it can do "
    "is not known (make calibrate)"
)
#: What is expected where no difference has to be shown.
LIKENESSES = ("same", "not greater", "not less")


def limit(part: Part, cells: Sequence[Cell], rows: Mapping[Cell, Row]) -> str:
    """A generator at its end makes techniques look alike, and numbers of users look different; a
    difference that stands at one number of users in spite of it is larger than shown. The CPU time
    of a request is the service's own, whoever sends it."""
    flags = {flag for each in cells if each in rows for flag in rows[each].flags}
    across_users = len({each.users for each in cells}) > 1
    if GENERATOR_BOUND in flags and across_users:
        return ACROSS_USERS
    if part.expect not in LIKENESSES or part.metric == "cpu_ms_per_request":
        return ""
    return ALIKE if GENERATOR_BOUND in flags else PERHAPS_ALIKE if GENERATOR_BUSY in flags else ""
