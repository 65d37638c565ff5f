"""The test matrix as a Markdown document."""

from __future__ import annotations

from collections.abc import Sequence

from restbench.analyse.measures import Row
from restbench.experiment.columns import HEADINGS, readable
from restbench.experiment.records import Proof
from restbench.judge import study
from restbench.judge.claims import Decision
from restbench.judge.leader import answer
from restbench.judge.study import STUDY_COLUMNS, Section
from restbench.show import microbench_text
from restbench.store.microbench_records import Microbench
from restbench.store.store import Run


def document(run: Run, rows: Sequence[Row]) -> str:
    """The answer, the claims, the proofs, the study's tables, what flags and columns mean."""
    manifest = run.manifest()
    parts = [f"# {manifest.title}", _bullets(study.facts(run, manifest, rows))]
    parts += ["## The answer", *answer(rows).sentences]
    if decided := study.decisions(run, rows):
        parts += ["## The study's claims, held against this run", claims_table(decided)]
    parts += ["## Do the strategies do what their names say?", _proofs(run.proofs())]
    for section in study.sections(rows):
        parts += [f"## {section.title}", _section(section)]
    if found := run.microbench():
        parts += ["## From which size on does a technique pay?", _break_evens(found)]
    if failed := study.failures(rows):
        parts += ["## What failed", "\n".join(f"- {each}" for each in failed)]
    if waiting := study.not_measured(rows):
        parts += ["## What there was no time for", "\n".join(f"- {each}" for each in waiting)]
    parts += ["## What the warnings and notes mean", _bullets(study.flag_meanings(rows))]
    parts += ["## What the columns mean", _bullets(study.column_meanings())]
    return "\n\n".join(parts) + "\n"


def _bullets(meanings: dict[str, str]) -> str:
    return "\n".join(f"- **{name}**: {meaning}" for name, meaning in meanings.items()) or "None."


def claims_table(decisions: Sequence[Decision]) -> str:
    """A row a claim, with its verdict and why."""
    head = ["Claim", "What it says", "Verdict", "The study's ratio", "Why"]
    body = [
        [
            each.id,
            each.text,
            f"**{each.headline}**",
            ", ".join(readable(value) for value in each.study_values),
            each.why + _marked(each),
        ]
        for each in decisions
    ]
    return table(head, ["---"] * len(head), body)


def _marked(decision: Decision) -> str:
    """How many of the cells behind it have warnings; which ones stands on the page."""
    return f" Warnings on what is behind it: {len(decision.warned)}." if decision.warned else ""


def _section(section: Section) -> str:
    head = ["Test"] if section.in_study else []
    head += ["Technique", "Complexity", "Users", *(HEADINGS[name] for name in STUDY_COLUMNS)]
    body = [
        [
            *([test_id] if section.in_study else []),
            study.technique(row.cell),
            row.cell.complexity,
            str(row.cell.users),
            *(study.shown(row, metric) for metric in STUDY_COLUMNS),
            ", ".join(study.marks(row).values()),
        ]
        for test_id, row in section.rows
    ]
    first_number = head.index("Users")
    marks = ["---:" if n >= first_number else "---" for n in range(len(head))]
    return table([*head, "Flags"], [*marks, "---"], body)


def _break_evens(found: Microbench) -> str:
    """As a microbenchmark of the run's machine has it."""
    head = list(microbench_text.BREAK_EVEN_HEAD)
    lines = microbench_text.break_even_lines(found.break_evens)
    told = f"{microbench_text.READING} {microbench_text.made_of(found)}"
    return f"{told}\n\n{table(head, ['---'] * len(head), lines)}"


def _proofs(proofs: Sequence[Proof]) -> str:
    head = ["Service", "Strategy", "Placement", "Verdict", "Claim", "What the kernel saw"]
    body = [
        [
            each.service,
            each.strategy,
            each.placement,
            f"**{study.verdict(each)}**",
            each.claim,
            each.evidence,
        ]
        for each in proofs
    ]
    return table(head, ["---"] * len(head), body) if body else "No proof was made in this run."


def table(head: list[str], marks: list[str], body: list[list[str]]) -> str:
    """A table in Markdown; `marks` say how its columns are aligned."""
    escaped = [[cell.replace("|", "\\|") for cell in line] for line in body]
    return "\n".join(f"| {' | '.join(line)} |" for line in [head, marks, *escaped])
