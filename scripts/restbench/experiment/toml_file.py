"""A TOML file read into a model, with one line that says what is wrong with it."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from restbench.experiment.level import MODELS
from restbench.failures import BadConfiguration

M = TypeVar("M", bound=BaseModel)


def content(path: Path) -> bytes:
    """The bytes of a file. Raises BadConfiguration where it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise BadConfiguration(f"{path}: cannot be read: {error.strerror}") from error


def parse(
    text: bytes, kind: type[M], source: object, cores_allowed: Sequence[int] | None = None
) -> M:
    """The model of a file's text. BadConfiguration names `source`, the key and what is allowed.

    `cores_allowed` are the cores that `cores` counts in the file. For a file of a run they are
    those that the run could use on its machine; None: those of this process.
    """
    given: Any = None
    try:
        given = tomllib.loads(text.decode("utf-8"))
        return kind.model_validate(given, context={"cores_allowed": cores_allowed})
    except ValidationError as error:
        raise BadConfiguration(f"{source}: {first_problem(error, kind, given)}") from error
    except (ValueError, RecursionError) as error:
        raise BadConfiguration(f"{source}: not TOML: {error}") from error


def first_problem(error: ValidationError, kind: type[BaseModel], given: Any, *at: str) -> str:
    """The first problem, in one line with its key; `at` are the keys to the table `given`."""
    # An unknown key comes before a missing one: it is most likely that key, misspelt.
    problem = min(error.errors(), key=lambda each: each["type"] != "extra_forbidden")
    key = ".".join([*at, *_names(problem["loc"], given)])
    if problem["type"] == "extra_forbidden":
        return f"{key}: unknown key; allowed here are {', '.join(_allowed(kind, problem['loc']))}"
    message = problem["msg"].removeprefix("Value error, ")
    value = problem.get("input")
    shown = f" (got {value!r})" if isinstance(value, str | int | float) else ""
    # What is wrong with the file as a whole names its keys itself.
    return f"{key}: {message}{shown}" if key else message


def _names(location: tuple[int | str, ...], given: Any) -> list[str]:
    """The keys to a place in the file; a table with an id is named by its id, not its number."""
    names = []
    for step in location:
        if step in MODELS:
            continue
        try:
            given = given[step]
        except (KeyError, IndexError, TypeError):
            given = None
        called = given.get("id", step) if isinstance(given, dict) else step
        names.append(str(called))
    return names


def _allowed(kind: type[BaseModel], location: tuple[int | str, ...]) -> list[str]:
    """The keys that are allowed in the table at a place."""
    model = kind
    for part in location[:-1]:
        field = model.model_fields.get(str(part))
        model = next(_models(field.annotation), model) if field else model
    tagged = next((MODELS[part] for part in location if part in MODELS), model)
    return list(tagged.model_fields)


def _models(annotation: object) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models(part)
