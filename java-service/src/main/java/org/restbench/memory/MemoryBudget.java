package org.restbench.memory;

import java.util.concurrent.atomic.AtomicLong;

/**
 * The bytes of heap that all requests together may hold: bodies, parsed input, results, answers. Code that is about to
 * allocate asks first, and is refused at once where it does not fit: an error for one request takes the place of an
 * {@code OutOfMemoryError} for all of them. It counts promises, it allocates nothing.
 */
public final class MemoryBudget {
    private final long totalBytes;
    private final AtomicLong freeBytes;
    private volatile Runnable giveUpKept = () -> {};

    /** @param totalBytes more than this is never held at once */
    public MemoryBudget(long totalBytes) {
        this.totalBytes = totalBytes;
        this.freeBytes = new AtomicLong(totalBytes);
    }

    public long totalBytes() {
        return totalBytes;
    }

    /** @param giveUpKept lets go of what is held for no request, before a request is refused */
    public void reclaimBy(Runnable giveUpKept) {
        this.giveUpKept = giveUpKept;
    }

    private boolean take(long bytes) {
        return freeBytes.getAndUpdate(free -> free < bytes ? free : free - bytes) >= bytes;
    }

    public long heldBytes() {
        return totalBytes - freeBytes.get();
    }

    /**
     * Takes bytes out of the budget until the hold is closed.
     *
     * @throws MemoryRefused where they do not fit now, or never would
     */
    public Hold hold(long bytes) {
        Hold hold = new Hold();
        hold.grow(bytes);
        return hold;
    }

    /** What one request, or a cache, has of the budget. It may be handed from thread to thread. */
    public final class Hold implements AutoCloseable {
        private long heldBytes;
        private boolean closed;

        private Hold() {}

        public synchronized long bytes() {
            return heldBytes;
        }

        /**
         * @param subject what needs it, for the message
         * @throws MemoryRefused where so much more would not fit into an idle service either
         */
        public synchronized void requirePossible(String subject, long bytes) {
            if (bytes > totalBytes - heldBytes) {
                throw MemoryRefused.never(subject, bytes + heldBytes, totalBytes);
            }
        }

        /**
         * Takes more.
         *
         * @throws MemoryRefused where it does not fit now, or never would; what was held before stays held
         */
        public synchronized void grow(long bytes) {
            if (closed) {
                throw new IllegalStateException("memory was asked for after its request was over");
            }
            requirePossible("the request", bytes);
            if (!take(bytes)) {
                giveUpKept.run();
                if (!take(bytes)) {
                    throw MemoryRefused.now();
                }
            }
            heldBytes += bytes;
        }

        /** Gives back a part that is garbage from now on. */
        public synchronized void shrink(long bytes) {
            if (closed) {
                return;
            }
            heldBytes -= bytes;
            freeBytes.addAndGet(bytes);
        }

        /** Gives all back; once more does nothing. */
        @Override
        public synchronized void close() {
            shrink(heldBytes);
            closed = true;
        }
    }
}
