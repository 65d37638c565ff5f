"""The examples as requests: loads them, expands them to cases, and prepares the queues they need.

A success is tried under every strategy, and so is a failure with a code of FOUND_AT_WORK; any other
failure is tried under `serial`. An example of messages is tried with every technique under
`serial`, and with MAIN_TECHNIQUES under the other strategies: a strategy does not depend on the
technique, except that a strategy in other processes cannot reach queues of one process.
"""

from __future__ import annotations

import base64
import http.client
import json
import uuid
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from answers import Answer, Expectation, answer_text, unlike
from service import SILENT_S, Outcome, Service

CONTRACT = Path(__file__).parent
TECHNIQUES = (
    "skip-locked", "statements", "function", "blocking", "advisory", "repeatable-read", "pgmq",
    "memory",
)  # fmt: skip
MAIN_TECHNIQUES = ("skip-locked", "memory")
OF_ONE_PROCESS = "memory"
IN_OTHER_PROCESSES = ("process-per-request", "executor-per-request")
"""Strategies that do not offer OF_ONE_PROCESS."""
FOUND_AT_WORK = ("012", "013", "014", "015")
"""Error codes that are found during the work, which may run in another process."""
QUEUES = ("a", "b")
"""The queues that the situations `queue-empty` and `queue-three` create."""
EVERY_QUEUE = (*QUEUES, "c", "none")
SITUATIONS = ("database", "queue-empty", "queue-three")
"""Situations that are prepared here, by requests to the service. A service's own tests prepare the
others."""
LOST_AT_COMMIT = "database-lost-at-commit"
"""A situation whose queues are created here; a service's own tests cause the loss."""
JSON_TYPE = {"Content-Type": "application/json"}

Example = dict[str, Any]


@dataclass(frozen=True)
class Selection:
    """The strategies and techniques to try; an empty collection means all."""

    strategies: Collection[str] = ()
    techniques: Collection[str] = ()


EVERYTHING = Selection()


def examples(wanted: Collection[str | None] = (None, *SITUATIONS)) -> dict[str, Example]:
    """The examples whose situation (`given`) is in `wanted`, by name."""
    files = sorted((CONTRACT / "examples").glob("*.json"))
    every = {path.stem: json.loads(path.read_text()) for path in files}
    of_soap = sorted((CONTRACT / "soap" / "examples").glob("*.json"))
    every |= {f"soap/{path.stem}": json.loads(path.read_text()) for path in of_soap}
    return {name: it for name, it in every.items() if it.get("given") in wanted}


def offered(service: Service) -> tuple[dict[str, Example], list[str]]:
    """The examples that the service can answer, and the names of those that its missing database
    prevents.

    Examples of SOAP are included only where the service lists a workload of SOAP.
    """
    has_soap = any(workload.startswith("soap/") for workload in service.strategies)
    every = {name: it for name, it in examples().items() if has_soap or "soap/" not in name}
    left_out = [] if service.has_database else [name for name in every if "given" in every[name]]
    return {name: it for name, it in every.items() if name not in left_out}, left_out


def workload_of(path: str) -> str:
    """The workload of a path: the part before the strategy."""
    parts = path.split("/")
    return "/".join(parts[1:3]) if parts[1] == "soap" else parts[1]


def cases(example: Example, service: Service, wanted: Selection) -> Iterator[Example]:
    """The example under each strategy, technique and kernel with which it is tried."""
    for strategy in _strategies(example, service, wanted):
        for technique in _techniques(example, strategy, wanted):
            run = f"x{uuid.uuid4().hex[:12]}"
            names = {"strategy": strategy, "technique": technique, "run": run}
            concrete = filled(example, names) | {"names": names}
            yield concrete
            yield from _kernels(example, concrete)


def _strategies(example: Example, service: Service, wanted: Selection) -> list[str]:
    path = example["request"]["path"]
    if "{strategy}" not in path:
        return ["serial"]
    listed = service.strategies.get(workload_of(path), ["serial"])
    if wanted.strategies:
        listed = [it for it in listed if it in wanted.strategies]
    if "strategies" in example:
        return [it for it in listed if it in example["strategies"]]
    at_work = example.get("response", {}).get("errorCode") in FOUND_AT_WORK
    return listed if example["status"] == 200 or at_work else ["serial"]


def _techniques(example: Example, strategy: str, wanted: Selection) -> list[str]:
    """The techniques to try; the first one where the example does not depend on techniques."""
    if not has_queues(example) and "{technique}" not in json.dumps(example):
        return [TECHNIQUES[0]]
    tried = TECHNIQUES if strategy == "serial" else MAIN_TECHNIQUES
    found = [it for it in example.get("techniques", TECHNIQUES) if it in tried]
    if strategy in IN_OTHER_PROCESSES and "strategies" not in example:
        found = [it for it in found if it != OF_ONE_PROCESS]
    return [it for it in found if not wanted.techniques or it in wanted.techniques]


def _kernels(example: Example, concrete: Example) -> Iterator[Example]:
    path = concrete["request"]["path"]
    both = example["request"]["path"].startswith("/matrix/{strategy}") and "kernel=" not in path
    for kernel in ("loops", "native") if both and example["status"] == 200 else ():
        joint = "&" if "?" in path else "?"
        request = {**concrete["request"], "path": f"{path}{joint}kernel={kernel}"}
        yield {**concrete, "request": request}


