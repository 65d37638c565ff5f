"""What is kept of a run in git: everything found, nothing raw, no link into the void."""

from __future__ import annotations

import re
from pathlib import Path

from fixture_run import Made, build, cell, steady_load

from restbench.analyse import measures
from restbench.show.keep import keep
from restbench.store.store import Run


def test_a_kept_run_has_the_page_of_the_raw_one_and_links_only_to_itself(
    tmp_path: Path,
) -> None:
    run = build(tmp_path / "run", [Made(cell("java serial low 10"), steady_load(10, 50))])
    rows = measures.rows(run)
    kept = Run(tmp_path / "kept")
    keep(run, rows, kept, print)
    assert kept.manifest() == run.manifest()
    assert not (kept.path / "raw").exists()
    links = re.findall(r'href="([^"#]+)"', kept.report.read_text())
    assert links
    assert [link for link in links if not (kept.path / link).exists()] == []
