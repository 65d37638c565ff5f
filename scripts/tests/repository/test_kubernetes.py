"""The manifests of deploy/k8s: valid for Kubernetes, and of the same images, ports and variables as
docker-compose.yml."""

from __future__ import annotations

import socket
import subprocess
import sys
from typing import Any

import kubernetes_validate
import pytest
import yaml

from restbench import ROOT
from restbench.drive.engines import OBJECTS_PORT, PORT
from restbench.experiment import experiment

FOLDER = ROOT / "deploy" / "k8s"
KUBERNETES = "1.34"
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]


def manifests() -> list[dict[str, Any]]:
    kustomization = yaml.safe_load((FOLDER / "kustomization.yaml").read_text())
    files = kustomization["resources"]
    (experiments,) = kustomization["configMapGenerator"]
    named = [*files, *experiments["files"], "kustomization.yaml"]
    assert {FOLDER / name for name in named} == set(FOLDER.iterdir())
    return [each for name in files for each in yaml.safe_load_all((FOLDER / name).read_text())]


def container(kind: str, name: str) -> dict[str, Any]:
    found = next(
        each for each in manifests() if (each["kind"], each["metadata"]["name"]) == (kind, name)
    )
    (one,) = found["spec"]["template"]["spec"]["containers"]
    return dict(one)


@pytest.mark.parametrize(
    "manifest", manifests(), ids=lambda it: f"{it['kind']}-{it['metadata']['name']}"
)
def test_a_manifest_is_valid(manifest: dict[str, Any]) -> None:
    kubernetes_validate.validate(manifest, KUBERNETES, strict=True)


def test_an_invalid_one_is_refused() -> None:
    (first, *_) = [each for each in manifests() if each["kind"] == "StatefulSet"]
    first["spec"]["replicas"] = "two"
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(first, KUBERNETES, strict=True)


@pytest.mark.parametrize("name", ["java", "python"])
def test_a_service_is_that_of_compose(name: str) -> None:
    ours, composed = container("StatefulSet", name), COMPOSE[name]
    assert ours["image"] == composed["image"]
    variables = {each["name"]: each["value"] for each in ours["env"]}
    assert variables.keys() == composed["environment"].keys()
    usual = f"${{{name.upper()}_FRAMEWORK:-{variables['RESTBENCH_FRAMEWORK']}}}"
    assert composed["environment"]["RESTBENCH_FRAMEWORK"] == usual, "the user's choice"
    assert composed["cpuset"] == f"${{{name.upper()}_CPUSET:-}}"
    assert variables["RESTBENCH_PORT"] == composed["environment"]["RESTBENCH_PORT"]
    assert str(ours["ports"][0]["containerPort"]) == variables["RESTBENCH_PORT"]
    (service,) = [
        each
        for each in manifests()
        if each["kind"] == "Service" and each["metadata"]["name"] == name
    ]
    assert str(service["spec"]["ports"][0]["port"]) == variables["RESTBENCH_PORT"]


def test_an_engine_and_its_controller_are_those_of_compose() -> None:
    ours, bench = container("StatefulSet", "engine"), container("Job", "bench")
    options = {each for each in ours["args"] if "hostname" not in each}
    for name in ("engine-0", "engine-1"):
        composed = COMPOSE[name]
        (_, _, command) = composed["entrypoint"]
        assert options <= {*command.split()}
        assert ours["command"][0] in command
        assert composed["image"] == ours["image"]
        assert composed["cpuset"] == "${ENGINE_CPUSET:-}"
        assert composed["networks"]["default"]["aliases"] == [f"{name}.engine"]
    assert COMPOSE["scale"]["command"] == bench["args"]


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("StatefulSet", "java"),
        ("StatefulSet", "python"),
        ("StatefulSet", "engine"),
        ("Job", "bench"),
    ],
)
def test_a_pod_has_whole_cores_of_its_own(kind: str, name: str) -> None:
    resources = container(kind, name)["resources"]
    assert resources["requests"] == resources["limits"]
    assert int(resources["limits"]["cpu"]) > 0


def test_the_job_waits_until_services_and_engines_are_there() -> None:
    """All is created at once, and a job that did not reach them is not repeated."""
    waiting = init_container()
    bench = container("Job", "bench")
    assert waiting["image"] == bench["image"]
    urls = [each.rpartition("=http://")[2] for each in bench["args"] if "attach" in each]
    told = experiment.load(FOLDER / "engines.toml").engines
    assert told is not None
    assert waiting["command"][4:] == [*urls, *told.addresses]
    assert waiting["command"][0] == "python"


def test_the_job_does_not_wait_for_ever() -> None:
    command = init_container()["command"]
    assert float(command[3]) > 0
    with socket.create_server(("127.0.0.1", 0)) as there:
        reached = f"127.0.0.1:{there.getsockname()[1]}"
        done = waited([*command[1:3], "60", reached])
        assert done.returncode == 0, done.stderr
    done = waited([*command[1:3], "0", reached])
    assert done.returncode == 1
    assert done.stderr.startswith(f"{reached} cannot be reached: ")


def init_container() -> dict[str, Any]:
    (job,) = [each for each in manifests() if each["kind"] == "Job"]
    (waiting,) = job["spec"]["template"]["spec"]["initContainers"]
    return dict(waiting)


def waited(arguments: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=False, timeout=100
    )


def test_only_pods_of_the_namespace_reach_the_engines() -> None:
    """RMI executes what it is sent."""
    (policy,) = [each for each in manifests() if each["kind"] == "NetworkPolicy"]
    assert policy["spec"] == {
        "podSelector": {},
        "policyTypes": ["Ingress"],
        "ingress": [{"from": [{"podSelector": {}}]}],
    }


def test_the_job_drives_the_engines_that_there_are() -> None:
    job = container("Job", "bench")
    assert job["image"] == COMPOSE["bench"]["image"]
    assert [each for each in job["args"] if "attach" in each] == COMPOSE["bench"]["command"][-2:]
    told = experiment.load(FOLDER / "engines.toml")
    told.profile("smoke")
    assert told.engines is not None
    (engines,) = [
        each
        for each in manifests()
        if each["metadata"]["name"] == "engine" and "replicas" in each["spec"]
    ]
    replicas = range(engines["spec"]["replicas"])
    assert told.engines.addresses == [f"engine-{number}.engine:{PORT}" for number in replicas]
    arguments = container("StatefulSet", "engine")["args"]
    assert {f"-Jserver_port={PORT}", f"-Jserver.rmi.localport={OBJECTS_PORT}"} <= set(arguments)