def filled(value: Any, names: dict[str, str]) -> Any:
    """`value` with every `{name}` replaced, in all texts that it contains."""
    if isinstance(value, dict):
        return {name: filled(it, names) for name, it in value.items()}
    if isinstance(value, list):
        return [filled(it, names) for it in value]
    if isinstance(value, str) and "{" in value:
        for name, text in names.items():
            value = value.replace(f"{{{name}}}", text)
    return value


def try_example(
    service: Service, name: str, example: Example, wanted: Selection = EVERYTHING
) -> Outcome:
    """Try all cases of an example, up to the first one with a wrong answer."""
    answer = ""
    for case in cases(example, service, wanted):
        asked = f"{case['request']['path']} ({case['names']['technique']})"
        try:
            expected, answered = _ask(service, case)
        except (OSError, http.client.HTTPException):
            return Outcome("example", name, "closed", (f"{asked}: no answer",))
        except RefusedBefore as refused:
            return Outcome("example", name, "not asked", (f"{asked}: {refused}",))
        answer = answer_text(answered.status, answered.body)
        if faults := list(unlike(expected, answered)):
            return Outcome("example", name, answer, tuple(f"{asked}: {it}" for it in faults))
    return Outcome("example", name, answer, ())


class RefusedBefore(Exception):
    """A request that prepares a situation was not answered with 200."""


def prepare(service: Service, case: Example) -> tuple[dict[str, Any], Example]:
    """Prepare the situation. Returns the answer to the last preparing request, and the request of
    the case. Raises RefusedBefore."""
    earlier: dict[str, Any] = {}
    for request in situation(case):
        earlier = _succeed(service, request)
    return earlier, filled(case["request"], {"id": str(earlier.get("id"))})


def _ask(service: Service, case: Example) -> tuple[Expectation, Answer]:
    """Prepare the situation, send the request and delete the queues of the case."""
    try:
        earlier, request = prepare(service, case)
        return Expectation(case, earlier), exchange(service, request)
    finally:
        if case.get("given") in SITUATIONS:
            for queue in left_behind(case):
                exchange(service, _about(case, "DELETE", queue))


def left_behind(case: Example) -> list[str]:
    """The queues that may exist after a case: the first one of its situation, and those that it
    names. A second queue that it does not name is not created, as each takes time."""
    made = QUEUES[:1] if has_queues(case) else ()
    text, run = str(case), case["names"]["run"]
    return [queue for queue in EVERY_QUEUE if queue in made or f"{run}-{queue}" in text]


def has_queues(example: Example) -> bool:
    """Whether the situation of an example has the queues in QUEUES."""
    given: str = example.get("given", "")
    return given.startswith("queue-") or given == LOST_AT_COMMIT


def situation(case: Example) -> Iterator[Example]:
    """The requests that prepare a case: those of its situation, then its own list `before`."""
    if has_queues(case):
        names = case["names"]
        for queue in (it for it in left_behind(case) if it in QUEUES):
            made = {"requestId": 0, "queue": f"{names['run']}-{queue}"}
            body = {**made, "technique": names["technique"]}
            path = "/messages/serial/queues"
            yield {"method": "POST", "path": path, "headers": JSON_TYPE, "body": body}
    if case.get("given") == "queue-three":
        for sender, text in enumerate(("one", "two", "three"), start=1):
            body = {"requestId": 0, "sender": sender, "body": text}
            yield _about(case, "POST", "a", "/messages") | {"headers": JSON_TYPE, "body": body}
    yield from case.get("before", ())


def _about(case: Example, method: str, queue: str, rest: str = "") -> Example:
    path = f"/messages/serial/queues/{case['names']['run']}-{queue}{rest}"
    return {"method": method, "path": path, "headers": {}}


def _succeed(service: Service, request: Example) -> dict[str, Any]:
    answer = exchange(service, request)
    if answer.status != 200:
        told = f"{request['method']} {request['path']}: {answer.status} {answer.body[:200]!r}"
        raise RefusedBefore(told)
    return dict(json.loads(answer.body))


def body_of(request: Example) -> bytes:
    """The body of a request as it is sent."""
    if "bodyBase64" in request:
        return base64.b64decode(request["bodyBase64"], validate=True)
    if "bodyText" in request:
        return str(request["bodyText"]).encode()
    return json.dumps(request["body"]).encode() if "body" in request else b""


def exchange(service: Service, request: Example) -> Answer:
    """Send a request on a new connection; return the answer."""
    connection = http.client.HTTPConnection(service.host, service.port, timeout=SILENT_S)
    connection.putrequest(request["method"], request["path"], skip_accept_encoding=True)
    body = body_of(request)
    if body or request["method"] == "POST":
        connection.putheader("Content-Length", str(len(body)))
    for header, value in request.get("headers", {}).items():
        connection.putheader(header, value)
    connection.endheaders(body or None)
    response = connection.getresponse()
    answer = Answer(response.status, response.headers, response.read())
    connection.close()
    return answer
