"""The runner's modules are found as they are by `python contract/run.py`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
