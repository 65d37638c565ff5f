"""What a running service counts, as its /metrics tell it."""

import re
from collections import Counter

from live_service import LiveService


def metric(service: LiveService, name: str) -> dict[str, float]:
    """The values of a metric, by its labels."""
    answer = service.request("GET", "/metrics")
    assert answer.status == 200, answer
    found = re.findall(rf"^{name}(?:{{(.*)}})? (\S+)$", answer.body.decode(), re.MULTILINE)
    assert found or name.endswith("_total"), answer
    return {labels: float(value) for labels, value in found}


def in_flight(service: LiveService) -> float:
    return metric(service, "restbench_requests_in_flight")[""]


def answered(service: LiveService) -> Counter[str]:
    """How many requests have been answered with each status."""
    count: Counter[str] = Counter()
    for labels, value in metric(service, "restbench_requests_total").items():
        count[labels.split('"')[1]] += int(value)
    return count


def begun(service: LiveService) -> float:
    """How many requests are in flight or have been answered."""
    return in_flight(service) + sum(answered(service).values())
