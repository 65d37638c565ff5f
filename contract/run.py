"""Runs the contract's examples and probes against a service that is up.

    python contract/run.py http://127.0.0.1:8080 --framework tomcat [--front nginx] [--pid PID]

Examples with a `given` need a service in that situation and are left out; so is the probe that
ends the service without --pid. Differences must be those of deviations.toml: one that is not listed
fails, and so does a listed one that no longer happens. Exit code 0 or 1.
"""

from __future__ import annotations

import argparse
import base64
import http.client
import json
import math
import os
import re
import signal
import socket
import sys
import time
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from xml.etree import ElementTree

from probes import (
    PROBES,
    Answer,
    EndOfSending,
    Pause,
    Probe,
    Step,
    Terminate,
    Timeout,
    Zeros,
    chunk,
)

CONTRACT = Path(__file__).parent
SILENT_S = 30.0
"""Without an answer for so long a service is silent."""
PIECE = bytes(65536)
NIL = "{http://www.w3.org/2001/XMLSchema-instance}nil"
SECURITY_HEADERS = (
    "X-Content-Type-Options", "Cache-Control", "Content-Security-Policy", "Referrer-Policy",
)  # fmt: skip
SERVER_TIMING = re.compile(
    r"(delay;dur=\d+\.\d{3}, )?(unmarshal;dur=\d+\.\d{3}, )?queue;dur=\d+\.\d{3}"
    + "".join(rf", {stage};dur=\d+\.\d{{3}}" for stage in ("parse", "compute", "serialize"))
    + r"(, marshal;dur=\d+\.\d{3})?"
)


@dataclass(frozen=True)
class Service:
    """Where a running service is, and what it says of itself."""

    host: str
    port: int
    strategies: dict[str, list[str]]
    """By workload."""
    body_limit_bytes: int
    receive_timeout_s: float
    pid: int | None

    @staticmethod
    def at(url: str, receive_timeout_s: float, pid: int | None) -> Service:
        """Asks /strategies and /health."""
        address = urlsplit(url)
        assert address.hostname and address.port  # noqa: S101 - an argument of ours
        host, port = address.hostname, address.port
        listed = json.loads(get(host, port, "/strategies"))["strategies"]
        settings = json.loads(get(host, port, "/health"))["settings"]
        workloads = {workload for row in listed for workload in row["workloads"]}
        strategies = {w: [r["name"] for r in listed if w in r["workloads"]] for w in workloads}
        return Service(host, port, strategies, settings["maxBodyBytes"], receive_timeout_s, pid)


@dataclass(frozen=True)
class Outcome:
    """What an example or a probe was answered."""

    kind: str
    """example or probe."""
    name: str
    answer: str
    """In the form of probes.py."""
    faults: tuple[str, ...]
    """In what it is not as the contract has it; empty: right."""


def get(host: str, port: int, path: str) -> bytes:
    """The body of an answer."""
    connection = http.client.HTTPConnection(host, port, timeout=SILENT_S)
    connection.request("GET", path)
    return connection.getresponse().read()


# --- examples ---------------------------------------------------------------------------------


def examples() -> dict[str, dict[str, Any]]:
    """Those that need no situation, by name."""
    files = sorted((CONTRACT / "examples").glob("*.json"))
    every = {path.stem: json.loads(path.read_text()) for path in files}
    of_soap = sorted((CONTRACT / "soap" / "examples").glob("*.json"))
    every |= {f"soap/{path.stem}": json.loads(path.read_text()) for path in of_soap}
    return {name: example for name, example in every.items() if "given" not in example}


def offered(service: Service) -> dict[str, dict[str, Any]]:
    """Those that the service can be asked: of SOAP only where it lists a workload of it."""
    has_soap = any(workload.startswith("soap/") for workload in service.strategies)
    return {name: it for name, it in examples().items() if has_soap or "soap/" not in name}


def workload_of(path: str) -> str:
    """What stands before the strategy in a path."""
    parts = path.split("/")
    return "/".join(parts[1:3]) if parts[1] == "soap" else parts[1]


