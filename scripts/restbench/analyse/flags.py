"""Every warning and note that a row can carry, in words."""

from __future__ import annotations

FLAGS: dict[str, str] = {
    "littles-law": (
        "Throughput x response time is more than the number of users: one of them was counted "
        "wrong."
    ),
    "users-in-flight": (
        "Fewer users than stated were waiting for the service, by the load generator's own "
        "time, while cores were idle: more users would have got more."
    ),
    "late-arrivals": (
        "Some requests of an open load were sent more than 10 ms after their moment: all users "
        "were busy, or the load generator had no CPU, so that the arrivals were not as planned."
    ),
    "count-mismatch": (
        "The load generator and the service counted different numbers of requests, by more "
        "than were in flight."
    ),
    "generator-share": (
        "The load generator took so much of the CPU time that a ratio of 1.05 is shown "
        "smaller by this: compare CPU ms/request."
    ),
    "steal": "The hypervisor took CPU time away.",
    "foreign-load": (
        "CPU time of the machine went to neither the service nor the load generator: another "
        "benchmark next to it, or a machine in use."
    ),
    "compiling": (
        "A JVM's compilers took CPU time of the service: it was not warm yet, and is faster later."
    ),
    "gc": (
        "Garbage collection took time of the service, which may be due to another cell's garbage."
    ),
    "off-cores": "The service was seen on a core that it was not given.",
    "errors": "Some requests failed; they are no throughput, but they cost CPU time.",
    "failed": "A block of the cell could not be measured; its record tells why.",
    "unreadable": (
        "The record or the raw data of a block cannot be read: whatever it was, it is no result."
    ),
    "not-offered": (
        "This runtime does not have the strategy or the framework (virtual threads and helidon "
        "need Java 21): it is no failure, and no candidate for the best."
    ),
    "not-measured": "Planned, but the run ended before a block of it.",
    "wrong-answers": "An answer was wrong: the cell is void in that block, but for its counts.",
    "service-restarted": (
        "The service was started anew just before this cell: a JVM may not be warm yet."
    ),
    "retried": "The first attempt failed: this is the second, on a fresh service.",
    "ports-awaited": (
        "New connections left so many ports waiting that a trial of this cell had to wait."
    ),
    "relayed": (
        "The kernel has no netem: a relay made the network's delay, and its CPU time is among the "
        "load generator's."
    ),
    "limit-mismeasured": (
        "The batch was sooner than the least time that it can take, by more than 3 %: what a call "
        "takes alone was measured on a busy machine, or before all was warm."
    ),
    "misbehaved": (
        "Under a fault the service did not keep a promise of its own: how soon it answers, and how "
        "soon all is well again."
    ),
    "not-durable": "A commit of this database may be lost although it was answered.",
    "refused": ("The service has less memory than this needs: it said so, and computed nothing."),
}


def explain(kind: str) -> str:
    """One sentence on a warning or note; one of a newer version is said to be unknown."""
    return FLAGS.get(kind, "Unknown to this version; see the cell's record.")
