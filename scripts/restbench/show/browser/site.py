"""The browser's files: `index.html` in the folder of all runs, and what it loads in `assets/`.

Everything is loaded by `<script>` and `<link>`, nothing is fetched, so that a file opened from a
disk shows the same as a web server. Pages of kept runs load their style and scripts from there too.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from importlib import resources
from pathlib import Path

from pydantic import ValidationError

from restbench.analyse.exported import rows_of
from restbench.failures import BadConfiguration, Unreadable
from restbench.grouping import grouped
from restbench.show.browser.document import ListedRun, document
from restbench.show.charts import theme
from restbench.store import exported
from restbench.store.store import Run
from restbench.store.writing import write_text

ASSETS = "assets"
#: In order of dependency: a script uses only those before it.
_SCRIPTS = ("dom", "state", "filters", "runs", "cells", "trend", "welch", "compare", "main")


def find(results: Path) -> tuple[list[ListedRun], list[str]]:
    """Every run of the folder with a `run.json` of a form that this version reads, and a line about
    each run that cannot be shown."""
    named = {path.parent for name in ("manifest", "run") for path in results.glob(f"*/{name}.json")}
    runs, left_out = [], []
    for folder in sorted(each for each in named if not each.is_symlink()):
        try:
            runs.append(_listed(Run(folder)))
        except BadConfiguration as error:
            left_out.append(str(error).removeprefix(f"{results}/"))
    # Each run once: a kept copy is listed with its original where the folder has both.
    runs.sort(key=lambda each: each.folder != each.run.run)
    same = grouped(runs, lambda each: each.run.run).values()
    return [replace(first, copies=tuple(copies)) for first, *copies in same], left_out


def _listed(run: Run) -> ListedRun:
    run.require_read()
    if not run.exported_file.exists():
        raise BadConfiguration(f"{run.path}: has no run.json; 'restbench report' makes it")
    page = f"{run.name}/{run.report.name}" if run.report.exists() else None
    exported_run = exported.read(run.exported_file)
    try:
        return ListedRun(run.name, exported_run, tuple(rows_of(exported_run)), page)
    except ValidationError as error:
        raise Unreadable(
            f"{run.exported_file}: has cells that this version does not know"
        ) from error


def write(results: Path, runs: Sequence[ListedRun], left_out: Sequence[str]) -> Path:
    """Write the page and its assets; returns the page."""
    assets = write_page_assets(results)
    data = json.dumps(document(runs, left_out), separators=(",", ":"))
    write_text(assets / "runs.js", f"const DATA = {data};\n")
    scripts = _joined(f"browser/{name}.js" for name in _SCRIPTS)
    write_text(assets / "browser.js", f'"use strict";\n{scripts}')
    write_text(assets / "browser.css", _joined(["browser/browser.css"]))
    page = results / "index.html"
    write_text(page, _joined(["browser/index.html"]))
    return page


def _joined(names: Iterable[str]) -> str:
    templates = resources.files("restbench.show") / "templates"
    return "\n".join((templates / name).read_text(encoding="utf-8") for name in names)


def write_page_assets(results: Path) -> Path:
    """Write what kept pages load: style, script and chart library; returns their folder. The
    browser uses the style and the library as well."""
    assets = results / ASSETS
    write_text(assets / "charts.js", theme.library())
    for name in ("report.css", "report.js"):
        write_text(assets / name, _joined([name]))
    return assets
