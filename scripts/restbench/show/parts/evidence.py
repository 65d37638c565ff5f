"""What the numbers rest on: proofs, calibration, microbenchmark, the observations of collectors,
and the provenance of the run."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from restbench.experiment.cell import DEFAULT_FRAMEWORKS
from restbench.experiment.records import CheckEntry, Interruption, Proof
from restbench.judge import study
from restbench.show import document as doc
from restbench.show import microbench_text, wording
from restbench.show.findings import Findings
from restbench.store.quoted import WindowEntry

#: The metric in which long windows are compared with trials.
_METRIC = "throughput_per_s"
_VERDICT_TONES = {True: doc.GOOD, False: doc.BAD, None: doc.WARNING}


def proofs(found: Findings) -> doc.Section | None:
    """The proofs: what the kernel saw of each strategy, and database sessions of queues."""
    if not found.run.proofs:
        return None
    intro = (
        "Observed in the kernel (/proc) while each strategy served requests, before the benchmark."
    )
    if any(" " in each.strategy for each in found.run.proofs):
        intro += " Claims about queues were checked by sessions of their database."
    title = "Do the strategies do what their names say?"
    seen = doc.table("Proofs", _PROOFS, found.run.proofs)
    return doc.section("proofs", title, intro, seen, folded=True)


def _where(proof: Proof) -> str:
    """Placement, then the build and the framework that are not the default."""
    levels = [proof.placement, *([f"build {proof.build}"] if proof.build != "checkout" else [])]
    usual = ("", DEFAULT_FRAMEWORKS[proof.service])
    return ", ".join([*levels, *([proof.framework] if proof.framework not in usual else [])])


_PROOFS: Sequence[doc.Column[Proof]] = (
    doc.Column("Service", lambda proof: proof.service),
    doc.Column("Strategy", lambda proof: proof.strategy),
    doc.Column("Placement", _where),
    doc.Column(
        "Verdict", lambda proof: doc.Field(study.verdict(proof), _VERDICT_TONES[proof.does])
    ),
    doc.Column("Claim", lambda proof: proof.claim),
    doc.Column("Evidence", lambda proof: proof.evidence),
)


def calibration(found: Findings) -> doc.Section | None:
    """The calibration: is the measuring chain right?"""
    intro = "There is no valid calibration of this machine. 'make calibrate' makes one."
    checks: Sequence[CheckEntry] = ()
    if made := found.run.calibration:
        intro = f"Made {made.made} on this machine, commit {made.git_commit[:12]}."
        checks = made.checks
    shown = doc.table("Checks of the measuring chain", _CHECKS, checks)
    title = "Is the measuring chain right?"
    return doc.section("calibration", title, intro, shown, folded=True)


_PASSED = {True: doc.Field("passed", doc.GOOD), False: doc.Field("not passed", doc.BAD)}
_CHECKS: Sequence[doc.Column[CheckEntry]] = (
    doc.Column("Check", lambda check: check.name),
    doc.Column("Result", lambda check: _PASSED[check.passed]),
    doc.Column("Measured", lambda check: check.measured),
    doc.Column("Limit", lambda check: check.limit),
    doc.Column(
        "Question",
        lambda check: check.question + (f" So {check.follows}." if check.follows else ""),
    ),
)


def break_even(found: Findings) -> doc.Section | None:
    """From which size on a technique pays."""
    made = found.run.microbench
    if made is None:
        return None
    sizes = doc.table("Break-even sizes", microbench_text.BREAK_EVENS, made.break_evens)
    text = f"{microbench_text.READING} {made.made_of}"
    title = "From which size on does a technique pay off?"
    return doc.section("break-even", title, text, sizes, folded=True)


def windows(found: Findings) -> doc.Section | None:
    """The machine and the service during the long windows, whose throughput is compared with that
    of the trials (method, rule 13)."""
    if not found.run.windows:
        return None
    intro = (
        "Each line is a window, observed by sar, pidstat and the service's own metrics. The shares "
        "of the machine and of each core are time that is neither idle, nor waiting for a disk, "
        "nor stolen. The service's share is in percent of ONE core."
    )
    rates = {
        each.cell: fmean(per_s or 0.0 for per_s in each.values)
        for each in found.run.series
        if each.column == _METRIC
    }
    trials = {row.cell.id: row for row in found.rows if row.cell.id in rates}
    held = {
        cell: low <= rates[cell] <= high
        for cell, row in trials.items()
        for low, high in [row.ends(_METRIC)]
        if low is not None and high is not None
    }
    outside = [cell for cell, is_inside in held.items() if not is_inside]
    named = f": {', '.join(outside)}" if outside else ""
    check = (
        f"{len(outside)} of {len(held)} windows have a throughput outside the 95 % interval of "
        f"their cell's trials{named}."
    )

    def in_trials(window: WindowEntry) -> doc.Field:
        row = trials.get(window.cell)
        return doc.warning(wording.mean(row, _METRIC) if row else "", window.cell in outside)

    columns: list[doc.Column[WindowEntry]] = [
        doc.Column("Cell", lambda window: doc.Link(window.cell, f"#cell-{window.cell}")),
        doc.number("Window s", lambda window: window.seconds),
        doc.number("Requests/s", lambda window: rates.get(window.cell)),
        doc.number("In trials [95 %]", in_trials),
        doc.number("Machine %", lambda window: window.machine_cpu_pct),
        doc.number("Steal %", lambda window: window.steal_pct),
        doc.number("Run queue", lambda window: window.run_queue),
        doc.number("Switches /s", lambda window: window.context_switches_per_s),
        doc.number("Memory used MiB", lambda window: window.memory_used_mib),
        doc.number("Service %", lambda window: window.service_cpu_pct),
        doc.number("Service peak MiB", lambda window: window.service_peak_rss_mib),
        doc.number("Heap peak MiB", lambda window: window.heap_peak_mib),
        doc.number("GC pauses ms", lambda window: window.gc_pause_ms),
        doc.Column(
            "Each core %", lambda window: " ".join(f"{core:.0f}" for core in window.core_pct)
        ),
        doc.Column(
            "Threads by state",
            lambda of: ", ".join(f"{state} {n:.1f}" for state, n in of.threads_by_state.items()),
        ),
    ]
    seen = doc.table("Long windows", columns, found.run.windows)
    count = len(found.run.windows)
    title = f"{count} long window{'' if count == 1 else 's'}"
    return doc.section("observed", title, intro, check if held else None, seen, folded=True)


def provenance(found: Findings) -> doc.Section | None:
    """Everything needed to run it again, and the files behind the page."""
    run = found.folder
    files = (run.exported_file, run.trials.path, *run.identity_files(), run.path / "tables")
    known = [link for path in files if (link := found.link(path))]
    links = ("Files: ", *doc.spaced(known)) if known else None
    return doc.section("provenance", "Provenance", _facts(found), links, folded=True)


def _facts(found: Findings) -> dict[str, doc.Inline]:
    run, manifest = found.run, found.run.manifest
    facts: dict[str, doc.Inline] = {
        "Run": f"{run.run}: experiment {run.experiment.name}, profile {run.experiment.profile}, "
        f"{manifest.status}",
        "Command": manifest.command,
        "Measured with": commit(manifest.git_commit, manifest.git_dirty),
        "Seed": f"{manifest.seed}: it determines the requests and the order of the cells",
        "Started": manifest.started,
        "Finished": manifest.finished or "not finished",
        "Blocks": study.blocks_line(manifest.planned_blocks or 0, found.rows),
        "Claims file": f"sha256 {run.experiment.claims_sha256 or 'none'}",
    }
    if latency := _latency(found):
        facts["Latency"] = latency
    facts |= {"Interrupted": _interrupted(manifest.interrupted)}
    facts |= {f"Build {name}": str(build) for name, build in manifest.builds.items()}
    facts |= {f"Attached service: {name}": url for name, url in manifest.attached.items()}
    return facts | {
        name.replace("_", " ").capitalize(): wording.plain(value)
        for name, value in run.described.items()
    }


def _latency(found: Findings) -> str:
    """From which moment latency counts; empty where no requests are sent."""
    if found.run.steps or any(each.rate_per_s for each in found.run.traces):
        return (
            "open loop: requests are sent on a schedule, and the latency of each counts from its "
            "scheduled moment"
        )
    if not found.definition.traits.sends_load:
        return ""
    return (
        "closed loop: a user sends its next request only after the answer, so percentiles hold for "
        "this number of users and do not show how long requests at a fixed rate would wait"
    )


def _interrupted(found: Sequence[Interruption]) -> str:
    stops = []
    for each in found:
        anew = f", {len(each.lost)} measured again" if each.lost else ""
        stops.append(
            f"{each.how} at {each.ended}, resumed at {each.resumed} with {each.kept} measured{anew}"
            f" ({commit(each.git_commit, each.git_dirty)})"
        )
    return "; ".join(stops) or "never"


def commit(commit: str, dirty: bool | None) -> str:
    """A commit in words for people."""
    if dirty is None:
        return "commit unknown: neither git nor a checkout was there"
    return f"git commit {commit}{' with local changes' if dirty else ''}"
