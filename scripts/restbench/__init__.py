"""restbench: measures parallel execution techniques of web services and says what holds."""

from pathlib import Path

#: The checkout: this file is scripts/restbench/__init__.py.
ROOT = Path(__file__).resolve().parents[2]
