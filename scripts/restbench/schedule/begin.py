"""How a run begins, goes on and ends, with fingerprints of the programs that it depends on. A run
goes on that ended too early, or is finished and gets more blocks.

A run must go on with the same services and load programs, or its numbers would be of two different
things.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, cast

from restbench import ROOT
from restbench.deploy import fronts
from restbench.deploy.migrations import CONTRACT
from restbench.deploy.programs import JAR, PYTHON_SERVICE
from restbench.drive import call_client, generator
from restbench.drive.generator import PLANS, PROGRAMS
from restbench.drive.payload import files_of
from restbench.experiment import experiment
from restbench.experiment.cell import Build, ServiceName
from restbench.experiment.order import BuiltCheckout, Order, plan
from restbench.experiment.profile import LONG_MINUTES, LONG_TIMES, MOST_BLOCKS
from restbench.experiment.records import Calibration, Interruption, Manifest, Microbench
from restbench.experiment.selection import Where
from restbench.failures import (
    BadConfiguration,
    ChangedDuringRun,
    EnvironmentProblem,
    Unreadable,
    counted,
)
from restbench.machine import clock, guardian, machine, watch
from restbench.store import machine_findings, store
from restbench.store.store import Run
from restbench.store.writing import write_json, write_model, write_text

#: The hexadecimal digits of a fingerprint, enough to distinguish any two states of a part.
DIGITS = 16
#: The least duration of a block of an extended run.
LEAST_BLOCK_S = 5.0
ABSENT = "absent"
#: In place of the fingerprint of an archive that is being built.
NOT_WHOLE = "not whole"
#: Environment variables with flags of the JVMs, of gunicorn and of every process, and the variables
#: that name the web frameworks.
_FLAGS = (
    "JAVA_OPTIONS",
    "JMETER_JVM_ARGS",
    "JDK_JAVA_OPTIONS",
    "JAVA_TOOL_OPTIONS",
    "_JAVA_OPTIONS",
    "GUNICORN_CMD_ARGS",
    "JAVA_FRAMEWORK",
    "PYTHON_FRAMEWORK",
    "LD_PRELOAD",
)
_PREFIXES = ("RESTBENCH_", "MALLOC_")
_PLANS = ("*.jmx", "*.properties", "*.sh", "log4j2.xml")
_PYTHON_CLIENT = ROOT / "scripts" / "restbench_client"
_PYTHON = ("restbench_service/**/*.py", "*.py", "requirements*.txt", "apache/*.conf")
#: Variables of the harness itself, which differ in every process.
_NOT_SETTINGS = (guardian.VARIABLE, watch.GUARDIAN_VARIABLE, watch.MACHINE)
#: By the status in the manifest of a run that goes on: how it had ended.
_HOW: Mapping[str, Literal["interrupted", "killed", "extended"]] = {
    "interrupted": "interrupted",
    "running": "killed",
    "complete": "extended",
}


def begin(order: Order, run: Run, note: Callable[[str], None]) -> Manifest:
    """Write the bodies that a new run sends, its experiment and claims, the machine with its
    calibration and microbenchmark, and at last the manifest, which is returned."""
    ordered, sent = order.experiment, bodies(order, run)
    commit, dirty = machine.git_commit()
    manifest = Manifest(
        run=run.name,
        experiment=ordered.name,
        profile=order.profile_name,
        title=ordered.title,
        seed=ordered.seed,
        started=clock.now_text(),
        status="running",
        git_commit=commit,
        git_dirty=dirty,
        command=order.command,
        plan=tuple(order.plan),
        claims_sha256=order.claims_sha256,
        attached=dict(order.attached),
        builds={name: each.commit for name, each in order.builds.items()},
    )
    described = surroundings(order)
    run.payloads.mkdir(parents=True, exist_ok=True)
    for path, text in sent.items():
        write_text(path, text)
    write_text(run.experiment_file, order.experiment_text)
    if order.claims_text is not None:
        write_text(run.claims_file, order.claims_text)
    write_json(run.machine_file, described)
    machine_findings.adopt(Calibration, run, run.calibration_file, store.CALIBRATIONS, note)
    machine_findings.adopt(Microbench, run, run.microbench_file, store.MICROBENCHES, note)
    write_model(run.manifest_file, manifest)
    return manifest


def go_on(order: Order, run: Run, note: Callable[[str], None]) -> Manifest:
    """Go on with a run: keep what is measured, and note the interruption. A block in flight is
    measured anew.

    Returns the manifest with the whole plan, of which a complete run has kept only the blocks that
    it needed. The report is removed, as it would pass for that of the finished run. Raises, before
    anything is changed, EnvironmentProblem where the machine or what is measured is not the same,
    and Unreadable where a file of the run is not as it was written.
    """
    # Written as JSON and read again, as the run's own file was: tuples become lists.
    now = json.loads(json.dumps(surroundings(order)))
    then, manifest, earlier = run.machine(), run.manifest(), run.interruptions()
    run.proofs()
    if changed := machine.changed(then, now):
        raise EnvironmentProblem(
            f"{run.name} cannot be resumed, because of a change: {'; '.join(changed)}. Restore "
            "it, or begin a new run (without --resume, RESUME=)"
        )
    for speed in machine.speed_differences(_fastest(run), now.get("speed", {})):
        note(f"note   {speed}: this is a different machine, or a busy one (method, rule 12)")
    noted = _interruption(run, manifest)
    for path, text in bodies(order, run).items():
        if not path.exists() or path.read_bytes() != text.encode():
            raise Unreadable(
                f"{path}: differs from the file with which {run.name} began: restore it from a "
                "copy, or begin a new "
                "run (without --resume, RESUME=)"
            )
    anew = f"; interrupted, and measured again: {', '.join(noted.lost)}" if noted.lost else ""
    note(
        f"resuming {run.name}, {noted.how} at {noted.ended}: "
        f"{counted(noted.kept, 'measurement', 'is', 'are')} kept{anew}"
    )
    lines = [each.model_dump_json() for each in (*earlier, noted)]
    write_text(run.interruptions_file, "\n".join(lines) + "\n")
    run.report.unlink(missing_ok=True)
    again = {"status": "running", "finished": None, "plan": order.plan}
    going_on = manifest.model_copy(update=again)
    write_model(run.manifest_file, going_on)
    return going_on


def _fastest(run: Run) -> dict[str, float]:
    """The machine's speed by the fastest of the run's probes: a slow probe may be disturbed."""
    facts = [run.machine(), *(each.facts for each in run.trials.blocks())]
    probes = [each.get("speed", {}) for each in facts]
    return {
        name: max(known)
        for name in machine.SPEED
        if (known := [each[name] for each in probes if name in each])
    }


def _interruption(run: Run, manifest: Manifest) -> Interruption:
    commit, dirty = machine.git_commit()
    blocks = run.trials.blocks()
    finished = {each.block for each in blocks if each.finished}
    last_written_s = max(path.stat().st_mtime for path in run.path.rglob("*"))
    # The wall clock of files may be ahead of ours.
    last_written = min(datetime.fromtimestamp(last_written_s).astimezone(), clock.now())
    has_no_page = manifest.status == "complete" and not run.report.exists()
    return Interruption(
        how="killed" if has_no_page else _HOW[manifest.status],
        ended=manifest.finished or last_written.isoformat(timespec="seconds"),
        resumed=clock.now_text(),
        kept=sum(each.block in finished for each in manifest.plan),
        lost=tuple(f"block {each.block}" for each in blocks if not each.finished),
        git_commit=commit,
        git_dirty=dirty,
    )


def bodies(order: Order, run: Run) -> dict[Path, str]:
    """What the run sends, and the answers that must come back: the text of each file."""
    found: dict[Path, str] = {}
    for complexity in {each.cell.complexity for each in order.plan}:
        found |= files_of(order.experiment, complexity, run.payload)
    return found


def finish(run: Run, manifest: Manifest, **found: object) -> Manifest:
    """Write how the run ended (`status`), and what else was found; returns the manifest."""
    finished = manifest.model_copy(update={**found, "finished": clock.now_text()})
    write_model(run.manifest_file, finished)
    return finished


def surroundings(order: Order) -> dict[str, Any]:
    """The machine, and everything on it that the numbers depend on."""
    return machine.describe(order.experiment.settings.get("java")) | {
        "jmeter": generator.version(),
        "measured": fingerprints(order.builds),
        "settings": settings(),
    }


def require_as_begun(run: Run, builds: Mapping[Build, BuiltCheckout] | None = None) -> None:
    """Raises ChangedDuringRun where a part of `fingerprints`, such as a service or a load plan, is
    not as it was when the run began: it was built or edited meanwhile. Takes milliseconds."""
    then, now = run.machine().get("measured"), fingerprints(builds)
    if then and (changed := machine.changed(then, now)):
        raise ChangedDuringRun(
            f"{'; '.join(changed)}: changed during {run.name}: restore it before you resume the "
            "run, or begin a new run"
        )


def fingerprints(builds: Mapping[Build, BuiltCheckout] | None = None) -> dict[str, str]:
    """The fingerprint of each part that measurements depend on; `absent` where a part is missing.
    `builds` are the checkouts whose services are compared, in place of this checkout's."""
    plans = [path for each in _PLANS for path in PLANS.glob(each)]
    roots = {f" of {name}": each.path for name, each in (builds or {}).items()} or {"": ROOT}
    services = {}
    for of, root in roots.items():
        services[f"java service{of}"] = of_jar(root / JAR.relative_to(ROOT), "BOOT-INF/")
        folder = root / PYTHON_SERVICE.relative_to(ROOT)
        python = [path for each in _PYTHON for path in folder.glob(each)]
        services[f"python service{of}"] = of_files(python, root)
    return {
        **services,
        "load plans": of_files(plans),
        "load programs": of_jar(PROGRAMS, "restbench/"),
        "java client": of_jar(call_client.JAR, "BOOT-INF/"),
        "python client": of_files(_PYTHON_CLIENT.rglob("*.py")),
        "fronts": of_files([each for each in fronts.TEMPLATES.rglob("*") if each.is_file()]),
        "database": of_files([*CONTRACT.glob("**/*.sql"), *CONTRACT.glob("*.conf")]),
    }


