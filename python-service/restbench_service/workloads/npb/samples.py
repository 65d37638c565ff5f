"""Requests that show how long the kernels take: class S of each, the smallest there is."""

import json

from ..look import Look
from ..workload import Sample
from .kernels import KERNELS
from .workload import NpbWorkload

IGNORED_NUMBERS = 4096
"""In an array that is read and ignored: what takes long to read for its length."""


def samples(most_bytes: int) -> list[Sample]:
    """Two a kernel, the first only read, the second longer; nothing of them stays in a cache."""
    request = {"requestId": "sample", "class": "S"}
    long_request = {**request, "ignored": [1] * IGNORED_NUMBERS}
    short, long = (json.dumps(each).encode() for each in (request, long_request))
    return [
        sample
        for workload in (NpbWorkload(name, most_bytes, 0) for name in KERNELS)
        for sample in (Sample(Look(workload), short), Sample(workload, long))
    ]
