"""The layout of a run on disk (results/README.md): where each file lies, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from restbench.experiment.cell import ServiceGroup
from restbench.store.trials import TrialFile

#: What a run that began has one of: its manifest, or its trials.
BEGUN = ("manifest.json", "trials.sqlite")


@dataclass(frozen=True)
class Folder:
    """Some folder."""

    path: Path


@dataclass(frozen=True)
class FolderPath:
    """The path of what lies in a folder under this name."""

    name: str
    """With the folders in between."""

    def __get__(self, folder: Folder, _owner: object = None) -> Path:
        """Of one folder."""
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
    """The same as `sadf -j` tells it: CPU per core, memory, context switches, run queue."""
    pidstat = FolderPath("pidstat.txt")
    """`pidstat -H -h -u -r -w` of the service's and the load generator's processes."""
    metrics = FolderPath("metrics.jsonl")
    """The service's own metrics, one JSON object a line: `{"t_ms": …, "values": {…}}`."""


class RunFolder(Folder):
    """The folder of one run: `results/<run>/`."""

    manifest_file = FolderPath("manifest.json")
    """A Manifest."""
    payloads = FolderPath("payloads")
    """What it sends, by level of complexity; empty where its clients make that themselves."""
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
    """One Proof a strategy and placement."""
    interruptions_file = FolderPath("interruptions.jsonl")
    """An Interruption a line; absent where there was none."""
    test_matrix_csv = FolderPath("tables/test-matrix.csv")
    """The table of the study, a row a cell."""
    factorial_json = FolderPath("tables/factorial.json")
    """The effects of a factorial design."""
    open_load_csv = FolderPath("tables/open-load.csv")
    """Each cell's highest rate: a row a cell."""
    open_load_steps_csv = FolderPath("tables/open-load-steps.csv")
    """A row a step."""
    messages_csv = FolderPath("tables/messages.csv")
    """Loads of messages, with what their database took: a row a cell."""
    npb_csv = FolderPath("tables/npb.csv")
    """The times of each NAS kernel: a row a cell."""
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
        """The run's name, its folder's."""
        return self.path.name

    @property
    def latest(self) -> Path:
        """The link to the newest run, next to its folder."""
        return self.path.with_name("latest")

    @property
    def trials(self) -> TrialFile:
        """`trials.sqlite`: what was measured, with what happened meanwhile."""
        return TrialFile(self.path / "trials.sqlite")

    def identity_files(self) -> tuple[Path, ...]:
        """What says which run this is, and what its numbers are judged by."""
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

    def program_log(self, block: int, cell_id: str) -> Path:
        """What a kernel without HTTP printed: its answers, a line each, and its log."""
        return self.path / "programs" / f"block-{block}" / f"{cell_id}.log"

    def window(self, cell_id: str) -> CellFolder:
        """The raw files of a cell's long window."""
        return CellFolder(self.windows / cell_id)

    def trace(self, block: int, cell_id: str) -> Path:
        """The folder of a cell's trace."""
        return self.traces / f"block-{block}-{cell_id}"
