"""Requests that show how long the kernels take: class S of each, the smallest there is."""

from ..workload import Sample
from .kernels import KERNELS
from .workload import NpbWorkload


def samples(most_bytes: int) -> list[Sample]:
    """One a kernel; nothing of them stays in a cache."""
    body = b'{"requestId":"sample","class":"S"}'
    return [Sample(NpbWorkload(name, most_bytes, 0), body) for name in KERNELS]
