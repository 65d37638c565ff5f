"""python -m restbench_service: the service, by the framework of RESTBENCH_FRAMEWORK."""

import os

try:
    import signal

    signal.signal(signal.SIGINT, lambda *_: os._exit(130))  # see end_at_interrupt(), to be imported
except KeyboardInterrupt:  # the import takes milliseconds
    os._exit(130)

from .main import main

main()