def paths(example: dict[str, Any], service: Service) -> Iterator[str]:
    """Every strategy for a success, and there every kernel; `serial` alone for a failure."""
    path: str = example["request"]["path"]
    if "{strategy}" not in path:
        yield path
        return
    listed = service.strategies.get(workload_of(path), ["serial"])
    for strategy in listed if example["status"] == 200 else ["serial"]:
        concrete = path.replace("{strategy}", strategy)
        yield concrete
        if path.startswith("/matrix/") and "kernel=" not in path and example["status"] == 200:
            joint = "&" if "?" in path else "?"
            yield from (f"{concrete}{joint}kernel={kernel}" for kernel in ("loops", "native"))


def body_of(request: dict[str, Any]) -> bytes:
    """Its body as it is sent."""
    if "bodyBase64" in request:
        return base64.b64decode(request["bodyBase64"])
    if "bodyText" in request:
        return str(request["bodyText"]).encode()
    return json.dumps(request["body"]).encode() if "body" in request else b""


def try_example(service: Service, name: str, example: dict[str, Any]) -> Outcome:
    """The first path on which the answer is wrong, or that all are right."""
    answer = ""
    for path in paths(example, service):
        try:
            status, headers, body = exchange(service, example["request"], path)
        except (OSError, http.client.HTTPException):
            return Outcome("example", name, "closed", (f"{path}: no answer",))
        answer = answer_text(status, body)
        if faults := list(unlike(example, status, headers, body)):
            return Outcome("example", name, answer, tuple(f"{path}: {it}" for it in faults))
    return Outcome("example", name, answer, ())


def exchange(
    service: Service, request: dict[str, Any], path: str
) -> tuple[int, http.client.HTTPMessage, bytes]:
    """An example's request on a connection of its own; status, headers and body."""
    connection = http.client.HTTPConnection(service.host, service.port, timeout=SILENT_S)
    connection.putrequest(request["method"], path, skip_accept_encoding=True)
    body = body_of(request)
    if body or request["method"] == "POST":
        connection.putheader("Content-Length", str(len(body)))
    for header, value in request.get("headers", {}).items():
        connection.putheader(header, value)
    connection.endheaders(body or None)
    response = connection.getresponse()
    answered = response.status, response.headers, response.read()
    connection.close()
    return answered


def unlike(
    example: dict[str, Any], status: int, headers: http.client.HTTPMessage, body: bytes
) -> Iterator[str]:
    """Everything in which an answer is not the example's."""
    if status != example["status"]:
        yield f"status {status}, not {example['status']}"
        return
    expected = {"Content-Type": "application/json", "Content-Length": str(len(body))}
    if is_xml(body):
        expected["Content-Type"] = "text/xml;charset=utf-8"
        yield from unlike_fault(example, body)
        body = as_json(body)
    for header, value in (expected | example.get("responseHeaders", {})).items():
        if value not in re.split(" *, *", headers.get(header, "")):
            yield f"{header}: {headers.get(header)}, not {value}"
    yield from (f"no {header}" for header in (*SECURITY_HEADERS, "Date") if header not in headers)
    if re.search("[0-9]", headers.get("Server", "")):
        yield f"Server: {headers['Server']} has a version"
    if status == 200 and not SERVER_TIMING.fullmatch(headers.get("Server-Timing", "")):
        yield f"Server-Timing: {headers.get('Server-Timing')}"
    if "responseText" in example:
        if body != example["responseText"].encode():
            yield f"body {body[:200]!r}"
    elif not alike(body, example["response"], example.get("varying"), example.get("where", "")):
        yield f"body {body[:300]!r}"


def is_xml(body: bytes) -> bool:
    """Whether an answer is in SOAP."""
    return body.startswith(b"<soap:Envelope")


