#!/usr/bin/env python3
"""Makes target/classes.jsa: JMeter's classes as the JVM maps them; a start then takes half as long.

One short run against a server inside this program loads what a benchmark run loads, a dashboard
included; the JVM writes those classes down at its end (class data sharing). The archive fits one
JVM and one JMeter folder: run it again after a change of either (`make setup` does). A JVM that it
does not fit starts without it.
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

PLANS = Path(__file__).resolve().parent
ARCHIVE = PLANS / "target" / "classes.jsa"
ROWS = "[[6]]"
REQUEST_REST = (
    '"matrixOne":{"columnCount":1,"rows":[{"value":"2"}]},'
    '"matrixTwo":{"columnCount":1,"rows":[{"value":"3"}]}}'
)


class _Service(BaseHTTPRequestHandler):
    """Answers what the plan expects, so that the run takes the way of a correct answer."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        body = f'{{"requestId":"{request["requestId"]}","rows":{ROWS}}}'.encode("ascii")
        self.send_response(200)
        self.send_header("Server-Timing", "queue;dur=0.001")
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing: a line a request would drown the program's own."""


def main() -> int:
    """Writes the archive and prints where; returns 1 with JMeter's words when the run failed."""
    ARCHIVE.unlink(missing_ok=True)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Service)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        finished = _run_jmeter(Path(folder), server.server_address[1])
    server.shutdown()
    if finished.returncode or not ARCHIVE.exists():
        print(finished.stdout, file=sys.stderr)
        print(f"archive_classes: JMeter ended with {finished.returncode}", file=sys.stderr)
        return 1
    print(f"{ARCHIVE}: {ARCHIVE.stat().st_size / 2**20:.0f} MiB")
    return 0


def _run_jmeter(folder: Path, port: int) -> "subprocess.CompletedProcess[str]":
    (folder / "body-rest.json").write_text(REQUEST_REST, encoding="ascii")
    (folder / "rows.json").write_text(ROWS, encoding="ascii")
    command = [str(PLANS / "jmeter.sh"), "-n", "-t", str(PLANS / "closed-load.jmx")]
    command += ["-l", str(folder / "samples.jtl"), "-j", str(folder / "jmeter.log")]
    command += ["-e", "-o", str(folder / "dashboard")]
    command += [f"-Jpayload={folder}", f"-Jport={port}", "-Jusers=2", "-Jloops=50"]
    return subprocess.run(
        command,
        env=os.environ | {"JMETER_JVM_ARGS": f"-XX:ArchiveClassesAtExit={ARCHIVE}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


if __name__ == "__main__":
    sys.exit(main())
