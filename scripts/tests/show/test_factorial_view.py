"""A factorial design from an experiment's file to the page: cells, effects, refusals."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from experiment_file import refused
from markupsafe import escape
from shown_run import findings, page_of, part_of, picture_of
from trial_run import EXPERIMENT, build
from typer.testing import CliRunner

from restbench import cli
from restbench.analyse import factorial, measures
from restbench.experiment import experiment
from restbench.failures import CellsFailed
from restbench.show import files
from restbench.store.store import EXPERIMENTS, Run

DESIGN = """
[factorial]
design = "2^k r"
fixed = { service = "java", complexity = "low" }
[factorial.factors]
strategy = ["serial", "pinned"]
users = [10, 30]
"""
FILE = (
    EXPERIMENT.partition("[[cells]]")[0].replace(
        "seed = 7", 'seed = 7\nviews = ["study", "factorial"]'
    )
    + DESIGN
)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """pinned has half of serial's throughput, users change nothing; blocks differ by a tenth. So of
    the variation 4·3·500² = 3.000e6 is strategy; blocks are 8·150² = 0.180e6, the rest 0.020e6."""
    per_s = {
        f"java {strategy} low {users}": [scale * base for scale in (0.9, 1.0, 1.1)]
        for strategy, base in (("serial", 2000.0), ("pinned", 1000.0))
        for users in (10, 30)
    }
    return build(tmp_path / "run", per_s, experiment=FILE.replace('claims = "claims.toml"\n', ""))


def test_the_corners_are_the_cells_and_the_plan_tells_the_design(tmp_path: Path) -> None:
    shipped = experiment.load(EXPERIMENTS / "factorial.toml")
    assert len(shipped.all_cells()) == len(set(shipped.corners())) == 8
    assert {cell.strategy for cell in shipped.corners()} == {"serial", "thread-pool"}
    told = CliRunner().invoke(cli.app, ["plan", "factorial"]).output
    assert "2^k r: 3 factors, 8 cells a block" in told
    assert "A strategy: serial" in told


def test_a_technique_that_halves_throughput_explains_nearly_all_of_it(run: Run) -> None:
    found = factorial.of_run(experiment.load(run.experiment_file), measures.rows(run))
    assert found is not None
    effects = {each.name: each for each in found.effects}
    assert effects["strategy"].share_pct == pytest.approx(100 * 3.0 / 3.2, abs=0.1)
    assert found.block_share_pct == pytest.approx(100 * 0.18 / 3.2, abs=0.1)
    assert found.error_share_pct == pytest.approx(100 * 0.02 / 3.2, abs=0.1)
    assert effects["users"].share_pct < 0.1
    assert [round(each) for each in found.blocks] == [1, 2, 3]


def test_tables_figures_and_page_say_so(run: Run) -> None:
    files.write_tables(findings(run))
    effects = json.loads(run.factorial_json.read_text())["effects"]
    assert {each["name"] for each in effects} == {"strategy", "users", "strategy × users"}
    exported = (findings(run).run.factorial or {})["effects"]
    assert [each["q"] for each in exported] == pytest.approx([each["q"] for each in effects])
    page = page_of(run)
    assert "94 % of throughput&#39;s variation is strategy" in part_of(page, "answer")
    assert picture_of(page) == "factorial-effects"
    part = part_of(page, "factorial")
    assert "strategy × users" in part
    assert " 93." in part, "its share"
    answer = findings(run).run.answer
    assert answer is not None
    assert page.count(escape(answer.sentence)) == 1, "it is not said again below"
    assert answer.reasons[0].startswith("Effects have 95 % intervals over 3 blocks")


def test_without_a_whole_block_there_are_no_effects(tmp_path: Path) -> None:
    lacking = build(tmp_path / "run", {"java serial low 10": [100.0]}, experiment=FILE)
    with pytest.raises(CellsFailed, match="no block has all 4 cells"):
        factorial.of_run(experiment.load(lacking.experiment_file), measures.rows(lacking))
    assert "no block has all 4 cells" in part_of(page_of(lacking), "factorial")
    files.write_tables(findings(lacking))
    assert lacking.test_matrix_csv.exists() and not lacking.factorial_json.exists()


def test_a_cell_that_answers_nothing_leaves_a_run_without_a_multiplicative_model(
    tmp_path: Path,
) -> None:
    per_s = {
        f"java {strategy} low {users}": [1000.0, 1100.0, 0.01 if strategy == "pinned" else 900.0]
        for strategy in ("serial", "pinned")
        for users in (10, 30)
    }
    file = FILE.replace('design = "2^k r"', 'design = "2^k r"\nmodel = "multiplicative"')
    run = build(tmp_path / "run", per_s, experiment=file)
    assert "needs values above 0, one is 0" in part_of(page_of(run), "factorial")


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("users = [10, 30]", "cores = [1, 2]", "'cores' is none; allowed are service, strategy,"),
        ('"pinned"]', '"fast"]', "'fast' is not one of the java service's: serial"),
        ('complexity = "low"', 'complexity = "lo*"', "complexity: 'lo*' is not defined; defined"),
        ('complexity = "low"', 'complexity = "tiny"', "complexity: 'tiny' is not defined; defined"),
        ('views = ["study", "factorial"]', 'views = ["study"]', "views: the view 'factorial' and"),
    ],
)
def test_a_design_that_cannot_be_is_one_line_with_file_key_and_what_is_allowed(
    old: str, new: str, told: str
) -> None:
    assert told in refused(FILE, old, new)
