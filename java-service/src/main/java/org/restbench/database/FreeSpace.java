package org.restbench.database;

import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Free space for the database's data: a full disk would stop all requests, so sends are refused before. */
public final class FreeSpace {
    private static final Logger LOG = LoggerFactory.getLogger(FreeSpace.class);
    private static final long PERIOD_NANOS = 1_000_000_000;

    private final LongSupplier freeBytes;
    private final long leastBytes;
    private final LongSupplier nanoTime;
    private final AtomicLong lookedAt;
    private volatile boolean enough = true;

    FreeSpace(LongSupplier freeBytes, long leastBytes, LongSupplier nanoTime) {
        this.freeBytes = freeBytes;
        this.leastBytes = leastBytes;
        this.nanoTime = nanoTime;
        this.lookedAt = new AtomicLong(nanoTime.getAsLong() - PERIOD_NANOS);
    }

    /**
     * @param path on the file system of the data; null where it is elsewhere, with enough space always
     * @param leastBytes fewest bytes that must be free for an ordinary user
     */
    public static FreeSpace of(Path path, long leastBytes) {
        LongSupplier freeBytes = path == null ? () -> Long.MAX_VALUE : path.toFile()::getUsableSpace; // 0 where unknown
        return new FreeSpace(freeBytes, leastBytes, System::nanoTime);
    }

    /** Whether there was enough space when it was last checked, at most a second ago. */
    public boolean isEnough() {
        long now = nanoTime.getAsLong();
        long before = lookedAt.get();
        if (now - before >= PERIOD_NANOS && lookedAt.compareAndSet(before, now)) {
            look(freeBytes.getAsLong());
        }
        return enough;
    }

    private void look(long free) {
        boolean was = enough;
        enough = free >= leastBytes;
        if (enough != was) {
            LOG.warn(
                    "the database's file system has {} bytes free, the minimum is {}: {}",
                    free,
                    leastBytes,
                    enough ? "messages are taken again" : "no message is taken");
        }
    }
}
