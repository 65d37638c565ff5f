package org.restbench.workload.messages;

import java.util.LinkedHashMap;
import java.util.Map;

/** Cache of the most recently used queues, by name, as the database had them when it was last asked. */
final class QueueCache {
    private static final int MOST = 10_000;

    private final Map<String, Queue> known = new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Queue> eldest) {
            return size() > MOST;
        }
    };

    private long deletions;

    /** The state of the cache. Read before the database is asked for a queue, as an argument of {@link #put}. */
    synchronized long asOf() {
        return deletions;
    }

    /** The cached queue; null where there is none. */
    synchronized Queue get(String name) {
        return known.get(name);
    }

    /**
     * Caches a queue as the database had it. Does nothing where a queue was deleted since {@code asOf}, as it may be
     * this one: for a cached queue of technique {@code memory} the database is never asked again.
     */
    synchronized void put(String name, Queue queue, long asOf) {
        if (asOf == deletions) {
            known.put(name, queue);
        }
    }

    synchronized void forget(String name) {
        known.remove(name);
    }

    /** Forgets a queue that the database no longer has. */
    synchronized void deleted(String name) {
        deletions++;
        known.remove(name);
    }
}
