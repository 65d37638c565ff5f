"""The examples of the contract, as what is sent."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[2] / "contract" / "examples"


def body_of(request: dict[str, Any]) -> bytes:
    """Of an example's request."""
    if "bodyBase64" in request:
        return base64.b64decode(request["bodyBase64"])
    if "bodyText" in request:
        return str(request["bodyText"]).encode()
    return json.dumps(request["body"]).encode() if "body" in request else b""
