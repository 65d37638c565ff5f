"""What names a machine is the same in every language."""

from __future__ import annotations

import json
import os
import platform
from pathlib import Path

import pytest

from restbench.machine import machine

GERMAN = """
echo "lscpu: failed to read a file" >&2
[ "$LC_ALL" = C ] && name="Model name:" || name="Modellname:"
printf '{"lscpu": [{"field": "%s", "data": "Processor 9"}]}' "$name"
"""


def processor_told_by(script: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (folder / "lscpu").write_text(f"#!/bin/sh\n{script}")
    (folder / "lscpu").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return machine._cpu_model()


def test_the_processor_is_named_alike_in_every_language_and_beside_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    assert processor_told_by(GERMAN, tmp_path, monkeypatch) == "Processor 9"


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"CPU family:": "23", "Model:": "49"}, "Series (family 23, model 49)"),
        ({"Model:": "1"}, "Series (model 1)"),
        ({}, "Series"),
    ],
)
def test_processors_of_one_series_are_told_apart_by_family_and_model(
    fields: dict[str, str], name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two generations of a virtual `AMD EPYC` ranked the techniques differently."""
    listed = [{"field": each, "data": data} for each, data in fields.items()]
    told = json.dumps({"lscpu": [{"field": "Model name:", "data": "Series"}, *listed]})
    assert processor_told_by(f"echo '{told}'", tmp_path, monkeypatch) == name


def test_an_lscpu_without_json_is_no_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = processor_told_by("echo usage: lscpu; exit 1", tmp_path, monkeypatch)
    assert found == (platform.processor() or "unknown processor")
