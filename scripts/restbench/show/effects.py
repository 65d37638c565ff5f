"""What a factorial design has found: a sentence, and the parts that are no effect."""

from __future__ import annotations

import re

import numpy as np

from restbench.analyse.factorial import Effect, Factorial
from restbench.experiment.columns import readable

#: From this share on the sentence says what the variation *is*.
MOST_OF_IT_PCT = 50.0
_NAMED_FROM_PCT, _NAMED_AT_MOST = 1.0, 5


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
