"""The layout of a run on disk: where each file lies. results/README.md says what is in each."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from restbench.experiment.cell import ServiceGroup
from restbench.store.trials import TrialFile

#: Files of a run. Once it has begun, at least one of them exists.
BEGUN = ("manifest.json", "trials.sqlite")


@dataclass(frozen=True)
class Folder:
    """A folder; subclasses name the paths inside it."""

    path: Path


@dataclass(frozen=True)
class FolderPath:
    """A descriptor: the path of a file or folder inside a `Folder`."""

    name: str
    """Relative to the folder; it may contain further folders."""

    def __get__(self, folder: Folder, _owner: object = None) -> Path:
        """The path inside this folder."""
        return folder.path / self.name


class CellFolder(Folder):
    """The raw files of one measurement of one cell."""

    window_record = FolderPath("window.json")
    """A LongWindow; written last, so a folder without it holds no result."""
    samples = FolderPath("samples.jtl")
    sar_binary = FolderPath("sar.bin")
    sar_json = FolderPath("sar.json")
    pidstat = FolderPath("pidstat.txt")
    metrics = FolderPath("metrics.jsonl")


class RunFolder(Folder):
    """The folder of one run: `results/<run>/`."""

    manifest_file = FolderPath("manifest.json")
    payloads = FolderPath("payloads")
    """The request bodies, by level of complexity; empty where the clients generate them."""
    experiment_file = FolderPath("experiment.toml")
    claims_file = FolderPath("claims.toml")
    calibration_file = FolderPath("calibration.json")
    microbench_file = FolderPath("microbench.json")
    machine_file = FolderPath("machine.json")
    exported_file = FolderPath("run.json")
    proofs_file = FolderPath("proofs.json")
    """A list of Proofs, one for each `Proof.key`."""
    interruptions_file = FolderPath("interruptions.jsonl")
    """One Interruption per line; absent where there was none."""
    test_matrix_csv = FolderPath("tables/test-matrix.csv")
    factorial_json = FolderPath("tables/factorial.json")
    open_load_csv = FolderPath("tables/open-load.csv")
    open_load_steps_csv = FolderPath("tables/open-load-steps.csv")
    messages_csv = FolderPath("tables/messages.csv")
    npb_csv = FolderPath("tables/npb.csv")
    report = FolderPath("report.html")
    figures = FolderPath("figures")
    dashboards = FolderPath("dashboards")
    windows = FolderPath("raw/windows")
    traces = FolderPath("raw/traces")
    """A folder for each trace; its `trace.json` is a FullTrace (`traces`)."""

    @property
    def name(self) -> str:
        """The run's name, which is the name of its folder."""
        return self.path.name

    @property
    def latest(self) -> Path:
        """The link to the newest run, next to its folder."""
        return self.path.with_name("latest")

    @property
    def trials(self) -> TrialFile:
        """`trials.sqlite`: the trials of the run and the events during it."""
        return TrialFile(self.path / "trials.sqlite")

    def identity_files(self) -> tuple[Path, ...]:
        """The files that identify the run, and those that its numbers are judged by."""
        return (
            self.manifest_file,
            self.experiment_file,
            self.claims_file,
            self.machine_file,
            self.calibration_file,
            self.microbench_file,
            self.proofs_file,
            self.interruptions_file,
        )

    def named_figure(self, name: str) -> Path:
        """`figures/figure-14.svg`, `figures/F1-ratios.svg` …"""
        return self.figures / f"{name}.svg"

    def dashboard(self, cell_id: str) -> Path:
        """The folder of a JMeter dashboard; its page is `index.html`."""
        return self.dashboards / cell_id

    def payload(self, complexity: str) -> Path:
        """The folder with `body-rest.json` and `answer-rest.json` of a complexity level."""
        return self.payloads / complexity

    def service(self, block: int, group: ServiceGroup) -> Path:
        """The folder of one service process: its command, log and health."""
        return self.path / "services" / f"block-{block}-{group.name}"

    def load(self, block: int) -> Path:
        """The files of the load generator and the databases of a block, 0 for long windows."""
        return self.path / "load" / (f"block-{block}" if block else "windows")

    def program_log(self, block: int, cell_id: str) -> Path:
        """The output of a kernel without HTTP: one answer per line, and log lines."""
        return self.path / "programs" / f"block-{block}" / f"{cell_id}.log"

    def window(self, cell_id: str) -> CellFolder:
        """The raw files of a cell's long window."""
        return CellFolder(self.windows / cell_id)

    def trace(self, block: int, cell_id: str) -> Path:
        """The folder of a cell's trace."""
        return self.traces / f"block-{block}-{cell_id}"
