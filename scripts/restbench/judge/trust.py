"""Three lines on why to believe a run: how sure the answer is, whether the services did what was
asked, and whether the measuring chain is right. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from restbench.analyse.measures import Row
from restbench.experiment.records import Proof
from restbench.failures import counted
from restbench.store.quoted import AgainEntry, CalibrationEntry, PredecessorEntry

#: How many items of a list are named.
_NAMED = 3
#: Full names of warnings whose short name says too little.
_WORDS = {"littles-law": "Little's law", "gc": "garbage collection"}
#: Up to this p value the preceding trial's effect is reported: at most in one sound run of a
#: hundred.
_SHOWS = 0.01


def reasons(  # noqa: PLR0913, PLR0917 - what a run says of itself
    sure: str,
    rows: Sequence[Row],
    proofs: Sequence[Proof],
    again: Sequence[AgainEntry],
    predecessor: PredecessorEntry | None,
    calibration: CalibrationEntry | None,
) -> tuple[str, str, str]:
    """The three lines in order; `sure` comes from the answer (`judge.answer`)."""
    chain = (
        _repeated_cells(again),
        _predecessor_effect(predecessor),
        _calibrated(calibration),
        warned(rows),
    )
    return (
        sure,
        f"{_answers(rows)} {proven(proofs)}",
        " ".join(filter(None, chain)),
    )


def _answers(rows: Sequence[Row]) -> str:
    right, wrong, errors = (
        sum(int(row.value(name) or 0) for row in rows)
        for name in ("samples", "wrong_answers", "errors")
    )
    void = [row.cell.id for row in rows if "wrong-answers" in row.flags]
    failed = f", {errors:,} request{'s' * (errors != 1)} failed" if errors else ""
    if not void:
        return f"Every answer was checked: {right:,} right, none wrong{failed}."
    return (
        f"Every answer was checked: {right:,} right, {wrong:,} WRONG{failed}. Blocks with a "
        f"wrong answer are excluded: {named(void)}."
    )


def proven(proofs: Sequence[Proof]) -> str:
    """A sentence on whether strategies do what their names say, and one on claims about queues."""
    if not proofs:
        return "The behaviour of the techniques was not proven."
    # Claims about queues are named by several words (`prove.messages`), strategies by one.
    queues = [each for each in proofs if " " in each.strategy]
    kernel = [each for each in proofs if each not in queues]
    what = ("strategy", "strategies") if queues else ("technique", "techniques")
    does = ("does what its name says", "do what their names say", "do what its name says")
    claims = ("claim about queues", "claims about queues")
    reported = (
        _proofs_sentence(kernel, what, does, "as observed in the kernel"),
        _proofs_sentence(
            queues, claims, ("holds", "hold", "hold"), "as observed in database sessions"
        ),
    )
    return " ".join(filter(None, reported))


def _proofs_sentence(
    proofs: Sequence[Proof], noun: tuple[str, str], verb: tuple[str, str, str], seen: str
) -> str:
    """The sentence on proofs of one kind; `verb` has the forms for one, for several, and after
    `does NOT`."""
    refuted, unseen = (
        list(dict.fromkeys(f"{each.service} {each.strategy}" for each in proofs if each.does is of))
        for of in (False, None)
    )
    # A technique has a proof in each placement, framework and the like that it was measured in.
    number = len({(each.service, each.strategy) for each in proofs})
    within = f" in {len(proofs)} proofs" * (len(proofs) != number)
    parts = [f"{named(refuted)} does NOT {verb[2]}"] if refuted else []
    parts += [f"nothing could be observed of {named(unseen)}"] if unseen else []
    if parts:
        return f"Of {number} {noun[number != 1]}{within}, {seen}, {'; '.join(parts)}."
    if number > 1:
        return f"All {number} {noun[1]} {verb[1]}{within}, {seen}."
    return f"The {noun[0]} {verb[0]}{within}, {seen}." if number else ""


def _repeated_cells(again: Sequence[AgainEntry]) -> str:
    if not again:
        return ""
    known = [each for each in again if each.low is not None and each.high is not None]
    if not known:
        worst = max(again, key=lambda each: abs(each.ratio - 1))
        return f"A cell was measured twice; the ratio of its two results is {worst.ratio:.3f}."
    off = [each for each in known if not (each.low or 0) <= 1 <= (each.high or 0)]
    if not off:
        if len(known) == 1:
            return "The cell that was measured twice agrees with itself (A/A)."
        return f"All {len(known)} cells that were measured twice agree with themselves (A/A)."
    ratios = [f"{each.cell} {each.ratio:.3f} [{each.low:.3f}, {each.high:.3f}]" for each in off]
    twice = f"Of {len(known)} cells that were measured twice (A/A)"
    what = "one differs from itself" if len(off) == 1 else f"{len(off)} differ from themselves"
    return f"{twice} {what}: {named(ratios)}."


def _predecessor_effect(found: PredecessorEntry | None) -> str:
    if found is None:
        return ""
    shows = "HAS AN EFFECT" if found.p_value <= _SHOWS else "has no detectable effect"
    size = f"{found.effect_percent:.1f} % [{found.low:.1f}, {found.high:.1f}]"
    return (
        f"What ran before a trial {shows} on its result (clearest effect {size}, after "
        f"{found.after}, p = {found.p_value:.3g})."
    )


def _calibrated(found: CalibrationEntry | None) -> str:
    if found is None:
        return "The measuring chain was not calibrated on this machine."
    failed = [each.name for each in found.checks if not each.passed]
    passed = len(found.checks) - len(failed)
    summary = f"The measuring chain passed {passed} of {len(found.checks)} checks"
    return f"{summary}; failed: {named(failed)}." if failed else f"{summary}."


def warned(rows: Sequence[Row]) -> str:
    """How many cells have warnings or no number, and the largest bias that a warning stands for."""
    found = [each for row in rows for each in row.warnings[:1]]
    lacking = [
        row.cell.id
        for row in rows
        if row.value("throughput_per_s") is None and "not-offered" not in row.flags
    ]
    summary = "No cell has a warning."
    if found:
        worst = max(found, key=lambda each: each.bias_percent)
        some = "has a warning; it" if len(found) == 1 else "have a warning; the largest"
        summary = (
            f"{len(found)} of {len(rows)} cells {some} may bias a number by "
            f"{worst.bias_percent:.0f} % ({_WORDS.get(worst.kind, worst.kind.replace('-', ' '))})."
        )
    if not lacking:
        return summary
    cells = lacking[0] if len(lacking) == 1 else f"{len(lacking)} cells"
    return f"{summary} Without a result: {cells}."


def blocks_of(counts: Iterable[int]) -> str:
    """How many blocks some numbers rest on, such as `3 to 6 blocks`; a count of 0 is ignored."""
    known = [each for each in counts if each] or [0]
    fewest, most = min(known), max(known)
    return counted(most, "block") if fewest == most else f"{fewest} to {most} blocks"


def named(names: Sequence[str], most: int = _NAMED) -> str:
    """`a, b, c and 4 more`."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
