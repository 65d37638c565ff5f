"""From which disturbance on a measurement says so."""

from __future__ import annotations

#: CPU time of others, percent of the machine (method, rule 12).
FOREIGN_LIMIT_PCT = 5.0
#: Above this share of its cores' time an open load's generator is at its end.
LOAD_CORES_SHARE = 0.8
