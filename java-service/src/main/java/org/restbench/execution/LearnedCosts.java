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

    /** What is expected to be shorter tells more of what a stage costs, or of an interruption, than of an operation. */
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
        if (decodeNanos(workload, bytes) >= TELLING_NANOS) {
            learn(nanosPerByte, workload, (double) nanos / bytes);
        }
    }

    /** On one thread. */
    void computed(String kind, long operations, long nanos) {
        if (computeNanos(kind, operations) >= TELLING_NANOS) {
            learn(nanosPerOperation, kind, (double) nanos / operations);
        }
    }

    private static void learn(Map<String, Double> rates, String of, double rate) {
        rates.merge(of, rate, (known, seen) -> seen < known ? seen : known + (seen - known) / SLOWER_COUNTS);
    }

    /** Nanoseconds an operation, by kind. */
    Map<String, Double> rates() {
        return new TreeMap<>(nanosPerOperation);
    }
}
