"""Atomic writing of files: write to a temporary name, sync it to the disk, then rename it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from restbench.machine import storage


def write_text(path: Path, text: str) -> None:
    """Write a file atomically: readers never see half of it. Raises StorageProblem on failure."""
    unnamed = storage.temporary(path)
    with storage.writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with unnamed.open("w", encoding="utf-8") as output:
                output.write(text)
                output.flush()
                # After a power cut the file's name must not refer to an empty file.
                os.fsync(output.fileno())
            unnamed.replace(path)
            storage.fsync_path(path.parent)
        except BaseException:
            unnamed.unlink(missing_ok=True)
            raise


def write_json(path: Path, value: Any) -> None:
    """Write a JSON document, indented, atomically."""
    write_text(path, json.dumps(value, indent=1, ensure_ascii=False) + "\n")


def write_model(path: Path, model: BaseModel) -> None:
    """Write one record, atomically."""
    write_text(path, model.model_dump_json(indent=1) + "\n")


def write_record(path: Path, record: BaseModel) -> None:
    """Write a measurement's record atomically, after the raw files next to it are synced: the
    record says that they are complete. Unsynced data would be written during the next window."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with storage.writing(path):
        for raw in path.parent.iterdir():
            if raw.is_file():
                storage.fsync_path(raw)
    write_model(path, record)
