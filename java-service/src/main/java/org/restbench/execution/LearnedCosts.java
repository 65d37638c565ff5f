package org.restbench.execution;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The time that a unit of work takes on this machine, by kind of work, learned from work that was done. Work that was
 * interrupted took longer than it needs. So a shorter time is adopted at once, and a longer one only by a small part.
 * Work that is expected to be short is ignored, as its time depends more on the overhead than on the units.
 */
final class LearnedCosts {
    private static final long MIN_LEARNED_NANOS = 20_000;
    private static final int SLOWER_DIVISOR = 64;

    private final Map<String, Double> nanosPerUnit = new ConcurrentHashMap<>();
    private final double unseenNanos;

    /** @param unseenNanos nanoseconds of a unit of a kind that was not measured yet */
    LearnedCosts(double unseenNanos) {
        this.unseenNanos = unseenNanos;
    }

    double nanos(String kind, long units) {
        return units * nanosPerUnit.getOrDefault(kind, unseenNanos);
    }

    void learn(String kind, long units, long nanos) {
        if (nanos(kind, units) >= MIN_LEARNED_NANOS) {
            nanosPerUnit.merge(
                    kind,
                    (double) nanos / units,
                    (known, seen) -> seen < known ? seen : known + (seen - known) / SLOWER_DIVISOR);
        }
    }

    /** Nanoseconds of a unit, by kind. */
    Map<String, Double> nanosPerUnit() {
        return new TreeMap<>(nanosPerUnit);
    }
}
