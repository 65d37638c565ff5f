package org.restbench.workload.npb;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.restbench.memory.MemoryBudget;
import org.restbench.memory.MemoryRefused;
import org.restbench.workload.ParallelLoop;

/**
 * Inputs that requests without one of their own share: those used last, as many as fit into a quarter of the memory
 * budget, of which they are a part. They go when a request needs their room.
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

    /** The kept input, or a new one, which is kept where it fits. Two requests may build the same at once. */
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
            // requests need the memory more: the input goes with this request, and the next one builds its own
        }
    }

    /** Gives all memory back; what a request uses stays alive as long as it does, within that request's own hold. */
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
