"""A finding for a person: what was wrong, how to send it again, and the example it would become."""

from __future__ import annotations

import base64
import hashlib
import json
import shlex
from pathlib import Path
from typing import Any

from .campaign import Finding
from .comparison import Target
from .message import STRATEGY, Message, Route
from .oracle import Verdict


def keep(finding: Finding, folder: Path, targets: list[Target]) -> list[str]:
    """Write what is needed to send it again to `folder`; the lines to print."""
    folder.mkdir(parents=True, exist_ok=True)
    verdict, digest = finding.outcome.verdict, hashlib.sha256(finding.message.identity())
    name = f"{verdict.code if verdict else 'http'}-fuzz-{digest.hexdigest()[:8]}"
    lines = [f"{finding.source}: {name}" + ("" if finding.repeats else " (not every time)")]
    lines += [f"  {difference}" for difference in finding.outcome.differences]
    for target in targets:
        lines.append(
            "  " + _command(finding.message, finding.routes[target.name], target, folder / name)
        )
    example = _example(finding)
    if example is not None:
        path = folder / f"{name}.json"
        path.write_text(json.dumps(example, indent=2, ensure_ascii=False) + "\n")
        lines.append(f"  candidate for contract/examples/: {path}")
    return lines


def _command(message: Message, route: Route, target: Target, path: Path) -> str:
    """The bytes as they stand: not every client can send what is wrong."""
    raw = path.with_suffix(f".{target.name}.http")
    raw.write_bytes(message.head(route, target.host) + message.payload())
    return f"nc -N {target.host} {target.port} < {shlex.quote(str(raw))}"


def _example(finding: Finding) -> dict[str, Any] | None:
    """In the form of contract/examples/; None for what that form cannot say."""
    message, verdict = finding.message, finding.outcome.verdict
    plain = message.is_http and message.is_whole and message.chunk_bytes is None
    if verdict is None or not plain:
        return None
    query = f"?{message.query}" if message.query else ""
    request = {
        "method": message.method,
        "path": message.path.replace(STRATEGY, "{strategy}") + query,
        "headers": dict(message.headers),
        **_body(message.body),
    }
    about = f"Found by the fuzzer ({finding.source}): say here in one sentence what it shows."
    return {"about": about, "request": request, **_response(verdict)}


def _body(body: bytes) -> dict[str, str]:
    try:
        return {"bodyText": body.decode("utf-8")}
    except UnicodeDecodeError:
        return {"bodyBase64": base64.b64encode(body).decode("ascii")}


def _response(verdict: Verdict) -> dict[str, Any]:
    if verdict.product is not None:
        return {"status": verdict.status, "responseText": verdict.product.decode("utf-8")}
    message = min(verdict.messages)
    response = {"requestId": verdict.request_id, "errorCode": verdict.code, "errorMessage": message}
    told: dict[str, Any] = {"status": verdict.status, "response": response}
    if verdict.allow:
        told["responseHeaders"] = {"Allow": verdict.allow}
    return told
