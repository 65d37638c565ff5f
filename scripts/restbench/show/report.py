"""One self-contained page of a run, in seven parts: the answer, calibration and audit, claims, the
study's figures and tables, where the time goes, every cell, provenance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from restbench.analyse import flags, long_windows, measures
from restbench.analyse.measures import Row
from restbench.experiment import claim_file, columns, experiment
from restbench.failures import CellsFailed
from restbench.judge import leader, regret, study, verdicts
from restbench.show import (
    builds,
    charts,
    effects,
    factorial_view,
    figures,
    microbench_text,
    provenance,
    regret_figure,
    regret_report,
)
from restbench.store.store import Run
from restbench.store.writing import write_text

_TEMPLATE = "report.html.jinja"
_LIBRARY = "vendor/echarts.min.js"


@dataclass(frozen=True)
class ShownFigure:
    """A figure of the study as the page has it: its words, and its data for the chart."""

    number: int
    title: str
    caption: str
    reading: tuple[str, str]
    link: str
    """To its SVG file; empty where it was not drawn."""
    panels: int
    data: dict[str, Any]


@dataclass(frozen=True)
class Marked:
    """A cell with warnings or notes, and the sentences of its warnings."""

    row: Row
    warned: bool
    words: tuple[str, ...]


def write(run: Run, rows: Sequence[Row] | None = None, raw: Run | None = None) -> Path:
    """Write report.html of a run; returns the page.

    `raw` is the run that has the raw files of long windows where they are not beside the page: a
    kept copy links to what is kept, and shows all that there was.
    """
    known = measures.rows(run) if rows is None else rows
    environment = _environment()
    page = environment.get_template(_TEMPLATE).render(
        _context(run, known, raw or run), library=_as_it_is(environment, _LIBRARY)
    )
    write_text(run.report, page + "\n")
    return run.report


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("restbench.show"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["readable"] = columns.readable
    return environment


def _as_it_is(environment: jinja2.Environment, name: str) -> Markup:
    """A file beside the templates that is none itself."""
    loader = environment.loader
    assert loader is not None  # noqa: S101 - given just above
    return Markup(loader.get_source(environment, name)[0])  # noqa: S704 - our own file


def _context(run: Run, rows: Sequence[Row], raw: Run) -> dict[str, Any]:
    shown = _figures(run, rows)
    return {
        **_study_parts(run, rows, shown),
        **_audit_parts(run, rows),
        **_claims_parts(run, rows),
        **_regret_parts(run, rows),
        **_factorial_parts(run, rows),
        "builds": builds.of(experiment.load(run.experiment_file), rows, run.manifest()),
        "answer": leader.answer(rows),
        "manifest": run.manifest(),
        "rows": rows,
        "observed": long_windows.of_run(raw),
        "links": {row.cell.id: provenance.of_cell(run, row) for row in rows},
        "provenance": provenance.facts(run, run.manifest()),
        "files": provenance.files(run),
        "has_raw_data": run.has_raw_data,
        "has_dashboards": run.dashboards.exists(),
        "has_stages": bool(charts.stages(rows)),
        "microbench": run.microbench(),
        "microbench_link": provenance.link_to(run, run.microbench_file),
        "microbench_text": microbench_text,
        "data": Markup(_data(rows, shown)),  # noqa: S704 - escaped by as_json
        "study": study,
        "columns": columns,
        "verdicts": verdicts,
        "is_warning": flags.is_warning,
    }


def _study_parts(run: Run, rows: Sequence[Row], shown: Sequence[ShownFigure]) -> dict[str, Any]:
    drawn = {figure.number for figure in shown}
    defined = experiment.load(run.experiment_file).figures
    return {
        "facts": study.facts(run, run.manifest(), rows),
        "proofs": run.proofs(),
        "sections": [section for section in study.sections(rows) if section.in_study],
        "figures": shown,
        "not_drawn": [each.number for each in defined if each.number not in drawn],
        "matrix_link": provenance.link_to(run, run.test_matrix_csv),
        "failures": [
            (row, each) for row in rows for each in row.measurements if "failed" in each.flags
        ],
    }


def _regret_parts(run: Run, rows: Sequence[Row]) -> dict[str, Any]:
    found = regret.choosing(rows)
    return {
        "choosing": found,
        "regret": regret,
        "regret_report": regret_report,
        "regret_figures": {
            name: {
                "title": chart.title,
                "caption": chart.caption,
                "link": provenance.link_to(run, run.named_figure(name)),
            }
            for name, chart in regret_figure.charts(found.regrets).items()
        },
    }


def _factorial_parts(run: Run, rows: Sequence[Row]) -> dict[str, Any]:
    try:
        found = factorial_view.of(run, rows)
    except CellsFailed:  # its view says so; the page shows what there is
        found = None
    drawn = factorial_view.figures(found) if found else {}
    return {
        "factorial": found,
        "factorial_sentence": effects.sentence(found) if found else "",
        "factorial_figures": [_inline(each) for each in drawn.values()],
    }


def _inline(svg: str) -> Markup:
    """A figure within the page, without what only a file of its own has."""
    return Markup(svg[svg.index("<svg") :])  # noqa: S704 - drawn by us


def _audit_parts(run: Run, rows: Sequence[Row]) -> dict[str, Any]:
    return {
        "calibration": run.calibration(),
        "calibration_link": provenance.link_to(run, run.calibration_file),
        "marked": [_marked(row) for row in rows if study.marks(row)],
        "flags": study.flag_meanings(rows),
    }


def _claims_parts(run: Run, rows: Sequence[Row]) -> dict[str, Any]:
    if not run.claims_file.exists():
        return {"decisions": []}
    return {
        "decisions": study.decisions(run, rows),
        "claims_sha256": claim_file.load(run.claims_file).sha256,
        "claims_link": provenance.link_to(run, run.claims_file),
    }


def _marked(row: Row) -> Marked:
    warned = row.warnings
    return Marked(row, bool(warned), tuple(flags.explain(each.kind) for each in warned))


def _figures(run: Run, rows: Sequence[Row]) -> list[ShownFigure]:
    definition = experiment.load(run.experiment_file)
    described = [(each, figures.chart(each, definition, rows)) for each in definition.figures]
    return [
        ShownFigure(
            number=each.number,
            title=chart.title,
            caption=chart.caption,
            reading=charts.reading(each),
            link=provenance.link_to(run, run.figure(each.number)),
            panels=len(chart.panels),
            data=charts.figure(chart),
        )
        for each, chart in described
        if chart
    ]


def _regret_charts(rows: Sequence[Row]) -> dict[str, Any]:
    found = regret_figure.charts(regret.choosing(rows).regrets)
    return {name: charts.figure(chart) for name, chart in found.items()}


def _data(rows: Sequence[Row], shown: Sequence[ShownFigure]) -> str:
    return charts.as_json(
        {
            "cells": charts.cells(rows),
            "figures": {str(figure.number): figure.data for figure in shown} | _regret_charts(rows),
            "stages": charts.stages(rows),
        }
    )
