"""The service's own metrics, as the harness keeps them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from stub_service import Stub, serving

from restbench.deploy import service
from restbench.drive import monitor
from restbench.drive.monitor import parse_metrics

TEXT = """# HELP jvm_memory_used_bytes The amount of used memory
# TYPE jvm_memory_used_bytes gauge
jvm_memory_used_bytes{area="heap",id="G1 Eden Space"} 1.2582912E7
jvm_classes_loaded_classes 11000.0
restbench_requests_total{strategy="serial",status="200",workload="matrix"} 42.0
restbench_requests_in_flight 3.0
"""


def test_only_the_metrics_that_matter_are_kept_with_their_labels() -> None:
    assert parse_metrics(TEXT) == {
        'jvm_memory_used_bytes{area="heap",id="G1 Eden Space"}': 12582912.0,
        'restbench_requests_total{strategy="serial",status="200",workload="matrix"}': 42.0,
        "restbench_requests_in_flight": 3.0,
    }


def test_other_metrics_can_be_asked_for() -> None:
    assert parse_metrics(TEXT, lambda name: "classes" in name) == {
        "jvm_classes_loaded_classes": 11000.0
    }


@pytest.fixture
def stub() -> Iterator[Stub]:
    with serving(Stub("java", {})) as running:
        yield running


def test_what_a_service_does_not_count_is_unknown_and_not_zero(stub: Stub) -> None:
    with service.attach("java", stub.url) as attached:
        assert monitor.answered_requests(attached, "serial") is None
        stub.counted["serial", 200] = 3
        stub.counted["serial", 500] = 1
        assert monitor.answered_requests(attached, "serial") == [4]
