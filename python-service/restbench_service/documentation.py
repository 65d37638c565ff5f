"""The contract as JSON, and a page to browse and try it that needs no network."""

import json
from pathlib import Path

import yaml
from flask import Flask, Response
from flask_swagger_ui import get_swaggerui_blueprint

CONTRACT = Path(__file__).parents[2] / "contract" / "openapi.yaml"


def add_documentation(app: Flask) -> None:
    """GET /openapi.json and GET /docs."""
    document = json.dumps(yaml.safe_load(CONTRACT.read_text("utf-8")))

    def openapi() -> Response:
        return Response(document, mimetype="application/json")

    app.add_url_rule("/openapi.json", "openapi", openapi)
    app.register_blueprint(get_swaggerui_blueprint("/docs", "/openapi.json"))
