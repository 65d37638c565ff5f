"""python -m restbench_service.frameworks MODULE: a framework that starts its own server.

If MODULE itself were started, it would be the main module, and multiprocessing would load it and
all its imports in each process of a pool.
"""

import sys
from importlib import import_module

from ..process import end_at_interrupt

end_at_interrupt()
import_module(f"{__package__}.{sys.argv[1]}").main()
