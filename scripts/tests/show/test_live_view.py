"""What is seen of a block while it runs, on terminals of any width."""

from __future__ import annotations

import io
import time

import pytest
from fixture_run import cell
from rich.console import Console

from restbench.schedule.block_run import Progress
from restbench.show.progress import ProgressView, duration

LONG = cell("python process-per-request rows-200 60 core0").id


@pytest.mark.parametrize("width", [40, 60, 120])
def test_the_view_fits_terminals_of_any_width(width: int) -> None:
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=width, height=20)
    with ProgressView(console) as view:
        view.show(
            Progress(
                3, done=17, planned=1_800, cell=LONG, per_s=6675.4, until=time.monotonic() + 90
            )
        )
        view._bar.refresh()
        shown = [
            "".join(segment.text for segment in line)
            for line in console.render_lines(view._bar.get_renderable())
        ]
    assert max(map(len, shown)) <= width
    assert len(shown) == 2
    assert "17/1800" in shown[0]
    assert shown[1].startswith("block 3  python-process-per-re")


def test_where_there_is_no_terminal_a_look_prints_nothing_and_a_note_does() -> None:
    screen = io.StringIO()
    with ProgressView(Console(file=screen, width=100)) as view:
        view.show(Progress(1, cell=LONG))
        assert screen.getvalue() == ""
        view.note("block 1: warm after 9 s")
    assert screen.getvalue() == "block 1: warm after 9 s\n"


@pytest.mark.parametrize(
    ("seconds", "text"), [(48, "48 s"), (725, "12 min 05 s"), (3_720, "1 h 02 min"), (-3, "0 s")]
)
def test_times_are_for_reading(seconds: float, text: str) -> None:
    assert duration(seconds) == text
