"""Writes JTL lines as JMeter does (its columns, its quoting), for tests that know every sample."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass

COLUMNS = (
    "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,"
    "failureMessage,bytes,sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect"
)
HEADER = f'{COLUMNS},"serverTiming"\n'
CONNECTION_REFUSED = "Non HTTP response code: org.apache.http.conn.HttpHostConnectException"


@dataclass(frozen=True)
class Sample:
    """One sample, told by its END, as the window counts it. Correct unless said otherwise."""

    end_ms: int
    elapsed_ms: int
    code: str = "200"
    success: bool = True
    message: str = ""
    timing: str = "queue;dur=0.500, parse;dur=1.000, compute;dur=2.000, serialize;dur=0.250"
    kind: str = ""
    """Of a mixed load, whose lines have two columns more."""
    elapsed_us: int | None = None
    bytes: int = 59

    def line(self) -> str:
        """The sample as a CSV record."""
        record = [
            self.end_ms - self.elapsed_ms,
            self.elapsed_ms,
            "cell",
            self.code,
            "OK" if self.success else "Failed",
            "users 1-1",
            "text",
            "true" if self.success else "false",
            self.message,
            self.bytes,
            181,
            10,
            10,
            "http://127.0.0.1:8080/matrix/serial?kernel=loops",
            self.elapsed_ms,
            0,
            0,
            self.timing,
            *([self.kind, "" if self.elapsed_us is None else self.elapsed_us] if self.kind else []),
        ]
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerow(record)
        return text.getvalue()


def error(end_ms: int, elapsed_ms: int = 5, code: str = "503") -> Sample:
    """A request that the service refused, or that never reached it."""
    return Sample(end_ms, elapsed_ms, code, success=False, message="status", timing="")


def wrong_answer(end_ms: int, elapsed_ms: int = 5) -> Sample:
    """Status 200 with another product; the message has quotes, commas and a line break."""
    message = 'Test failed: text expected to equal "58,64"\nbut was "58,65"'
    return Sample(end_ms, elapsed_ms, success=False, message=message)


def jtl(samples: list[Sample]) -> str:
    """A whole file."""
    mixed = any(sample.kind for sample in samples)
    header = HEADER.replace("\n", ',"kind","elapsed_us"\n') if mixed else HEADER
    return header + "".join(sample.line() for sample in samples)
