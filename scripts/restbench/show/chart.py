"""What a figure shows, as plain data: panels with lines of points."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Point:
    """One cell: its value, the ends of its interval if it has one, hollow if doubtful.

    A cell that is missing has no `y`: the line is interrupted there.
    """

    x: float
    y: float | None
    interval: tuple[float, float] | None
    doubtful: bool
    cell: str
    """The id of the cell, for a page that links to it."""

    @property
    def ends(self) -> tuple[float, float]:
        """Of what is drawn; the point must be there."""
        y = self.y or 0.0
        return self.interval or (y, y)


@dataclass(frozen=True)
class Line:
    """One series; `colour` numbers its colour and marker."""

    label: str
    colour: int
    points: tuple[Point, ...]

    @property
    def drawn(self) -> list[tuple[float, Point]]:
        """The points that are there, each with its value."""
        return [(point.y, point) for point in self.points if point.y is not None]


@dataclass(frozen=True)
class Panel:
    """One pair of axes. Panels of the same metric share their vertical scale."""

    metric: str
    title: str
    lines: tuple[Line, ...]
    x_ticks: tuple[int, ...] = ()
    """Its own, where its points lie elsewhere than those of the other panels."""


@dataclass(frozen=True)
class Chart:
    """A whole figure: its panels stand side by side."""

    title: str
    caption: str
    x_label: str
    x_ticks: tuple[int, ...]
    log_y: bool
    panels: tuple[Panel, ...]
    x_names: tuple[str, ...] = ()
    """Of what stands at 1, 2, ..., where it is no number: no line leads from one to the next."""

    @property
    def labels(self) -> dict[str, int]:
        """Every line's label with its colour, each once."""
        return {line.label: line.colour for panel in self.panels for line in panel.lines}
