"""`bench-mg`: the warm time of Java's NAS kernel MG over that of the same algorithm in plain C++,
one thread each, fresh processes of both in turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from restbench import cli
from restbench.commands.options import console
from restbench.drive import npb_runs
from restbench.drive.npb_runs import Program
from restbench.experiment.npb import Work
from restbench.experiment.statistics import Ratio, paired_ratio
from restbench.failures import Regression
from restbench.machine import machine, machine_lock, watch
from tools import limit_servers, microbench_program

SOURCE = limit_servers.SOURCE.with_name("mg.cpp")
#: In each process, of which the last counts: by then the JVM has compiled what it runs.
RUNS = 3
RUN_MAX_S = 600.0
#: The C++ gets huge pages where the kernel gives them to who asks, as the JVM's flags do.
HUGE_PAGES = "GLIBC_TUNABLES=glibc.malloc.hugetlb=1"
#: Missed: the whole interval of the ratio is above it, a quartile of Java's so far from its median.
RATIO_BAR, QUARTILE_BAR = 1.3, 0.15


@dataclass(frozen=True)
class Standing:
    """Java's time over the C++'s, medians in seconds, and Java's quartiles over its median."""

    ratio: Ratio
    java_s: float
    cpp_s: float
    quartiles: tuple[float, float]

    @property
    def is_held(self) -> bool:
        """Whether both bars are kept."""
        near = all(abs(each - 1) <= QUARTILE_BAR for each in self.quartiles)
        return near and self.ratio.low <= RATIO_BAR

    def __str__(self) -> str:
        """In a line."""
        ratio, (lower, upper) = self.ratio, self.quartiles
        return (
            f"ratio {ratio.estimate:.3f} [{ratio.low:.3f}, {ratio.high:.3f}], medians Java "
            f"{self.java_s:.3f} s and C++ {self.cpp_s:.3f} s, Java's quartiles {lower:.3f} and "
            f"{upper:.3f} of its median"
        )


def standing(java_s: Sequence[float], cpp_s: Sequence[float]) -> Standing:
    """Of seconds paired by turn: medians, and the geometric mean of the ratios."""
    lower, median, upper = np.quantile(java_s, (0.25, 0.5, 0.75)).tolist()
    quartiles = lower / median, upper / median
    return Standing(paired_ratio(java_s, cpp_s), median, float(np.median(cpp_s)), quartiles)


def warm_cpp(program: Path, npb_class: str, folder: Path) -> float:
    """Seconds of the last run in a fresh process. WrongAnswers where one is not verified."""
    command = ["env", HUGE_PAGES, str(program), npb_class, str(RUNS)]
    return float(microbench_program.run("mg.cpp", command, folder / "cpp.log").split()[-1])


def warm_java(npb_class: str, folder: Path) -> float:
    """The same of Java's kernel, under `serial`, in the JVM of the services."""
    program = Program("java", "serial", Work("MG", npb_class), RUNS)
    return npb_runs.run(program, folder / "java.log", RUN_MAX_S)[-1].kernel_seconds


def bench_mg(
    npb_class: Annotated[str, typer.Option("--class", help="S, W or A.")] = "A",
    processes: Annotated[int, typer.Option(min=2, help="Fresh ones of each.")] = 15,
) -> None:
    """Warm time of Java's MG over that of plain C++."""
    machine_lock.take()
    watch.end_leftovers()
    folder = watch.begin()
    program = limit_servers.compiled(SOURCE, folder)
    java_s, cpp_s = [], []
    for _ in range(processes):
        java_s.append(warm_java(npb_class, folder))
        cpp_s.append(warm_cpp(program, npb_class, folder))
        console.print(f"Java {java_s[-1]:.4f} s, C++ {cpp_s[-1]:.4f} s")
    found = standing(java_s, cpp_s)
    console.print(f"MG {npb_class}, run {RUNS} of {processes} processes: {found}", soft_wrap=True)
    console.print(machine.one_line(machine.describe()), soft_wrap=True)
    if not found.is_held:
        raise Regression(f"above {RATIO_BAR:g}, or a quartile off by {QUARTILE_BAR:.0%}: {found}")


if __name__ == "__main__":
    cli.main(cli.single_command_app(bench_mg))
