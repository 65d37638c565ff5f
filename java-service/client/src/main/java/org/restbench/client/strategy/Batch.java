package org.restbench.client.strategy;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.restbench.client.Calls;
import org.restbench.client.Job;
import org.restbench.client.Limits;
import org.restbench.client.Outcome;
import org.restbench.client.Stage;
import org.restbench.client.strategy.Plan.ThreadModel;

/**
 * The state of a batch under any plan: where each call is, which calls may enter their next stage, and how the batch
 * ends. One lock guards this state; it is never held while code of the caller, a codec or an exchange runs.
 * {@link Workers} runs the stages.
 */
final class Batch<I, O, R> implements Calls<R> {
    final ReentrantLock lock = new ReentrantLock();
    /** Signalled when an outcome can be taken or the batch has ended; one thread at a time waits. */
    private final Condition takeable = lock.newCondition();
    /** Outcomes that {@link #all} has taken, and did not return because an exception ended it. */
    private final BlockingQueue<Outcome<R>> collected = new LinkedBlockingQueue<>();
    /** Held by a thread in {@link #take}: several take turns, also at making calls. */
    private final ReentrantLock turn = new ReentrantLock();

    final Job<I, O, R> job;
    final Limits limits;
    final Plan plan;
    final Window window;
    final Buffers<I, O, R> buffers;
    final Threads threads = new Threads(lock);
    private final Iterator<? extends I> inputs;
    private final Workers<I, O, R> workers;
    private final Consumer<Batch<?, ?, ?>> atEnd;
    private final long mostAhead;
    private final long began;
    private Runnable deadlineOff = () -> {};

    /** Calls without a thread or a buffer: in flight, or waiting to be sent again; each with what ends its wait. */
    final Map<Call<I, O, R>, Runnable> parked = new HashMap<>();
    /** Number of calls in each stage, by the stage's ordinal. */
    private final int[] within = new int[Stage.values().length];

    private final int[] width = new int[within.length];
    long pulled;
    private long taken;
    private long unsettled;
    private boolean pulling;
    private boolean noMoreInputs;
    private Throwable inputsFailure;
    boolean cancelled;

    private long endedAt;
    private int peakInFlight;
    private long attempts;
    private final long[] wall = new long[within.length];
    private final long[] cpu = new long[within.length];

    Batch(Iterator<? extends I> inputs, Job<I, O, R> job, Limits limits, Plan plan, Consumer<Batch<?, ?, ?>> atEnd) {
        this.inputs = inputs;
        this.job = job;
        this.limits = limits;
        this.plan = plan;
        this.atEnd = atEnd;
        began = plan.clock().nanos();
        window = plan.adapts()
                ? Window.adaptive(limits.inFlight(), Runtime.getRuntime().availableProcessors())
                : Window.fixed(limits.inFlight());
        buffers = new Buffers<>(plan, limits, lock);
        mostAhead = plan.threads() + limits.inFlight() + 4L * limits.queue();
        Arrays.setAll(width, stage -> plan.width(Stage.values()[stage]));
        workers = new Workers<>(this);
    }

    void begin() {
        if (limits.whole() != null) {
            deadlineOff = plan.clock().after(limits.whole().toNanos(), this::cancel);
        }
        workers.begin();
    }

    <T> T locked(Supplier<T> work) {
        lock.lock();
        try {
            return work.get();
        } finally {
            lock.unlock();
        }
    }

    void locking(Runnable work) {
        locked(() -> {
            work.run();
            return null;
        });
    }

    /** Nanoseconds since the batch began. */
    long now() {
        return plan.clock().nanos() - began;
    }

    @Override
    public Outcome<R> take() throws InterruptedException {
        turn.lockInterruptibly();
        try {
            if (plan.threadModel() == ThreadModel.CALLER && locked(() -> buffers.size(Stage.S) == 0)) {
                workers.callOnTakingThread();
            }
            return await();
        } finally {
            turn.unlock();
        }
    }

    @Override
    public List<Outcome<R>> all() throws InterruptedException {
        for (Outcome<R> next = take(); next != null; next = take()) {
            collected.add(next);
        }
        List<Outcome<R>> all = new ArrayList<>();
        collected.drainTo(all);
        all.sort(Comparator.comparingLong(Outcome::index));
        return all;
    }

    private Outcome<R> await() throws InterruptedException {
        lock.lockInterruptibly();
        try {
            while (buffers.size(Stage.S) == 0 && !isSettled()) {
                takeable.await();
            }
            Call<I, O, R> ended = buffers.poll(Stage.S);
            if (ended != null) {
                if (pulled - taken++ >= mostAhead) {
                    buffers.signal(Stage.S);
                }
                return ended.outcome;
            } else if (inputsFailure != null) {
                Throwable failed = inputsFailure;
                inputsFailure = null;
                throw Batch.<RuntimeException>asItIs(failed);
            }
            return null;
        } finally {
            lock.unlock();
        }
    }

