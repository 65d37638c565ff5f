"""JMeter's own HTML dashboards (figures 28 to 30 of the study), made from a cell's window."""

from __future__ import annotations
