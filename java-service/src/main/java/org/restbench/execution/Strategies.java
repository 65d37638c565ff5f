package org.restbench.execution;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadFactory;
import java.util.function.Supplier;
import org.restbench.affinity.CoreAffinity;

/** The table of all strategies this service offers. Made once; closing it ends their threads. */
public final class Strategies implements AutoCloseable {
    private final List<Technique> table = new ArrayList<>();
    private final AdaptiveStrategy adaptive;

    /**
     * @param affinity pins the workers of {@code pinned}
     * @param pinnedCores a core for each of them
     * @param cores how many cores the service may use
     * @param pipelineQueue requests that may wait before each stage of {@code pipeline}
     * @param maxThreads that all requests under {@code thread-pool} have at once; as many virtual ones
     * @param background makes the threads of {@code adaptive} for long work
     * @param costs what {@code adaptive} decides by
     */
    public Strategies(
            CoreAffinity affinity,
            List<Integer> pinnedCores,
            int cores,
            int pipelineQueue,
            int maxThreads,
            ThreadFactory background,
            Supplier<Costs> costs) {
        add("serial", "S", "All stages in order in the request's own thread.", new OnCaller(new InOrderLoop()));
        add(
                "thread-pool",
                "M",
                "A pool made for the request, min(rows, 100) threads, one task a row.",
                new OnCaller(new ThreadPoolLoop(new ThreadBudget(maxThreads))));
        add(
                "pinned",
                "AF",
                "All stages in order on a long-lived thread bound to a core of its own.",
                new PinnedStrategy(affinity, pinnedCores));
        table.add(new Technique(
                "thread-per-element",
                null,
                "A new thread for each element, joined before the next is started.",
                true,
                new OnCaller(new ThreadPerElementLoop())));
        SharedPoolLoop shared = new SharedPoolLoop(cores);
        add(
                "shared-pool",
                null,
                "One pool for the service, as many threads as cores, one block of rows a thread.",
                new OnCaller(shared, shared::close));
        add(
                "pipeline",
                "PL",
                "Parse, compute and serialize each on a thread of its own, bounded queues between.",
                new PipelineStrategy(pipelineQueue));
        VirtualThreads.ifAvailable(new ThreadBudget(maxThreads))
                .ifPresent(loop -> add(
                        "virtual-threads", null, "A virtual thread for each row.", new OnCaller(loop, loop::close)));
        adaptive = new AdaptiveStrategy(costs, cores, background, System::nanoTime);
        add(
                "adaptive",
                "F1",
                "Small work on the caller, larger work with the help of idle cores; of many requests the larger ones in"
                        + " turn, the long ones on threads that give way.",
                adaptive);
    }

    private void add(String name, String key, String description, ExecutionStrategy strategy) {
        table.add(new Technique(name, key, description, false, strategy));
    }

    /** All techniques, in the order of the table. */
    public List<Technique> all() {
        return List.copyOf(table);
    }

    /** The one that chooses, for what it tells of its choices. */
    public AdaptiveStrategy adaptive() {
        return adaptive;
    }

    @Override
    public void close() {
        all().forEach(technique -> technique.strategy().close());
    }
}
