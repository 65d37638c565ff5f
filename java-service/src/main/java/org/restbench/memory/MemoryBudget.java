package org.restbench.memory;

import java.util.concurrent.atomic.AtomicLong;

/**
 * The bytes of heap that all requests together may hold: bodies, parsed input, results, answers. Code asks the budget
 * before it allocates, and is refused at once where the bytes do not fit: one request gets an error, in place of an
 * {@code OutOfMemoryError} for all of them. The budget only counts; it allocates nothing.
 */
public final class MemoryBudget {
    private final long totalBytes;
    private final AtomicLong freeBytes;
    private volatile Runnable releaseCaches = () -> {};

    public MemoryBudget(long totalBytes) {
        this.totalBytes = totalBytes;
        this.freeBytes = new AtomicLong(totalBytes);
    }

    public long totalBytes() {
        return totalBytes;
    }

    /** @param releaseCaches releases what is held for no request; called before a request is refused */
    public void reclaimBy(Runnable releaseCaches) {
        this.releaseCaches = releaseCaches;
    }

    private boolean take(long bytes) {
        return freeBytes.getAndUpdate(free -> free < bytes ? free : free - bytes) >= bytes;
    }

    public long heldBytes() {
        return totalBytes - freeBytes.get();
    }

    /** @throws MemoryRefused where the bytes, held until the hold is closed, do not fit now, or never would */
    public Hold hold(long bytes) {
        Hold hold = new Hold();
        hold.grow(bytes);
        return hold;
    }

    /** The bytes that one request or one cache holds of the budget. A hold may be passed from thread to thread. */
    public final class Hold implements AutoCloseable {
        private long heldBytes;
        private boolean closed;

        private Hold() {}

        public synchronized long bytes() {
            return heldBytes;
        }

        /** @throws MemoryRefused with the subject's name where so many more bytes would not fit an idle service */
        public synchronized void requirePossible(String subject, long bytes) {
            if (bytes > totalBytes - heldBytes) {
                throw MemoryRefused.never(subject, bytes + heldBytes, totalBytes);
            }
        }

        /** @throws MemoryRefused where they do not fit now, or never would; the bytes held before stay held */
        public synchronized void grow(long bytes) {
            if (closed) {
                throw new IllegalStateException("memory was asked for after its request was over");
            }
            requirePossible("the request", bytes);
            if (!take(bytes)) {
                releaseCaches.run();
                if (!take(bytes)) {
                    throw MemoryRefused.now();
                }
            }
            heldBytes += bytes;
        }

        /** Gives back bytes whose objects are garbage from now on. Does nothing once the hold is closed. */
        public synchronized void shrink(long bytes) {
            if (closed) {
                return;
            }
            heldBytes -= bytes;
            freeBytes.addAndGet(bytes);
        }

        /** Gives back all bytes; further calls do nothing. */
        @Override
        public synchronized void close() {
            shrink(heldBytes);
            closed = true;
        }
    }

    /** There is too little memory: an ordinary answer, so no stack trace; the message is the contract's. */
    public static final class MemoryRefused extends RuntimeException {
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
}
