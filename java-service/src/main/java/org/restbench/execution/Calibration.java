package org.restbench.execution;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.LongSupplier;
import org.restbench.execution.Costs.Rate;
import org.restbench.memory.MemoryBudget;
import org.restbench.memory.MemoryRefused;
import org.restbench.workload.InvalidRequest;
import org.restbench.workload.ParallelLoop;
import org.restbench.workload.Workload;
import org.restbench.workload.WorkloadFactory;
import org.restbench.workload.WorkloadFactory.Sample;
import org.restbench.workload.Workloads;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds what work costs here: runs the samples of each workload until they are compiled, and hands empty jobs to a
 * thread in between ({@link Handoffs}). Of many runs the shortest counts, as whatever else the machine does only adds
 * to it. That holds for a clock on the wall, not for CPU time: a guest's has the time taken off that its host took, and
 * may come out as none. Done once for a service and machine where the result can be kept in a file; what was measured
 * while others had the cores is not kept.
 */
public final class Calibration {
    private static final Logger LOG = LoggerFactory.getLogger(Calibration.class);

    /**
     * All samples are run so many times over: what the just-in-time compiler had not ended in one round may be there in
     * the next. (In one round, a multiplication was found to take one nanosecond or a fifth of one, as it came out.)
     */
    private static final int LEAST_ROUNDS = 2;

    private static final int MOST_ROUNDS = 4;

    /** No round beyond the least is begun later than this: the service is to start in time on a busy machine, too. */
    private static final long LAST_ROUND_NANOS = TimeUnit.MILLISECONDS.toNanos(1200);

    /** CPU time for each sample in a round; enough for the compiler, and six of them stay under two seconds in all. */
    private static final long SAMPLE_CPU_NANOS = TimeUnit.MILLISECONDS.toNanos(60);

    /** Of a clock on the wall, where others have the cores. */
    private static final long SAMPLE_NANOS = TimeUnit.MILLISECONDS.toNanos(125);

    /** With less than this of a core the compiler came too late as well, and its absence looks like slow work. */
    private static final double BUSY = 0.25;

    /** A shorter body tells nothing of what a byte costs. */
    private static final int TELLING_BYTES = 1024;

    private final Workloads workloads;
    private final MemoryBudget memory;
    private final CalibrationFile file;
    private final double busy;
    private final LongSupplier clock;
    private final ParallelLoop inOrder = new InOrderLoop();
    private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    private volatile Costs costs;
    private String source;

    /** @param memory that the samples take theirs from; what they need more than there is is not measured */
    public Calibration(Workloads workloads, MemoryBudget memory, CalibrationFile file) {
        this(workloads, memory, file, BUSY, System::nanoTime);
    }

    /**
     * @param busy the share of a core below which nothing is kept
     * @param clock nanoseconds, for what a sample takes
     */
    Calibration(Workloads workloads, MemoryBudget memory, CalibrationFile file, double busy, LongSupplier clock) {
        this.workloads = workloads;
        this.memory = memory;
        this.file = file;
        this.busy = busy;
        this.clock = clock;
    }

    /** The costs, measured or read when they are first asked for. */
    public Costs costs() {
        Costs known = costs; // each request asks: once they are known, without a lock
        return known == null ? find() : known;
    }

    private synchronized Costs find() {
        if (costs == null) {
            Optional<Costs> kept = file.read(kinds());
            source = kept.isPresent() ? "read" : "measured";
            costs = kept.orElseGet(this::measureAndKeep);
        }
        return costs;
    }

    /** For {@code /health}: the costs, what follows from them, and whether they were kept: the log says where. */
    public Map<String, Object> shown() {
        Costs known = costs();
        Map<String, Object> shown = new LinkedHashMap<>();
        shown.put("calibration", source);
        shown.put("handoffMicros", known.handoffNanos() / 1e3);
        shown.put("helpFromMicros", known.helpFromNanos() / 1e3);
        shown.put("turnFromMicros", known.turnFromNanos() / 1e3);
        shown.put("longFromMicros", known.longFromNanos() / 1e3);
        known.rates().forEach((kind, rate) -> shown.put(kind, breakEven(known, rate)));
        return shown;
    }

