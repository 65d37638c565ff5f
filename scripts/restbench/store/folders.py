"""The layout of a run on disk (results/README.md): where each file lies, and nothing else."""

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
    """The JTL: every sample JMeter took, warm-up included (CSV with a header line)."""
    sar_binary = FolderPath("sar.bin")
    """What `sar -o` wrote."""
    sar_json = FolderPath("sar.json")
    """The same as JSON (`sadf -j`): CPU per core, memory, context switches, run queue."""
    pidstat = FolderPath("pidstat.txt")
    """`pidstat -H -h -u -r -w` of the service's and the load generator's processes."""
    metrics = FolderPath("metrics.jsonl")
    """The service's own metrics, one JSON object a line: `{"t_ms": …, "values": {…}}`."""


class RunFolder(Folder):
    """The folder of one run: `results/<run>/`."""

    manifest_file = FolderPath("manifest.json")
    """A Manifest."""
    payloads = FolderPath("payloads")
    """The request bodies, by level of complexity; empty where the clients generate them."""
    experiment_file = FolderPath("experiment.toml")
    """The experiment as it was when the run started."""
    claims_file = FolderPath("claims.toml")
    """The claims and their tests as they were before the first cell."""
    calibration_file = FolderPath("calibration.json")
    """The newest calibration of its machine when the run began."""
    microbench_file = FolderPath("microbench.json")
    """A copy of the newest microbenchmark of the run's machine."""
    machine_file = FolderPath("machine.json")
    """Processors, memory, kernel, versions of every tool."""
    exported_file = FolderPath("run.json")
    """The whole run in one file, made from the others (`exported`)."""
    proofs_file = FolderPath("proofs.json")
    """A list of Proofs, one for each `Proof.key`."""
    interruptions_file = FolderPath("interruptions.jsonl")
    """One Interruption per line; absent where there was none."""
    test_matrix_csv = FolderPath("tables/test-matrix.csv")
    """The study's table: a row per cell."""
    factorial_json = FolderPath("tables/factorial.json")
    """The effects of a factorial design."""
    open_load_csv = FolderPath("tables/open-load.csv")
    """The highest rate of an open load: a row per cell."""
    open_load_steps_csv = FolderPath("tables/open-load-steps.csv")
    """The rates of an open load that were tried: a row per step."""
    messages_csv = FolderPath("tables/messages.csv")
    """Message loads with the resources that their database used: a row per cell."""
    npb_csv = FolderPath("tables/npb.csv")
    """The times of each NAS kernel: a row per cell."""
    report = FolderPath("report.html")
    """The page that shows everything and links to the rest."""
    figures = FolderPath("figures")
    """The folder of all figures."""
    dashboards = FolderPath("dashboards")
    """The folder of all JMeter dashboards that were made."""
    windows = FolderPath("raw/windows")
    """A folder for each long window."""
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
