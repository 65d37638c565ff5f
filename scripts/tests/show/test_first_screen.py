"""The first screen of every kind of experiment: a sentence, a picture of the same, three lines on
why to believe it. Each kept run is one of its kind; its page is what today's code makes of it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from kept_runs import PICTURES
from markupsafe import escape
from shown_run import page_of, picture_of
from trial_run import build

from restbench import ROOT
from restbench.commands.results import keep_run
from restbench.failures import BadConfiguration
from restbench.show import views
from restbench.show.browser import site
from restbench.store import exported, store
from restbench.store.store import Run

#: Of all that git has of results: 6 MB, and 1.5 more for each of three later kinds of experiment.
MOST_BYTES = 10_500_000
SELF_CONTAINED_MOST_BYTES = 2_000_000
#: Of what a first screen says: to the next full stop or semicolon, and altogether.
MOST_WORDS, MOST_WORDS_IN_ALL = 35, 60


def tracked() -> list[Path]:
    shown = subprocess.run(
        ["git", "ls-files", "-z", "results"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    return [ROOT / name for name in shown.split("\0") if name]


def test_every_kept_run_is_looked_at_and_none_of_them_is_large() -> None:
    known = tracked()
    kept = {each.parent.name for each in known if each.name == "run.json"}
    assert kept == {*PICTURES}
    sizes = {each: each.stat().st_size for each in known}
    assert sum(sizes.values()) <= MOST_BYTES
    library = sizes[store.RESULTS / "assets" / "charts.js"]
    pages = {each.parent.name: size for each, size in sizes.items() if each.name == "report.html"}
    assert max(pages.values()) + library < SELF_CONTAINED_MOST_BYTES, pages
    assert max(size for each, size in sizes.items() if each.name == "run.json") <= 2**20


def test_kept_pages_load_the_style_and_the_script_of_today(tmp_path: Path) -> None:
    """`restbench keep NAME` writes them."""
    made = site.write_page_assets(tmp_path)
    for each in ("report.css", "report.js"):
        assert (store.RESULTS / "assets" / each).read_bytes() == (made / each).read_bytes()


@pytest.mark.parametrize(("name", "most"), [("adaptive", 60), ("npb", 60), ("reference", 120)])
def test_a_kept_run_took_no_longer_than_anybody_would_wait(name: str, most: float) -> None:
    """An hour; of the study two."""
    assert 0 < exported.read(Run(store.RESULTS / name).exported_file).manifest.minutes <= most


def test_the_kept_run_of_the_study_is_what_an_hour_of_it_promises() -> None:
    """At most four undecided claims, warnings on fewer than a tenth of the cells, and a load
    generator that takes two fifths of the CPU time at most, next to the cheapest request."""
    told = exported.read(Run(store.RESULTS / "reference").exported_file)
    assert len(told.claims) == 19
    assert sum(each.verdict == "too-imprecise" for each in told.claims) <= 4
    assert sum(bool(each.warnings) for each in told.cells) < 0.1 * len(told.cells)
    tables = [each for each in told.cells if each.test_ids]
    assert len(tables) == 27
    assert all(each.throughput_per_s and each.throughput_per_s.low for each in tables)
    cheapest = [each for each in told.blocks if each.cell == "java-serial-unbound-low-10u"]
    assert max(each.generator_share or 1.0 for each in cheapest) <= 0.4


@pytest.mark.parametrize("name", PICTURES)
def test_sentence_picture_and_reasons_of_a_kept_run_are_of_its_kind_and_short(name: str) -> None:
    run = Run(store.RESULTS / name)
    told = exported.read(run.exported_file)
    answer = views.answer_of(told)
    assert told.answer == answer, f"made by other code: restbench keep {name}"
    assert answer.sentence.endswith(".")
    counts = [len(part.split()) for part in re.split(r"[.;] ", answer.sentence)]
    assert max(counts) <= MOST_WORDS, answer.sentence
    assert sum(counts) <= MOST_WORDS_IN_ALL, answer.sentence
    assert len(answer.reasons) == 3 and all(answer.reasons)
    assert "no comparison to judge" not in answer.reasons[0]
    page = run.report.read_text(encoding="utf-8")
    assert f'<p class="answer">{escape(answer.sentence)}</p>' in page
    assert picture_of(page).startswith(PICTURES[name]), f"restbench keep {name}"


@pytest.fixture(params=["messages-factorial", "calls-growth"])
def kept(tmp_path: Path, request: pytest.FixtureRequest) -> Run:
    run = Run(tmp_path / request.param)
    shutil.copytree(store.RESULTS / run.name, run.path)
    return run


def contents(run: Run) -> dict[str, bytes]:
    return {
        str(each.relative_to(run.path)): each.read_bytes()
        for each in run.path.rglob("*")
        if each.is_file()
    }


def test_a_kept_copy_is_made_again_of_its_run_json_to_the_byte(kept: Run) -> None:
    keep_run(str(kept.path))
    before = contents(kept)
    stale = json.loads(kept.exported_file.read_text(encoding="utf-8"))
    stale["answer"]["sentence"] = "An older sentence."
    stale["factorial"] = {}
    stale["claims"] = [each | {"verdict": "contradicted"} for each in stale["claims"]]
    stale["cells"][0]["notes"] = [{"kind": "retried", "text": "a note of an older version"}]
    kept.exported_file.write_text(json.dumps(stale), encoding="utf-8")
    kept.figures.mkdir(exist_ok=True)
    (kept.figures / "figure-of-old.svg").write_text("<svg/>", encoding="utf-8")
    kept.report.write_text("an older page", encoding="utf-8")
    keep_run(str(kept.path))
    assert contents(kept) == before


def test_a_run_with_raw_data_needs_a_name_for_its_copy(kept: Run) -> None:
    (kept.path / "raw").mkdir()
    with pytest.raises(BadConfiguration, match="has raw data, so its copy needs a name"):
        keep_run(str(kept.path))


def test_a_run_of_one_block_says_that_it_took_a_minute(tmp_path: Path) -> None:
    run = build(tmp_path / "run", {"java serial low 10": [100.0]})
    assert ", 1 minute · 1 of 1 cells measured" in page_of(run)
