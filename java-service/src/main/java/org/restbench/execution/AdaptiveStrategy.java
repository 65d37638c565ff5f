package org.restbench.execution;

import java.util.Map;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import org.restbench.workload.ParallelLoop;
import org.restbench.workload.Workload;

/**
 * The study's F1, an endpoint that chooses. By what a request is expected to cost it runs
 *
 * <ul>
 *   <li>small work in order on the request's own thread;
 *   <li>larger work there too, where cores are idle with their help, and where they are not, computed in turn;
 *   <li>long work on a few threads of its own, as many as cores, first come, first served, which help each other with
 *       loops and give way to all other threads: however much of it waits, it thrashes no cache, and small requests do
 *       not wait for it.
 * </ul>
 *
 * The length of the body decides before it is parsed, the number of operations afterwards.
 */
public final class AdaptiveStrategy implements ExecutionStrategy {
    /** Names of the threads for long work, before a number. */
    public static final String WORKERS = "adapt-long-";

    static final String HELPERS = "adapt-help-";

    private static final ParallelLoop IN_ORDER = new InOrderLoop();

    private final Supplier<Costs> costs;
    private final int cores;
    private final AtomicInteger callers = new AtomicInteger();
    private final Turns turns;
    private final Crew helpers;
    private final Crew workers;
    private final Map<Decision, LongAdder> decisions = Map.of(
            Decision.CALLER, new LongAdder(),
            Decision.LOW_PRIORITY_THREAD, new LongAdder(),
            Decision.BLOCKS, new LongAdder());

    /**
     * @param costs asked with each request
     * @param background makes threads that give way to others, for long work
     */
    AdaptiveStrategy(Supplier<Costs> costs, int cores, ThreadFactory background) {
        this.costs = costs;
        this.cores = cores;
        this.turns = new Turns(cores);
        this.helpers = new Crew(cores - 1, new NamedThreads(HELPERS));
        this.workers = new Crew(cores, background);
    }

    @Override
    public <I, O> byte[] execute(Workload<I, O> workload, byte[] body, StageClock clock) {
        Costs known = costs.get();
        Costs.Rate rate = known.of(workload.kind());
        double parseNanos = body.length * rate.nanosPerByte();
        if (parseNanos >= known.longFromNanos()) {
            return onWorker(() -> rest(workload, clock.parse(() -> workload.parse(body)), loopOfWorker(), clock));
        }
        I input;
        callers.incrementAndGet();
        try {
            input = clock.parse(() -> workload.parse(body));
            double nanos = workload.operations(input) * rate.nanosPerOperation();
            if (nanos < known.longFromNanos()) {
                count(Decision.CALLER);
                ParallelLoop loop = nanos < known.helpFromNanos() ? IN_ORDER : loopOfCaller();
                return parseNanos + nanos < known.turnFromNanos()
                        ? rest(workload, input, loop, clock)
                        : turns.run(() -> rest(workload, input, loop, clock));
            }
        } finally {
            callers.decrementAndGet();
        }
        return onWorker(() -> rest(workload, input, loopOfWorker(), clock));
    }

    private byte[] onWorker(Supplier<byte[]> stages) {
        count(Decision.LOW_PRIORITY_THREAD);
        return workers.call(stages);
    }

    private static <I, O> byte[] rest(Workload<I, O> workload, I input, ParallelLoop loop, StageClock clock) {
        O output = clock.compute(() -> workload.compute(input, loop));
        return clock.serialize(() -> workload.serialize(output));
    }

    /** Each core that no caller is at, or waits for, may help: what long work is on it gives way. */
    private ParallelLoop loopOfCaller() {
        return new HelpedLoop(helpers, () -> cores - callers.get() + 1, () -> count(Decision.BLOCKS));
    }

    /** Where every worker has a request of its own, a loop that is not cut is the quickest for all. */
    private ParallelLoop loopOfWorker() {
        return new HelpedLoop(workers, () -> workers.idle() + 1, () -> count(Decision.BLOCKS));
    }

    private void count(Decision decision) {
        decisions.get(decision).increment();
    }

    /** How many requests it has decided so for. */
    public long decided(Decision decision) {
        return decisions.get(decision).sum();
    }

    /** Requests that wait for their turn, long ones among them. */
    public int waiting() {
        return turns.waiting() + workers.waiting();
    }

    @Override
    public void close() {
        workers.close();
        helpers.close();
    }

    /** A request's loops, each with the help of those who are idle when it begins. */
    private static final class HelpedLoop implements ParallelLoop {
        private final Crew crew;
        private final IntSupplier workers;
        private final Runnable firstHelp;
        private boolean helped;

        /**
         * @param workers that there are for a loop now, the one that asks for it among them
         * @param firstHelp run after the first loop that others took a part of
         */
        HelpedLoop(Crew crew, IntSupplier workers, Runnable firstHelp) {
            this.crew = crew;
            this.workers = workers;
            this.firstHelp = firstHelp;
        }

        @Override
        public void forEach(int units, int unitsPerTask, Body body) {
            int there = workers.getAsInt();
            if (there <= 1 || units <= unitsPerTask) {
                body.run(0, units);
            } else if (crew.share(there, units, unitsPerTask, body) && !helped) {
                helped = true;
                firstHelp.run();
            }
        }
    }
}
