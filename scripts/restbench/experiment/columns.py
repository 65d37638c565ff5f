"""The columns of the test matrix: their names, headings and meanings, in the order of the table."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Column:
    """One column: `name` in the CSV, `heading` in tables for people, `meaning` below these."""

    name: str
    heading: str
    meaning: str


#: Columns by name, each with its heading and its meaning.
_FACTORS = {
    "test_id": ("Test", "The study's ids of this cell, separated by a space."),
    "service": ("Service", "java or python."),
    "strategy": ("Strategy", "How the service runs a request; its `/strategies` describes each."),
    "placement": (
        "Placement",
        "unbound; core0: every process bound to one core; per-core: each instance to its own.",
    ),
    "front": ("Front", "The proxy before the service: none, apache, nginx or haproxy."),
    "complexity": ("Complexity", "The size of the operands, as the experiment defines it."),
    "users": ("Users", "Concurrent users, closed loop, no think time."),
    "kernel": ("Kernel", "The multiplication: plain loops, or native (vectorised)."),
}
_MEASURED = {
    "throughput_per_s": (
        "Throughput /s",
        "Correct responses that ended in the window, per second. Errors never count.",
    ),
    "mean_ms": ("Mean ms", "Mean response time of the correct responses, closed loop."),
    "p50_ms": (
        "p50 ms",
        "Percentile of the response time in a closed loop of this number of users; exact, by "
        "nearest rank. It needs 30 correct responses in each block.",
    ),
    "p90_ms": ("p90 ms", "The same as p50 ms; it needs 300 in each block."),
    "p95_ms": ("p95 ms", "The same as p50 ms; it needs 1 000 in each block."),
    "p99_ms": ("p99 ms", "The same as p50 ms; it needs 10 000 in each block."),
    "littles_mean_ms": (
        "N/X ms",
        "Users / throughput (Little's law): the mean response time plus the time that a user "
        "spends in JMeter.",
    ),
    "batch_half_width_pct": (
        "Within-run ± %",
        "Half-width of the interval of throughput over the rounds WITHIN a block, in percent: a "
        "diagnostic, not an interval over blocks.",
    ),
    "samples": ("Samples", "Correct responses in the window, of all blocks."),
    "errors": ("Errors", "Outcomes in the window that are neither correct nor wrong answers."),
    "wrong_answers": (
        "Wrong",
        "Responses with status 200 and a wrong product in whole trials. Where only other loads had "
        "any (before the trials, or a long window), each of these loads counts as one.",
    ),
    "cpu_ms_per_request": (
        "CPU ms/request",
        "CPU time (user + system) of the service's processes, and of the front's where there is "
        "one, per correct response.",
    ),
    "service_cpu_pct": ("Service CPU %", "CPU use of the service, in percent of ONE core."),
    "load_cpu_pct": ("Load CPU %", "CPU use of JMeter, in percent of ONE core."),
    "machine_cpu_pct": (
        "Machine CPU %",
        "Mean over all cores of the time that is neither idle, nor waiting for a disk, nor stolen.",
    ),
    "memory_mib": (
        "Memory MiB",
        "The largest of the sums of the resident memory of the service's processes at the ends of "
        "trials. Shared pages count once per process.",
    ),
    "queue_ms": (
        "Queue ms",
        "Mean wait of a request in the service before its work starts (Server-Timing).",
    ),
    "parse_ms": ("Parse ms", "Mean time to read the operands from the body."),
    "compute_ms": ("Compute ms", "Mean time of the multiplication."),
    "serialize_ms": ("Serialize ms", "Mean time to write the product."),
    "network_ms": (
        "Network ms",
        "Mean part of the response time outside the stages: connection, kernel, web server, "
        "JMeter.",
    ),
    "users_in_flight": (
        "In flight",
        "Mean number of users that were waiting for an answer (Little's law).",
    ),
    "generator_share": (
        "Generator share",
        "The load generator's share of the CPU time of service and load generator, 0 to 1.",
    ),
    "predicted_per_s": (
        "Predicted /s",
        "Throughput if service and load generator had all cores to themselves: cores / (CPU time "
        "of both per response). If it exceeds the measured throughput, cores were idle or used by "
        "other processes.",
    ),
}
_FLAGS = {
    "flags": ("Flags", "Warnings and notes on the row; each is explained below."),
}
#: Factors that came later stand behind the columns of the study.
_LATER = {
    "build": ("Build", "checkout, or A or B where two commits are compared."),
    "framework": ("Framework", "The web framework and its server that the service runs in."),
    "handoff": ("Handoff", "Where an asynchronous framework runs a request: thread or loop."),
    "workers": ("Workers", "Serving processes of the service."),
    "connection": ("Connection", "kept: a user keeps its connection; each: a new one per request."),
    "instances": ("Instances", "Instances of the service; the front balances the load."),
    "link": ("Link", "Link between front and service: tcp, or unix (a Unix socket)."),
    "technique": ("Technique", "Technique of the queues for sending and popping messages."),
    "pool_threads": ("Threads", "Threads of worker-pool; 0: the service's default."),
    "connections": (
        "Connections",
        "The service's connections to the database; 0: as many as threads, or the default.",
    ),
    "postgres": ("PostgreSQL", "Settings of the database that differ from its usual ones."),
    "settings": ("Settings", "Settings of the service that differ from its usual ones."),
    "delay_ms": ("Delay ms", "Delay of the network before the service, in each direction."),
}

COLUMNS = tuple(
    Column(name, *texts) for name, texts in (_FACTORS | _MEASURED | _FLAGS | _LATER).items()
)
NAMES = tuple(column.name for column in COLUMNS)
METRICS = tuple(_MEASURED)
#: Columns of which the CSV also has the ends of the 95 % interval over blocks, after all others.
WITH_ENDS = ("throughput_per_s", "cpu_ms_per_request", "mean_ms")
ENDS = tuple(f"{name}_{end}" for name in WITH_ENDS for end in ("low", "high"))
HEADINGS = {column.name: column.heading for column in COLUMNS}


def readable(value: object) -> str:
    """A cell of a table for people: three decimals where they show something, else as many as show
    three significant digits; empty for None."""
    if value is None:
        return ""
    if not isinstance(value, float):
        return str(value)
    if 0 < abs(value) < 0.001:
        return f"{value:.{2 - math.floor(math.log10(abs(value)))}f}"
    decimals = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2 if abs(value) >= 1 else 3
    return f"{value:.{decimals}f}"