    /** Throws an exception unchanged, also a checked one: an iterator written in another language may throw it. */
    @SuppressWarnings("unchecked") // type erasure: nothing is cast at run time
    private static <T extends Throwable> T asItIs(Throwable failure) throws T {
        throw (T) failure;
    }

    /** Whether all inputs are pulled and settled. Called with the lock, as all methods to {@link #wakeIfSettled}. */
    boolean isSettled() {
        return (noMoreInputs || cancelled) && !pulling && unsettled == 0;
    }

    /** The call of the next input, or null where there is none. The lock is released while the iterator runs. */
    Call<I, O, R> pull() {
        pulling = true;
        lock.unlock();
        Call<I, O, R> call = null;
        Throwable failed = null;
        try {
            call = inputs.hasNext() ? new Call<>(pulled, inputs.next(), now()) : null;
        } catch (Throwable wrong) {
            failed = wrong;
        }
        lock.lock();
        pulling = false;
        if (call == null) {
            noMoreInputs = true;
            // after a cancel the iterator may fail only because its thread was interrupted
            inputsFailure = cancelled ? null : failed;
            wakeIfSettled();
        } else {
            pulled++;
            unsettled++;
            buffers.signal(Stage.S);
        }
        return call;
    }

    /** Whether a stage has room for one more call; for S also whether another input may be pulled. */
    boolean mayEnter(Stage stage) {
        int most = stage == Stage.C ? Math.min(width[1], window.calls()) : width[stage.ordinal()];
        return holds(stage) < most && (stage != Stage.S || mayPull());
    }

    private boolean mayPull() {
        boolean hasRoom = !plan.isMixed() || within[0] + buffers.size(Stage.C) < limits.queue();
        return hasRoom && !noMoreInputs && !cancelled && !pulling && pulled - taken < mostAhead;
    }

    /**
     * Number of calls that take room in a stage: those in it, those that left it but overflow the next buffer and, for
     * D, those in P where the same threads run D and P.
     */
    int holds(Stage stage) {
        int shared = stage == Stage.D && plan.isMixed() ? within[Stage.P.ordinal()] : 0;
        return within[stage.ordinal()] + buffers.overflow(stage.next()) + shared;
    }

    void enter(Stage stage, Call<I, O, R> call) {
        call.stage = stage;
        within[stage.ordinal()]++;
        if (stage == Stage.C) {
            attempts++;
            peakInFlight = Math.max(peakInFlight, holds(stage));
            call.sentAt(now());
        }
    }

    void leave(Call<I, O, R> call) {
        within[call.stage.ordinal()]--;
        buffers.signal(call.stage);
        if (call.stage == Stage.C) {
            call.answered = now();
        }
    }

    /** Gives a call its outcome, once. {@code isCut}: whether the end of the batch cut the call short. */
    void settle(Call<I, O, R> call, boolean isCut) {
        unsettled--;
        for (int stage = 0; stage < within.length; stage++) {
            wall[stage] += call.wall[stage];
            cpu[stage] += call.cpu[stage];
        }
        endedAt = now();
        call.end(isCut, endedAt);
        buffers.addEnded(call);
        takeable.signal();
        wakeIfSettled();
    }

    private void wakeIfSettled() {
        if (isSettled()) {
            takeable.signal();
            buffers.signalAll();
            deadlineOff.run();
            atEnd.accept(this);
        }
    }

    @Override
    public void cancel() {
        List<Runnable> waits = new ArrayList<>();
        locking(() -> {
            if (!cancelled && !isSettled()) {
                cancelled = true;
                List<Call<I, O, R>> left = buffers.clear();
                left.addAll(parked.keySet());
                waits.addAll(parked.values());
                parked.clear();
                left.forEach(call -> settle(call, true));
                threads.interruptOthers();
                buffers.signalAll();
                wakeIfSettled();
            }
        });
        waits.forEach(Runnable::run);
    }

    @Override
    public void close() {
        close(List.of(this));
    }

    /** Closes several batches, which end at the same time. */
    static void close(List<Batch<?, ?, ?>> batches) {
        batches.forEach(Batch::cancel);
        List<String> stubborn = batches.stream()
                .flatMap(batch -> batch.threads.awaitEnd().stream())
                .sorted()
                .toList();
        if (!stubborn.isEmpty()) {
            throw new IllegalStateException("ignored an interrupt for 1 s: " + String.join(", ", stubborn));
        }
    }

    @Override
    public Totals totals() {
        return locked(() -> new Totals(
                (isSettled() && endedAt != 0 ? endedAt : now()) / 1e9,
                seconds(wall),
                seconds(cpu),
                peakInFlight,
                buffers.peaks(),
                attempts,
                workers.retries,
                threads.peaks(),
                plan.threadModel() == ThreadModel.CALLER ? 0 : threads.made));
    }

    private static Map<Stage, Double> seconds(long[] nanos) {
        Map<Stage, Double> seconds = new EnumMap<>(Stage.class);
        for (Stage stage : Stage.values()) {
            seconds.put(stage, nanos[stage.ordinal()] / 1e9);
        }
        return seconds;
    }
}
