package org.restbench.workload.messages;

import java.util.LinkedHashMap;
import java.util.Map;

/** Queues by name as they were when last asked for: the most recently used ones. */
final class QueueCache {
    private static final int MOST = 10_000;

    private final Map<String, Queue> known = new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Queue> eldest) {
            return size() > MOST;
        }
    };

    private long deletions;

    /** To be taken before the database is asked for a queue that is then {@link #put}. */
    synchronized long asOf() {
        return deletions;
    }

    /** Null where it is not known. */
    synchronized Queue get(String name) {
        return known.get(name);
    }

    /**
     * As the database had it. Not where a queue was deleted since, as it may be this one: of a queue in memory the
     * database is never asked again.
     */
    synchronized void put(String name, Queue queue, long asOf) {
        if (asOf == deletions) {
            known.put(name, queue);
        }
    }

    synchronized void forget(String name) {
        known.remove(name);
    }

    /** Forgets one that the database has no more. */
    synchronized void deleted(String name) {
        deletions++;
        known.remove(name);
    }
}
