"""One self-contained page of a run: proofs, tables, figures, the whole matrix, provenance."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from restbench import audit, columns, experiment, measures, study
from restbench.measures import Measurement, Row
from restbench.records import Manifest
from restbench.store import Run, write_text

_TEMPLATE = "report.html.jinja"


@dataclass(frozen=True)
class InlineFigure:
    """A figure as it stands in the page, with a link to its own file."""

    number: int
    svg: Markup
    link: str


def write(run: Run, rows: Sequence[Row] | None = None) -> Path:
    """Write report.html from the run's records and the figures already drawn; returns the page."""
    known = measures.rows(run) if rows is None else rows
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("restbench"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["readable"] = columns.readable
    page = environment.get_template(_TEMPLATE).render(_context(run, known))
    write_text(run.report, page + "\n")
    return run.report


def _context(run: Run, rows: Sequence[Row]) -> dict[str, Any]:
    manifest = run.manifest()
    definition = experiment.load(run.experiment_file)
    figures = [
        _inline_figure(run, figure.number, figure.title)
        for figure in definition.figures
        if run.figure(figure.number).exists()
    ]
    shown = {figure.number for figure in figures}
    return {
        "manifest": manifest,
        "facts": study.facts(run, manifest, rows),
        "proofs": run.proofs(),
        "sections": [section for section in study.sections(rows) if section.in_study],
        "rows": rows,
        "figures": figures,
        "not_drawn": [each.number for each in definition.figures if each.number not in shown],
        "links": {row.cell.id: _links(run, row) for row in rows},
        "observed": [(row, each) for row in rows for each in row.measured if _has_details(each)],
        "failures": [(row, each) for row in rows for each in row.measurements if each.reason],
        "flags": study.flag_meanings(rows),
        "provenance": _provenance(run, manifest),
        "study": study,
        "audit": audit,
        "columns": columns,
    }


def _has_details(measurement: Measurement) -> bool:
    return bool(measurement.machine or measurement.service_metrics)


def _inline_figure(run: Run, number: int, title: str) -> InlineFigure:
    path = run.figure(number)
    text = path.read_text(encoding="utf-8")
    return InlineFigure(number, Markup(inline_svg(text, f"f{number}", title)), _link(run, path))  # noqa: S704


def inline_svg(text: str, prefix: str, title: str) -> str:
    """An SVG document as an element of a page: ids made its own, size left to the page."""
    element = text[text.index("<svg") :]
    element = re.sub(r"<metadata>.*?</metadata>", "", element, flags=re.DOTALL)
    element = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{prefix}-", element)
    opening, rest = element.split(">", 1)
    opening = re.sub(r'\s(?:width|height)="[^"]*"', "", opening)
    return f'{opening} role="img" aria-label="{Markup.escape(title)}">{rest}'


def _links(run: Run, row: Row) -> list[tuple[str, str]]:
    """What there is on disk about a cell: its dashboard and the raw folders of its blocks."""
    dashboard = run.dashboard(row.cell.id) / "index.html"
    raw = [
        (f"raw {each.block}", run.cell(each.block, row.cell.id).path) for each in row.measurements
    ]
    return [
        (name, _link(run, path)) for name, path in [("dashboard", dashboard), *raw] if path.exists()
    ]


def _link(run: Run, path: Path) -> str:
    return Path(os.path.relpath(path, run.path)).as_posix()


def _provenance(run: Run, manifest: Manifest) -> dict[str, str]:
    """Everything needed to run it again, as name → text."""
    told = {
        "Command": manifest.command,
        "Git commit": manifest.git_commit + (" with local changes" if manifest.git_dirty else ""),
        "Seed": str(manifest.seed),
        "Started": manifest.started,
        "Finished": manifest.finished or "not finished",
    }
    if run.machine_file.exists():
        machine = json.loads(run.machine_file.read_text(encoding="utf-8"))
        told |= {_heading(name): _plain(value) for name, value in machine.items()}
    return told


def _heading(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _plain(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {version}" for name, version in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
