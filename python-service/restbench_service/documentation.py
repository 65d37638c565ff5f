"""The contract as JSON, and a page to browse and try it that needs no network."""

import json
from functools import cache
from pathlib import Path

import flask_swagger_ui
import yaml
from flask import Flask, Response, send_from_directory

from . import security_headers

CONTRACT = Path(__file__).parents[2] / "contract" / "openapi.yaml"
OURS = Path(__file__).parent / "docs"
OUR_FILES = frozenset({"index.html", "start.js"})
"""The page and its script: those of flask-swagger-ui stand in one file, which would need a
Content-Security-Policy that runs scripts from anywhere in a page."""
SWAGGER_UI = Path(flask_swagger_ui.__file__).parent / "dist"


def add_documentation(app: Flask) -> None:
    """GET /openapi.json and GET /docs."""

    def openapi() -> Response:
        return Response(_contract(), mimetype="application/json")

    app.add_url_rule("/openapi.json", "openapi", openapi)
    app.add_url_rule("/docs/", "docs", _file, defaults={"name": "index.html"})
    app.add_url_rule("/docs/<path:name>", "docs", _file)


@cache
def _contract() -> str:
    """Read at the first question: a worker that replaces another starts the sooner."""
    return json.dumps(yaml.safe_load(CONTRACT.read_text("utf-8")))


def _file(name: str) -> Response:
    response = send_from_directory(OURS if name in OUR_FILES else SWAGGER_UI, name)
    response.headers.update(security_headers.PAGE)
    return response
