package org.restbench.client.strategy;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.restbench.client.Calls;
import org.restbench.client.Clock;
import org.restbench.client.Exchange;
import org.restbench.client.Job;
import org.restbench.client.Kind;
import org.restbench.client.Limits;
import org.restbench.client.Outcome;
import org.restbench.client.Retries;
import org.restbench.client.ServiceRefused;
import org.restbench.client.Stage;
import org.restbench.client.Totals;
import org.restbench.client.strategy.Plan.Way;

/**
 * A batch of calls under any plan: what is where, who may go on, and how it ends. All of it is guarded by one lock,
 * which is never held while code of the caller, a codec or an exchange runs. The stages are run by {@link Workers}.
 */
final class Batch<I, O, R> implements Calls<R> {
    private static final long END_NANOS = 1_000_000_000;

    final ReentrantLock lock = new ReentrantLock();
    /** Wakes who waits for an outcome. */
    private final Condition takeable = lock.newCondition();
    /** Wakes who waits to put an outcome into the last buffer. */
    private final Condition resultRoom = lock.newCondition();
    /** Wakes who waits for the end of the threads. */
    private final Condition ended = lock.newCondition();

    final Job<I, O, R> job;
    final Limits limits;
    final Plan plan;
    final Clock clock;
    final Window window;
    final Buffers<I, O, R> buffers;
    private final Iterator<? extends I> inputs;
    private final Results<R> results;
    private final Workers<I, O, R> workers;
    private final Consumer<Calls<?>> atEnd;
    private final Random jitter;
    private final long mostAhead;

    /** On the way without a thread or a buffer that has them: in flight, or waiting for another attempt. */
    private final Set<Call<I, O, R>> parked = new HashSet<>();

    private final Map<Thread, String> alive = new HashMap<>();
    private final Map<String, Integer> aliveByName = new HashMap<>();
    private final Map<String, Integer> peakThreads = new HashMap<>();
    private final List<Runnable> timers = new ArrayList<>();

    private final long began;
    private long endedAt;
    private long pulled;
    private long taken;
    private long unsettled;
    boolean pulling;
    boolean noMoreInputs;
    boolean cancelled;
    private Throwable inputsFailure;

    private int peakInFlight;
    private long attempts;
    private long retries;
    private long repeats;
    private long threadsMade;
    private final long[] wall = new long[Stage.values().length];
    private final long[] cpu = new long[Stage.values().length];

    Batch(Iterator<? extends I> inputs, Job<I, O, R> job, Limits limits, Plan plan, Consumer<Calls<?>> atEnd) {
        this.inputs = inputs;
        this.job = job;
        this.limits = limits;
        this.plan = plan;
        this.atEnd = atEnd;
        clock = plan.clock();
        began = clock.nanos();
        window = plan.adapts()
                ? Window.adaptive(limits.inFlight(), Runtime.getRuntime().availableProcessors())
                : Window.fixed(limits.inFlight());
        buffers = new Buffers<>(plan, limits.queue(), lock);
        results = new Results<>(limits.ordered());
        jitter = new Random(limits.retries().seed());
        mostAhead = plan.threads() + limits.inFlight() + 4L * limits.queue();
        workers = new Workers<>(this);
    }

