"""Each microbenchmark runs once, for a moment: what it measures is nobody's business here."""

from pathlib import Path

import pytest
from microbench.__main__ import seconds_a_call
from microbench.parts import DEFAULT_CHUNKS, WrongAnswerError, parts
from microbench.selection import Selection
from microbench.timed_workloads import CODEC, ComputeOnly, NothingToDo

from restbench_service.execution.job import InOrderLoop
from restbench_service.execution.strategies import TECHNIQUES

SERVICE = Path(__file__).parents[1]
BODY = (
    b'{"requestId":7,"matrixOne":{"columnCount":2,"rows":[{"value":"1,2"}]},'
    b'"matrixTwo":{"columnCount":1,"rows":[{"value":"3"},{"value":"4"}]}}'
)
ANSWER = b'{"requestId":"7","rows":[[11]]}'


@pytest.fixture
def bodies(tmp_path: Path) -> Path:
    (tmp_path / "low.json").write_bytes(BODY)
    (tmp_path / "low.answer.json").write_bytes(ANSWER)
    return tmp_path


def selection(bodies: Path, *strategies: str) -> Selection:
    return Selection(bodies, ("low",), ("low",), strategies, (1, 30), 0.001)


def names(selected: Selection) -> list[str]:
    return [name for name, _ in parts(selected)]


def test_every_strategy_of_the_table_is_among_the_parts(bodies: Path) -> None:
    found = names(selection(bodies, *TECHNIQUES))
    assert found[:2] == ["parse/low", "serialize/low"]
    for strategy in TECHNIQUES:
        assert f"compute/loops/low/{strategy}" in found
        assert f"compute/native/low/{strategy}" in found
        assert [f"dispatch/{rows}/{strategy}" for rows in (1, 30)] == [
            name for name in found if name.startswith("dispatch") and name.endswith(f"/{strategy}")
        ]


def test_a_standard_pool_with_its_default_chunks_stands_next_to_the_strategy_per_element(
    bodies: Path,
) -> None:
    assert f"dispatch/30/{DEFAULT_CHUNKS}" in names(selection(bodies, "process-per-element"))
    assert DEFAULT_CHUNKS not in str(names(selection(bodies, "serial")))


def test_a_wrong_answer_is_never_timed(bodies: Path) -> None:
    (bodies / "low.answer.json").write_bytes(ANSWER.replace(b"11", b"12"))
    for name, prepare in parts(selection(bodies, "serial")):
        if name.startswith(("serialize", "compute")):
            with pytest.raises(WrongAnswerError, match="low: a wrong answer"):
                prepare()


def test_a_computation_without_its_other_stages_is_the_whole_ones(bodies: Path) -> None:
    workload = ComputeOnly(bodies / "low.json", "native")
    result = workload.compute(workload.decode(b"", ""), InOrderLoop())
    assert CODEC.encode(result) == ANSWER
    assert workload.encode(result) == b""


def test_an_empty_loop_has_a_unit_an_element_of_the_rows() -> None:
    ran: list[tuple[int, int]] = []

    class Recording(InOrderLoop):
        def for_each(self, units: int, units_per_task: int, _body: object, *_: object) -> None:
            ran.append((units, units_per_task))

    workload = NothingToDo(30)
    workload.compute(workload.decode(b"", ""), Recording())
    assert ran == [(600, 20)]


def test_a_call_longer_than_the_time_for_a_value_is_made_once() -> None:
    calls: list[int] = []
    assert seconds_a_call(lambda: calls.append(1), 0.0) > 0
    assert len(calls) == 1
