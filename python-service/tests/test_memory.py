"""What the allocator keeps between two requests, as the kernel counts it."""

import subprocess
import sys

PARSES_AGAIN = """
import resource, sys
from restbench_service.memory import keep_freed_memory
from restbench_service.workloads.matrix.digits import matrix_of
if sys.argv[1] == "keep":
    keep_freed_memory()
rows = [",".join("17" for _ in range(50))] * 2000
for _ in range(5):
    matrix_of(rows, 50)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(20):
    matrix_of(rows, 50)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def page_faults(how: str) -> int:
    done = subprocess.run(
        [sys.executable, "-c", PARSES_AGAIN, how], capture_output=True, text=True, check=True
    )
    return int(done.stdout)


def test_a_request_gets_the_pages_that_the_last_one_freed() -> None:
    assert page_faults("keep") < page_faults("give back") / 10
