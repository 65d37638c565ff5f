"""`npb`: a kernel without HTTP, under any technique."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table

from restbench.commands.options import console, require_known
from restbench.drive import npb_runs
from restbench.drive.npb_runs import KernelRun, Program
from restbench.experiment.cell import STRATEGIES, ServiceName
from restbench.experiment.npb import CLASSES, Work
from restbench.failures import BadConfiguration
from restbench.machine import machine_lock, process, watch

RUN_MAX_S = 3600.0


def run_kernel(  # noqa: PLR0913, PLR0917 - an option each
    kernel: Annotated[str, typer.Argument(help="IS, CG, MG or FT.")],
    npb_class: Annotated[
        str, typer.Argument(metavar="CLASS", help="S, W, A, B or C; for MG also W30.")
    ],
    language: Annotated[str, typer.Option(metavar="NAME", help="java or python.")] = "java",
    strategy: Annotated[
        str, typer.Option(metavar="NAME", help="A technique of that service.")
    ] = "serial",
    repeat: Annotated[
        int, typer.Option(min=1, metavar="N", help="Runs in one process; the first is fresh.")
    ] = 1,
    cores: Annotated[
        str, typer.Option(metavar="LIST", help="Only these cores, as for 'taskset -c'.")
    ] = "",
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the unchanged answers, one per line.")
    ] = False,
) -> None:
    """Run a NAS kernel without HTTP, under any technique."""
    name = _checked(kernel, npb_class, language, strategy)
    if cores and process.output(["taskset", "-c", cores, "true"]):
        raise BadConfiguration(f"--cores {cores}: taskset -c takes no such list here")
    machine_lock.take()
    program = Program(name, strategy, Work(kernel, npb_class), repeat, cores or None)
    answers = npb_runs.run(program, watch.begin() / "direct.log", RUN_MAX_S)
    if as_json:
        for answer in answers:
            print(answer.model_dump_json(by_alias=True))  # for programs: never wrapped
    else:
        console.print(_table(program, answers))


def _checked(kernel: str, npb_class: str, language: str, strategy: str) -> ServiceName:
    """The service of that language. Raises BadConfiguration where an argument is unknown."""
    require_known("KERNEL", kernel, CLASSES)
    require_known("CLASS", npb_class, CLASSES[kernel])
    name = require_known("--language", language, STRATEGIES)
    require_known("--strategy", strategy, STRATEGIES[name])
    return name


def _table(program: Program, answers: tuple[KernelRun, ...]) -> Table:
    first = answers[0]
    title = f"{first.kernel}-{first.npb_class}  {program.service} {program.strategy}"
    table = Table(title=title, title_justify="left", title_style="bold")
    for heading in ("Run", "Kernel s", "Total s", "Mop/s", "Iterations", "Verified", "Value"):
        table.add_column(heading, justify="right", no_wrap=True)
    for number, each in enumerate(answers, start=1):
        table.add_row(
            f"{number} fresh" if number == 1 else f"{number}",
            f"{each.kernel_seconds:.4g}",
            f"{each.total_seconds:.4g}",
            f"{each.mops:.1f}",
            str(each.iterations),
            "yes",
            _value(each),
        )
    return table


def _value(answer: KernelRun) -> str:
    """The verified value as text; for FT, which has a checksum per iteration, the last one."""
    if isinstance(answer.value, tuple):
        real, imaginary = answer.value[-1]
        return f"{real:.10g} {imaginary:+.10g}i"
    return f"{answer.value:.13g}"
