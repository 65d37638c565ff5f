"""python -m restbench_service: the service, by the framework of RESTBENCH_FRAMEWORK."""

import os
import signal

signal.signal(signal.SIGINT, lambda *_: os._exit(130))  # see end_at_interrupt(), to be imported

from .main import main  # noqa: E402

main()
