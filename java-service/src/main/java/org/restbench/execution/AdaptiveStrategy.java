package org.restbench.execution;

import java.util.Arrays;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import org.restbench.affinity.BackgroundThreads;
import org.restbench.workload.ParallelLoop;
import org.restbench.workload.Workload;

/**
 * The study's F1: chooses for each request where it runs, by its expected cost and by the number of requests. The cost
 * is estimated from the length of the body before decoding, and from the number of operations afterwards.
 *
 * <ul>
 *   <li>{@code caller}: all stages in order on the request's own thread;
 *   <li>{@code shared-pool}: the loops on the shared pool, where they are long enough and cores are idle; a long-lived
 *       thread waits for them, not the caller;
 *   <li>{@code low-priority}: long work while there are more requests than cores, on as many threads as cores, first
 *       come, first served. These threads have a lower priority than all others, so that small requests do not wait.
 * </ul>
 */
public final class AdaptiveStrategy implements ExecutionStrategy {
    /** Prefix of the names of the threads of low priority, before a number. */
    static final String WORKERS = "adapt-long-";

    /** Prefix of the names of the threads that wait for the shared pool. */
    static final String LOOP_OWNERS = "adapt-loops-";

    public enum Decision {
        CALLER,
        SHARED_POOL,
        LOW_PRIORITY;

        public String label() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }

    /**
     * Least ratio of the expected time of compute to the time of a dispatch for which the shared pool is used. Measured
     * on one machine of two cores with a dispatch of 5.5 microseconds and one user: the throughput with the pool was
     * 0.93 of that without it where compute takes 150 microseconds, 0.92 with 400, 1.03 with 550, 0.99 with 800, 1.07
     * with 1500, 1.17 with 6000.
     */
    private static final int MIN_DISPATCHES_FOR_POOL = 150;

    /** The ratio from which work counts as long: a dispatch then adds a thousandth to it. */
    private static final int MIN_DISPATCHES_FOR_LONG = 1000;

    private final int cores;
    private final Loops sharedPool;
    private final Workers loopOwners;
    private final Workers workers;
    private final BackgroundThreads background;
    private final RecentConcurrency requests;

    /** Nanoseconds to decode a byte of the body, by workload; at first 10, about the time of a digit. */
    private final LearnedCosts bytes = new LearnedCosts(10);

    /** Nanoseconds of an operation, by kind; 1, about a multiplication's, until there is a measurement. */
    private final LearnedCosts operations = new LearnedCosts(1);

    private final long dispatchNanos;
    private final Map<Decision, LongAdder> decisions = new EnumMap<>(Decision.class);

    /**
     * @param sharedPool of the strategy shared-pool, which closes it
     * @param background makes threads of low priority
     * @param clock in nanoseconds
     */
    AdaptiveStrategy(
            int cores, Loops sharedPool, long dispatchNanos, BackgroundThreads background, LongSupplier clock) {
        this.cores = cores;
        this.sharedPool = sharedPool;
        this.dispatchNanos = dispatchNanos;
        this.background = background;
        // the shared pool is used by fewer requests than there are cores, so none waits for a thread
        this.loopOwners = new Workers(Executors.newFixedThreadPool(cores, Tasks.threads(LOOP_OWNERS)));
        this.workers = new Workers(background, cores, new LinkedBlockingQueue<>());
        this.requests = new RecentConcurrency(clock);
        for (Decision decision : Decision.values()) {
            decisions.put(decision, new LongAdder());
        }
    }

    /** Nanoseconds to hand one task to the pool and wait: the median of the later half, when code is compiled. */
    static long dispatchNanos(Loops pool) {
        ParallelLoop loop = pool.open(waited -> {});
        long[] nanos = new long[4000];
        for (int i = 0; i < nanos.length; i++) {
            long start = System.nanoTime();
            loop.forEach(1, 1, (from, to) -> {});
            nanos[i] = System.nanoTime() - start;
        }
        Arrays.sort(nanos, nanos.length / 2, nanos.length);
        return Math.max(1, nanos[nanos.length * 3 / 4]);
    }

    @Override
    public <I, O> CompletionStage<byte[]> execute(Job<I, O> job) {
        CompletableFuture<byte[]> answer = new CompletableFuture<>();
        requests.arrived();
        answer.whenComplete((bytes, thrown) -> requests.left());
        try {
            choose(job, answer);
        } catch (Throwable thrown) {
            answer.completeExceptionally(thrown);
        }
        return answer;
    }

    private <I, O> void choose(Job<I, O> job, CompletableFuture<byte[]> answer) {
        Workload<I, O> workload = job.workload();
        if (isTooLong(bytes.nanos(workload.name(), job.bodyBytes()))) {
            count(Decision.LOW_PRIORITY);
            workers.handOver(answer, () -> answer.complete(finish(job, decode(job))));
            return;
        }
        I input = decode(job);
        double computeNanos = operations.nanos(workload.kind(input), workload.operations(input));
        if (isTooLong(computeNanos)) {
            count(Decision.LOW_PRIORITY);
            workers.handOver(answer, () -> {
                job.requireWanted();
                answer.complete(finish(job, input));
            });
        } else if (computeNanos >= MIN_DISPATCHES_FOR_POOL * dispatchNanos && requests.recently() < cores) {
            count(Decision.SHARED_POOL);
            loopOwners.handOver(answer, () -> answer.complete(job.finish(input, sharedPool)));
        } else {
            count(Decision.CALLER);
            answer.complete(finish(job, input));
        }
    }

