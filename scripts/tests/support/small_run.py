"""A small run with everything that a page may have to say."""

from __future__ import annotations

from pathlib import Path

from fixture_run import START, Made, build, cell, steady_load, wrong_answer

from restbench.store.store import Run


def small_run(path: Path) -> Run:
    """Of four cells two measured, one of them with a wrong answer, one failed and one left out."""
    run = build(
        path,
        [
            Made(cell("java serial low 10"), steady_load(10, 50)),
            Made(cell("java serial low 30"), [*steady_load(30, 90), wrong_answer(START)]),
            Made(cell("java pinned low 10"), failed="cannot pin <core 0>"),
        ],
        unmeasured=(cell("java pinned low 30"),),
    )
    dashboard = run.dashboard("java-serial-unbound-low-10u")
    dashboard.mkdir(parents=True)
    (dashboard / "index.html").write_text("a dashboard")
    return run