def as_json(xml: bytes) -> bytes:
    """An answer in SOAP as the JSON that says the same, for one form of example."""
    payload = ElementTree.fromstring(xml)[0][0]  # noqa: S314 - of the service under test
    detail = payload.find("detail")
    members: dict[str, Any] = {}
    for element in payload[0] if detail is None else detail[0]:
        name, text = element.tag.rpartition("}")[2], element.text or ""
        if name in ("row", "value", "reference"):
            members.setdefault(name, []).append(text if name == "row" else float(text))
        elif name in ("iterations", "kernelSeconds", "totalSeconds", "mops", "verified"):
            members[name] = json.loads(text)
        else:
            members[name] = None if element.get(NIL) == "true" else text
    return json.dumps(members).encode()


def unlike_fault(example: dict[str, Any], xml: bytes) -> Iterator[str]:
    """In what a fault's own elements are not as the example has them."""
    payload = ElementTree.fromstring(xml)[0][0]  # noqa: S314 - of the service under test
    code = payload.findtext("faultcode", "").rpartition(":")[2]
    if code != example.get("faultCode", ""):
        yield f"faultcode {code}"
    if payload.findtext("faultstring") != payload.findtext("detail/*/{*}errorMessage"):
        yield "faultstring is not errorMessage"


def alike(
    body: bytes, expected: dict[str, Any], varying: dict[str, Any] | None, where: str
) -> bool:
    """Whether the members are those expected, each of the same type."""
    try:
        members = json.loads(body)
    except ValueError:
        return False
    if varying is None:
        names = {"requestId", "errorCode", "errorMessage"}
        text = members.get("errorMessage", "")
        return set(members) == names and where in text and equal(members, {**members, **expected})
    free = {name: members.get(name) for name in varying}
    near = (close(members.get(name), expected[name], varying[name]) for name in varying)
    return list(members) == list(expected) and equal(members, {**expected, **free}) and all(near)


def equal(one: Any, other: Any) -> bool:
    """As JSON values: 7 is not "7", nor 1 true."""
    return json.dumps(one) == json.dumps(other)


def close(value: Any, expected: Any, tolerance: float | None) -> bool:
    """Whether a number, or each in an array, is within a relative tolerance; None: above 0."""
    if tolerance is None:
        return isinstance(value, int | float) and value > 0
    if isinstance(expected, list):
        same = isinstance(value, list) and len(value) == len(expected)
        return same and all(close(*pair, tolerance) for pair in zip(value, expected, strict=True))
    return isinstance(value, int | float) and math.isclose(value, expected, rel_tol=tolerance)


# --- probes -----------------------------------------------------------------------------------


def try_probe(service: Service, probe: Probe) -> Outcome:
    """The conversation, and whether what came is allowed."""
    with socket.create_connection((service.host, service.port), SILENT_S) as connection:
        answer = " ".join(converse(service, connection, probe.steps))
    faults = () if re.fullmatch(probe.allowed, answer) else (f"{answer!r}, not {probe.allowed!r}",)
    return Outcome("probe", probe.name, answer, faults)


def converse(service: Service, connection: socket.socket, steps: tuple[Step, ...]) -> list[str]:
    """What came back, up to the first thing that is no answer."""
    seen: list[str] = []
    source = connection.makefile("rb")
    for step in steps:
        match step:
            case Answer(count):
                seen += [read_answer(source) for _ in range(count)]
            case Timeout():
                connection.settimeout(2 * service.receive_timeout_s + 3)
                seen.append(read_answer(source))
            case Pause(seconds):
                time.sleep(seconds)
            case Zeros():
                send_zeros(connection, service.body_limit_bytes + step.beyond_limit, step.in_chunks)
            case EndOfSending():
                connection.shutdown(socket.SHUT_WR)
            case Terminate():
                assert service.pid is not None  # noqa: S101 - such a probe is left out
                os.kill(service.pid, signal.SIGTERM)
            case bytes():
                length = str(service.body_limit_bytes + 4 * 1024 * 1024).encode()
                send(connection, step.replace(b"BEYOND", length))
        if seen and seen[-1] in {"closed", "silent"}:
            break
    return seen


