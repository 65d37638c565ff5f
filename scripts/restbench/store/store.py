"""Runs on disk: finding, creating and opening them, and reading their files. This module and
`folders`, which has the layout of a run, are the only ones that build paths."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from restbench import ROOT
from restbench.experiment.records import (
    SCHEMA_VERSION,
    Calibration,
    Interruption,
    Manifest,
    Microbench,
    Proof,
)
from restbench.failures import BadConfiguration, EnvironmentProblem, Unreadable
from restbench.machine import storage
from restbench.machine.placement import Cores, Placement, allowed_cores, place
from restbench.store.folders import RunFolder
from restbench.store.writing import write_json

M = TypeVar("M", bound=BaseModel)
#: The oldest `schema_version` of a record that is read. The version grows when a member is added,
#: so that an older restbench refuses a record that it would misread. Records of older versions are
#: read as long as no member was removed.
OLDEST = 1
#: Errors of a file system that cannot lock folders (NFS).
_NO_LOCKS = (errno.EBADF, errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS)

RESULTS = ROOT / "results"
CALIBRATIONS = RESULTS / "calibrations"
MICROBENCHES = RESULTS / "microbench"
EXPERIMENTS = ROOT / "scripts" / "experiments"


def serve_folder() -> Path:
    """Where `make serve` keeps its logs and notes what it started."""
    return ROOT / ".cache" / "serve"


#: What to do about a file that cannot be read, by the kind of record that it should hold.
_MENDS: dict[type[BaseModel], str] = {
    Manifest: "restore it from a copy, or measure again; raw/ next to it is as it was",
    Calibration: "remove it, and make another with 'restbench calibrate'",
    Microbench: "remove it, and make another with 'make microbench'",
}
_MEND = "restore it from a copy, or measure again"


def read_model(path: Path, kind: type[M], mend: str = "") -> M:
    """Read one record.

    Raises Unreadable where the file is missing, cut off, of another form or has unknown members;
    its one line ends with `mend`, by default the usual advice for this kind.
    """
    mend = mend or _MENDS.get(kind, _MEND)
    document = read_object(path, mend)
    form, commit = document.get("schema_version", 0), document.get("git_commit")
    has_form = "schema_version" in kind.model_fields
    if has_form and not (isinstance(form, int) and OLDEST <= form <= SCHEMA_VERSION):
        writer = f"the version of git commit {commit}" if commit else "the restbench"
        raise Unreadable(
            f"{path}: of form {form!r}, this version reads forms {OLDEST} to {SCHEMA_VERSION}: "
            f"read it with {writer}, which wrote it"
        )
    try:
        return kind.model_validate_json(json.dumps(document))
    except ValidationError as error:
        problem = error.errors()[0]
        place = ".".join(str(part) for part in problem["loc"]) or "the whole"
        raise Unreadable(
            f"{path}: not a {kind.__name__}: {place}: {problem['msg']}: {mend}"
        ) from error


def read_object(path: Path, mend: str) -> dict[str, Any]:
    """One JSON object; Unreadable where the file has none."""
    document = read_json(path, mend)
    if not isinstance(document, dict):
        raise Unreadable(f"{path}: not a JSON object: {mend}")
    return document


def read_json(path: Path, mend: str) -> Any:
    """One JSON document; Unreadable where the file is missing, empty, cut off or no text."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise Unreadable(f"{path}: cannot be read: {error.strerror}: {mend}") from error
    except UnicodeDecodeError as error:
        raise Unreadable(f"{path}: not text in UTF-8: {mend}") from error
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        what = "not a whole JSON document" if text.strip() else "empty"
        raise Unreadable(f"{path}: {what}: {mend}") from error


