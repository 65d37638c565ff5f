package org.restbench.execution;

import java.util.ArrayList;
import java.util.List;
import org.restbench.affinity.BackgroundThreads;
import org.restbench.affinity.CoreAffinity;
import org.restbench.execution.ExecutionStrategy.Deadline;
import org.restbench.execution.Strategies.Technique.Cuts;
import org.restbench.execution.ThreadPool.ThreadBudget;
import org.restbench.workload.Workload;

/** The table of all strategies this service offers. Made once; closing it ends the strategies' threads. */
public final class Strategies implements AutoCloseable {
    /** Time for the threads of all strategies to end. Requests in flight were waited for before. */
    private static final int STOP_SECONDS = 5;

    private final List<Technique> table = new ArrayList<>();
    private final AdaptiveStrategy adaptive;

    /**
     * @param pinnedCores a core for each worker of {@code pinned}
     * @param pipelineQueue requests that may wait between the stages of {@code pipeline}
     * @param maxThreads that all requests under {@code thread-pool} together have at once; as many virtual threads
     * @param poolThreads of {@code worker-pool}, 0 for the default
     */
    public Strategies(
            CoreAffinity affinity,
            List<Integer> pinnedCores,
            int cores,
            int pipelineQueue,
            int maxThreads,
            int poolThreads) {
        SharedPool shared = new SharedPool(cores);
        adaptive = new AdaptiveStrategy(
                cores,
                shared,
                AdaptiveStrategy.dispatchNanos(shared),
                new BackgroundThreads(AdaptiveStrategy.WORKERS),
                System::nanoTime);
        add("serial", "S", "All stages in order in the request's own thread.", Cuts.NOTHING, Loops.IN_ORDER);
        add(
                "thread-pool",
                "M",
                "A pool made for the request, min(rows, 100) threads, one task a row (16 rows with kernel=native).",
                Cuts.TASKS,
                new ThreadPool(new ThreadBudget(maxThreads)));
        add(
                "pinned",
                "AF",
                "All stages in order on a long-lived thread bound to a core of its own.",
                Cuts.NOTHING,
                new PinnedStrategy(affinity, pinnedCores));
        add(
                "thread-per-element",
                null,
                "A new thread for each element, joined before the next is started.",
                Cuts.UNITS,
                new ThreadPerElement());
        add(
                "shared-pool",
                null,
                "One pool for the service, as many threads as cores, one block of rows a thread.",
                Cuts.TASKS,
                shared);
        add(
                "fork-join",
                null,
                "A parallel stream over the rows (16 a task with kernel=native), in a ForkJoinPool of as many threads"
                        + " as cores.",
                Cuts.TASKS,
                new ForkJoin(cores));
        add(
                "pipeline",
                "PL",
                "Parse, compute and serialize each on a thread of its own, bounded queues between.",
                Cuts.NOTHING,
                new PipelineStrategy(pipelineQueue));
        add(
                "worker-pool",
                null,
                "All stages in order on a thread of one pool for the service.",
                Cuts.NOTHING,
                new WorkerPool(poolThreads, cores));
        VirtualThreads.ifAvailable(new ThreadBudget(maxThreads)).ifPresent(this::addVirtual);
        add(
                "adaptive",
                "F1",
                "Small work on the caller, larger work on the shared pool where cores are idle, long work of many"
                        + " requests on threads of low priority.",
                Cuts.TASKS,
                adaptive);
    }

    private void addVirtual(VirtualThreads loops) {
        add("virtual-threads", null, "A virtual thread for each row (16 rows with kernel=native).", Cuts.TASKS, loops);
        add(
                "virtual-thread-per-request",
                null,
                "All stages in order on a virtual thread made for the request.",
                Cuts.NOTHING,
                new Workers(loops.threads()));
    }

    private void add(String name, String key, String description, Cuts cuts, ExecutionStrategy strategy) {
        table.add(new Technique(name, key, description, cuts, strategy));
    }

    public List<Technique> all() {
        return List.copyOf(table);
    }

    public AdaptiveStrategy adaptive() {
        return adaptive;
    }

    /** Closes all strategies within one deadline, however many threads there are. */
    @Override
    public void close() {
        Deadline deadline = Deadline.afterSeconds(STOP_SECONDS);
        table.forEach(technique -> technique.strategy().close(deadline));
    }

    /**
     * A strategy as it is offered to clients.
     *
     * @param name the part of a path after the workload's name
     * @param key the study's name for it, null where it has none
     * @param description one sentence
     * @param cuts how the strategy cuts loops
     */
    public record Technique(String name, String key, String description, Cuts cuts, ExecutionStrategy strategy) {
        public enum Cuts {
            /** Not at all: the strategy works in the same way with or without loops. */
            NOTHING,
            /** Into tasks of the grain that the loop asks for, or coarser ones. */
            TASKS,
            /** Each unit is a task of its own, whatever grain the loop asks for. */
            UNITS
        }

        /**
         * Whether the strategy is offered for this workload: without loops, one that cuts loops would run as another
         * does, and small units are no tasks of their own.
         */
        public boolean takes(Workload<?, ?> workload) {
            return cuts == Cuts.NOTHING || workload.hasLoops() && (cuts == Cuts.TASKS || workload.takesSingleUnits());
        }
    }
}
