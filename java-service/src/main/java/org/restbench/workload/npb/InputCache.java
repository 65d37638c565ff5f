package org.restbench.workload.npb;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.restbench.memory.MemoryBudget;
import org.restbench.memory.MemoryBudget.MemoryRefused;
import org.restbench.workload.ParallelLoop;

/**
 * Cache of the inputs that requests share if they do not generate their own. It keeps the most recently used inputs
 * that fit into a quarter of the memory budget; their memory counts in the budget. They are dropped when a request
 * needs their memory.
 */
public final class InputCache {
    private static final int SHARE = 4;

    private final MemoryBudget memory;
    private final long mostBytes;
    private final Map<Problem<?>, CachedInput> kept = new LinkedHashMap<>(16, 0.75f, true);

    private record CachedInput(Object input, long bytes, MemoryBudget.Hold hold) {}

    public InputCache(MemoryBudget memory) {
        this.memory = memory;
        this.mostBytes = memory.totalBytes() / SHARE;
        memory.reclaimBy(this::clear);
    }

    /** The cached input, or a new one, which is cached where it fits. Two requests may build the same input at once. */
    <T> T get(Problem<T> problem, ParallelLoop loop) {
        T found = find(problem);
        if (found != null) {
            return found;
        }
        T built = problem.input(true, loop);
        keep(problem, built);
        return built;
    }

    @SuppressWarnings("unchecked") // put there under the problem that built it
    private synchronized <T> T find(Problem<T> problem) {
        CachedInput entry = kept.get(problem);
        return entry == null ? null : (T) entry.input();
    }

    private synchronized void keep(Problem<?> problem, Object input) {
        long bytes = problem.keptBytes();
        if (bytes > mostBytes || kept.containsKey(problem)) {
            return;
        }
        shrinkTo(mostBytes - bytes);
        try {
            kept.put(problem, new CachedInput(input, bytes, memory.hold(bytes)));
        } catch (MemoryRefused full) {
            // requests have priority: the input lasts as long as this request, and the next one builds its own
        }
    }

    /** Drops all inputs; a request that uses one keeps it within its own hold of memory. */
    synchronized void clear() {
        shrinkTo(0);
    }

    private void shrinkTo(long bytes) {
        Iterator<CachedInput> eldest = kept.values().iterator();
        while (eldest.hasNext() && heldBytes() > bytes) {
            CachedInput entry = eldest.next();
            eldest.remove();
            entry.hold().close();
        }
    }

    private long heldBytes() {
        return kept.values().stream().mapToLong(CachedInput::bytes).sum();
    }
}