    void begin() {
        if (limits.whole() != null) {
            timers.add(clock.after(limits.whole().toNanos(), this::cancel));
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
        lock.lock();
        try {
            work.run();
        } finally {
            lock.unlock();
        }
    }

    /** Until something is so, or the batch is cancelled; with the lock. */
    void await(Condition condition, BooleanSupplier isSo) {
        while (!cancelled && !isSo.getAsBoolean()) {
            condition.awaitUninterruptibly();
        }
    }

    @Override
    public Outcome<R> take() throws InterruptedException {
        if (plan.way() == Way.CALLER) {
            return workers.takeInTurn();
        }
        lock.lockInterruptibly();
        try {
            while (true) {
                Outcome<R> next = poll();
                if (next != null || isOver()) {
                    return next;
                }
                takeable.await();
            }
        } finally {
            lock.unlock();
        }
    }

    /** The next outcome that is there, or null; with the lock. */
    Outcome<R> poll() {
        Outcome<R> next = results.poll();
        if (next != null) {
            taken++;
            resultRoom.signal();
            buffers.signal(Stage.S);
        }
        return next;
    }

    /**
     * Whether all outcomes have been taken, given that none is there; with the lock.
     *
     * @throws RuntimeException what the inputs threw
     */
    boolean isOver() {
        if (!isSettled()) {
            return false;
        }
        if (inputsFailure instanceof RuntimeException own) {
            throw own;
        } else if (inputsFailure instanceof Error own) {
            throw own;
        }
        return true;
    }

    /** Whether nothing will be pulled any more and all that was has its outcome; with the lock. */
    boolean isSettled() {
        return (noMoreInputs || cancelled) && !pulling && unsettled == 0;
    }

    /** Whether an input may be pulled; with the lock. */
    boolean mayPull() {
        return !noMoreInputs && !cancelled && !pulling && pulled - taken < mostAhead;
    }

    /** The next input's call, or null where there is none; with the lock, which is given back meanwhile. */
    Call<I, O, R> pull() {
        pulling = true;
        lock.unlock();
        I input = null;
        boolean isThere = false;
        Throwable failed = null;
        try {
            isThere = inputs.hasNext();
            input = isThere ? inputs.next() : null;
        } catch (Throwable wrong) {
            failed = wrong;
            isThere = false;
        } finally {
            lock.lock();
            pulling = false;
        }
        if (!isThere) {
            noMoreInputs = true;
            // an iterator that fails because the batch's end interrupted it has not failed
            inputsFailure = cancelled ? null : failed;
            wakeIfSettled();
            buffers.signalAll();
            return null;
        }
        Call<I, O, R> call = new Call<>(pulled++, input, clock.nanos());
        unsettled++;
        buffers.signal(Stage.S);
        return call;
    }

    /** Gives a call its outcome, once. Waits for room in the last buffer where the plan has threads that may. */
    void settle(Call<I, O, R> call, boolean cut) {
        locking(() -> {
            await(resultRoom, () -> plan.way() == Way.CALLER || results.hasRoom(limits.queue()));
            settleNow(call, cut);
        });
    }

    private void settleNow(Call<I, O, R> call, boolean cut) {
        if (call.settled) {
            return;
        }
        call.settled = true;
        unsettled--;
        for (Stage stage : Stage.values()) {
            wall[stage.ordinal()] += call.wall[stage.ordinal()];
            cpu[stage.ordinal()] += call.cpu[stage.ordinal()];
        }
        long now = clock.nanos();
        endedAt = now;
        results.add(call.outcome(cut, began, now));
        takeable.signal();
        wakeIfSettled();
    }

    private void wakeIfSettled() {
        if (isSettled()) {
            takeable.signalAll();
            buffers.signalAll();
            timers.forEach(Runnable::run);
            timers.clear();
            atEnd.accept(this);
        }
    }

    /** Keeps time for as long as the batch lasts; with the lock. */
    void every(long nanos, Runnable action) {
        Runnable[] off = new Runnable[1];
        Runnable again = new Runnable() {
            @Override
            public void run() {
                action.run();
                locking(() -> off[0] = isSettled() ? off[0] : clock.after(nanos, this));
            }
        };
        off[0] = clock.after(nanos, again);
        timers.add(() -> off[0].run());
    }

    void park(Call<I, O, R> call) {
        parked.add(call);
    }

    /** Whether it was there still; with the lock. */
    boolean unpark(Call<I, O, R> call) {
        return parked.remove(call);
    }

    /** Counts an attempt that begins; with the lock. */
    void sending(Call<I, O, R> call, int inFlight) {
        attempts++;
        call.sentAt(clock.nanos());
        peakInFlight = Math.max(peakInFlight, inFlight);
    }

    /** Nanoseconds until a failed call is to be sent again, negative where it is not; with the lock. */
    long retryAfter(Call<I, O, R> call) {
        Kind kind = call.kind();
        String code = call.failure instanceof ServiceRefused refused ? refused.errorCode() : null;
        if (plan.adapts() && (kind == Kind.CONNECT || kind == Kind.TIMEOUT || ServiceRefused.BUSY.equals(code))) {
            window.refused(clock.nanos());
        }
        boolean mayRepeat = Retries.mayRepeatWork(kind);
        if (call.failedIn == Stage.S || call.failedIn == Stage.P || mayRepeat && repeats >= pulled / 10 + 10) {
            return -1;
        }
        var after = call.answer == null ? Optional.<String>empty() : call.answer.header("retry-after");
        var wait = limits.retries().waitNanos(kind, code, call.attempts, after, jitter.nextDouble());
        if (wait.isPresent()) {
            retries++;
            repeats += mayRepeat ? 1 : 0;
        }
        return wait.orElse(-1);
    }

    @Override
    public void cancel() {
        List<Exchange.Pending> open = new ArrayList<>();
        lock.lock();
        try {
            if (cancelled || isSettled()) {
                return;
            }
            cancelled = true;
            parked.stream().filter(call -> call.pending != null).forEach(call -> open.add(call.pending));
            List<Call<I, O, R>> left = new ArrayList<>(parked);
            parked.clear();
            left.addAll(buffers.clear());
            left.forEach(call -> settleNow(call, true));
            alive.keySet().stream()
                    .filter(thread -> thread != Thread.currentThread())
                    .forEach(Thread::interrupt);
            resultRoom.signalAll();
            buffers.signalAll();
            wakeIfSettled();
        } finally {
            lock.unlock();
        }
        open.forEach(Exchange.Pending::cancel);
    }

    /**
     * A thread that works for this batch, until {@link #leave}. The one that takes is no thread of the batch's making,
     * but it counts.
     */
    void enter(Thread thread, String name) {
        locking(() -> {
            alive.put(thread, name);
            threadsMade++;
            peakThreads.merge(name, aliveByName.merge(name, 1, Integer::sum), Math::max);
        });
    }

    void leave(Thread thread) {
        locking(() -> {
            aliveByName.merge(alive.remove(thread), -1, Integer::sum);
            ended.signalAll();
        });
    }

    @Override
    public void close() {
        cancel();
        boolean interrupted = false;
        lock.lock();
        try {
            long left = END_NANOS;
            while (left > 0 && !othersAlive().isEmpty()) {
                try {
                    left = ended.awaitNanos(left);
                } catch (InterruptedException later) {
                    interrupted = true;
                }
            }
            if (!othersAlive().isEmpty()) {
                throw new IllegalStateException("ignored an interrupt for 1 s: " + String.join(", ", othersAlive()));
            }
        } finally {
            lock.unlock();
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private List<String> othersAlive() {
        return alive.keySet().stream()
                .filter(thread -> thread != Thread.currentThread())
                .map(Thread::getName)
                .sorted()
                .toList();
    }

    @Override
    public Totals totals() {
        return locked(() -> {
            Map<Stage, Integer> queued = buffers.peaks();
            queued.put(Stage.S, results.peak());
            return new Totals(
                    ((isSettled() && endedAt != 0 ? endedAt : clock.nanos()) - began) / 1e9,
                    seconds(wall),
                    seconds(cpu),
                    peakInFlight,
                    queued,
                    attempts,
                    retries,
                    Map.copyOf(peakThreads),
                    threadsMade);
        });
    }

    private static Map<Stage, Double> seconds(long[] nanos) {
        Map<Stage, Double> seconds = new EnumMap<>(Stage.class);
        for (Stage stage : Stage.values()) {
            seconds.put(stage, nanos[stage.ordinal()] / 1e9);
        }
        return seconds;
    }
}
