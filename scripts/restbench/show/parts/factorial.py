"""What a factorial design explains of a run's response."""

from __future__ import annotations

import math

from restbench.analyse.factorial import Effect, Factorial
from restbench.experiment.columns import readable
from restbench.failures import CellsFailed
from restbench.show import effects
from restbench.show.document import Bullets, Section, Table, Text, section, table
from restbench.show.findings import Findings

_TITLE = "How much does each factor explain?"
_SIGNS_SHOWN_UP_TO = 16


def of(found: Findings) -> Section | None:
    """The sentence, the charts, and the effects; that no block has every corner where it is so."""
    try:
        analysis = found.effects
    except CellsFailed as error:
        return section("factorial", _TITLE, Text(str(error)))
    if analysis is None:
        return None
    notes = (*analysis.design.warnings(), *analysis.left_out, *analysis.warnings)
    return section(
        "factorial",
        _TITLE,
        Text(effects.sentence(analysis).replace("`", "")),
        *found.figures("factorial"),
        effect_table(analysis),
        Bullets(notes) if notes else None,
        section("factorial-signs", "The cells with their signs", sign_table(analysis), folded=True)
        if len(analysis.means) <= _SIGNS_SHOWN_UP_TO
        else None,
    )


def effect_table(found: Factorial) -> Table:
    """A row for the mean, each effect, the blocks and the error."""
    is_ratio = found.model == "multiplicative"
    percent = f"{100 * found.confidence:.0f} %"
    size = "High / low" if is_ratio else "q"
    head = ("", "Effect", size, f"{percent} interval", "Share %", "p (Holm)")
    mean = math.exp(found.q0) if is_ratio else found.q0
    rows: list[tuple[str, ...]] = [("I", "mean", readable(mean), "", "", "")]
    rows += [_effect(each, is_ratio=is_ratio) for each in found.effects]
    rows += [("", name, "", "", f"{share:.1f}", "") for name, share in effects.unexplained(found)]
    return table("Effects", head, rows, "  nnnn")


def _effect(each: Effect, *, is_ratio: bool) -> tuple[str, ...]:
    value, low, high = each.ratio if is_ratio else (each.q, *each.ends)
    ends = "" if each.half_width is None else f"{readable(low)} … {readable(high)}"
    p = "" if each.p_holm is None else f"{each.p_holm:.3f}".replace("0.000", "< 0.001")
    return (
        each.column.words[0],
        each.name,
        readable(value),
        ends,
        f"{each.share_pct:.1f}",
        p,
    )


def sign_table(found: Factorial) -> Table:
    """A row a cell in Yates order: its levels, its signs, its mean on the scale of the model."""
    mean = "Mean of ln" if found.model == "multiplicative" else "Mean"
    head = ["Cell", "I", *(each.column.words[0] for each in found.effects), mean]
    rows: list[tuple[str, ...]] = [
        (
            found.design.cell_named(cell),
            "1",
            *(str(each.column.signs[cell]) for each in found.effects),
            readable(value),
        )
        for cell, value in enumerate(found.means)
    ]
    return table("Signs and means", head, rows, " " + "n" * (len(head) - 1))
