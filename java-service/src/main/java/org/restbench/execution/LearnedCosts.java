package org.restbench.execution;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;

/**
 * What work costs here, learned from requests that are done. A stage that was interrupted took longer than its work, so
 * a quicker one is believed at once and a slower one a little.
 */
final class LearnedCosts {
    /** Before anything of a kind was seen: the order of magnitude of a multiplication, and of reading a digit. */
    private static final double UNSEEN_NANOS_PER_OPERATION = 1;

    private static final double UNSEEN_NANOS_PER_BYTE = 10;

    /** A shorter stage tells more of what a stage costs than of what an operation does. */
    private static final long TELLING_NANOS = 20_000;

    private static final int SLOWER_COUNTS = 64;

    private final Map<String, Double> nanosPerByte = new ConcurrentHashMap<>();
    private final Map<String, Double> nanosPerOperation = new ConcurrentHashMap<>();

    /** To decode a body of a workload. */
    double decodeNanos(String workload, int bytes) {
        return bytes * nanosPerByte.getOrDefault(workload, UNSEEN_NANOS_PER_BYTE);
    }

    double computeNanos(String kind, long operations) {
        return operations * nanosPerOperation.getOrDefault(kind, UNSEEN_NANOS_PER_OPERATION);
    }

    void decoded(String workload, int bytes, long nanos) {
        learn(nanosPerByte, workload, bytes, nanos);
    }

    /** On one thread. */
    void computed(String kind, long operations, long nanos) {
        learn(nanosPerOperation, kind, operations, nanos);
    }

    private static void learn(Map<String, Double> rates, String of, long count, long nanos) {
        if (nanos >= TELLING_NANOS && count > 0) {
            rates.merge(
                    of,
                    (double) nanos / count,
                    (known, seen) -> seen < known ? seen : known + (seen - known) / SLOWER_COUNTS);
        }
    }

    /** Nanoseconds an operation, by kind. */
    Map<String, Double> rates() {
        return new TreeMap<>(nanosPerOperation);
    }
}