def settings() -> dict[str, str]:
    """The environment variables that change how the services and JMeter run, with their values."""
    return {
        name: value
        for name, value in sorted(os.environ.items())
        if name in _FLAGS or (name.startswith(_PREFIXES) and name not in _NOT_SETTINGS)
    }


def of_jar(jar: Path, inside: str) -> str:
    """The fingerprint of an archive's classes and libraries, which are in its folder `inside`. A
    build writes its time and its commit outside of that folder, where they do not count."""
    try:
        with zipfile.ZipFile(jar) as archive:
            parts = [
                f"{each.filename} {each.CRC}"
                for each in archive.infolist()
                if each.filename.startswith(inside)
            ]
    except FileNotFoundError:
        return ABSENT
    except zipfile.BadZipFile:
        return NOT_WHOLE
    return _digest(sorted(parts))


def of_files(paths: Iterable[Path], root: Path = ROOT) -> str:
    """The fingerprint of files: of their names within the checkout and their contents."""
    parts = [
        f"{path.relative_to(root)} {hashlib.sha256(path.read_bytes()).hexdigest()}"
        for path in sorted(paths)
    ]
    return _digest(parts) if parts else ABSENT


def _digest(parts: Sequence[str]) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:DIGITS]


def to_go_on_with(order: Order, runs: Sequence[Run], tell: Callable[[str], None]) -> Run | None:
    """The newest unfinished run that was ordered in exactly this way; None where there is none, and
    `tell` gets a line that says so."""
    known = unfinished(order, runs, tell)
    found = next((run for run, differences in known.items() if not differences), None)
    if found is None:
        wanted = f"{order.experiment.name} with profile {order.profile_name}"
        others = [f"{run.name} differs in {', '.join(each)}" for run, each in known.items()]
        notes = [f"nothing to resume: no unfinished run of {wanted}", *others, "a new run begins"]
        tell("; ".join(notes))
    return found


