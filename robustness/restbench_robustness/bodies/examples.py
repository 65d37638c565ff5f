"""The requests of the contract's examples, which a campaign changes or takes odd values from."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

from restbench_robustness.wire import Message

FOLDER = Path(__file__).parents[3] / "contract" / "examples"


def body_of(request: dict[str, Any]) -> bytes:
    """The body of an example's request."""
    if "bodyBase64" in request:
        return base64.b64decode(request["bodyBase64"])
    if "bodyText" in request:
        return str(request["bodyText"]).encode()
    return json.dumps(request["body"]).encode() if "body" in request else b""


def examples(*roots: str) -> dict[str, Message]:
    """The requests whose path begins with one of `roots`, by name; placeholders are kept."""
    found = {}
    for file in sorted(FOLDER.glob("*.json")):
        request = json.loads(file.read_text())["request"]
        path, _, query = request["path"].partition("?")
        if path.startswith(roots):
            headers = tuple(request["headers"].items())
            found[file.stem] = Message(body_of(request), request["method"], path, query, headers)
    return found
