"""The routes beside the compute route."""

import json
import re
from importlib.metadata import version
from pathlib import Path
from urllib.parse import urljoin

import yaml
from jsonschema import Draft202012Validator
from live_metrics import metric
from live_service import JSON, LiveService, wait_until
from test_core import GOOD

from restbench_service.process import allowed_cores

OPENAPI = yaml.safe_load((Path(__file__).parents[2] / "contract" / "openapi.yaml").read_text())


def valid(name: str, text: bytes) -> dict[str, object]:
    document: dict[str, object] = json.loads(text)
    schemas = {"components": OPENAPI["components"]}
    Draft202012Validator({"$ref": f"#/components/schemas/{name}", **schemas}).validate(document)
    return document


def test_health_says_what_the_service_runs_on(service: LiveService) -> None:
    health = valid("Health", service.request("GET", "/health").body)
    assert (health["service"], health["workers"]) == ("python", 1)
    assert health["server"] == f"gunicorn {version('gunicorn')}"
    assert (health["framework"], health["handoff"]) == ("flask", None)
    assert health["cores"] == allowed_cores()
    settings = health["settings"]
    assert isinstance(settings, dict)
    assert settings["blasThreads"] == 1
    assert settings["processes"] == 2
    assert re.fullmatch(r"numpy \S+ with \S+ \S+", settings["nativeKernel"])
    assert re.fullmatch(r"\w+", settings["blasArchitecture"])


def test_metrics_count_what_adaptive_decides(service: LiveService) -> None:
    before = metric(service, "restbench_decisions_total")
    for _ in range(3):
        assert service.request("POST", "/matrix/adaptive", GOOD).status == 200
    after = metric(service, "restbench_decisions_total")
    assert set(after) == {
        f'decision="{decision}",strategy="adaptive"'
        for decision in ("caller", "process", "low-priority")
    }
    assert sum(after.values()) == sum(before.values()) + 3


def test_every_process_has_the_environment_of_what_computes(service: LiveService) -> None:
    for pid in [service.worker_pid(), *service.pool().values()]:
        variables = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        assert {b"OPENBLAS_NUM_THREADS=1", b"MALLOC_ARENA_MAX=1"} <= set(variables)
        assert sum(name.startswith(b"OPENBLAS_") for name in variables) == 1


def test_strategies_lists_name_key_and_workloads(service: LiveService) -> None:
    document = valid("Strategies", service.request("GET", "/strategies").body)
    rows = document["strategies"]
    assert isinstance(rows, list)
    assert {row["name"]: row["key"] for row in rows} == {
        "serial": "PS",
        "process-per-element": "PE",
        "process-per-request": "PR",
        "executor-per-element": None,
        "executor-per-request": None,
        "adaptive": "F1",
        "worker-pool": None,
    }
    assert {row["name"]: row["permits"] for row in rows}["serial"] == 1
    every_workload = ["matrix", "logs", "npb-is", "npb-cg", "npb-mg", "npb-ft"]
    assert all(row["workloads"] == every_workload for row in rows)


def count(service: LiveService, status: int) -> float:
    labels = f'status="{status}",strategy="process-per-request",workload="matrix"'
    return metric(service, "restbench_requests_total").get(labels, 0.0)


def test_metrics_count_requests_by_status(service: LiveService) -> None:
    path = "/matrix/process-per-request"
    cases = [(200, GOOD, JSON), (400, b"{", JSON), (422, b"{}", JSON), (415, GOOD, {})]
    for status, body, headers in cases:
        before = count(service, status)
        for _ in range(3):
            assert service.request("POST", path, body, headers).status == status
        assert count(service, status) == before + 3


def test_metrics_are_prometheus_text_with_the_process_s_own_figures(service: LiveService) -> None:
    answer = service.request("GET", "/metrics")
    assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    assert b"\nrestbench_requests_in_flight 0.0\n" in answer.body
    assert b"\nprocess_resident_memory_bytes " in answer.body


def test_openapi_json_is_the_contract(service: LiveService) -> None:
    assert json.loads(service.request("GET", "/openapi.json").body) == OPENAPI


def test_docs_are_a_page_that_needs_nothing_from_elsewhere(service: LiveService) -> None:
    assert service.request("GET", "/docs").status == 308
    page = service.request("GET", "/docs/").body.decode()
    linked = re.findall(r'(?:src|href)="([^"]+)"', page)
    assert linked
    for link in linked:
        assert "//" not in link
        assert service.request("GET", urljoin("/docs/", link)).status == 200
    assert "/openapi.json" in service.request("GET", "/docs/start.js").body.decode()


def test_a_long_page_gives_its_place_back_though_a_body_came_with_its_request(
    service: LiveService,
) -> None:
    for body in (b"", b"x"):
        assert service.request("GET", "/docs/swagger-ui.css", body).status == 200
        wait_until(lambda: metric(service, "restbench_requests_in_flight") == {"": 0.0})