def unfinished(
    order: Order, runs: Sequence[Run], tell: Callable[[str], None]
) -> dict[Run, tuple[str, ...]]:
    """The unfinished runs of the same experiment and profile, the newest first, each with what was
    ordered differently. A run that cannot be read is reported and left out: that is not known."""
    found = []
    for run in runs:
        try:
            if not run.can_go_on or run.is_over:
                continue
            manifest = run.manifest()
        except Unreadable as error:
            tell(f"left out: {error}")
            continue
        if (manifest.experiment, manifest.profile) == (order.experiment.name, order.profile_name):
            found.append((manifest.started, run, _differences(order, run, manifest)))
    found.sort(key=lambda each: each[0], reverse=True)
    return {run: differences for _, run, differences in found}


def _differences(order: Order, run: Run, manifest: Manifest) -> tuple[str, ...]:
    # The plan of a complete run has only the blocks that the stop rule asked for.
    planned = order.plan[: len(manifest.plan)] if manifest.status == "complete" else order.plan
    text, file = order.experiment_text.encode(), run.experiment_file
    differs = {
        "the experiment's file": not file.is_file() or file.read_bytes() != text,
        "the claims' file": manifest.claims_sha256 != order.claims_sha256,
        "the cells or the minutes": manifest.plan != planned,
        "the attached services": manifest.attached != dict(order.attached),
    }
    return tuple(name for name, is_other in differs.items() if is_other)


