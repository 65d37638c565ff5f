"""python -m restbench_service.frameworks MODULE: the server of one that brings its own.

Started by the module's own name, it would be the main module, and multiprocessing would load it
with all that it imports in each process of a pool.
"""

import sys
from importlib import import_module

import_module(f"{__package__}.{sys.argv[1]}").main()
