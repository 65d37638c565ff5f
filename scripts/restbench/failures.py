"""What can go wrong, by cause: each has its own exit code; one place in the CLI hands it over."""

from __future__ import annotations

from typing import ClassVar


class Failure(Exception):
    """An error with one clear line for the user: what is wrong, where, and what mends it."""

    exit_code: ClassVar[int] = 1


class BadConfiguration(Failure):
    """An option or an experiment file is wrong; nothing was started."""

    exit_code = 2


class EnvironmentProblem(Failure):
    """The machine lacks something: a tool, a free port, a service that comes up."""

    exit_code = 3


class CellsFailed(Failure):
    """The run ended, but some cells could not be measured."""

    exit_code = 4


class WrongAnswers(Failure):
    """A service answered with a wrong product: nothing it measured may be believed."""

    exit_code = 5


class Regression(Failure):
    """A cell of the second of two runs is really worse than in the first."""

    exit_code = 6


class Interrupted(BaseException):
    """Stopped by the user (Ctrl-C, SIGTERM or SIGHUP); what was measured is kept.

    No Failure, and no Exception: what turns a failed cell into its record must not swallow it.
    """

    exit_code: ClassVar[int] = 130
