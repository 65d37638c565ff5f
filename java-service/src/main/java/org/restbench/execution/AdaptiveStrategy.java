package org.restbench.execution;

import java.util.Map;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.restbench.workload.ParallelLoop;
import org.restbench.workload.Workload;

/**
 * The study's F1, an endpoint that chooses. By what a request is expected to cost it runs
 *
 * <ul>
 *   <li>small work in order on the request's own thread;
 *   <li>larger work there too, with the help of cores that stay idle; where more requests are there than cores, on a
 *       few threads that take one after the other, first come, first served;
 *   <li>long work there too, if it comes while there is a core for each request; where there are more requests, or were
 *       a moment ago, on a few threads of its own, as many as cores, first come, first served, which help each other
 *       with loops and give way to all other threads: however much of it waits, it thrashes no cache, and small
 *       requests do not wait for it.
 * </ul>
 *
 * The length of the body decides before it is parsed, the number of operations afterwards.
 */
public final class AdaptiveStrategy implements ExecutionStrategy {
    /** Names of the threads for long work, before a number. */
    public static final String WORKERS = "adapt-long-";

    /** Of those that take requests in turn, and help with the loops of requests on other threads. */
    static final String TEAM = "adapt-turn-";

    private static final ParallelLoop IN_ORDER = new InOrderLoop();

    private final Supplier<Costs> costs;
    private final int cores;
    private final Concurrency requests;
    private final Concurrency callers;
    private final Crew team;
    private final Crew workers;
    private final Map<Decision, LongAdder> decisions = Map.of(
            Decision.CALLER, new LongAdder(),
            Decision.IN_TURN, new LongAdder(),
            Decision.LOW_PRIORITY_THREAD, new LongAdder(),
            Decision.BLOCKS, new LongAdder());

    /**
     * @param costs asked with each request
     * @param background makes threads that give way to others, for long work
     * @param clock nanoseconds
     */
    AdaptiveStrategy(Supplier<Costs> costs, int cores, ThreadFactory background, LongSupplier clock) {
        this.costs = costs;
        this.cores = cores;
        this.requests = new Concurrency(clock);
        this.callers = new Concurrency(clock);
        this.team = new Crew(cores, new NamedThreads(TEAM));
        this.workers = new Crew(cores, background);
    }

    @Override
    public <I, O> byte[] execute(Workload<I, O> workload, byte[] body, StageClock clock) {
        requests.arrived();
        try {
            return new Request<>(workload, body, clock, costs.get()).answer();
        } finally {
            requests.left();
        }
    }

    private byte[] onWorker(Supplier<byte[]> stages) {
        count(Decision.LOW_PRIORITY_THREAD);
        return workers.call(stages);
    }

    /** Each core that no caller is at, or will be again in a moment, may help: what long work is on it gives way. */
    private ParallelLoop loopOfCaller() {
        return new HelpedLoop(team, () -> cores - callers.recently() + 1, () -> count(Decision.BLOCKS));
    }

    /** The same, but by those who give way: the team stays free for requests that take less time. */
    private ParallelLoop loopOfLongCaller() {
        return new HelpedLoop(
                workers, () -> Math.min(workers.idle(), cores - callers.recently()) + 1, () -> count(Decision.BLOCKS));
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
        return team.waiting() + workers.waiting();
    }

    @Override
    public void close() {
        workers.close();
        team.close();
    }

    /** One request on its way, on one thread at a time. */
    private final class Request<I, O> {
        private final Workload<I, O> workload;
        private final byte[] body;
        private final StageClock clock;
        private final Costs known;
        private final Costs.Rate rate;
        private final double parseNanos;
        private I input;
        private double computeNanos;

        Request(Workload<I, O> workload, byte[] body, StageClock clock, Costs known) {
            this.workload = workload;
            this.body = body;
            this.clock = clock;
            this.known = known;
            this.rate = known.of(workload.kind());
            this.parseNanos = body.length * rate.nanosPerByte();
        }

        byte[] answer() {
            if (isTooLong(parseNanos)) {
                return onWorker(() -> {
                    parse();
                    return rest(loopOfWorker());
                });
            }
            byte[] answer = unlessLong();
            return answer == null ? onWorker(() -> rest(loopOfWorker())) : answer;
        }

        /** The answer; null where it was parsed only, which showed it to be long. */
        private byte[] unlessLong() {
            callers.arrived();
            try {
                if (!isLong(parseNanos) && waitsWith(parseNanos)) {
                    return team.call(() -> parse() ? restAt(Decision.IN_TURN) : null);
                }
                if (!parse()) {
                    return null;
                }
                return !isLong(computeNanos) && waitsWith(parseNanos + computeNanos)
                        ? team.call(() -> restAt(Decision.IN_TURN))
                        : restAt(Decision.CALLER);
            } finally {
                callers.left();
            }
        }

        /** Whether what takes so long has to wait for its turn. */
        private boolean waitsWith(double nanos) {
            return nanos >= known.turnFromNanos() && callers.now() > cores;
        }

        /** Whether others would wait for what takes so long: with a core for each request nobody does. */
        private boolean isTooLong(double nanos) {
            return isLong(nanos) && requests.recently() > cores;
        }

        private boolean isLong(double nanos) {
            return nanos >= known.longFromNanos();
        }

        /** Whether it is not too long. */
        private boolean parse() {
            input = clock.parse(() -> workload.parse(body));
            computeNanos = workload.operations(input) * rate.nanosPerOperation();
            return !isTooLong(computeNanos);
        }

        private byte[] restAt(Decision place) {
            count(place);
            if (computeNanos < known.helpFromNanos()) {
                return rest(IN_ORDER);
            }
            return rest(isLong(computeNanos) ? loopOfLongCaller() : loopOfCaller());
        }

        private byte[] rest(ParallelLoop loop) {
            O output = clock.compute(() -> workload.compute(input, loop));
            return clock.serialize(() -> workload.serialize(output));
        }
    }
}
