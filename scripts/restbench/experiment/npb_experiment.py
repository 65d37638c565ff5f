"""An NPB experiment file (TOML): its kernels, classes and techniques, and how often."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from restbench.experiment import toml_file
from restbench.experiment.cell import STRATEGIES, Cell, ServiceName
from restbench.experiment.npb_work import CLASSES, Work, work_of
from restbench.experiment.selection import Many, Positive, Strict
from restbench.failures import BadConfiguration
from restbench.machine.placement import allowed_cores, place

KIND = "npb"
Above0 = Annotated[float, Field(gt=0)]
KernelName = Literal["IS", "CG", "MG", "FT"]
#: Every number of cores up to here is looked at; from here on the powers of two, and all.
EVERY_CORE_UP_TO = 8


class ClassRuns(Strict):
    """How often the cells of a class are measured."""

    rounds: Positive
    runs: Annotated[int, Field(ge=2)]
    """Of the kernel in one process without HTTP, and as many calls of the service."""
    kept: Positive
    """The last of them: those that count as warm."""

    @model_validator(mode="after")
    def _first_is_not_warm(self) -> Self:
        if self.kept >= self.runs:
            raise ValueError("need kept < runs: the first run is the fresh one")
        return self


class Scaling(Strict):
    """Which kernels are run on 1, 2, ... cores, and on what."""

    npb_class: str = Field(alias="class")
    kernel: Annotated[list[KernelName], Many]
    rounds: Positive


class NpbProfile(Strict):
    """What is measured, and how often."""

    description: str = ""
    service_process: Literal["cell", "round"]
    """How long a service process serves: for one cell, so that it is as warm as the process without
    HTTP that it is held against, or (sooner done) for all cells of a round."""
    java_heap_mib: Positive
    """Of the Java service and of the process without HTTP; JAVA_OPTIONS may say otherwise."""
    run_max_s: Above0
    """One run of a kernel that takes longer has failed."""
    classes: dict[str, ClassRuns]
    scaling: Scaling | None = None

    @model_validator(mode="after")
    def _classes_are_there(self) -> Self:
        known = {name for classes in CLASSES.values() for name in classes}
        for name in self.classes:
            if name not in known:
                raise ValueError(f"classes: '{name}' is no class of any kernel")
        if self.scaling and self.scaling.npb_class not in self.classes:
            raise ValueError("scaling: its class must be one of the profile's")
        return self

    def runs(self, work: Work) -> ClassRuns:
        """How often a work is run."""
        return self.classes[work.npb_class]

    def rounds(self, work: Work) -> int:
        """In how many rounds it is measured; 0 where the profile does not have it."""
        if work.cores is None:
            return self.classes[work.npb_class].rounds if work.npb_class in self.classes else 0
        wanted = self.scaling
        if wanted is None or wanted.npb_class != work.npb_class:
            return 0
        return wanted.rounds if work.kernel in wanted.kernel else 0


class Techniques(Strict):
    """Strategies of a service and the kernels that they are measured with."""

    name: str
    service: ServiceName
    strategy: Annotated[list[str], Many]
    kernel: Annotated[list[KernelName], Many]

    @model_validator(mode="after")
    def _strategies_exist(self) -> Self:
        for strategy in self.strategy:
            if strategy not in STRATEGIES[self.service]:
                known = ", ".join(STRATEGIES[self.service])
                raise ValueError(f"strategy: '{strategy}' is none of {self.service}'s: {known}")
        return self

    def cells(self, work: Work) -> list[Cell]:
        """The cells of a work; none where the kernel is not among these."""
        if work.kernel not in self.kernel:
            return []
        return [
            Cell(service=self.service, strategy=each, complexity=work.level, users=1)
            for each in self.strategy
        ]


class NpbExperiment(Strict):
    """A whole file."""

    kind: Literal["npb"]
    name: str
    title: str
    seed: Annotated[int, Field(ge=0)]
    claims: str
    """The file of the claims, beside this one."""
    published: str
    """The file of the published table, beside this one."""
    profiles: dict[str, NpbProfile]
    cells: Annotated[list[Techniques], Field(min_length=1)]
    scaling: tuple[Techniques, ...] = ()
    """What is run on 1, 2, ... cores, without the service."""

    def profile(self, name: str) -> NpbProfile:
        """The profile of that name, or BadConfiguration with the names there are."""
        if name not in self.profiles:
            raise BadConfiguration(
                f"experiment '{self.name}' has no profile '{name}'; it has "
                + ", ".join(self.profiles)
            )
        return self.profiles[name]

    def all_cells(self) -> list[Cell]:
        """Every cell of any profile, on as many cores as there are here."""
        works = [Work(kernel, each) for kernel, classes in CLASSES.items() for each in classes]
        whole = [cell for group in self.cells for work in works for cell in group.cells(work)]
        widths = core_counts(len(place("unbound", allowed_cores()).service))
        narrow = [Work(work.kernel, work.npb_class, width) for work in works for width in widths]
        scaled = [cell for group in self.scaling for work in narrow for cell in group.cells(work)]
        used = {name for profile in self.profiles.values() for name in profile.classes}
        return [
            cell
            for cell in dict.fromkeys((*whole, *scaled))
            if work_of(cell.complexity).npb_class in used
        ]

    def cells_of(self, profile: NpbProfile) -> list[Cell]:
        """Those that a profile measures."""
        return [cell for cell in self.all_cells() if profile.rounds(work_of(cell.complexity))]


def load(path: Path) -> NpbExperiment:
    """Read the file; BadConfiguration names it, the key and what is wrong with it."""
    return toml_file.read(path, NpbExperiment)


def is_npb(path: Path) -> bool:
    """Whether a file says of itself that it is an NPB experiment."""
    return toml_file.kind_of(path) == KIND


def core_counts(cores: int) -> tuple[int, ...]:
    """The numbers of cores to look at on a machine that has so many."""
    few = range(1, min(cores, EVERY_CORE_UP_TO) + 1)
    more = [EVERY_CORE_UP_TO << n for n in range(1, cores.bit_length())]
    return tuple(sorted({*few, *(each for each in more if each < cores), cores}))