class Run(RunFolder):
    """The folder of one run, with readers of its files."""

    @property
    def has_raw_data(self) -> bool:
        """Whether the folder holds the measurements themselves; a kept copy does not."""
        return self.can_go_on or (self.path / "raw").is_dir()

    @property
    def is_kept(self) -> bool:
        """Whether this is a kept copy: a run without its measurements."""
        return self.manifest_file.exists() and not self.has_raw_data

    @property
    def is_of_old_form(self) -> bool:
        """Whether an earlier version wrote it, without `trials.sqlite` and `run.json`: measurements
        are folders with a record each, or absent from a kept copy. A run that has just begun, which
        has neither file yet, is recognised by its payloads."""
        if self.trials.path.exists() or self.exported_file.exists():
            return False
        return not self.can_go_on or any(self.path.glob("raw/*/*/*.json"))

    def require_read(self) -> None:
        """Raise BadConfiguration, with the last commit that reads it, if it is of the old form."""
        if self.is_of_old_form:
            raise BadConfiguration(
                f"{self.path}: of an earlier form, without trials.sqlite and run.json; the last "
                "commit that reads it is 311baf3"
            )

    def manifest(self) -> Manifest:
        """The run's identity and plan."""
        return read_model(self.manifest_file, Manifest)

    def machine(self) -> dict[str, Any]:
        """What is known of the machine; Unreadable where the file is missing or broken."""
        return read_object(self.machine_file, _MEND)

    def cores_allowed(self) -> Sequence[int] | None:
        """The cores that the run could use; None where that is not recorded."""
        described = self.machine() if self.machine_file.exists() else {}
        found: Sequence[int] | None = described.get("cores_allowed")
        return found

    @property
    def is_over(self) -> bool:
        """Whether everything is measured and presented: the page is written last."""
        return self.report.exists() and self.manifest().status == "complete"

    @property
    def can_go_on(self) -> bool:
        """Whether payloads or trials, which continuing needs, are here; a kept copy has neither."""
        return self.payloads.is_dir() or self.trials.path.exists()

    def interruptions(self) -> list[Interruption]:
        """Each time the run had ended too early and went on."""
        path = self.interruptions_file
        try:
            lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else ()
            return [Interruption.model_validate_json(line) for line in lines]
        except ValueError as error:
            raise Unreadable(f"{path}: not the expected lines: {_MEND}") from error

    def calibration(self) -> Calibration | None:
        """The calibration next to the run, if there is one."""
        path = self.calibration_file
        return read_model(path, Calibration) if path.exists() else None

    def cores(self, placement: Placement = "unbound") -> Cores:
        """The cores of a service, and of the load generator as that calibration reserves them."""
        made = self.calibration()
        return place(placement, allowed_cores(), made.load_cores if made else None)

    def microbench(self) -> Microbench | None:
        """The microbenchmark next to the run, if there is one."""
        path = self.microbench_file
        return read_model(path, Microbench) if path.exists() else None

    def proofs(self) -> list[Proof]:
        """The proofs made before the benchmark; none for a run that made none."""
        if not self.proofs_file.exists():
            return []
        entries = read_json(self.proofs_file, _MEND)
        try:
            return [Proof.model_validate(entry) for entry in entries]
        except (TypeError, ValueError) as error:
            raise Unreadable(f"{self.proofs_file}: not a list of proofs: {_MEND}") from error

    def keep_proof(self, proven: Proof) -> None:
        """Add a proof to the run's file. Of several with the same key (from several blocks,
        attempts or continuations) the first that refutes the claim is kept, else the last."""
        kept = {each.key: each for each in self.proofs()}
        known = kept.get(proven.key)
        if known is None or known.does is not False:
            kept[proven.key] = proven
        write_json(self.proofs_file, [each.model_dump() for each in kept.values()])


@contextlib.contextmanager
def locked(run: Run) -> Iterator[bool]:
    """Hold the lock of a run, so that no other process continues it meanwhile. The kernel releases
    it when the process ends, however it ends.

    Yields False where the file system has no locks. Raises EnvironmentProblem where another process
    holds the lock.
    """
    folder = os.open(run.path, os.O_RDONLY | os.O_DIRECTORY)
    is_held = True
    try:
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise EnvironmentProblem(
                f"{run.path}: another process is measuring this run: wait until it ends"
            ) from None
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                raise
            is_held = False
        yield is_held
    finally:
        os.close(folder)


def require_room(results: Path = RESULTS) -> None:
    """Raise StorageProblem where the folder of runs cannot be written or has no room for a run."""
    with storage.writing(results):
        results.mkdir(parents=True, exist_ok=True)
    storage.require_room(results)


def create_run(name: str, results: Path = RESULTS) -> Run:
    """Create an empty run folder; a number is appended to a name that is taken.

    Raises StorageProblem where the folder cannot be created.
    """
    for candidate in (name, *(f"{name}-{number}" for number in range(2, 100))):
        with storage.writing(results), contextlib.suppress(FileExistsError):
            (results / candidate).mkdir(parents=True)
            return Run(results / candidate)
    raise BadConfiguration(f"{results}: too many runs are called {name}")


def point_latest_to(run: Run) -> None:
    """Make `results/latest` a link to this run."""
    link = storage.temporary(run.latest)
    with storage.writing(link):
        link.unlink(missing_ok=True)
        link.symlink_to(run.name)
        link.replace(run.latest)


def open_run(name: str, results: Path = RESULTS) -> Run:
    """An existing run by its name, its path, the path of its `run.json`, which may stand alone, or
    `latest`; BadConfiguration where there is none, or it is of an earlier form."""
    path = Path(name)
    for candidate in (results / name, path, *([path.parent] if path.name == "run.json" else [])):
        run = Run(candidate.resolve())
        if run.manifest_file.exists() or run.exported_file.exists():
            run.require_read()
            return run
    known = [
        f"{each.name} (of an earlier form)" if each.is_of_old_form else each.name
        for each in runs(results)
    ]
    raise BadConfiguration(f"no run '{name}' in {results}; there are: {', '.join(known) or 'none'}")


def runs(results: Path = RESULTS) -> list[Run]:
    """Every run that has begun, by name; the link `latest` is not another one."""
    folders = sorted(path.parent for path in results.glob("*/manifest.json"))
    return [Run(folder) for folder in folders if not folder.is_symlink()]


def experiment_file(name: str) -> Path:
    """The TOML file of a named experiment, or the path itself when it is one."""
    path = Path(name) if name.endswith(".toml") else EXPERIMENTS / f"{name}.toml"
    if not path.exists():
        known = ", ".join(sorted(file.stem for file in EXPERIMENTS.glob("*.toml")))
        raise BadConfiguration(f"no experiment '{name}'; there are: {known}")
    return path
