package org.restbench.execution;

import java.util.Arrays;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import org.restbench.affinity.BackgroundThreads;
import org.restbench.workload.ParallelLoop;
import org.restbench.workload.Workload;

/**
 * The study's F1: chooses for each request among the other ways, by what it is expected to cost and by how many
 * requests there are. The length of the body decides before it is decoded, the number of operations afterwards.
 *
 * <ul>
 *   <li>{@code caller}: all in order on the request's own thread;
 *   <li>{@code shared-pool}: its loops on the shared pool, where they are worth it and cores are idle; a lasting thread
 *       waits for them, not the caller;
 *   <li>{@code low-priority}: long work while there are more requests than cores, on as many threads as cores, first
 *       come, first served. They give way to all others, so that small requests do not wait for it.
 * </ul>
 */
public final class AdaptiveStrategy implements ExecutionStrategy {
    /** Names of the threads of low priority, before a number. */
    static final String WORKERS = "adapt-long-";

    /** And of those that wait for the shared pool. */
    static final String LOOP_OWNERS = "adapt-loops-";

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
    private final Workers loopOwners;
    private final Workers workers;
    private final BackgroundThreads background;
    private final RecentConcurrency requests;
    /**
     * Of decoding a body, by workload; and of an operation, by its kind. Unseen: about a digit's and a
     * multiplication's.
     */
    private final LearnedCosts bytes = new LearnedCosts(10);

    private final LearnedCosts operations = new LearnedCosts(1);
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
        // fewer requests than cores are on the shared pool at once: none waits for a thread
        this.loopOwners = new Workers(Executors.newFixedThreadPool(cores, Tasks.threads(LOOP_OWNERS)));
        this.workers = new Workers(background, cores, new LinkedBlockingQueue<>());
        this.requests = new RecentConcurrency(clock);
        for (Decision decision : Decision.values()) {
            decisions.put(decision, new LongAdder());
        }
    }

    /** What handing a loop of one task to the pool and waiting for it takes: the median, once it is compiled. */
    static long dispatchNanos(Loops pool) {
        ParallelLoop loop = pool.open();
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
        } else if (computeNanos >= WORTH_HELP * dispatchNanos && requests.recently() < cores) {
            count(Decision.SHARED_POOL);
            loopOwners.handOver(answer, () -> answer.complete(job.finish(input, sharedPool)));
        } else {
            count(Decision.CALLER);
            answer.complete(finish(job, input));
        }
    }

    /** Whether others would wait for what takes so long: with a core for each request none does. */
    private boolean isTooLong(double nanos) {
        return nanos >= LONG * dispatchNanos && requests.recently() > cores;
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

    /** For {@code /health}: what it decides by. */
    public Map<String, Object> facts() {
        Map<String, Object> facts = new LinkedHashMap<>();
        facts.put("dispatchMicros", dispatchNanos / 1e3);
        facts.put("helpFromMicros", WORTH_HELP * dispatchNanos / 1e3);
        facts.put("longFromMicros", LONG * dispatchNanos / 1e3);
        facts.put("lowPriority", !background.isRefused());
        facts.put("nanosPerUnit", operations.nanosPerUnit());
        return facts;
    }

    @Override
    public void close(Deadline deadline) {
        loopOwners.close(deadline);
        workers.close(deadline);
    }
}
