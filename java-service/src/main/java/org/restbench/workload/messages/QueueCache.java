package org.restbench.workload.messages;

import java.util.LinkedHashMap;
import java.util.Map;

/** Queues by name as they were when last asked for: the most recently used ones. */
final class QueueCache {
    private static final int MOST = 10_000;

    private final Map<String, Queue> known = new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Queue> eldest) {
            return size() > MOST;
        }
    };

    /** Null where it is not known. */
    synchronized Queue get(String name) {
        return known.get(name);
    }

    synchronized void put(String name, Queue queue) {
        known.put(name, queue);
    }

    /** What was known of it, null for nothing. */
    synchronized Queue forget(String name) {
        return known.remove(name);
    }
}
