"""Where everything of a run lies on disk: the only module that builds paths, and it writes whole
files or none (a temporary name, then a rename)."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

from restbench import forms, storage
from restbench.failures import BadConfiguration, Unreadable
from restbench.open_records import Walk
from restbench.records import Calibration, CellRun, Interruption, Manifest, PlannedCell, Proof

M = TypeVar("M", bound=BaseModel)

#: The checkout: this file is scripts/restbench/store.py.
ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "results"
CALIBRATIONS = RESULTS / "calibrations"
EXPERIMENTS = ROOT / "scripts" / "experiments"


def serve_folder() -> Path:
    """Where `make serve` keeps its logs and notes what it started."""
    return ROOT / ".cache" / "serve"


def write_text(path: Path, text: str) -> None:
    """Write a whole file or none: readers never see half of it. StorageProblem where it cannot."""
    unnamed = temporary(path)
    with storage.writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with unnamed.open("w", encoding="utf-8") as output:
                output.write(text)
                output.flush()
                # A name that outlives a power cut must not stand for an empty file.
                os.fsync(output.fileno())
            unnamed.replace(path)
            _settle(path.parent)
        except BaseException:
            unnamed.unlink(missing_ok=True)
            raise


def temporary(path: Path) -> Path:
    """What a file is called until it is whole; who was killed before is in the name."""
    return path.with_name(f".{path.name}.{os.getpid()}.tmp")


def _settle(path: Path) -> None:
    """Return when a file, or the names in a folder, are on the disk itself."""
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def remove(folder: Path) -> None:
    """Take away a folder with all that is in it, if it is there."""
    with storage.writing(folder), contextlib.suppress(FileNotFoundError):
        shutil.rmtree(folder)


def write_json(path: Path, value: Any) -> None:
    """Write a JSON document, indented, atomically."""
    write_text(path, json.dumps(value, indent=1, ensure_ascii=False) + "\n")


def write_model(path: Path, model: BaseModel) -> None:
    """Write one record, atomically."""
    write_text(path, model.model_dump_json(indent=1) + "\n")


def write_record(path: Path, record: BaseModel) -> None:
    """Write a measurement's record, atomically, when the raw files beside it are on the disk: it
    says that they are whole. What is left to the kernel would be written in the next window."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with storage.writing(path):
        for raw in path.parent.iterdir():
            if raw.is_file():
                _settle(raw)
    write_model(path, record)


#: What to do about a file that cannot be read, by what it should have been.
_MENDS: dict[type[BaseModel], str] = {
    Manifest: "restore it from a copy, or measure again; raw/ beside it is as it was",
    CellRun: "remove its folder; --resume measures it again",
    Walk: "remove its folder; --resume walks again",
    Calibration: "remove it, and make another with 'restbench calibrate'",
}
_MEND = "restore it from a copy, or measure again"


def read_model(path: Path, kind: type[M]) -> M:
    """Read one record; Unreadable where the file is missing, cut off or of another form."""
    return forms.read_record(path, kind, _MENDS.get(kind, _MEND))


@dataclass(frozen=True)
class CellFolder:
    """The raw files of one measurement of one cell."""

    path: Path

    @property
    def record(self) -> Path:
        """`cell.json`: a CellRun; written last, so a folder without it holds no result."""
        return self.path / "cell.json"

    @property
    def samples(self) -> Path:
        """The JTL: every sample JMeter took, warm-up included (CSV with a header line)."""
        return self.path / "samples.jtl"

    @property
    def window_samples(self) -> Path:
        """A JTL with the window's samples only, made for the dashboard generator."""
        return self.path / "window.jtl"

    @property
    def arrivals(self) -> Path:
        """An open load's schedule: `arrival,offset_ms`."""
        return self.path / "arrivals.csv"

    @property
    def step_record(self) -> Path:
        """`step.json`: an OpenStep; written last, as `cell.json` is."""
        return self.path / "step.json"

    @property
    def load_log(self) -> Path:
        """JMeter's own log."""
        return self.path / "jmeter.log"

    @property
    def load_output(self) -> Path:
        """What JMeter's launcher printed: all there is where JMeter itself never came up."""
        return self.path / "jmeter.out"

    @property
    def sar_binary(self) -> Path:
        """What `sar -o` wrote."""
        return self.path / "sar.bin"

    @property
    def sar_json(self) -> Path:
        """The same as `sadf -j` tells it: CPU per core, memory, context switches, run queue."""
        return self.path / "sar.json"

    @property
    def pidstat(self) -> Path:
        """`pidstat -H -h -u -r -w` of the service's and the load generator's processes."""
        return self.path / "pidstat.txt"

    @property
    def metrics(self) -> Path:
        """The service's own metrics, one JSON object a line: `{"t_ms": …, "values": {…}}`."""
        return self.path / "metrics.jsonl"


