"""The run of MG: charges, one cycle untimed, then the residual, all cycles and the norms timed."""

from time import perf_counter

from ...workload import ParallelLoop
from ..kernel import Outcome
from .charges import CHARGES, Charges, find_charges, search_bytes
from .classes import CLASSES, GridClass
from .solver import Solver, level_points

EPSILON = 1e-8
OPERATIONS_A_POINT = 58
"""Of one iteration."""
_TASK_PLANES = 8


class Multigrid:
    """MG. Its input is where the charges are."""

    classes = CLASSES

    def memory_bytes(self, size: GridClass) -> int:
        """u, r and v on the finest grid, u and r on the others; planes that tasks need.

        The search for the charges is over then.
        """
        sides = [points + 2 for points in level_points(size)]
        grids = 2 * sum(side**3 for side in sides) + sides[-1] ** 3
        return max(8 * (grids + _TASK_PLANES * sides[-1] ** 2), search_bytes(size))

    def input_bytes(self, size: GridClass) -> int:  # noqa: ARG002 - the same for all
        """Positions."""
        return 8 * 2 * CHARGES

    def operations(self, size: GridClass) -> float:
        """By mg.f."""
        return float(OPERATIONS_A_POINT * size.iterations * size.points**3)

    def generate(self, size: GridClass) -> Charges:
        """The charges."""
        return find_charges(size)

    def run(self, size: GridClass, given: Charges | None, loop: ParallelLoop) -> Outcome:
        """The norm after the iterations that the class says."""
        charges = given or find_charges(size)
        solver = Solver(size, loop)
        solver.begin(charges)
        solver.residual()
        solver.cycle()
        solver.begin(charges)
        began = perf_counter()
        norms = _norms(solver, size)
        seconds = perf_counter() - began
        norm = norms[size.norm_after or size.iterations]
        is_near = abs(norm - size.norm) <= EPSILON * size.norm
        verified = is_near and (size.norm_after is None or norms[size.iterations] < size.noise)
        return Outcome(verified, norm, size.norm, size.iterations, seconds)


def _norms(solver: Solver, size: GridClass) -> dict[int, float]:
    """Iterate, and the norm after as many iterations as the key says.

    NPB has the first and the last; a norm in between is a hundredth of an iteration.
    """
    solver.residual()
    norms = {0: solver.norm()}
    for iteration in range(1, size.iterations + 1):
        solver.cycle()
        if iteration in (size.norm_after, size.iterations):
            norms[iteration] = solver.norm()
    return norms
