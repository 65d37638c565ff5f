package org.restbench.execution;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.restbench.codec.Codec;
import org.restbench.codec.Query;
import org.restbench.codec.Workloads.CodedWorkload;
import org.restbench.execution.Job.WorkLimits;
import org.restbench.memory.MemoryBudget;
import org.restbench.workload.ParallelLoop;
import org.restbench.workload.Workload;

/** A workload that writes down which threads ran it, which units each body got, and how many bodies ran at once. */
class Observed implements Workload<String, String>, Codec<String, String> {
    record Piece(Thread thread, int from, int to) {}

    final Map<String, Thread> stages = new ConcurrentHashMap<>();
    final List<Piece> pieces = Collections.synchronizedList(new ArrayList<>());
    final AtomicInteger peak = new AtomicInteger();
    private final AtomicInteger running = new AtomicInteger();
    private final int units;
    private final int unitsPerTask;
    private final CountDownLatch together;
    private final long operations;

    /** @param together bodies that wait for each other before they go on: proves that so many can run at once */
    Observed(int units, int unitsPerTask, int together) {
        this(units, unitsPerTask, together, 1);
    }

    /** @param operations that it says it has */
    Observed(int units, int unitsPerTask, int together, long operations) {
        this.units = units;
        this.unitsPerTask = unitsPerTask;
        this.together = new CountDownLatch(together);
        this.operations = operations;
    }

    /** One step that waits, as for a database, and needs no core. */
    static Observed blocking(int together) {
        return new Observed(1, 1, together) {
            @Override
            public boolean hasLoops() {
                return false;
            }

            @Override
            public boolean isBlocking() {
                return true;
            }
        };
    }

    /** Four units in tasks of two, each of which does this alone. */
    static Observed doing(ParallelLoop.Body body) {
        return new Observed(4, 2, 1) {
            @Override
            public String compute(String input, ParallelLoop loop) {
                loop.forEach(4, 2, body);
                return "output";
            }
        };
    }

    byte[] under(ExecutionStrategy strategy) {
        return Jobs.answer(start(strategy));
    }

    CompletionStage<byte[]> start(ExecutionStrategy strategy) {
        return strategy.execute(job());
    }

    /** One with an empty body and plenty of memory. */
    Job<String, String> job() {
        return job(WorkLimits.NONE, () -> true);
    }

    Job<String, String> job(WorkLimits limits, BooleanSupplier isWanted) {
        return job(new byte[0], limits, isWanted);
    }

    Job<String, String> job(byte[] body, WorkLimits limits, BooleanSupplier isWanted) {
        MemoryBudget.Hold memory = new MemoryBudget(1 << 30).hold(0);
        return new Job<>(new CodedWorkload<>(this, this), body, Query.NONE, memory, limits, isWanted);
    }

    @Override
    public String name() {
        return "observed";
    }

    @Override
    public long workingBytes(String input) {
        return 0;
    }

    @Override
    public String kind(String input) {
        return "observed " + System.identityHashCode(this); // nothing is learned for the next one
    }

    @Override
    public long operations(String input) {
        return operations;
    }

    @Override
    public List<ParallelLoop.Size> loops(String input) {
        return List.of(new ParallelLoop.Size(units, unitsPerTask));
    }

    @Override
    public String decode(byte[] body, Query query, MemoryBudget.Hold memory) {
        stages.put("parse", Thread.currentThread());
        return "input";
    }

    @Override
    public String compute(String input, ParallelLoop loop) {
        stages.put("compute", Thread.currentThread());
        loop.forEach(units, unitsPerTask, this::body);
        return "output";
    }

    private void body(int from, int to) {
        peak.accumulateAndGet(running.incrementAndGet(), Math::max);
        pieces.add(new Piece(Thread.currentThread(), from, to));
        together.countDown();
        try {
            if (!together.await(60, TimeUnit.SECONDS)) {
                throw new IllegalStateException(together.getCount() + " more bodies should run at once");
            }
        } catch (InterruptedException interrupted) {
            throw new IllegalStateException(interrupted);
        }
        running.decrementAndGet();
    }

    @Override
    public byte[] encode(String output) {
        stages.put("serialize", Thread.currentThread());
        return new byte[] {1};
    }

    /** Lets bodies go on that wait for others which never come. */
    void release() {
        while (together.getCount() > 0) {
            together.countDown();
        }
    }

    /** The pieces by their first unit. */
    List<Piece> inUnitOrder() {
        return pieces.stream()
                .sorted((a, b) -> Integer.compare(a.from(), b.from()))
                .toList();
    }

    List<String> threadNames() {
        return pieces.stream()
                .map(piece -> piece.thread().getName())
                .distinct()
                .sorted()
                .toList();
    }
}
