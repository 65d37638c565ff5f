package org.restbench.memory;

/**
 * The memory that a request needs is not available. There is no stack trace, as this is an ordinary answer; the message
 * is the contract's.
 */
public final class MemoryRefused extends RuntimeException {
    private static final long MEBIBYTE = 1 << 20;

    private final boolean never;

    private MemoryRefused(String message, boolean never) {
        super(message, null, false, false);
        this.never = never;
    }

    public static MemoryRefused now() {
        return new MemoryRefused("the requests in flight hold the memory that this one needs", false);
    }

    /** @param subject what needs the memory, for the message */
    public static MemoryRefused never(String subject, long neededBytes, long totalBytes) {
        String message = subject + " needs " + ((neededBytes - 1) / MEBIBYTE + 1) + " MiB of memory, the limit is "
                + totalBytes / MEBIBYTE + " MiB";
        return new MemoryRefused(message, true);
    }

    /** Whether the memory would not fit into an idle service either. */
    public boolean never() {
        return never;
    }
}