@dataclass(frozen=True)
class Run:
    """The folder of one run: `results/<run>/` (its layout is described in results/README.md)."""

    path: Path

    @property
    def name(self) -> str:
        """The run's name, its folder's."""
        return self.path.name

    @property
    def manifest_file(self) -> Path:
        """`manifest.json`: a Manifest."""
        return self.path / "manifest.json"

    @property
    def experiment_file(self) -> Path:
        """The experiment as it was when the run started."""
        return self.path / "experiment.toml"

    @property
    def claims_file(self) -> Path:
        """`claims.toml`: the claims and their tests as they were before the first cell."""
        return self.path / "claims.toml"

    @property
    def calibration_file(self) -> Path:
        """`calibration.json`: a copy of the newest calibration of the run's machine."""
        return self.path / "calibration.json"

    @property
    def machine_file(self) -> Path:
        """`machine.json`: processors, memory, kernel, versions of every tool."""
        return self.path / "machine.json"

    @property
    def proofs_file(self) -> Path:
        """`proofs.json`: one Proof a strategy and placement."""
        return self.path / "proofs.json"

    @property
    def interruptions_file(self) -> Path:
        """`interruptions.jsonl`: an Interruption a line; absent where there was none."""
        return self.path / "interruptions.jsonl"

    def identity_files(self) -> tuple[Path, ...]:
        """What says which run this is, and what its numbers are judged by."""
        return (
            self.manifest_file,
            self.experiment_file,
            self.claims_file,
            self.machine_file,
            self.calibration_file,
            self.proofs_file,
            self.interruptions_file,
        )

    @property
    def test_matrix_csv(self) -> Path:
        """The table of the study, a row a cell."""
        return self.path / "tables" / "test-matrix.csv"

    @property
    def test_matrix_markdown(self) -> Path:
        """The same for reading."""
        return self.path / "tables" / "test-matrix.md"

    @property
    def report(self) -> Path:
        """The page that shows everything and links to the rest."""
        return self.path / "report.html"

    @property
    def figures(self) -> Path:
        """The folder of all figures."""
        return self.path / "figures"

    def figure(self, number: int) -> Path:
        """`figures/figure-14.svg` …"""
        return self.figures / f"figure-{number}.svg"

    @property
    def dashboards(self) -> Path:
        """The folder of all JMeter dashboards that were made."""
        return self.path / "dashboards"

    def dashboard(self, cell_id: str) -> Path:
        """The folder of a JMeter dashboard; its page is `index.html`."""
        return self.dashboards / cell_id

    def payload(self, complexity: str) -> Path:
        """The folder with `body-rest.json` and `rows.json` of a complexity level."""
        return self.path / "payloads" / complexity

    def service(self, block: int, service: str, placement: str, front: str) -> Path:
        """The folder of one service process: its command, log and health."""
        return self.path / "services" / f"block-{block}-{service}-{placement}-{front}"

    def cell(self, block: int, cell_id: str) -> CellFolder:
        """The raw files of one measurement."""
        return CellFolder(self.path / "raw" / f"block-{block}" / cell_id)

    def walk_record(self, cell_id: str) -> Path:
        """`walk.json`: a Walk, the search for one cell's highest rate of an open load."""
        return self.path / "raw" / "open-load" / cell_id / "walk.json"

    def walk_warmup(self, cell_id: str) -> CellFolder:
        """The raw files of the closed load before a walk."""
        return CellFolder(self.walk_record(cell_id).with_name("closed-load"))

    def walk_step(self, cell_id: str, number: int) -> CellFolder:
        """The raw files of one step of a walk, from 1."""
        return CellFolder(self.walk_record(cell_id).with_name(f"step-{number:02d}"))

    @property
    def open_load_markdown(self) -> Path:
        """Each cell's highest rate, and every step that was taken to find it."""
        return self.path / "tables" / "open-load.md"

    @property
    def open_load_figure(self) -> Path:
        """Latency against the offered rate, for every step."""
        return self.figures / "open-load.svg"

    @property
    def open_load_csv(self) -> Path:
        """The same for programs: a row a cell."""
        return self.path / "tables" / "open-load.csv"

    @property
    def open_load_steps_csv(self) -> Path:
        """A row a step."""
        return self.path / "tables" / "open-load-steps.csv"

    @property
    def has_raw_data(self) -> bool:
        """Whether its measurements lie here: a kept copy has none."""
        return (self.path / "raw").is_dir()

    def manifest(self) -> Manifest:
        """The run's identity and plan."""
        return read_model(self.manifest_file, Manifest)

    def cell_runs(self) -> Iterator[tuple[CellRun, CellFolder]]:
        """The finished measurements, in the order of the plan."""
        for planned, found in self._records():
            if isinstance(found, CellRun):
                yield found, self.cell(planned.block, planned.cell.id)

    def unreadable(self) -> Iterator[tuple[PlannedCell, str]]:
        """The measurements whose record is none, with the reason: they are no results."""
        for planned, found in self._records():
            if isinstance(found, Unreadable):
                yield planned, str(found)

    def _records(self) -> Iterator[tuple[PlannedCell, CellRun | Unreadable]]:
        for planned in self.manifest().plan:
            path = self.cell(planned.block, planned.cell.id).record
            if path.exists():
                yield planned, _record_of(planned, path)

    def machine(self) -> dict[str, Any]:
        """What is known of the machine; Unreadable where the file is missing or broken."""
        return forms.read_object(self.machine_file, _MEND)

    def has_record(self, planned: PlannedCell) -> bool:
        """Whether a measurement, or the walk of an open load, is finished."""
        cell = self.cell(planned.block, planned.cell.id)
        return cell.record.exists() or self.walk_record(planned.cell.id).exists()

    def unrecorded(self) -> list[Path]:
        """The folders of measurements and walks that have begun and were never finished."""
        found = {each: each / "cell.json" for each in self.path.glob("raw/block-*/*/")}
        found |= {each: each / "walk.json" for each in self.path.glob("raw/open-load/*/")}
        return sorted(folder for folder, record in found.items() if not record.exists())

    @property
    def is_over(self) -> bool:
        """Whether everything is measured and presented: the page, or the last table, is written
        last."""
        presented = self.report.exists() or self.open_load_steps_csv.exists()
        return presented and self.manifest().status == "complete"

    @property
    def can_go_on(self) -> bool:
        """Whether what it sends lies here: a kept copy has none of it."""
        return (self.path / "payloads").is_dir()

    def interruptions(self) -> list[Interruption]:
        """Each time the run had ended too early and went on."""
        if not self.interruptions_file.exists():
            return []
        lines = self.interruptions_file.read_text(encoding="utf-8").splitlines()
        try:
            return [Interruption.model_validate_json(line) for line in lines]
        except ValueError as error:
            raise Unreadable(f"{self.interruptions_file}: not its lines: {_MEND}") from error

    def calibration(self) -> Calibration | None:
        """The calibration beside the run, if there is one."""
        path = self.calibration_file
        return read_model(path, Calibration) if path.exists() else None

    def proofs(self) -> list[Proof]:
        """The proofs made before the benchmark; none for a run that made none."""
        if not self.proofs_file.exists():
            return []
        told = forms.read_json(self.proofs_file, _MEND)
        try:
            return [Proof.model_validate(entry) for entry in told]
        except (TypeError, ValueError) as error:
            raise Unreadable(f"{self.proofs_file}: not a list of proofs: {_MEND}") from error