def block_durations_s(run: Run) -> list[float]:
    """The seconds of each finished block of a run that can be extended. Raises BadConfiguration,
    with what to do instead, where the run has no such block, or compares builds."""
    manifest = run.manifest()
    if manifest.builds:
        raise BadConfiguration(
            f"{run.path}: its builds no longer exist; 'restbench ab --minutes N' makes a longer run"
        )
    took_s = [each.seconds for each in run.trials.blocks() if each.seconds is not None]
    if not took_s:
        raise BadConfiguration(
            f"{run.path}: has no finished block: '{manifest.command} --resume' continues it"
        )
    return took_s


def order_to_extend(run: Run, minutes: float) -> Order:
    """The order that extends a run: at least one block more, and others as long as there is time
    and, in a run with claims, while one is undecided; at most as long as the run's blocks on
    average. Raises BadConfiguration as `block_durations_s` does."""
    manifest, took_s = run.manifest(), block_durations_s(run)
    loaded = experiment.load(run.experiment_file, run.cores_allowed())
    # A block of tiny kernels mostly starts programs, which takes a time that varies by seconds.
    block_minutes = max(LEAST_BLOCK_S, sum(took_s) / len(took_s)) / 60
    total_minutes = sum(took_s) / 60 + max(minutes, max(took_s) / 60)
    done, claims = len(took_s), run.claims_file
    has_claims = claims.exists()
    # Blocks of only what open claims need are shorter than the run's blocks on average.
    times = LONG_TIMES if has_claims and loaded.traits.has_paces else 1
    most = max(done + 1, min(done + int(times * minutes / block_minutes), MOST_BLOCKS))
    profile = loaded.profile(manifest.profile)
    # A run that was to be long has measured slower cells, even if it ended early.
    long_minutes = max(total_minutes, _minutes_given(manifest.command))
    if long_minutes >= LONG_MINUTES:
        profile = profile.lasting(long_minutes)
    longer = {
        "minutes": total_minutes,
        "block_minutes": block_minutes,
        "blocks": done + 1 if has_claims else most,
        "blocks_max": most,
    }
    profile = profile.model_copy(update=longer)
    cells = {each.cell for each in manifest.plan}
    return Order(
        experiment=loaded,
        experiment_text=run.experiment_file.read_text(encoding="utf-8"),
        profile_name=manifest.profile,
        profile=profile,
        plan=tuple(each for each in plan(loaded, profile, Where()) if each.cell in cells),
        command=manifest.command,
        claims_text=claims.read_text(encoding="utf-8") if has_claims else None,
        attached=cast(dict[ServiceName, str], dict(manifest.attached)),
    )


def _minutes_given(command: str) -> float:
    """The minutes that a command line asks for; 0 where it leaves them to the profile."""
    return float(next(reversed(re.findall(r" --minutes[ =](\S+)", command)), 0.0))