    private static Map<String, Object> breakEven(Costs known, Rate rate) {
        Map<String, Object> shown = new LinkedHashMap<>();
        shown.put("nanosPerOperation", rate.nanosPerOperation());
        shown.put("helpFromOperations", Math.round(known.helpFromNanos() / rate.nanosPerOperation()));
        shown.put("longFromOperations", Math.round(known.longFromNanos() / rate.nanosPerOperation()));
        shown.put("longFromBytes", Math.round(known.longFromNanos() / rate.nanosPerByte()));
        return shown;
    }

    private Costs measureAndKeep() {
        long start = System.nanoTime();
        long cpuStart = threads.getCurrentThreadCpuTime();
        Costs measured = measured(start);
        long nanos = System.nanoTime() - start;
        double share = (double) (threads.getCurrentThreadCpuTime() - cpuStart) / nanos;
        LOG.info("calibrated in {} ms, to be kept in {}: {}", TimeUnit.NANOSECONDS.toMillis(nanos), file, measured);
        if (share >= busy) {
            file.write(measured);
        } else {
            LOG.warn("the machine was busy with other things: what was measured is used, but not kept");
        }
        return measured;
    }

    private Costs measured(long start) {
        Map<String, Rate> rates = new LinkedHashMap<>();
        Handoffs handoffs = new Handoffs(clock);
        for (int round = 0; isNeeded(round, System.nanoTime() - start); round++) {
            handoffs.measure();
            forEachSample((factory, sample) -> {
                measure(factory, sample, rates);
                handoffs.measure();
            });
        }
        return new Costs(handoffs.leastNanos(), rates);
    }

    static boolean isNeeded(int round, long elapsedNanos) {
        return round < LEAST_ROUNDS || round < MOST_ROUNDS && elapsedNanos < LAST_ROUND_NANOS;
    }

    private Set<String> kinds() {
        Set<String> kinds = new LinkedHashSet<>();
        try (MemoryBudget.Hold nothing = memory.hold(0)) {
            forEachSample((factory, sample) ->
                    kinds.add(factory.forRequest(sample::queryValues, nothing).kind()));
        }
        return kinds;
    }

    private void forEachSample(BiConsumer<WorkloadFactory, Sample> use) {
        for (WorkloadFactory factory : workloads.byName().values()) {
            factory.samples().forEach(sample -> use.accept(factory, sample));
        }
    }

    private void measure(WorkloadFactory factory, Sample sample, Map<String, Rate> rates) {
        long start = System.nanoTime();
        long cpuStart = threads.getCurrentThreadCpuTime();
        do {
            try (MemoryBudget.Hold hold = memory.hold(sample.body().length)) {
                Workload<?, ?> workload = factory.forRequest(sample::queryValues, hold);
                rates.merge(workload.kind(), timed(workload, sample.body()), Rate::least);
            } catch (InvalidRequest | MemoryRefused tooLarge) {
                return; // nor will a request of this kind run in so little memory
            }
        } while (threads.getCurrentThreadCpuTime() - cpuStart < SAMPLE_CPU_NANOS
                && System.nanoTime() - start < SAMPLE_NANOS);
    }

    private <I, O> Rate timed(Workload<I, O> workload, byte[] body) {
        long start = clock.getAsLong();
        I input = workload.parse(body);
        long parsed = clock.getAsLong();
        O output = workload.compute(input, inOrder);
        long computed = clock.getAsLong();
        workload.serialize(output); // for the compiler
        return new Rate(
                body.length < TELLING_BYTES
                        ? Costs.UNKNOWN.nanosPerByte()
                        : (double) nanos(start, parsed) / body.length,
                (double) nanos(parsed, computed) / workload.operations(input));
    }

    /** At least one: nothing is free, however coarse the clock. */
    private static long nanos(long from, long to) {
        return Math.max(1, to - from);
    }
}
