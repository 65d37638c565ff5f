"""Java's MG next to plain C++: the sums by hand, the C++ and the whole turn for real."""

import shutil
import subprocess
from pathlib import Path

import pytest

from restbench.failures import EnvironmentProblem, Regression, WrongAnswers
from tools import bench_mg, limit_servers
from tools.bench_mg import SOURCE, standing, warm_cpp

needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="there is no g++ here")


def test_the_ratio_is_over_pairs_and_the_quartiles_over_the_median() -> None:
    found = standing([1.2, 2.4, 2.7, 10.8], [1.0, 2.0, 1.0, 4.0])
    assert found.ratio.estimate == pytest.approx(1.8)  # the geometric mean of 1.2, 1.2, 2.7, 2.7
    # scipy: exp(ln 1.8 +- t(0.975, 3) * std(ln [1.2, 1.2, 2.7, 2.7], ddof=1) / 2)
    assert found.ratio.low == pytest.approx(0.8545251521715326)
    assert (found.java_s, found.cpp_s) == pytest.approx((2.55, 1.5))
    assert found.quartiles == pytest.approx((2.1 / 2.55, 4.725 / 2.55))


@pytest.mark.parametrize(
    ("java_s", "is_held"),
    [
        ([1.2, 1.2, 1.2, 1.2], True),
        ([1.2, 1.2, 1.6, 1.3], True),  # above the bar of 1.3, but the interval is not
        ([1.31, 1.31, 1.31, 1.31], False),
        ([0.5, 0.5, 1.0, 1.0], False),  # a quartile is a third below the median
    ],
)
def test_both_bars_are_kept_or_the_limit_is_missed(java_s: list[float], is_held: bool) -> None:
    assert standing(java_s, [1.0] * 4).is_held is is_held


@needs_compiler
def test_the_cpp_finds_npbs_norm(tmp_path: Path) -> None:
    program = limit_servers.compiled(SOURCE, tmp_path)
    assert 0 < warm_cpp(program, "S", tmp_path) < 10
    with pytest.raises(EnvironmentProblem, match="usage: mg"):
        warm_cpp(program, "B", tmp_path)


@needs_compiler
def test_a_wrong_norm_is_never_timed(tmp_path: Path) -> None:
    source = tmp_path / "mg.cpp"
    right = SOURCE.read_text()
    source.write_text(right.replace("1.0 / 64", "1.0 / 61"))
    assert source.read_text() != right
    program = limit_servers.compiled(source, tmp_path)
    assert subprocess.run([program, "S", "1"], capture_output=True, check=False).returncode == 1
    with pytest.raises(WrongAnswers, match=r"^mg.cpp: a wrong answer: norm "):
        warm_cpp(program, "S", tmp_path)


@needs_compiler
@pytest.mark.live
def test_both_are_timed_in_turn_and_a_missed_limit_is_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bench_mg, "RATIO_BAR", 0.0)
    with bench_mg.console.capture() as told, pytest.raises(Regression, match="ratio"):
        bench_mg.bench_mg("S", 2)
    lines = told.get().splitlines()
    assert [line.startswith("Java ") for line in lines[:3]] == [True] * 2 + [False]
    assert lines[2].startswith("MG S, run 3 of 2 processes: ratio ")
