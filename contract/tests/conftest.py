"""The runner's modules are found as they are by `python contract/run.py`."""

import sys
from collections.abc import Callable, Collection
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))


def of_each(names: Collection[str]) -> Callable[[Callable[[str], None]], Callable[[], None]]:
    """One test of all these names: where they are hundreds and a look at each takes no time, pytest
    would take most of it. Which name it was is in the traceback."""

    def one_test(looks_at: Callable[[str], None]) -> Callable[[], None]:
        def of_all() -> None:
            assert names
            for name in names:
                looks_at(name)

        return of_all

    return one_test
