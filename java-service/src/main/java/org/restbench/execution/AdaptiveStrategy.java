package org.restbench.execution;

import java.util.Arrays;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.restbench.affinity.BackgroundThreads;
import org.restbench.workload.Workload;

/**
 * The study's F1: chooses for each request among the other ways, by what it is expected to cost and by how many
 * requests there are. The length of the body decides before it is decoded, the number of operations afterwards.
 *
 * <ul>
 *   <li>{@code caller}: all in order on the request's own thread;
 *   <li>{@code shared-pool}: the same with its loops on the shared pool, where they are worth it and cores are idle;
 *   <li>{@code low-priority}: long work while there are more requests than cores, on as many threads as cores, first
 *       come, first served. They give way to all others, so that small requests do not wait for it.
 * </ul>
 */
public final class AdaptiveStrategy implements ExecutionStrategy {
    /** Names of the threads of low priority, before a number. */
    static final String WORKERS = "adapt-long-";

    /** Where a request may be worked on. */
    public enum Decision {
        CALLER,
        SHARED_POOL,
        LOW_PRIORITY;

        /** As it is counted under. */
        public String label() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }

    /**
     * A loop takes at least so many dispatches before other threads are worth it. Measured on one machine of two cores
     * with a dispatch of 5.5 microseconds: for one user the throughput with help was 0.93 of that without where compute
     * takes 150 microseconds, 0.92 with 400, 1.03 with 550, 0.99 with 800, 1.07 with 1500, 1.17 with 6000.
     */
    private static final int WORTH_HELP = 150;

    /** And so many make work long: its own dispatch is a thousandth of it. */
    private static final int LONG = 1000;

    private final int cores;
    private final Loops sharedPool;
    private final Workers workers;
    private final BackgroundThreads background;
    private final RecentConcurrency requests;
    private final LearnedCosts costs = new LearnedCosts();
    private final long dispatchNanos;
    private final Map<Decision, LongAdder> decisions = new EnumMap<>(Decision.class);

    /**
     * @param sharedPool of another strategy, which closes it
     * @param background makes threads of low priority
     * @param clock nanoseconds
     */
    AdaptiveStrategy(
            int cores, Loops sharedPool, long dispatchNanos, BackgroundThreads background, LongSupplier clock) {
        this.cores = cores;
        this.sharedPool = sharedPool;
        this.dispatchNanos = dispatchNanos;
        this.background = background;
        this.workers = new Workers(background, cores, new LinkedBlockingQueue<>());
        this.requests = new RecentConcurrency(clock);
        for (Decision decision : Decision.values()) {
            decisions.put(decision, new LongAdder());
        }
    }

    /** What handing a loop of one task to the pool and waiting for it takes: the least median of several bursts. */
    static long dispatchNanos(Loops pool) {
        long least = Long.MAX_VALUE;
        try (Loops.RequestLoop loop = pool.open(null)) {
            for (int burst = 0; burst < 20; burst++) {
                long[] nanos = new long[101];
                for (int i = 0; i < nanos.length; i++) {
                    long start = System.nanoTime();
                    loop.forEach(1, 1, (from, to) -> {});
                    nanos[i] = System.nanoTime() - start;
                }
                Arrays.sort(nanos);
                least = Math.min(least, nanos[nanos.length / 2]);
            }
        }
        return Math.max(1, least);
    }

    @Override
    public <I, O> CompletionStage<byte[]> execute(Job<I, O> job) {
        if (job.workload().isBlocking()) { // it needs no core: there is nothing to choose
            return done(Decision.CALLER, () -> job.run(Loops.IN_ORDER));
        }
        requests.arrived();
        CompletionStage<byte[]> answer;
        try {
            answer = chosen(job);
        } catch (Throwable thrown) {
            answer = CompletableFuture.failedFuture(thrown);
        }
        answer.whenComplete((bytes, thrown) -> requests.left());
        return answer;
    }

    private <I, O> CompletionStage<byte[]> chosen(Job<I, O> job) {
        Workload<I, O> workload = job.workload();
        if (isTooLong(costs.decodeNanos(workload.name(), job.bodyBytes()))) {
            return onWorker(() -> finish(job, decode(job), Loops.IN_ORDER));
        }
        I input = decode(job);
        double computeNanos = costs.computeNanos(workload.kind(input), workload.operations(input));
        if (isTooLong(computeNanos)) {
            return onWorker(() -> {
                job.requireWanted();
                return finish(job, input, Loops.IN_ORDER);
            });
        }
        if (computeNanos >= WORTH_HELP * dispatchNanos && requests.recently() < cores) {
            return done(Decision.SHARED_POOL, () -> job.finish(input, sharedPool));
        }
        return done(Decision.CALLER, () -> finish(job, input, Loops.IN_ORDER));
    }

    /** Whether others would wait for what takes so long: with a core for each request nobody does. */
    private boolean isTooLong(double nanos) {
        return nanos >= LONG * dispatchNanos && requests.recently() > cores;
    }

    private <I, O> I decode(Job<I, O> job) {
        I input = job.decode();
        costs.decoded(job.workload().name(), job.bodyBytes(), job.clock().parseNanos());
        return input;
    }

    private <I, O> byte[] finish(Job<I, O> job, I input, Loops inOrder) {
        byte[] answer = job.finish(input, inOrder);
        Workload<I, O> workload = job.workload();
        costs.computed(
                workload.kind(input), workload.operations(input), job.clock().computeNanos());
        return answer;
    }

    private CompletionStage<byte[]> done(Decision place, Supplier<byte[]> stages) {
        decisions.get(place).increment();
        try {
            return CompletableFuture.completedFuture(stages.get());
        } catch (Throwable thrown) {
            return CompletableFuture.failedFuture(thrown);
        }
    }

    private CompletionStage<byte[]> onWorker(Supplier<byte[]> stages) {
        decisions.get(Decision.LOW_PRIORITY).increment();
        CompletableFuture<byte[]> answer = new CompletableFuture<>();
        workers.handOver(answer, () -> answer.complete(stages.get()));
        return answer;
    }

    /** How many requests it has decided so for. */
    public long decided(Decision decision) {
        return decisions.get(decision).sum();
    }

    /** Requests that wait for a thread of low priority. */
    public int waiting() {
        return workers.waiting();
    }

    /** For {@code /health}: what it decides by. */
    public Map<String, Object> facts() {
        Map<String, Object> facts = new LinkedHashMap<>();
        facts.put("dispatchMicros", dispatchNanos / 1e3);
        facts.put("helpFromMicros", WORTH_HELP * dispatchNanos / 1e3);
        facts.put("longFromMicros", LONG * dispatchNanos / 1e3);
        facts.put("lowPriority", !background.isRefused());
        facts.put("nanosPerOperation", costs.rates());
        return facts;
    }

    @Override
    public void close(Deadline deadline) {
        workers.close(deadline);
    }
}