    /** Whether other requests would wait for work of this duration. With a core for each request, none would. */
    private boolean isTooLong(double nanos) {
        return nanos >= MIN_DISPATCHES_FOR_LONG * dispatchNanos && requests.recently() > cores;
    }

    private <I, O> I decode(Job<I, O> job) {
        I input = job.decode(Loops.IN_ORDER);
        bytes.learn(job.workload().name(), job.bodyBytes(), job.clock().parseNanos());
        return input;
    }

    private <I, O> byte[] finish(Job<I, O> job, I input) {
        byte[] answer = job.finish(input, Loops.IN_ORDER);
        Workload<I, O> workload = job.workload();
        operations.learn(
                workload.kind(input), workload.operations(input), job.clock().computeNanos());
        return answer;
    }

    private void count(Decision decision) {
        decisions.get(decision).increment();
    }

    public long decided(Decision decision) {
        return decisions.get(decision).sum();
    }

    /** The facts that the decisions are based on, for {@code /health}. */
    public Map<String, Object> facts() {
        Map<String, Object> facts = new LinkedHashMap<>();
        facts.put("dispatchMicros", dispatchNanos / 1e3);
        facts.put("sharedPoolFromMicros", MIN_DISPATCHES_FOR_POOL * dispatchNanos / 1e3);
        facts.put("longFromMicros", MIN_DISPATCHES_FOR_LONG * dispatchNanos / 1e3);
        facts.put("lowPriority", !background.isRefused());
        facts.put("nanosPerUnit", operations.nanosPerUnit());
        return facts;
    }

    @Override
    public void close(Deadline deadline) {
        loopOwners.close(deadline);
        workers.close(deadline);
    }

    /**
     * The time that a unit of work takes on this machine, by kind of work, learned from work that was done. Work that
     * was interrupted took longer than it needs. So a shorter time is adopted at once, and a longer one only by a small
     * part. Work that is expected to be short is ignored, as its time depends more on the overhead than on the units.
     */
    static final class LearnedCosts {
        private static final long MIN_LEARNED_NANOS = 20_000;
        private static final int SLOWER_DIVISOR = 64;

        private final Map<String, Double> nanosPerUnit = new ConcurrentHashMap<>();
        private final double unseenNanos;

        /** @param unseenNanos nanoseconds of a unit of a kind that was not measured yet */
        LearnedCosts(double unseenNanos) {
            this.unseenNanos = unseenNanos;
        }

        double nanos(String kind, long units) {
            return units * nanosPerUnit.getOrDefault(kind, unseenNanos);
        }

        void learn(String kind, long units, long nanos) {
            if (nanos(kind, units) >= MIN_LEARNED_NANOS) {
                nanosPerUnit.merge(
                        kind,
                        (double) nanos / units,
                        (known, seen) -> seen < known ? seen : known + (seen - known) / SLOWER_DIVISOR);
            }
        }

        Map<String, Double> nanosPerUnit() {
            return new TreeMap<>(nanosPerUnit);
        }
    }

    /**
     * The number of requests in progress now, and the highest number at once in the last one to two seconds. Clients
     * that have just got their answers will soon send the next requests, so that a core which is idle at this moment is
     * about to be needed. There is no lock, as all requests would wait whenever the holder of the lock lost its core.
     */
    static final class RecentConcurrency {
        /** Numbers of the last period are always known, numbers of more than two periods ago are forgotten. */
        static final long PERIOD_NANOS = TimeUnit.SECONDS.toNanos(1);

        private static final int COUNT_BITS = 32;

        private final LongSupplier clock;
        private final long startNanos;
        private final AtomicInteger now = new AtomicInteger();

        /** For even and odd periods: the last one's number in the upper half, its most requests in the lower. */
        private final AtomicLongArray most = new AtomicLongArray(2);

        /** @param clock in nanoseconds */
        RecentConcurrency(LongSupplier clock) {
            this.clock = clock;
            this.startNanos = clock.getAsLong();
        }

        void arrived() {
            saw(now.incrementAndGet());
        }

        void left() {
            saw(now.getAndDecrement()); // the request was here in this period, though it may have arrived in
            // an earlier one
        }

        private void saw(int here) {
            long period = period();
            most.accumulateAndGet((int) (period & 1), period << COUNT_BITS | here, Math::max);
        }

        private long period() {
            return (clock.getAsLong() - startNanos) / PERIOD_NANOS;
        }

        /** The most requests at once in this period and the one before. */
        int recently() {
            long period = period();
            return Math.max(now.get(), Math.max(mostIn(period), mostIn(period - 1)));
        }

        private int mostIn(long period) {
            long seen = most.get((int) (period & 1));
            return seen >> COUNT_BITS == period ? (int) seen : 0;
        }
    }
}
