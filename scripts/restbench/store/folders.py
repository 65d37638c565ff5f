"""The layout of a run on disk (results/README.md): where each file lies, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from restbench.experiment.cell import ServiceGroup
from restbench.store.trials import TrialFile

#: What a run that began has one of: its manifest, or its trials.
BEGUN = ("manifest.json", "trials.sqlite")


@dataclass(frozen=True)
class CellFolder:
    """The raw files of one measurement of one cell."""

    path: Path

    @property
    def window_record(self) -> Path:
        """`window.json`: a LongWindow; written last, so a folder without it holds no result."""
        return self.path / "window.json"

    @property
    def samples(self) -> Path:
        """The JTL: every sample JMeter took, warm-up included (CSV with a header line)."""
        return self.path / "samples.jtl"

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
class RunFolder:
    """The folder of one run: `results/<run>/`."""

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
        """`calibration.json`: the newest calibration of its machine when the run began."""
        return self.path / "calibration.json"

    @property
    def microbench_file(self) -> Path:
        """`microbench.json`: a copy of the newest microbenchmark of the run's machine."""
        return self.path / "microbench.json"

    @property
    def machine_file(self) -> Path:
        """`machine.json`: processors, memory, kernel, versions of every tool."""
        return self.path / "machine.json"

    @property
    def trials(self) -> TrialFile:
        """`trials.sqlite`: what was measured, with what happened meanwhile."""
        return TrialFile(self.path / "trials.sqlite")

    @property
    def exported_file(self) -> Path:
        """`run.json`: the whole run in one file, made from the others (`exported`)."""
        return self.path / "run.json"

    @property
    def proofs_file(self) -> Path:
        """`proofs.json`: one Proof a strategy and placement."""
        return self.path / "proofs.json"

    @property
    def interruptions_file(self) -> Path:
        """`interruptions.jsonl`: an Interruption a line; absent where there was none."""
        return self.path / "interruptions.jsonl"

    @property
    def phases_file(self) -> Path:
        """`phases.jsonl`: a Spent a line, one for each process that measured."""
        return self.path / "phases.jsonl"

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
            self.phases_file,
        )

    @property
    def test_matrix_csv(self) -> Path:
        """The table of the study, a row a cell."""
        return self.path / "tables" / "test-matrix.csv"

    @property
    def report_markdown(self) -> Path:
        """The page's sections as Markdown, without its charts."""
        return self.path / "report.md"

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

    def named_figure(self, name: str) -> Path:
        """`figures/regret-throughput.svg` …: those that are none of the study's."""
        return self.figures / f"{name}.svg"

    @property
    def factorial_json(self) -> Path:
        """The effects of a factorial design."""
        return self.path / "tables" / "factorial.json"

    @property
    def regret_csv(self) -> Path:
        """The strategy that chooses against the best fixed one: a row a cell and metric."""
        return self.path / "tables" / "regret.csv"

    @property
    def dashboards(self) -> Path:
        """The folder of all JMeter dashboards that were made."""
        return self.path / "dashboards"

    def dashboard(self, cell_id: str) -> Path:
        """The folder of a JMeter dashboard; its page is `index.html`."""
        return self.dashboards / cell_id

    def payload(self, complexity: str) -> Path:
        """The folder with `body-rest.json` and `answer-rest.json` of a complexity level."""
        return self.path / "payloads" / complexity

    def service(self, block: int, group: ServiceGroup) -> Path:
        """The folder of one service process: its command, log and health."""
        return self.path / "services" / f"block-{block}-{group.name}"

    def program_log(self, block: int, cell_id: str) -> Path:
        """What a kernel without HTTP printed: its answers, a line each, and its log."""
        return self.path / "programs" / f"block-{block}" / f"{cell_id}.log"

    @property
    def windows(self) -> Path:
        """`raw/windows/`: a folder for each long window."""
        return self.path / "raw" / "windows"

    def window(self, cell_id: str) -> CellFolder:
        """The raw files of a cell's long window."""
        return CellFolder(self.windows / cell_id)

    @property
    def traces(self) -> Path:
        """`raw/traces/`: a folder for each trace; its `trace.json` is a Traced (`traces`)."""
        return self.path / "raw" / "traces"

    def trace(self, block: int, cell_id: str) -> Path:
        """The folder of a cell's trace."""
        return self.traces / f"block-{block}-{cell_id}"

    @property
    def open_load_csv(self) -> Path:
        """Each cell's highest rate: a row a cell."""
        return self.path / "tables" / "open-load.csv"

    @property
    def open_load_steps_csv(self) -> Path:
        """A row a step."""
        return self.path / "tables" / "open-load-steps.csv"

    @property
    def npb_csv(self) -> Path:
        """The times of each NAS kernel: a row a cell."""
        return self.path / "tables" / "npb.csv"
