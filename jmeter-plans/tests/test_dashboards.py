"""Dashboards of many runs, made in one JVM by JMeter's own generator."""

import json
import re
import subprocess
from datetime import datetime
from pathlib import Path

import pytest
from conftest import PLANS

HEADER = (
    "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,"
    'bytes,sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect,"serverTiming"\n'
)

BEGIN_MS = 1_800_000_000_000


def write_jtl(path: Path, elapsed_ms: list[int], failures: int = 0) -> Path:
    """A JTL with one sample every 100 ms; the first `failures` of them failed."""
    rows = (
        f"{BEGIN_MS + 100 * n},{elapsed},cell,200,OK,user 1-1,text,"
        f"{str(n >= failures).lower()},,268,500,1,1,http://127.0.0.1:1/matrix/serial,{elapsed},0,0,\n"
        for n, elapsed in enumerate(elapsed_ms)
    )
    path.write_text(HEADER + "".join(rows), encoding="utf-8")
    return path


def make_dashboards(*pairs: tuple[Path, Path]) -> "subprocess.CompletedProcess[str]":
    command = [str(PLANS / "jmeter.sh"), "dashboards"]
    command += [str(path) for pair in pairs for path in pair]
    return subprocess.run(command, capture_output=True, text=True, timeout=400, check=False)


def total(dashboard: Path) -> dict[str, float]:
    statistics = json.loads((dashboard / "statistics.json").read_text(encoding="utf-8"))
    return dict(statistics["Total"])


ENGINES = ("198.18.0.5:1099", "198.18.0.4:1099")


def merged(file: Path) -> Path:
    """A file of two engines. It is in no order: engines send their samples in batches."""
    rows = write_jtl(file, [10] * 30).read_text(encoding="utf-8").removeprefix(HEADER)
    of_each = [rows.replace("user 1-1", f"{engine}-user 1-1") for engine in ENGINES]
    file.write_text(HEADER + "".join(of_each), encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a dashboard of each file, in its name, all of one JVM."""
    folder = tmp_path_factory.mktemp("dashboards")
    (folder / "fast").mkdir()
    for name in ("statistics.json", "stale.html"):
        (folder / "fast" / name).write_text("old", encoding="utf-8")
    files = [
        write_jtl(folder / "slow.jtl", [100, 200, 300], failures=1),
        write_jtl(folder / "fast.jtl", [10] * 45),
        write_jtl(folder / "long.jtl", [500] * 10_000 + [10] * 20_000),
        merged(folder / "merged.jtl"),
    ]
    finished = make_dashboards(*((file, folder / file.stem) for file in files))
    assert finished.returncode == 0, finished.stderr
    return folder


def graphs(dashboard: Path) -> str:
    return (dashboard / "content" / "js" / "graph.js").read_text(encoding="utf-8")


def test_makes_one_dashboard_a_file_each_with_its_own_numbers(made: Path) -> None:
    slow, fast = made / "slow", made / "fast"
    assert (total(slow)["sampleCount"], total(slow)["meanResTime"]) == (3, 200.0)
    assert total(slow)["errorCount"] == 1
    assert (total(fast)["sampleCount"], total(fast)["meanResTime"]) == (45, 10.0)
    for folder in (slow, fast):
        assert folder.name in (folder / "index.html").read_text(encoding="utf-8")
        assert graphs(folder)


def test_tells_begin_and_end_as_times_of_day(made: Path) -> None:
    page = (made / "fast" / "index.html").read_text(encoding="utf-8")
    times = re.findall(r"<td>(?:Start|End) Time</td>\s*<td>\"([^\"]*)\"</td>", page)
    shown = [datetime.strptime(each.rpartition(" ")[0], "%Y-%m-%d %H:%M:%S") for each in times]
    begin, end = (datetime.fromtimestamp(at // 1000) for at in (BEGIN_MS, BEGIN_MS + 44 * 100 + 10))
    assert shown == [begin, end]


def test_draws_a_point_a_second(made: Path) -> None:
    throughput = next(
        line
        for line in graphs(made / "fast").splitlines()
        if '"Transaction per second"' in line or '"Total Transactions Per Second"' in line
    )
    assert '"granularity": 1000' in throughput


def test_percentiles_cover_every_sample_not_the_last_20_000(made: Path) -> None:
    assert total(made / "long")["pct1ResTime"] == 500.0


def test_a_file_merged_of_two_engines_is_counted_whole_and_shows_the_users_of_each(
    made: Path,
) -> None:
    found = total(made / "merged")
    assert (found["sampleCount"], found["errorCount"]) == (60, 0)
    for engine in ENGINES:
        assert f'"label": "{engine}-user"' in graphs(made / "merged")


def test_replaces_a_dashboard_that_is_there(made: Path) -> None:
    assert not (made / "fast" / "stale.html").exists()


def test_names_a_file_without_a_sample_and_still_makes_the_others(tmp_path: Path) -> None:
    empty, missing = write_jtl(tmp_path / "empty.jtl", []), tmp_path / "missing.jtl"
    broken = tmp_path / "broken.jtl"
    broken.write_text(HEADER + "1800000000000,5,cell\n", encoding="utf-8")
    good = write_jtl(tmp_path / "good.jtl", [10])
    files = [empty, missing, broken, good]
    finished = make_dashboards(*((file, tmp_path / file.stem) for file in files))
    assert finished.returncode == 1
    for file in (empty, missing, broken):
        assert f"dashboards: {file}: " in finished.stderr
    assert total(tmp_path / "good")["sampleCount"] == 1


def test_replaces_neither_a_file_nor_a_folder_that_is_no_dashboard(tmp_path: Path) -> None:
    samples, kept = write_jtl(tmp_path / "a.jtl", [10]), write_jtl(tmp_path / "b.jtl", [10])
    (tmp_path / "empty").mkdir()
    targets = [kept, tmp_path, tmp_path / "empty"]
    finished = make_dashboards(*((samples, target) for target in targets))
    assert finished.returncode == 1
    for target in (kept, tmp_path):
        assert f"{target} exists and is no dashboard" in finished.stderr
    assert samples.exists()
    assert kept.exists()
    assert total(tmp_path / "empty")["sampleCount"] == 1
