"""The files of one measurement (results/README.md), whatever kind of load it was."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


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
