"""The kinds of failure, by cause. Each has an exit code; `cli.main` ends the process with it."""

from __future__ import annotations

from enum import IntEnum
from typing import ClassVar


class ExitCode(IntEnum):
    """How a command ended; `meaning` is what `--help` says of it.

    Where several codes hold for a run, one that ended it before its last cell (INTERRUPTED,
    ENVIRONMENT, FAULT) comes first: the cells have not been judged then. Next comes WRONG_ANSWERS,
    then CELLS_FAILED, and last ENVIRONMENT where only the dashboards could not be made.
    """

    meaning: str

    ALL_MEASURED = 0, "all measured"
    FAULT = 1, "a fault of restbench itself"
    BAD_CONFIGURATION = 2, "a wrong option or file"
    ENVIRONMENT = 3, "the machine lacks something"
    CELLS_FAILED = 4, "cells failed"
    WRONG_ANSWERS = 5, "a wrong answer"
    REGRESSION = 6, "worse than before, or than allowed"
    INTERRUPTED = 130, "interrupted"

    def __new__(cls, code: int, meaning: str) -> ExitCode:
        """The code with its meaning next to it."""
        member = int.__new__(cls, code)
        member._value_ = code
        member.meaning = meaning
        return member


class Failure(Exception):
    """An error with one clear line for the user: what is wrong, where, and what mends it."""

    exit_code: ClassVar[ExitCode] = ExitCode.FAULT


class BadConfiguration(Failure):
    """An option, an experiment file or a run's folder is wrong; nothing was started."""

    exit_code = ExitCode.BAD_CONFIGURATION


class Unreadable(BadConfiguration):
    """A file of a run is missing, cut off, or of a form that this version does not know."""


class EnvironmentProblem(Failure):
    """The machine lacks something: a tool, a free port, a service that comes up."""

    exit_code = ExitCode.ENVIRONMENT


class StorageProblem(Failure):
    """Results cannot be written any more: nothing that is measured from here on could be kept. It
    is no EnvironmentProblem, so that code that records a failed cell does not catch it."""

    exit_code = ExitCode.ENVIRONMENT


class ChangedDuringRun(EnvironmentProblem):
    """What is measured has changed during a run: further blocks would belong to another run."""


class NotOffered(EnvironmentProblem):
    """The service does not offer a strategy; a second attempt would not change that."""


class Refused(EnvironmentProblem):
    """What is asked for needs more memory than a service, or its program, may take (error 010)."""


class CellsFailed(Failure):
    """The run ended, but some cells could not be measured."""

    exit_code = ExitCode.CELLS_FAILED


class WrongAnswers(Failure):
    """A service gave a wrong answer, so its measurements cannot be trusted."""

    exit_code = ExitCode.WRONG_ANSWERS


class Regression(Failure):
    """Something is really worse than it was, or than it should be."""

    exit_code = ExitCode.REGRESSION


class Interrupted(BaseException):
    """Stopped by the user (Ctrl-C, SIGTERM or SIGHUP); what was measured is kept.

    It is neither a Failure nor an Exception, so that code that records a failed cell does not
    catch it.
    """

    exit_code: ClassVar[ExitCode] = ExitCode.INTERRUPTED


class OutputClosed(Interrupted):
    """Nothing reads the output any more (`restbench plan | head`): there is no one to tell."""


def counted(number: int, noun: str, one: str = "", several: str = "") -> str:
    """So many of something, such as `1 cell` and `2 cells`; followed by the form of a verb for one
    or for several, where these are given."""
    text, verb = (noun, one) if number == 1 else (f"{noun}s", several)
    return f"{number} {text} {verb}".rstrip()


def first_line(reason: str) -> str:
    """The first line of a failure's text: the rest is the end of a log."""
    return reason.partition("\n")[0].removesuffix("; its log ends:")
