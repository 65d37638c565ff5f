"""The page of a run, made from its `run.json` alone: the answer on the first screen, then the
decided claims, the figures, and everything else folded away."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import jinja2
from markupsafe import Markup

from restbench.failures import counted
from restbench.machine import machine
from restbench.show import views
from restbench.show.charts import theme
from restbench.show.document import Figure, Section, words
from restbench.show.findings import Findings
from restbench.show.parts import cells, claims, evidence
from restbench.store.quoted import AnswerEntry
from restbench.store.writing import write_text

#: Fields of more characters are wrapped.
_LONG = 40


def sections(found: Findings) -> list[Section]:
    """The sections after the first screen, the most important first, without a paragraph that only
    repeats the answer."""
    wanted = [
        *claims.of(found),
        *views.sections(found),
        cells.first(found),
        cells.study_tables(found),
        cells.matrix(found),
        cells.each(found),
        cells.missing(found),
        cells.warned(found),
        evidence.proofs(found),
        evidence.calibration(found),
        evidence.break_even(found),
        evidence.windows(found),
        evidence.provenance(found),
    ]
    said = answer_of(found).sentence
    return [
        replace(each, parts=tuple(part for part in each.parts if part != said))
        for each in wanted
        if each is not None
    ]


def write(found: Findings, assets: str | None = None) -> None:
    """Write `report.html`. `assets` is the address of the folder that several pages load style,
    scripts and chart library from, relative to the page. Without it the page includes all of them,
    and needs no other file."""
    write_text(found.folder.report, html(found, assets))


def html(found: Findings, assets: str | None = None) -> str:
    """The page: the same text for the same `run.json` and files next to it."""
    page = _template().render(
        title=found.run.experiment.title,
        subtitle=_subtitle(found),
        answer=answer_of(found),
        first=found.first,
        sections=sections(found),
        library=None if assets else Markup(theme.library()),  # noqa: S704 - has no end tag
        assets=assets,
    )
    return page + "\n"


@cache
def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("restbench.show"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["kind"] = lambda part: type(part).__name__
    environment.filters["spec"] = _spec
    environment.filters["is_long"] = lambda field: len(words(field)) > _LONG
    return environment.get_template("report.html.jinja")


def answer_of(found: Findings) -> AnswerEntry:
    """The text of the first screen; for a `run.json` without one, a sentence that says so."""
    return found.run.answer or AnswerEntry(
        sentence="This run.json has no answer: generate it again."
    )


def _subtitle(found: Findings) -> str:
    run = found.run
    measured = sum(bool(row.measured) for row in found.rows)
    minutes = max(1, round(run.manifest.minutes))
    return (
        f"{machine.short(run.described)} · {run.manifest.started[:10]} · profile "
        f"{run.experiment.profile}, {counted(minutes, 'minute')} · {measured} of "
        f"{len(found.rows)} cells measured"
    )


def _spec(figure: Figure) -> Markup:
    """A chart's definition as it stands in a `<script>` element, with no end tag inside."""
    described = theme.spec(figure.chart)
    packed = {name: _packed(rows) for name, rows in described["datasets"].items()}
    text = json.dumps({**described, "datasets": packed}, separators=(",", ":"), allow_nan=False)
    return Markup(text.replace("</", "<\\/").replace("<!--", "<\\u0021--"))  # noqa: S704


def _packed(rows: Sequence[Mapping[str, Any]]) -> Sequence[Any]:
    """Records packed to half their size: a row of heads, then a row of values per record. A head is
    a field's name, or `[name, texts]` for a field with repeated texts, whose values are then
    indexes into `texts`. `{}` means that a record lacks the field. `report.js` unpacks them."""
    heads: list[Any] = []
    columns: list[list[Any]] = []
    for name in dict.fromkeys(name for row in rows for name in row):
        values = [_short(row.get(name, {})) for row in rows]
        found = [value for value in values if value != {}]
        places = {text: place for place, text in enumerate(dict.fromkeys(map(str, found)))}
        if all(isinstance(value, str) for value in found) and 2 * len(places) <= len(found):
            heads.append([name, [*places]])
            columns.append([value if value == {} else places[value] for value in values])
        else:
            heads.append(name)
            columns.append(values)
    return [heads, *map(_cut, zip(*columns, strict=True))]


def _cut(row: Sequence[Any]) -> Sequence[Any]:
    """The row without those fields at its end that the record lacks."""
    last = max((place for place, value in enumerate(row) if value != {}), default=-1)
    return row[: last + 1]


def _short(value: Any) -> Any:
    """A whole number without its ".0"."""
    return int(value) if isinstance(value, float) and value.is_integer() else value
