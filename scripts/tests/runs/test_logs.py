"""Lines of a log as what is sent: the oracle, and levels of complexity in a file."""

from __future__ import annotations

import json
from pathlib import Path
from zlib import crc32

import pytest
from experiment_file import FIGURE, MINIMAL, MIXED, loaded

from restbench.drive import logs
from restbench.drive.payload import files_of, logs_payload, path_of, payload_of
from restbench.experiment import experiment
from restbench.experiment.level import Logs
from restbench.failures import BadConfiguration
from restbench.store import store

#: Rule sets, and by number of lines of seed 1 the checksum of the only right answer to id 1: what
#: `re`, `java.util.regex`, RE2 and RE2/J agree on.
ANSWERS = {
    "R16": {1: 2125131253, 10: 2596257181, 100: 23595475, 1000: 1581067350},
    "R64": {1: 1389998892, 10: 3986211368, 100: 1388078659, 1000: 3635227010},
    "R256": {1: 2881100947, 10: 2063606384, 100: 2733289716, 1000: 1239037649},
    "R1024": {1: 195877173, 10: 1848691888, 100: 152804903, 1000: 2877188418},
}
LINES = {1: 3510176008, 10: 3850165942, 100: 4278006688, 1000: 954840131}
PATTERNS = {"R16": 3364345114, "R64": 3386714313, "R256": 141114057, "R1024": 1129582503}
LOW = 'logs-low = { rules = "R64", lines = 10 }'
OF_LOGS = MINIMAL.replace("[profiles.quick]", f"{LOW}\n[profiles.quick]").replace(
    'complexity = "low"', 'complexity = ["low", "logs-low"]'
)


@pytest.mark.parametrize("count", LINES)
def test_the_lines_are_those_that_the_contract_describes(count: int) -> None:
    assert crc32("\n".join(logs.lines(1, count)).encode()) == LINES[count]


@pytest.mark.parametrize("rule_set", PATTERNS)
def test_the_rules_are_those_that_the_contract_describes(rule_set: str) -> None:
    drawn = logs.rules(int(rule_set.removeprefix("R")))
    assert crc32("\n".join(rule.pattern for rule in drawn).encode()) == PATTERNS[rule_set]


@pytest.mark.parametrize("count", LINES)
@pytest.mark.parametrize("rule_set", ANSWERS)
def test_the_answer_is_the_one_that_four_engines_agree_on(rule_set: str, count: int) -> None:
    payload = logs_payload(Logs.model_validate({"rules": rule_set, "lines": count}), 1)
    assert crc32(payload.answer(1)) == ANSWERS[rule_set][count]
    request = json.loads(payload.body(1))
    assert request == {"requestId": 1, "ruleSet": rule_set, "lines": list(logs.lines(1, count))}


@pytest.mark.parametrize(("seed", "crc"), [(2, 2340433565), (3, 3708627183)])
def test_another_seed_has_other_lines_and_their_answer(seed: int, crc: int) -> None:
    assert crc32(logs_payload(Logs(rules="R64", lines=100), seed).answer(1)) == crc


def test_the_contracts_examples_have_the_oracles_answers() -> None:
    folder = Path(store.EXPERIMENTS).parents[1] / "contract" / "examples"
    held = 0
    for path in sorted(folder.glob("ok-logs-*.json")):
        example = json.loads(path.read_text())
        sent = example["request"]
        request = sent["body"] if "body" in sent else json.loads(sent["bodyText"])
        right = logs.answer_rest(request["ruleSet"], request["lines"])
        assert example["responseText"].endswith("," + right), path.name
        held += 1
    assert held >= 15


def test_a_level_of_logs_is_sent_to_its_own_workload_and_has_no_kernel(tmp_path: Path) -> None:
    mixed = loaded(tmp_path, OF_LOGS)
    assert [mixed.workload(level) for level in mixed.levels] == ["matrix", "logs"]
    payload = payload_of(mixed, "logs-low")
    assert path_of(payload.workload, "pinned", "loops") == "/logs/pinned"
    matrix = payload_of(mixed, "low").workload
    assert path_of(matrix, "pinned", "loops") == "/matrix/pinned?kernel=loops"
    assert files_of(mixed, "logs-low", Path) == {
        Path("logs-low/body-rest.json"): payload.body_rest,
        Path("logs-low/answer-rest.json"): payload.answer_rest,
    }
    assert payload.work == 10 * 64


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("lines = 10", "lines = 0", "complexities.logs-low.lines: Input should be greater than"),
        ('"R64"', '"r64"', "complexities.logs-low.rules: Input should be 'R16', 'R64', 'R256'"),
        ("lines = 10", "line = 10", "logs-low.line: unknown key; allowed here are rules, lines"),
        ('rules = "R64", ', "", "complexities.logs-low.rules: Field required"),
        ("rows = 2, ", "", "complexities.low.rows: Field required"),
        ("users =", 'kernel = "native"\nusers =', "'native' multiplies matrices"),
    ],
)
def test_a_level_that_cannot_be_is_refused_in_one_line(
    tmp_path: Path, old: str, new: str, expected: str
) -> None:
    assert old in OF_LOGS
    with pytest.raises(BadConfiguration) as refused:
        loaded(tmp_path, OF_LOGS.replace(old, new, 1))
    assert expected in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_mix_of_matrices_and_logs_is_refused(tmp_path: Path) -> None:
    with_logs = MIXED.replace("[mixes]", f"{LOW}\n[mixes]").replace(
        "huge = 0.05", "logs-low = 0.05"
    )
    with pytest.raises(BadConfiguration, match=r"mixes\.both: 'logs-low' is of logs"):
        loaded(tmp_path, with_logs)


def test_a_figure_against_rows_has_no_logs(tmp_path: Path) -> None:
    with pytest.raises(BadConfiguration, match="figure 1: lines of a log are no rows"):
        loaded(tmp_path, OF_LOGS + FIGURE)


def test_the_experiment_has_every_technique_at_the_four_levels() -> None:
    cells = experiment.load(store.experiment_file("logs")).all_cells()
    levels = {"logs-low": "10 x R64", "logs-medium": "100 x R64"}
    levels |= {"logs-high": "1000 x R64", "logs-one": "1 x R1024"}
    definition = experiment.load(store.experiment_file("logs"))
    assert {level: str(definition.size(level, Logs)) for level in definition.levels} == levels
    assert {each.complexity for each in cells} == set(levels)