def _record_of(planned: PlannedCell, path: Path) -> CellRun | Unreadable:
    try:
        record = read_model(path, CellRun)
    except Unreadable as error:
        return error
    if (record.block, record.cell) != (planned.block, planned.cell):
        return Unreadable(f"{path}: the record of another cell: {_MENDS[CellRun]}")
    return record


def require_room(wanted_bytes: float, largest_bytes: float, results: Path = RESULTS) -> None:
    """StorageProblem where the folder of all runs cannot be written to, or has no room for so much.

    `largest_bytes` is the size of the largest single file.
    """
    with storage.writing(results):
        results.mkdir(parents=True, exist_ok=True)
    storage.require_written(results)
    storage.require_room(results, wanted_bytes, largest_bytes)


def create_run(name: str, results: Path = RESULTS) -> Run:
    """A new, empty run folder; a name that is taken gets a number behind it.

    StorageProblem where none can be made.
    """
    with storage.writing(results):
        results.mkdir(parents=True, exist_ok=True)
    for candidate in (name, *(f"{name}-{number}" for number in range(2, 100))):
        with storage.writing(results), contextlib.suppress(FileExistsError):
            (results / candidate).mkdir()
            return Run(results / candidate)
    raise BadConfiguration(f"{results}: too many runs are called {name}")


def latest(run: Run) -> Path:
    """The link to the newest run."""
    return run.path.with_name("latest")


def point_latest_to(run: Run) -> None:
    """Make `results/latest` a link to this run."""
    link = temporary(latest(run))
    with storage.writing(link):
        link.unlink(missing_ok=True)
        link.symlink_to(run.name)
        link.replace(latest(run))


def open_run(name: str, results: Path = RESULTS) -> Run:
    """An existing run by its name, its path or `latest`."""
    for candidate in (results / name, Path(name)):
        run = Run(candidate.resolve())
        if run.manifest_file.exists():
            return run
    known = sorted(path.parent.name for path in results.glob("*/manifest.json"))
    raise BadConfiguration(f"no run '{name}' in {results}; there are: {', '.join(known) or 'none'}")


def runs(results: Path = RESULTS) -> list[Run]:
    """Every run that has begun, by name; the link `latest` is not another one."""
    folders = sorted(path.parent for path in results.glob("*/manifest.json"))
    return [Run(folder) for folder in folders if not folder.is_symlink()]


def beside(path: Path, name: str) -> Path:
    """A file that an experiment's file names, from where it lies."""
    found = path.parent / name
    if not found.exists():
        raise BadConfiguration(f"{path}: names '{name}', which is not there")
    return found


def experiment_file(name: str) -> Path:
    """The TOML file of a named experiment, or the path itself when it is one."""
    path = Path(name) if name.endswith(".toml") else EXPERIMENTS / f"{name}.toml"
    if not path.exists():
        known = ", ".join(sorted(file.stem for file in EXPERIMENTS.glob("*.toml")))
        raise BadConfiguration(f"no experiment '{name}'; there are: {known}")
    return path
