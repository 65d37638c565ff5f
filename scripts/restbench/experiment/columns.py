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


_FACTORS = [
    Column("test_id", "Test", "The study's ids of this cell, separated by a space."),
    Column("service", "Service", "java or python."),
    Column(
        "strategy", "Strategy", "How the service runs a request; its `/strategies` describes each."
    ),
    Column(
        "placement",
        "Placement",
        "unbound; core0: every process bound to one core; per-core: each instance to its own.",
    ),
    Column("front", "Front", "The proxy before the service: none, apache, nginx or haproxy."),
    Column("complexity", "Complexity", "The size of the operands, as the experiment defines it."),
    Column("users", "Users", "Concurrent users, closed loop, no think time."),
    Column("kernel", "Kernel", "The multiplication: plain loops, or native (vectorised)."),
]
_MEASURED = [
    Column(
        "throughput_per_s",
        "Throughput /s",
        "Correct responses that ended in the window, per second. Errors never count.",
    ),
    Column("mean_ms", "Mean ms", "Mean response time of the correct responses, closed loop."),
    Column(
        "p50_ms",
        "p50 ms",
        "Percentile of the response time in a closed loop of this number of users; exact, by "
        "nearest rank. It needs 30 correct responses in each block.",
    ),
    Column("p90_ms", "p90 ms", "The same as p50 ms; it needs 300 in each block."),
    Column("p95_ms", "p95 ms", "The same as p50 ms; it needs 1 000 in each block."),
    Column("p99_ms", "p99 ms", "The same as p50 ms; it needs 10 000 in each block."),
    Column(
        "littles_mean_ms",
        "N/X ms",
        "Users / throughput (Little's law): the mean response time plus the time that a user "
        "spends in JMeter.",
    ),
    Column(
        "batch_half_width_pct",
        "Within-run ± %",
        "Half-width of the interval of throughput over the rounds WITHIN a block, in percent: a "
        "diagnostic, not an interval over blocks.",
    ),
    Column("samples", "Samples", "Correct responses in the window, of all blocks."),
    Column(
        "errors", "Errors", "Outcomes in the window that are neither correct nor wrong answers."
    ),
    Column(
        "wrong_answers",
        "Wrong",
        "Responses with status 200 and a wrong product in whole trials. Where only other loads had "
        "any (before the trials, or a long window), each of these loads counts as one.",
    ),
    Column(
        "cpu_ms_per_request",
        "CPU ms/request",
        "CPU time (user + system) of the service's processes, and of the front's where there is "
        "one, per correct response.",
    ),
    Column("service_cpu_pct", "Service CPU %", "CPU use of the service, in percent of ONE core."),
    Column("load_cpu_pct", "Load CPU %", "CPU use of JMeter, in percent of ONE core."),
    Column(
        "machine_cpu_pct",
        "Machine CPU %",
        "Mean over all cores of the time that is neither idle, nor waiting for a disk, nor stolen.",
    ),
    Column(
        "memory_mib",
        "Memory MiB",
        "The largest of the sums of the resident memory of the service's processes at the ends of "
        "trials. Shared pages count once per process.",
    ),
    Column(
        "queue_ms",
        "Queue ms",
        "Mean wait of a request in the service before its work starts (Server-Timing).",
    ),
    Column("parse_ms", "Parse ms", "Mean time to read the operands from the body."),
    Column("compute_ms", "Compute ms", "Mean time of the multiplication."),
    Column("serialize_ms", "Serialize ms", "Mean time to write the product."),
    Column(
        "network_ms",
        "Network ms",
        "Mean part of the response time outside the stages: connection, kernel, web server, "
        "JMeter.",
    ),
    Column(
        "users_in_flight",
        "In flight",
        "Mean number of users that were waiting for an answer (Little's law).",
    ),
    Column(
        "generator_share",
        "Generator share",
        "The load generator's share of the CPU time of service and load generator, 0 to 1.",
    ),
    Column(
        "predicted_per_s",
        "Predicted /s",
        "Throughput if service and load generator had all cores to themselves: cores / (CPU time "
        "of both per response). If it exceeds the measured throughput, cores were idle or used by "
        "other processes.",
    ),
]
_FLAGS = [Column("flags", "Flags", "Warnings and notes on the row; each is explained below.")]
#: Factors that came later stand behind the columns of the study.
_LATER = [
    Column("build", "Build", "checkout, or A or B where two commits are compared."),
    Column("framework", "Framework", "The web framework and its server that the service runs in."),
    Column("handoff", "Handoff", "Where an asynchronous framework runs a request: thread or loop."),
    Column("workers", "Workers", "Serving processes of the service."),
    Column(
        "connection",
        "Connection",
        "kept: a user keeps its connection; each: a new one per request.",
    ),
    Column("instances", "Instances", "Instances of the service; the front balances the load."),
    Column("link", "Link", "Link between front and service: tcp, or unix (a Unix socket)."),
    Column("technique", "Technique", "Technique of the queues for sending and popping messages."),
    Column("pool_threads", "Threads", "Threads of worker-pool; 0: the service's default."),
    Column(
        "connections",
        "Connections",
        "The service's connections to the database; 0: as many as threads, or the default.",
    ),
    Column("postgres", "PostgreSQL", "Settings of the database that differ from its usual ones."),
    Column("settings", "Settings", "Settings of the service that differ from its usual ones."),
    Column("delay_ms", "Delay ms", "Delay of the network before the service, in each direction."),
]

COLUMNS = tuple(_FACTORS + _MEASURED + _FLAGS + _LATER)
NAMES = tuple(column.name for column in COLUMNS)
METRICS = tuple(column.name for column in _MEASURED)
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
