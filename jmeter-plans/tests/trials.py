"""A JMeter that waits for orders, as the harness gives them, and what it tells of a trial."""

import socket
import struct
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from conftest import PLANS, REQUEST_REST, ROWS
from stub_service import StubService

#: Larger than every buffer on its way, so that it arrives in pieces.
HUGE_REST = '"note":"' + "n" * 700_000 + '"}'
HUGE_ROWS = "[[" + ",".join(str(n) for n in range(100_000)) + "]]"
ORDER = ["low", "low", "huge", "low"]
PATIENCE_S = 300
CORRECT, ERROR, WRONG = 0, 1, 2


class Record(NamedTuple):
    """A request, as the README lays it out."""

    start_us: int
    elapsed_us: int
    latency_us: int
    status: int
    outcome: int
    kind: int
    user: int
    late_ms: int
    queue_ms: float
    parse_ms: float
    compute_ms: float
    serialize_ms: float
    connection_ms: float
    database_ms: float
    token: int
    code: int


class Done(NamedTuple):
    """The answer to a trial, and its requests by their begin."""

    marks: list[list[int]]
    kinds: list[str]
    first_error: str
    records: list[Record]

    @property
    def outcomes(self) -> list[int]:
        return [each.outcome for each in self.records]


class Load:
    """A JMeter that waits for orders."""

    def __init__(self, folder: Path, connection: socket.socket) -> None:
        self.folder = folder
        self._connection = connection
        self._lines = connection.makefile("r", encoding="utf-8")

    def order(self, *parts: object) -> None:
        self._connection.sendall(("\t".join(map(str, parts)) + "\n").encode())

    def cell(
        self,
        service: StubService,
        payload: str = "low",
        strategy: str = "serial",
        fragment: str = "",
    ) -> None:
        url = f"http://127.0.0.1:{service.port}/matrix/{strategy}?kernel=loops{fragment}"
        self.order("cell", strategy, url, self.folder / payload)

    def trial(
        self,
        users: int = 1,
        keep_ms: int = 200,
        drop_ms: int = 0,
        *,
        strategy: str = "serial",
        pids: str = "",
        arrivals: Path | None = None,
    ) -> Done:
        file = self.folder / "records.bin"
        more = [] if arrivals is None else [arrivals]
        self.order("trial", strategy, users, drop_ms, keep_ms, file, pids, *more)
        told = self._lines.readline().rstrip("\n").split("\t")
        assert told[0] == "done", told
        marks = [[int(each) for each in told[at : at + 6]] for at in (1, 7, 13)]
        records = [Record(*each) for each in struct.iter_unpack("<qiihbbhH6fqb", file.read_bytes())]
        return Done(marks, told[19].split(","), told[20], sorted(records))

    def ends(self) -> bool:
        """Whether no more answers will come."""
        try:
            return self._lines.readline() == ""
        except ConnectionResetError:  # it had not read all orders
            return True


@contextmanager
def loading(folder: Path, users: int, *properties: str) -> Iterator[Load]:
    """A JMeter of so many users, with the payloads low, huge and mix."""
    for name, rest, rows in (("low", REQUEST_REST, ROWS), ("huge", HUGE_REST, HUGE_ROWS)):
        (folder / name).mkdir()
        (folder / name / "body-rest.json").write_text(rest)
        (folder / name / "answer-rest.json").write_text(f'"rows":{rows}}}')
    (folder / "mix").mkdir()
    (folder / "mix" / "order.txt").write_text("\n".join(ORDER) + "\n")
    with closing(socket.socket(socket.AF_UNIX)) as listener:
        listener.bind(str(folder / "s"))
        listener.listen()
        listener.settimeout(PATIENCE_S)
        command = [str(PLANS / "jmeter.sh"), "-n", "-t", str(PLANS / "trials.jmx")]
        command += [
            "-j",
            str(folder / "jmeter.log"),
            f"-Jsocket={folder / 's'}",
            f"-Jusers={users}",
            *properties,
        ]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
            try:
                connection, _ = listener.accept()
                with closing(connection):
                    connection.settimeout(PATIENCE_S)
                    yield Load(folder, connection)
            finally:
                process.kill()
