package org.restbench.settings;

import java.util.Map;

/**
 * How much of everything the service takes on at once; what is beyond is refused with 007 or 008, or waits.
 *
 * @param maxBodyBytes largest request body ({@code RESTBENCH_MAX_BODY_BYTES})
 * @param maxInFlight most requests worked on at once ({@code RESTBENCH_MAX_IN_FLIGHT}; four times the study's 60 users,
 *     and few enough that the last of them is not answered long after its client has given up)
 * @param memoryBudgetBytes heap that all requests together may hold ({@code RESTBENCH_MEMORY_BUDGET_BYTES}; half of the
 *     heap less the 16 MiB that the service itself keeps: the rest is for its connections, and for what a garbage
 *     collector wastes at the ends of large arrays and needs to be quick)
 * @param maxThreads threads that all requests under {@code thread-pool} have at once, as many virtual ones
 *     ({@code RESTBENCH_MAX_THREADS}; the study's 60 users × 100 threads and some to spare; never less than the 100
 *     that one request is promised)
 * @param maxConnections open at once, others wait in the kernel's queue ({@code RESTBENCH_MAX_CONNECTIONS}; 2000, or as
 *     many as a quarter of the heap holds: an idle one costs 66 KiB and one in the middle of its header 137 KiB)
 */
public record Limits(int maxBodyBytes, int maxInFlight, long memoryBudgetBytes, int maxThreads, int maxConnections) {
    /** So that the response to a product as large as {@link #mostProductElements} still fits one Java array. */
    private static final int LARGEST_BODY_LIMIT = 192 << 20;

    /** One small request's share. */
    private static final long LEAST_BUDGET_BYTES = 1 << 20;

    private static final long OWN_BYTES = 16 << 20;

    /** Of a connection in the middle of its header, measured: buffers to read, to write, and of that header. */
    private static final long CONNECTION_BYTES = 137 << 10;

    private static final int MOST_CONNECTIONS = 2000;

    static Limits from(Environment environment, long heapBytes) {
        long heldConnections = Math.max(1, heapBytes / 4 / CONNECTION_BYTES);
        long budgetBytes = Math.max(LEAST_BUDGET_BYTES, heapBytes / 2 - OWN_BYTES);
        return new Limits(
                environment.integer("RESTBENCH_MAX_BODY_BYTES", 64 << 20, 1, LARGEST_BODY_LIMIT),
                environment.integer("RESTBENCH_MAX_IN_FLIGHT", 256, 1, 4096),
                environment.integer("RESTBENCH_MEMORY_BUDGET_BYTES", budgetBytes, LEAST_BUDGET_BYTES, heapBytes),
                environment.integer("RESTBENCH_MAX_THREADS", 6400, 100, 100_000),
                environment.integer(
                        "RESTBENCH_MAX_CONNECTIONS", (int) Math.min(MOST_CONNECTIONS, heldConnections), 1, 100_000));
    }

    /**
     * Elements of the largest product: each takes at least two bytes of the response, which may be as large as a body.
     */
    public int mostProductElements() {
        return Math.max(1, maxBodyBytes / 2);
    }

    void show(Map<String, Object> shown) {
        shown.put("maxBodyBytes", maxBodyBytes);
        shown.put("maxInFlight", maxInFlight);
        shown.put("memoryBudgetBytes", memoryBudgetBytes);
        shown.put("maxThreads", maxThreads);
        shown.put("maxConnections", maxConnections);
    }
}
