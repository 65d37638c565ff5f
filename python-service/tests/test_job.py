"""What a request may not exceed, in the contract's order, wherever its stages run."""

import pickle
from dataclasses import replace

import pytest
from live_service import STRATEGIES
from observed import Observed

from restbench_service.codec.npb import NpbJson
from restbench_service.execution.job import Job, WorkLimits
from restbench_service.execution.strategy import Strategy
from restbench_service.workloads.npb.workload import NpbWorkload
from restbench_service.workloads.workload import InvalidRequestError

Table = dict[str, Strategy]
every_strategy = pytest.mark.parametrize("name", STRATEGIES)
NEEDED_BYTES = NpbWorkload("MG", 0).working_bytes(
    NpbJson("MG").decode(b'{"requestId":1,"class":"S"}', "")
)


class NotNowError(Exception):
    pass


def refuse(_: int) -> None:
    raise NotNowError


def npb(body: bytes = b'{"requestId":"me","class":"S"}', **options: object) -> Job:
    return Job(NpbWorkload("MG", 0), NpbJson("MG"), body, **options)  # type: ignore[arg-type]


def long(body: bytes) -> bytes:
    """Too long to be decoded in the service's own process, where memory is reserved."""
    return body + b" " * 10_000


@every_strategy
@pytest.mark.parametrize("stretch", [bytes, long])
def test_memory_is_reserved_once_and_before_anything_is_computed(
    strategies: Table, name: str, stretch: type
) -> None:
    reserved = list[int]()
    job = npb(stretch(b'{"requestId":1,"class":"S"}'), reserve=reserved.append)
    assert b'"verified":true' in strategies[name].execute(job).result()
    assert reserved == [NEEDED_BYTES]


@every_strategy
@pytest.mark.parametrize("stretch", [bytes, long])
def test_what_reserving_raises_ends_the_request_and_the_next_one_runs(
    strategies: Table, name: str, stretch: type
) -> None:
    body = stretch(b'{"requestId":1,"class":"S"}')
    for _ in range(3):  # more than there are permits
        with pytest.raises(NotNowError):
            strategies[name].execute(npb(body, reserve=refuse)).result()
    assert b'"verified":true' in strategies[name].execute(npb(body)).result()


@every_strategy
@pytest.mark.parametrize("stretch", [bytes, long])
def test_a_body_that_is_cut_off_is_002_wherever_it_is_decoded(
    strategies: Table, name: str, stretch: type
) -> None:
    with pytest.raises(InvalidRequestError, match="002"):
        strategies[name].execute(npb(stretch(b'{"requestId":1,"class":"S"'))).result()


@every_strategy
def test_more_operations_than_the_kind_s_limit_are_011(strategies: Table, name: str) -> None:
    limits = WorkLimits(operations={"observed": 9})
    with pytest.raises(InvalidRequestError) as error:
        strategies[name].execute(Observed().job(10, limits=limits)).result()
    assert (error.value.code, error.value.message) == ("011", "operations: 10, the limit is 9")
    for units, limit in ((9, "observed"), (10, "of another kind")):
        job = Observed().job(units, limits=WorkLimits(operations={limit: 9}))
        assert strategies[name].execute(job).result()


@every_strategy
@pytest.mark.parametrize("stretch", [bytes, long])
def test_010_goes_before_011_and_both_before_what_reserving_raises(
    strategies: Table, name: str, stretch: type
) -> None:
    """Of a kernel's request: its memory is counted in the service's process."""
    needed, most = -(-NEEDED_BYTES // 2**20), (NEEDED_BYTES - 1) // 2**20
    text = f"class: S needs {needed} MiB of memory, the limit is {most} MiB"
    limits = WorkLimits(NEEDED_BYTES - 1, {"npb-mg": 1})
    for given, code in ((limits, "010"), (replace(limits, working_bytes=None), "011")):
        sent = stretch(b'{"requestId":"me","class":"S"}')
        with pytest.raises(InvalidRequestError) as error:
            strategies[name].execute(npb(sent, limits=given, reserve=refuse)).result()
        assert (error.value.code, error.value.request_id) == (code, "me")
        assert code == "011" or error.value.message == text


def test_what_goes_to_a_process_is_little_more_than_the_body() -> None:
    assert len(pickle.dumps(npb().task())) < 1000
    ahead = npb(long(b'{"requestId":1,"class":"S"}'))
    ahead.decode_ahead()
    assert ahead.task().body == b""
