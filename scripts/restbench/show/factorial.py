"""What a factorial design explains of a run: a sentence, the effects, and the parts that are no
effect."""

from __future__ import annotations

import math
import re

import numpy as np

from restbench.analyse import factorial
from restbench.analyse.factorial import Effect, Factorial
from restbench.experiment.columns import readable
from restbench.failures import CellsFailed
from restbench.show import document as doc
from restbench.show.findings import Findings

#: From this share on the sentence says what the variation *is*.
MOST_OF_IT_PCT = 50.0
_NAMED_FROM_PCT, _NAMED_AT_MOST = 1.0, 5
_TITLE = "How much does each factor explain?"
_SIGNS_SHOWN_UP_TO = 16


def of_findings(found: Findings) -> Factorial | None:
    """The effects of the run's design; None without one, and where no block has every corner, which
    the page says in words."""
    try:
        return factorial.of_run(found.definition, found.rows)
    except CellsFailed:
        return None


def page(found: Findings) -> doc.Section | None:
    """The sentence, the charts, and the effects; that no block has every corner where it is so."""
    try:
        analysis = factorial.of_run(found.definition, found.rows)
    except CellsFailed as error:
        return doc.section("factorial", _TITLE, doc.Text(str(error)))
    if analysis is None:
        return None
    has_signs = len(analysis.means) <= _SIGNS_SHOWN_UP_TO
    return doc.section(
        "factorial",
        _TITLE,
        doc.Text(plain_sentence(analysis)),
        *found.figures("factorial"),
        effect_table(analysis),
        doc.bullets((*analysis.design.warnings(), *analysis.left_out, *analysis.warnings)),
        doc.section(
            "factorial-signs", "The cells with their signs", sign_table(analysis), folded=True
        )
        if has_signs
        else None,
    )


def sentence(found: Factorial) -> str:
    """What explains the response, how much is left, and which effects are really there."""
    if found.sst == 0:
        return f"No variation: {response(found)} is the same in every run."
    first, *others = sorted(found.effects, key=lambda each: -each.share_pct)
    named = [each for each in others if each.share_pct >= _NAMED_FROM_PCT][:_NAMED_AT_MOST]
    parts = [_lead(found, first)]
    parts += [f"{each.name} {each.share_pct:.1f} %" for each in named]
    if unnamed := others[len(named) :]:
        share = sum(each.share_pct for each in unnamed)
        parts.append(f"{len(unnamed)} further together {share:.1f} %")
    rest = [f"{found.block_share_pct:.1f} % is between blocks"] if found.ss_blocks else []
    if found.degrees_of_freedom:
        rest.append(f"{found.error_share_pct:.1f} % is between runs of one cell")
    explained = "; ".join(part for part in (", ".join(parts), ", ".join(rest)) if part)
    return f"{explained}. {_significance(found)}"


def plain_sentence(found: Factorial) -> str:
    """The same without backquotes."""
    return sentence(found).replace("`", "")


def sure(found: Factorial) -> str:
    """How sure the effects are."""
    blocks = len(found.blocks)
    if not found.degrees_of_freedom:
        return f"The shares are of {blocks} block{'s' * (blocks != 1)}: no effect has an interval."
    percent = f"{100 * found.confidence:.0f} %"
    return f"Effects have {percent} intervals over {blocks} blocks, and are tested together."


def _lead(found: Factorial, first: Effect) -> str:
    if first.share_pct >= MOST_OF_IT_PCT:
        return f"{first.share_pct:.0f} % of the variation is `{first.name}`"
    levels = found.design.factors.get(first.name)
    change = f" ({levels[0]} → {levels[1]})" if levels else ""
    share = f"{first.share_pct:.1f} % of the variation of {response(found)}"
    return f"`{first.name}`{change} explains {share}"


def _significance(found: Factorial) -> str:
    if found.degrees_of_freedom == 0:
        margin = f"{_short(found.lenth_margin)}{_of_mean(found, found.lenth_margin)}"
        return f"One run a cell: shares only; Lenth's margin is {margin}."
    test = f"(Holm, {100 * (1 - found.confidence):.0f} %)"
    seen = [f"{each.name} ({_size(found, each)})" for each in found.distinguishable()]
    known = f"Distinguishable from 0 {test}: {', '.join(seen)}"
    known = known if seen else f"No effect is distinguishable from 0 {test}"
    limit = found.could_have_seen
    if found.model == "multiplicative":
        return f"{known}; ratios nearer to 1 than {np.exp(2 * limit):.3f} could not be seen."
    return f"{known}; effects below {_short(limit)}{_of_mean(found, limit)} could not be seen."


def _size(found: Factorial, effect: Effect) -> str:
    if found.model == "multiplicative":
        return f"high/low {readable(effect.ratio[0])}"
    return f"q {readable(effect.q)}"


def _of_mean(found: Factorial, value: float) -> str:
    """A part of the mean; nothing on a logarithmic scale, which has no 0."""
    if found.model == "multiplicative" or found.q0 == 0:
        return ""
    return f" ({100 * value / abs(found.q0):.1f} %)"


def _short(value: float) -> str:
    return f"{float(f'{value:.2g}'):g}"


def response(found: Factorial) -> str:
    """The response without its unit; its logarithm where effects multiply."""
    words = re.sub("_(per_s|ms|s|pct|mib)$", "", found.design.response).replace("_", " ")
    return f"ln {words}" if found.model == "multiplicative" else words


def unexplained(found: Factorial) -> list[tuple[str, float]]:
    """The parts of the variation that are no effect, each with its share in percent."""
    parts = [("between blocks", found.block_share_pct)] if found.design.blocks else []
    parts.append(("between runs of one cell", found.error_share_pct))
    return parts if found.degrees_of_freedom else []


def effect_table(found: Factorial) -> doc.Table:
    """A row for the mean, each effect, the blocks and the error."""
    is_ratio = found.model == "multiplicative"
    percent = f"{100 * found.confidence:.0f} %"
    size = "High / low" if is_ratio else "q"
    head = ("Sign", "Effect", size, f"{percent} interval", "Share %", "p (Holm)")
    mean = math.exp(found.q0) if is_ratio else found.q0
    rows: list[tuple[str, ...]] = [("I", "mean", readable(mean), "", "", "")]
    rows += [_effect(each, is_ratio=is_ratio) for each in found.effects]
    rows += [("", name, "", "", f"{share:.1f}", "") for name, share in unexplained(found)]
    return doc.table("Effects", doc.listed(head, "  nnnn"), rows)


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


def sign_table(found: Factorial) -> doc.Table:
    """A row a cell in Yates order: its levels, its signs, its mean on the scale of the model, and
    where that and a run more lie, but for what the run's block adds."""
    mean = "Mean of ln" if found.model == "multiplicative" else "Mean"
    head = ["Cell", "I", *(each.column.words[0] for each in found.effects), mean]
    widths: list[float] = []
    if found.degrees_of_freedom:
        percent = f"{100 * found.confidence:.0f} %"
        head += [f"{percent} interval", f"{percent} of a run more"]
        coefficients = len(found.means)
        widths = [found.half_width(coefficients), found.half_width(coefficients, 1)]
    rows: list[tuple[str, ...]] = [
        (
            found.design.cell_named(cell),
            "1",
            *(str(each.column.signs[cell]) for each in found.effects),
            readable(value),
            *(f"{readable(value - width)} … {readable(value + width)}" for width in widths),
        )
        for cell, value in enumerate(found.means)
    ]
    return doc.table("Signs and means", doc.listed(head, " " + "n" * (len(head) - 1)), rows)
