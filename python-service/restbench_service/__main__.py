"""python -m restbench_service: the service, by the framework of RESTBENCH_FRAMEWORK."""

from .main import main

main()
