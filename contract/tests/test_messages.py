"""The examples of messages: which there are, and that their parts fit each other."""

import json
import re
from pathlib import Path
from typing import Any

from cases import (
    EVERY_QUEUE,
    IN_OTHER_PROCESSES,
    OF_ONE_PROCESS,
    TECHNIQUES,
    Selection,
    cases,
    left_behind,
    situation,
)
from conftest import of_each
from service import Service

CONTRACT = Path(__file__).parents[1]

EXAMPLES: dict[str, dict[str, Any]] = {
    path.stem: json.loads(path.read_text())
    for path in (CONTRACT / "examples").glob("*-messages-*.json")
}
SCHEMA = json.loads((CONTRACT / "messages.schema.json").read_text())["$defs"]
#: As a service of each language lists it.
SERVICE = Service(
    "127.0.0.1", 1, {"messages": ["serial", "worker-pool", *IN_OTHER_PROCESSES]}, 1000, 1.0, None
)
README = (CONTRACT / "README.md").read_text()
every_example = of_each(sorted(EXAMPLES))


def text_of(example: dict[str, Any]) -> str:
    return json.dumps(example, ensure_ascii=False)


def test_the_techniques_are_the_same_everywhere() -> None:
    assert list(TECHNIQUES) == SCHEMA["Technique"]["enum"]
    section = README.partition("**Techniques.**")[2].partition("**Guarantees**")[0]
    assert re.findall(r"^\| `([a-z-]+)` \|", section, re.MULTILINE) == list(TECHNIQUES)
    assert f"must be one of {', '.join(TECHNIQUES)}`" in README


def test_every_operation_and_technique_has_a_success() -> None:
    found = set()
    for name, example in EXAMPLES.items():
        if name.startswith("ok-"):
            path = example["request"]["path"].partition("?")[0]
            shape = re.sub("{run}[^/]*", "{queue}", path).replace("serial", "{strategy}")
            found |= {
                (
                    example["request"]["method"],
                    re.sub("/messages/[^/{]+$", "/messages/{id}", shape),
                    it,
                )
                for it in example.get("techniques", TECHNIQUES)
            }
    operations = {(method, path) for method, path, _ in found}
    assert len(operations) == 9
    assert found == {(*operation, it) for operation in operations for it in TECHNIQUES}


def test_every_code_that_messages_have_has_an_example() -> None:
    codes = {name[:3] for name in EXAMPLES}
    assert codes == {"ok-", "002", "003", "007", "009", "012", "013", "014", "015"}


@every_example
def test_only_what_is_009_anyway_holds_without_a_database(name: str) -> None:
    example = EXAMPLES[name]
    assert ("given" in example) == (not (name.startswith("009") and example["status"] == 404))


@every_example
def test_what_stands_in_braces_is_explained(name: str) -> None:
    names = re.findall(r"(?<![{])\{([a-z]+)\}", text_of(EXAMPLES[name]))
    assert set(names) <= {"strategy", "technique", "run", "id"}


@every_example
def test_an_id_is_one_that_was_answered_before(name: str) -> None:
    example = EXAMPLES[name]
    from_before = "{id}" in text_of(example) or '"before"' in text_of(example.get("varying", {}))
    assert not from_before or "before" in example


@every_example
def test_a_case_has_names_of_its_own_and_a_technique_that_there_is(name: str) -> None:
    example = EXAMPLES[name]
    made = list(cases(example, SERVICE, Selection()))
    runs = [case["names"]["run"] for case in made]
    assert made
    assert len(set(runs)) == len(runs)
    for case in made:
        assert re.fullmatch("[a-z][a-z0-9]{12}", case["names"]["run"])
        assert not re.search(r"\{(strategy|technique|run)\}", text_of(case))
        technique, strategy = case["names"]["technique"], case["names"]["strategy"]
        if "strategies" not in example and technique == OF_ONE_PROCESS:
            assert strategy not in IN_OTHER_PROCESSES


def test_a_situation_is_made_before_the_example_s_own_requests() -> None:
    case = next(cases(EXAMPLES["ok-messages-pop-second"], SERVICE, Selection()))
    asked = [(it["method"], it["path"].rpartition("/")[2]) for it in situation(case)]
    assert asked == [("POST", "queues")] + [("POST", "messages")] * 3 + [("POST", "pop")]
    bodies = [it["body"]["body"] for it in situation(case) if "body" in it["body"]]
    assert bodies == ["one", "two", "three"]


@every_example
def test_each_queue_that_is_made_is_taken_away(name: str) -> None:
    case = next(cases(EXAMPLES[name], SERVICE, Selection()))
    bodies = [it.get("body", {}) for it in (*situation(case), case["request"])]
    made = {str(body.get("queue")) for body in bodies if isinstance(body, dict)}
    known, gone = (
        {f"{case['names']['run']}-{queue}" for queue in queues}
        for queues in (EVERY_QUEUE, left_behind(case))
    )
    assert made & known <= gone


def test_some_strategies_and_techniques_can_be_asked_for() -> None:
    example = EXAMPLES["ok-messages-send"]
    (case,) = cases(example, SERVICE, Selection(["serial"], ["pgmq"]))
    assert (case["names"]["strategy"], case["names"]["technique"]) == ("serial", "pgmq")
    in_memory = Selection(["serial"], ["memory"])
    assert list(cases(EXAMPLES["ok-messages-send-with-key"], SERVICE, in_memory)) == []


def test_what_only_the_work_finds_is_tried_under_every_strategy() -> None:
    def tried(name: str) -> list[str]:
        found = cases(EXAMPLES[name], SERVICE, Selection(techniques=["skip-locked"]))
        return [case["names"]["strategy"] for case in found]

    every = SERVICE.strategies["messages"]
    assert tried("012-messages-pop") == tried("013-messages-key-other-body") == every
    assert tried("003-messages-pop-client-0") == ["serial"]
