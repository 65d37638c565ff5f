"""What the numbers rest on: proofs, calibration, microbenchmark, what collectors saw, and where all
of it comes from."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from restbench.experiment.cell import DEFAULT_FRAMEWORKS
from restbench.experiment.columns import readable
from restbench.experiment.records import Interruption, Proof
from restbench.judge import study
from restbench.machine import phases
from restbench.show import microbench_text
from restbench.show.document import (
    BAD,
    DOUBT,
    GOOD,
    Field,
    Inline,
    Link,
    Section,
    Terms,
    Text,
    section,
    table,
)
from restbench.show.findings import Findings
from restbench.store.quoted import WindowEntry

_VERDICT_TONES = {True: GOOD, False: BAD, None: DOUBT}
_WINDOW_HEAD = {
    "seconds": "Window s",
    "machine_cpu_pct": "Machine %",
    "steal_pct": "Steal %",
    "run_queue": "Run queue",
    "context_switches_per_s": "Switches /s",
    "memory_used_mib": "Memory used MiB",
    "service_cpu_pct": "Service %",
    "service_peak_rss_mib": "Service peak MiB",
    "heap_peak_mib": "Heap peak MiB",
    "gc_pause_ms": "GC pauses ms",
}


def proofs(found: Findings) -> Section | None:
    """What the kernel saw of each strategy."""
    rows = [
        (
            each.service,
            each.strategy,
            _where(each),
            Field(study.verdict(each), tone=_VERDICT_TONES[each.does]),
            each.claim,
            each.evidence,
        )
        for each in found.run.proofs
    ]
    if not rows:
        return None
    head = ("Service", "Strategy", "Placement", "Verdict", "Claim", "What the kernel saw")
    intro = Text(
        "Looked up in the kernel (/proc) while each strategy served requests, before the benchmark."
    )
    title = "Do the strategies do what their names say?"
    return section("proofs", title, intro, table("Proofs", head, rows), folded=True)


def _where(proof: Proof) -> str:
    """Placement, then the build and the framework that are not the default."""
    levels = [proof.placement, *([f"build {proof.build}"] if proof.build != "checkout" else [])]
    usual = ("", DEFAULT_FRAMEWORKS[proof.service])
    return ", ".join([*levels, *([proof.framework] if proof.framework not in usual else [])])


def calibration(found: Findings) -> Section:
    """Is the measuring chain right?"""
    title, made = "Is the measuring chain right?", found.run.calibration
    if made is None:
        none = Text("No calibration of this machine held. 'make calibrate' makes one.")
        return Section("calibration", title, (none,), folded=True)
    rows = [
        (
            each.name,
            Field("passed" if each.passed else "not passed", tone=GOOD if each.passed else BAD),
            each.measured,
            each.limit,
            each.question + (f" So {each.follows}." if each.follows else ""),
        )
        for each in made.checks
    ]
    intro = f"Made {made.made} on this machine, commit {made.git_commit[:12]}."
    head = ("Check", "Result", "Measured", "Limit", "Question")
    checks = table("Checks of the measuring chain", head, rows)
    return Section("calibration", title, (Text(intro), checks), folded=True)


def break_even(found: Findings) -> Section | None:
    """From which size on a technique pays."""
    made = found.run.microbench
    if made is None:
        return None
    lines = microbench_text.break_even_lines(made.break_evens)
    sizes = table("Break-even sizes", microbench_text.BREAK_EVEN_HEAD, lines)
    text = Text(f"{microbench_text.READING} {made.made_of}")
    title = "From which size on does a technique pay?"
    return section("break-even", title, text, sizes, folded=True)


def windows(found: Findings) -> Section | None:
    """The machine and the service during the long windows."""
    rows = [_window(each) for each in found.run.windows]
    if not rows:
        return None
    head = ["Cell", *_WINDOW_HEAD.values(), "Each core %", "Threads by state"]
    intro = Text(
        "From sar, pidstat and the service's own metrics, a line a window. Busy is neither idle, "
        "nor waiting for a disk, nor stolen; the service's share is percent of ONE core."
    )
    seen = table("Long windows", head, rows, " " + "n" * len(_WINDOW_HEAD))
    return section("observed", f"{len(rows)} long windows", intro, seen, folded=True)


def _window(each: WindowEntry) -> tuple[Field | str, ...]:
    states = ", ".join(f"{state} {count:.1f}" for state, count in each.threads_by_state.items())
    return (
        Field(Link(each.cell, f"#cell-{each.cell}")),
        *(readable(getattr(each, name)) for name in _WINDOW_HEAD),
        " ".join(f"{core:.0f}" for core in each.core_pct),
        states,
    )


def provenance(found: Findings) -> Section:
    """Everything needed to run it again, and the files behind the page."""
    files = [link for path in _files(found) if (link := found.link(path))]
    links = tuple(part for link in files for part in (link, " "))
    parts = [Terms(_facts(found)), Text(("Files: ", *links)) if links else None]
    return Section("provenance", "Provenance", tuple(filter(None, parts)), folded=True)


def _files(found: Findings) -> list[Path]:
    folder = found.folder
    return [
        folder.exported_file,
        folder.trials.path,
        *folder.identity_files(),
        folder.path / "tables",
    ]


def _facts(found: Findings) -> dict[str, Inline]:
    run, manifest = found.run, found.run.manifest
    facts: dict[str, Inline] = {
        "Run": f"{run.run}: experiment {run.experiment.name}, profile {run.experiment.profile}, "
        f"{manifest.status}",
        "Command": manifest.command,
        "Measured with": commit(manifest.git_commit, manifest.git_dirty),
        "Seed": f"{manifest.seed}: what is sent and the order of the cells come from it",
        "Started": manifest.started,
        "Finished": manifest.finished or "not finished",
        "Blocks": study.blocks_line(manifest.planned_blocks or 0, found.rows),
        "Claims file": f"sha256 {run.experiment.claims_sha256 or 'none'}",
        "Latency": "closed loop: a user asks again only after its answer, so percentiles hold for "
        "that number of users and hide what requests at a fixed rate would wait",
    }
    facts |= {"Time went to": phases.summary(manifest.spent_s)} if manifest.spent_s else {}
    facts |= {"Interrupted": _interrupted(manifest.interrupted)}
    facts |= {f"Build {name}": str(build) for name, build in manifest.builds.items()}
    facts |= {f"Service of others: {name}": url for name, url in manifest.attached.items()}
    return facts | {_heading(name): _plain(value) for name, value in run.described.items()}


def _interrupted(found: Sequence[Interruption]) -> str:
    stops = []
    for each in found:
        anew = f", {len(each.lost)} measured anew" if each.lost else ""
        stops.append(
            f"{each.how} at {each.ended}, gone on at {each.resumed} with {each.kept} measured{anew}"
            f" ({commit(each.git_commit, each.git_dirty)})"
        )
    return "; ".join(stops) or "never"


def commit(commit: str, dirty: bool | None) -> str:
    """A commit for people."""
    if dirty is None:
        return "commit unknown: neither git nor a checkout was there"
    return f"git commit {commit}{' with local changes' if dirty else ''}"


def _heading(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _plain(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {version}" for name, version in value.items()) or "none"
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