def send(connection: socket.socket, data: bytes) -> bool:
    """Whether the other end still took it."""
    try:
        connection.sendall(data)
    except OSError:
        return False
    return True


def send_zeros(connection: socket.socket, count: int, in_chunks: bool) -> None:
    """`count` bytes, whatever is answered meanwhile, until the other end takes no more."""
    while count > 0:
        piece = PIECE[:count]
        if not send(connection, chunk(piece) if in_chunks else piece):
            return
        count -= len(piece)


def read_answer(source: Any) -> str:
    """One answer, `closed` or `silent`."""
    try:
        status_line = source.readline()
        headers = http.client.parse_headers(source) if status_line else {}
        status = int(status_line.split(b" ")[1]) if status_line else 0
        body = source.read(int(headers.get("Content-Length", 0))) if status >= 200 else b""
    except TimeoutError:
        return "silent"
    except (OSError, ValueError, IndexError, http.client.HTTPException):
        return "closed"
    return answer_text(status, body) if status else "closed"


def answer_text(status: int, body: bytes) -> str:
    """`200`, `413 007`, `400 other`."""
    if status < 400:
        return str(status)
    try:
        error = json.loads(as_json(body) if is_xml(body) else body)
        return f"{status} {error['errorCode']}" if len(error) == 3 else f"{status} other"
    except (ValueError, KeyError, TypeError):
        return f"{status} other"


# --- deviations -------------------------------------------------------------------------------


def rows() -> list[dict[str, str]]:
    """What deviations.toml lists."""
    text = (CONTRACT / "deviations.toml").read_text()
    return list(tomllib.loads(text)["deviation"])


def deviations(framework: str, front: str | None) -> dict[tuple[str, str], str]:
    """By kind and name: the answer that is listed for this framework behind this front."""
    kept = [
        row
        for row in rows()
        if row.get("framework", framework) == framework and row.get("front") == front
    ]
    kept.sort(key=lambda row: "framework" in row)  # a row of the pair decides over one of the front
    kinds = ("example", "probe")
    return {(kind, row[kind]): row["answer"] for row in kept for kind in kinds if kind in row}


def verdicts(outcomes: list[Outcome], listed: dict[tuple[str, str], str]) -> Iterator[str]:
    """A line for each difference that is not listed, or listed and not seen."""
    for outcome in outcomes:
        answer = listed.get((outcome.kind, outcome.name))
        what = f"{outcome.kind} {outcome.name}"
        if answer is None:
            yield from (f"{what}: {fault}" for fault in outcome.faults)
        elif not outcome.faults:
            yield f"{what}: listed as {answer!r}, but the answer is the contract's"
        elif outcome.answer != answer:
            yield f"{what}: {outcome.answer!r}, listed as {answer!r}"


def run(service: Service) -> list[Outcome]:
    """Every example, every probe side by side, at last the one that ends the service."""
    outcomes = [try_example(service, *item) for item in offered(service).items()]
    ending = [it for it in PROBES if any(isinstance(step, Terminate) for step in it.steps)]
    others = [it for it in PROBES if it not in ending]
    with ThreadPoolExecutor(len(others)) as pool:
        outcomes += pool.map(lambda probe: try_probe(service, probe), others)
    return outcomes + [try_probe(service, probe) for probe in ending if service.pid is not None]


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("url")
    parser.add_argument("--framework", required=True)
    parser.add_argument("--front", help="the proxy that listens there")
    parser.add_argument("--pid", type=int, help="of the service: try the probe that ends it")
    parser.add_argument("--strategy", help="try successes under this one alone, not under all")
    parser.add_argument("--receive-seconds", type=float, default=20, help="its receive timeout")
    options = parser.parse_args(arguments)
    service = Service.at(options.url, options.receive_seconds, options.pid)
    if options.strategy:
        service = replace(service, strategies={w: [options.strategy] for w in service.strategies})
    outcomes = run(service)
    lines = list(verdicts(outcomes, deviations(options.framework, options.front)))
    print("\n".join([*lines, f"{len(outcomes)} examples and probes, {len(lines)} differences"]))
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
