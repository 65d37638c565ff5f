#!/usr/bin/env python3
"""Makes target/classes.jsa, an archive of JMeter's classes, which halves the time of a start.

One short run against a server inside this program lists the classes that a benchmark run loads, a
dashboard included; the JVM then writes them to the archive (class data sharing). The archive fits
one JVM and one JMeter folder: run it again after a change of either (`make setup` does). A JVM that
it does not fit starts without it.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

PLANS = Path(__file__).resolve().parent
ARCHIVE = PLANS / "target" / "classes.jsa"
EXAMPLE = PLANS / "example"
ANSWER_REST = (EXAMPLE / "answer-rest.json").read_text(encoding="ascii")


class _Service(BaseHTTPRequestHandler):
    """Answers as the plan expects, so that the run loads the classes for a correct answer."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        body = f'{{"requestId":"{request["requestId"]}",{ANSWER_REST}'.encode("ascii")
        self.send_response(200)
        self.send_header("Server-Timing", "queue;dur=0.001")
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Logs nothing: a line per request would hide the program's own output."""


def main() -> int:
    """Writes the archive and prints its path; returns 1, with the JVM's output, on failure."""
    ARCHIVE.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        listed = _list_classes(folder)
        finished = _write_archive(folder) if listed.returncode == 0 else listed
        if finished.returncode == 0:
            shutil.move(folder / ARCHIVE.name, ARCHIVE)
    if finished.returncode:
        print(finished.stdout, file=sys.stderr)
        print(f"archive_classes: the JVM ended with {finished.returncode}", file=sys.stderr)
        return 1
    print(f"{ARCHIVE}: {ARCHIVE.stat().st_size / 2**20:.0f} MiB")
    return 0


def _list_classes(folder: Path) -> "subprocess.CompletedProcess[str]":
    """Runs the plan, with a dashboard, against a _Service; lists the classes in loaded.txt."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Service)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    plan = ["-t", str(PLANS / "closed-load.jmx"), "-Jusers=2", "-Jloops=50"]
    plan += [f"-Jpayload={EXAMPLE}", f"-Jport={server.server_address[1]}"]
    files = ["-l", str(folder / "samples.jtl"), "-j", str(folder / "jmeter.log")]
    dashboard = ["-e", "-o", str(folder / "dashboard")]
    finished = _jmeter(
        folder,
        "-Xshare:off -XX:DumpLoadedClassList=loaded.txt",
        [*plan, *files, *dashboard],
    )
    server.shutdown()
    return finished


def _write_archive(folder: Path) -> "subprocess.CompletedProcess[str]":
    # JDK 17 crashes on a lambda whose interface was compiled before Java 6 (JDK-8274944). Lambdas
    # are left out: they are a small part of the start time.
    loaded = (folder / "loaded.txt").read_text(encoding="utf-8").splitlines(keepends=True)
    kept = (line for line in loaded if not line.startswith("@lambda-proxy"))
    (folder / "classes.txt").write_text("".join(kept), encoding="utf-8")
    # The JVM writes the archive and ends before it starts JMeter.
    options = f"-XX:SharedClassListFile=classes.txt -XX:SharedArchiveFile={ARCHIVE.name}"
    return _jmeter(folder, f"-Xshare:dump {options}", [])


def _jmeter(
    folder: Path, jvm_options: str, arguments: list[str]
) -> "subprocess.CompletedProcess[str]":
    # The folder is the working directory, so that the options need no paths: the launcher splits
    # them at spaces, which a path may contain.
    return subprocess.run(
        [str(PLANS / "jmeter.sh"), "-n", *arguments],
        cwd=folder,
        env=os.environ | {"JMETER_JVM_ARGS": jvm_options},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


if __name__ == "__main__":
    sys.exit(main())
