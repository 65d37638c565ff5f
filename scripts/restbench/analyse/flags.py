"""Every flag a row can carry, in words."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Flag:
    """`doubtful` flags make a number questionable: its point in a figure is hollow."""

    explanation: str
    doubtful: bool


FLAGS: dict[str, Flag] = {
    "failed": Flag("A block of the cell could not be measured; its record tells why.", True),
    "unreadable": Flag(
        "The record or the raw data of a block cannot be read: whatever it was, it is no result.",
        True,
    ),
    "not-offered": Flag(
        "This runtime does not have the strategy (virtual threads need Java 21): it is no failure, "
        "and no candidate for the best.",
        True,
    ),
    "not-measured": Flag("Planned, but the run ended before a block of it.", True),
    "wrong-answers": Flag("A product was wrong: the run is void, only counts are shown.", True),
    "errors": Flag("Some requests failed; they are no throughput, but they cost CPU time.", True),
    "few-completions": Flag("Under 30 correct responses in a window: too few for a mean.", True),
    "count-mismatch": Flag(
        "JMeter and the service counted different numbers of requests, by more than were in "
        "flight.",
        True,
    ),
    "littles-law": Flag(
        "Throughput x response time is not the number of users (off by more than 2 % + R/T): "
        "the load was not what it should be.",
        True,
    ),
    "generator-time": Flag(
        "JMeter's own work between two requests took over 2 % of a user's time: fewer users than "
        "stated were waiting at a time.",
        False,
    ),
    "warm-up-short": Flag(
        "Warm-up was shorter than users / throughput: the window has first requests, of users who "
        "all began at once, so its response times are too small.",
        True,
    ),
    "compiling": Flag(
        "A JVM's compilers took over 5 % of the service's CPU time in the window: it was not warm "
        "yet, and is faster later.",
        True,
    ),
    "generator-bound": Flag(
        "Over a fifth of the requests that JMeter can send on this machine at all, or JMeter used "
        "over 80 % of its cores: differences between techniques are larger than shown.",
        True,
    ),
    "generator-busy": Flag(
        "JMeter used over a fifth of its cores, and what it can send at all with this sampler is "
        "not known (make calibrate): techniques may differ by more than is shown.",
        False,
    ),
    "percentile-order": Flag(
        "Percentiles are not in their order: the samples are not sound.", True
    ),
    "bytes-vary": Flag(
        "Right answers differed in size by more than their ids and headers explain.", True
    ),
    "duration": Flag("Warm-up or window were not as long as the profile plans them.", True),
    "not-steady": Flag(
        "Throughput was not steady: MSER finds no end of warm-up in the load's first half.", True
    ),
    "warm-up-late": Flag("Warm-up reached into the window: MSER ends it later than planned.", True),
    "drift": Flag(
        "Throughput of the window's halves differs by over 5 %, and not by chance.", True
    ),
    "steadiness-unknown": Flag(
        "Too few completions or too short a load to judge whether warm-up was over.", False
    ),
    "off-cores": Flag("The service was seen on a core that it was not given.", True),
    "foreign-load-before": Flag(
        "Just before the load over 5 % of the machine's CPU time went to others: another "
        "benchmark, or a machine in use.",
        True,
    ),
    "steal": Flag("The hypervisor took over 1 % of the CPU time away.", True),
    "foreign-load": Flag(
        "Over 5 % of the machine's CPU time went to neither the service nor JMeter: another "
        "benchmark beside it, or a machine in use.",
        True,
    ),
    "processes-changed": Flag(
        "The service's processes were not the same at both ends of the window: no CPU time.", True
    ),
    "no-sar": Flag("No sysstat, or no sample of it in the window: no machine CPU %.", False),
    "no-server-timing": Flag("The responses told no stage times.", False),
    "attached": Flag("The service was started by others: its CPU and memory are unknown.", False),
    "service-restarted": Flag(
        "The service was started anew just before this cell: a JVM may not be warm yet.", True
    ),
    "retried": Flag(
        "The first attempt failed: this is the second, on a fresh service; the record tells both.",
        False,
    ),
    "resumed": Flag(
        "The run was interrupted just before this cell: its service is another process than that "
        "of the block's cells before, and a JVM may not be as warm.",
        True,
    ),
    "busy-before": Flag(
        "The service was, or may have been, still at work for what came before.", True
    ),
    "shared-cores": Flag(
        "JMeter ran on the service's cores and took its share of them: compare CPU ms/request too.",
        False,
    ),
    "capped": Flag("The window ended by time, before the completions asked for.", False),
    "coarse-clock": Flag(
        "The mean is under 10 ms, JMeter counts whole milliseconds: users / throughput and the "
        "stages tell it better.",
        False,
    ),
}
