package org.restbench.execution;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;

/**
 * What a unit of work costs here, by its kind, learned from what is done. What was interrupted took longer than its
 * work, so a quicker one is believed at once and a slower one a little; and what is expected to be short tells more of
 * what surrounds it than of a unit.
 */
final class LearnedCosts {
    private static final long TELLING_NANOS = 20_000;
    private static final int SLOWER_COUNTS = 64;

    private final Map<String, Double> nanosPerUnit = new ConcurrentHashMap<>();
    private final double unseenNanos;

    /** @param unseenNanos a unit of a kind that was not seen yet */
    LearnedCosts(double unseenNanos) {
        this.unseenNanos = unseenNanos;
    }

    double nanos(String kind, long units) {
        return units * nanosPerUnit.getOrDefault(kind, unseenNanos);
    }

    void learn(String kind, long units, long nanos) {
        if (nanos(kind, units) >= TELLING_NANOS) {
            nanosPerUnit.merge(
                    kind,
                    (double) nanos / units,
                    (known, seen) -> seen < known ? seen : known + (seen - known) / SLOWER_COUNTS);
        }
    }

    /** By kind. */
    Map<String, Double> nanosPerUnit() {
        return new TreeMap<>(nanosPerUnit);
    }
}
