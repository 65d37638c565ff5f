"""The contract as JSON, and a page to browse and try it that needs no network."""

import json
from collections.abc import Callable
from functools import cache, partial
from importlib.util import find_spec
from mimetypes import guess_type
from pathlib import Path

import yaml

from .reply import DATA_HEADERS, PAGE_HEADERS, Reply, page

CONTRACT = Path(__file__).parents[3] / "contract" / "openapi.yaml"
PAGE_FOLDER = Path(__file__).parent / "docs"
"""Folder of the page and its script: flask-swagger-ui has both in one file, which would need a
Content-Security-Policy that allows inline scripts."""
_TO_THE_FOLDER = {**DATA_HEADERS, "Content-Type": "text/plain", "Location": "/docs/"}


@cache
def openapi() -> Reply:
    """The contract as JSON, read at the first request so that a new worker starts sooner."""
    return page(json.dumps(yaml.safe_load(CONTRACT.read_text("utf-8"))).encode())


def documents() -> dict[str, Callable[[], Reply]]:
    """By path, the functions that make the replies to /docs and to each file below it. No other
    file can be read, whatever path a client sends."""
    found = find_spec("flask_swagger_ui")  # not imported: that would import Flask
    folders = found.submodule_search_locations if found else None
    theirs = [Path(folder) / "dist" for folder in folders or ()]
    paths = [
        path for folder in (*theirs, PAGE_FOLDER) for path in folder.iterdir() if path.is_file()
    ]
    return {
        "/docs": lambda: Reply(308, _TO_THE_FOLDER, b""),
        "/docs/": partial(_file, PAGE_FOLDER / "index.html"),
        **{f"/docs/{path.name}": partial(_file, path) for path in paths},
    }


def _file(path: Path) -> Reply:
    kind = guess_type(path.name)[0] or "application/octet-stream"
    return page(
        path.read_bytes(),
        f"{kind}; charset=utf-8" if kind.startswith("text/") else kind,
        PAGE_HEADERS,
    )
