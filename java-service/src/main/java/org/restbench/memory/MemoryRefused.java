package org.restbench.memory;

/** The memory a request asks for is not there. Carries no stack trace: it is an answer. */
public final class MemoryRefused extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final boolean never;

    private MemoryRefused(String message, boolean never) {
        super(message, null, false, false);
        this.never = never;
    }

    static MemoryRefused now(long totalBytes) {
        String message = "The requests in flight hold the service's memory of " + totalBytes
                + " bytes (RESTBENCH_MEMORY_BUDGET_BYTES)";
        return new MemoryRefused(message, false);
    }

    static MemoryRefused never(long neededBytes, long totalBytes) {
        String message = "The request needs at least " + neededBytes + " bytes of memory, the service has " + totalBytes
                + " (RESTBENCH_MEMORY_BUDGET_BYTES)";
        return new MemoryRefused(message, true);
    }

    /** Whether it would not fit into an idle service either. */
    public boolean never() {
        return never;
    }
}
