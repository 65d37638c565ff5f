package org.restbench.client.strategy;

import static java.util.Objects.requireNonNull;

import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.restbench.client.Answer;
import org.restbench.client.Outcome.Kind;
import org.restbench.client.ServiceRefused;
import org.restbench.client.Stage;
import org.restbench.client.strategy.Plan.Team;
import org.restbench.client.strategy.Plan.ThreadModel;

/**
 * Runs the stages of a batch's calls on the threads that its plan names. Under {@code ASYNC}, C holds no thread: it is
 * sent by any thread, and its answer comes in a callback.
 */
final class Workers<I, O, R> {
    private final Batch<I, O, R> batch;
    private final Plan plan;
    private final Buffers<I, O, R> buffers;
    private final Random jitter;
    long retries;
    /** Retries after which the service may do the work twice: at most calls / 10 + 10. */
    private long repeats;

    private boolean sending;

    Workers(Batch<I, O, R> batch) {
        this.batch = batch;
        plan = batch.plan;
        buffers = batch.buffers;
        jitter = new Random(batch.limits.retries().seed());
    }

    void begin() {
        switch (plan.threadModel()) {
            case CALLER -> {}
            case VIRTUAL -> Threads.startVirtual(this::callOnVirtualThread);
            default -> plan.teams().forEach(this::begin);
        }
        if (plan.adapts()) {
            widen();
        }
    }

    private void begin(Team team) {
        for (int number = 1; number <= team.threads(); number++) {
            Thread thread = new Thread(() -> work(team), team.thread() + "-" + number);
            thread.setDaemon(true);
            batch.locking(() -> batch.threads.enter(thread, team.thread()));
            try {
                thread.start();
            } catch (OutOfMemoryError noMoreThreads) {
                batch.locking(() -> batch.threads.leave(thread));
                batch.close();
                throw noMoreThreads;
            }
        }
    }

    private void work(Team team) {
        try {
            for (Call<I, O, R> call = next(team); call != null; call = next(team)) {
                run(call, team);
                Thread.interrupted(); // an interrupt left behind by user code is not for the next call
            }
        } finally {
            leave();
        }
    }

    private void leave() {
        batch.locking(() -> {
            batch.threads.leave(Thread.currentThread());
            if (batch.cancelled) {
                Thread.interrupted(); // it comes from the cancel, and is not for the code that takes outcomes
            }
        });
    }

    /** Makes a call. Once the call has its input, starts the virtual thread that makes the next one. */
    private void callOnVirtualThread() {
        call(() -> Threads.startVirtual(this::callOnVirtualThread));
    }

    /** @throws InterruptedException where an interrupt ended the call that does not come from the batch */
    void callOnTakingThread() throws InterruptedException {
        Call<I, O, R> call = call(() -> {});
        if (call != null && call.failure instanceof InterruptedException stopped && !batch.cancelled) {
            throw stopped;
        }
    }

    /** Makes a call on this thread, null where no input is left. {@code atInput} runs once the call has its input. */
    Call<I, O, R> call(Runnable atInput) {
        Team team = plan.teams().get(0);
        batch.locking(() -> batch.threads.enter(Thread.currentThread(), team.thread()));
        try {
            Call<I, O, R> call = next(team);
            if (call != null) {
                try {
                    atInput.run();
                } catch (Throwable noMoreThreads) { // none is left that would pull another input
                    call.fail(call.stage, noMoreThreads);
                    batch.cancel();
                }
                run(call, team);
            }
            return call;
        } finally {
            leave();
        }
    }

    /** Waits for the most urgent call of a team and lets it enter its stage; null where no further call will come. */
    private Call<I, O, R> next(Team team) {
        return batch.locked(() -> {
            while (!batch.cancelled && !batch.isSettled()) {
                Stage stage = firstPossible(team);
                if (stage == null) {
                    buffers.await(team.stages().get(0));
                } else {
                    Call<I, O, R> call = stage == Stage.S ? batch.pull() : buffers.poll(stage);
                    if (call != null) {
                        batch.enter(stage, call);
                        return call;
                    }
                }
            }
            return null;
        });
    }

    private Stage firstPossible(Team team) {
        for (Stage stage : team.stages()) {
            if (batch.mayEnter(stage) && (stage == Stage.S || buffers.size(stage) > 0)) {
                return stage;
            }
        }
        return null;
    }

    /** Runs the stage that a call is in, and those that follow on the same thread. */
    private void run(Call<I, O, R> call, Team team) {
        do {
            if (call.stage == Stage.D) {
                sendAll(); // the answer may have overflowed its buffer, and so kept a place in flight
            }
            if (call.failure == null) { // else it has failed in the exchange, or for want of a thread
                call.run(batch.job, batch.limits, plan);
            }
        } while (batch.locked(() -> goesOn(call, team)));
        sendAll();
    }

    /** Decides, with the lock, what follows a stage. Returns whether the next one is entered on this thread. */
    private boolean goesOn(Call<I, O, R> call, Team team) {
        Stage stage = call.stage;
        batch.leave(call);
        if (call.failure != null) {
            return goesOnAfterFailure(call);
        } else if (stage == Stage.P || batch.cancelled) {
            batch.settle(call, stage != Stage.P);
            return false;
        } else if (stage == Stage.D) {
            batch.window.answered();
        }
        Stage next = stage.next();
        if (plan.keepsCalls()) {
            return waitsToEnter(next, call);
        }
        boolean isOwnWork = team.stages().contains(next) && buffers.size(next) == 0 && batch.mayEnter(next);
        if (isOwnWork) {
            batch.enter(next, call);
        } else {
            buffers.add(next, call);
        }
        return isOwnWork;
    }

    private boolean waitsToEnter(Stage stage, Call<I, O, R> call) {
        while (!batch.cancelled && !batch.mayEnter(stage)) {
            buffers.await(stage);
        }
        if (batch.cancelled) {
            batch.settle(call, true);
        } else {
            batch.enter(stage, call);
        }
        return !batch.cancelled;
    }

    /** Retries a failed call, on this thread or without a thread, or settles it. Returns as {@link #goesOn}. */
    private boolean goesOnAfterFailure(Call<I, O, R> call) {
        OptionalLong wait = batch.cancelled ? OptionalLong.empty() : retryAfter(call);
        if (wait.isPresent() && !plan.keepsCalls()) {
            sendAgain(call, wait.getAsLong());
            return false;
        } else if (wait.isPresent() && slept(wait.getAsLong(), call)) {
            return waitsToEnter(Stage.C, call);
        }
        boolean isStopped = call.failure instanceof InterruptedException
                && (batch.cancelled || plan.threadModel() == ThreadModel.CALLER);
        batch.settle(call, isStopped || batch.cancelled && call.failedIn == Stage.C);
        return false;
    }

    /** Sleeps with the lock released. Returns false where it was interrupted, which is then the call's failure. */
    private boolean slept(long nanos, Call<I, O, R> call) {
        batch.lock.unlock();
        try {
            plan.clock().sleep(nanos);
            return true;
        } catch (InterruptedException stopped) {
            call.fail(Stage.C, stopped);
            return false;
        } finally {
            batch.lock.lock();
        }
    }

    /** Nanoseconds until a failed call is sent again; empty where it is not. */
    private OptionalLong retryAfter(Call<I, O, R> call) {
        Kind kind = call.kind();
        String code = kind == Kind.REFUSED ? ((ServiceRefused) call.failure).errorCode() : null;
        if (kind == Kind.CONNECT || kind == Kind.TIMEOUT || ServiceRefused.BUSY.equals(code)) {
            batch.window.refused(batch.now());
        }
        boolean mayRepeat = kind == Kind.CUT_OFF || kind == Kind.TIMEOUT; // the service may do the work twice
        if (mayRepeat && repeats >= batch.pulled / 10 + 10) {
            return OptionalLong.empty();
        }
        var after = call.answer == null ? Optional.<String>empty() : call.answer.header("retry-after");
        var wait = batch.limits.retries().waitNanos(kind, code, call.attempts, after, jitter.nextDouble());
        if (wait.isPresent()) {
            retries++;
            repeats += mayRepeat ? 1 : 0;
        }
        return wait;
    }

    /**
     * Sends all calls that may enter C. One thread at a time does so, also for calls that become ready meanwhile: an
     * answer may arrive within {@link #send}, which would call this method again.
     */
    void sendAll() {
        if (plan.threadModel() != ThreadModel.ASYNC) {
            return;
        }
        batch.locking(() -> {
            if (sending) {
                return;
            }
            sending = true;
            while (!batch.cancelled && buffers.size(Stage.C) > 0 && batch.mayEnter(Stage.C)) {
                Call<I, O, R> call = buffers.poll(Stage.C);
                buffers.signal(Stage.S);
                batch.enter(Stage.C, call);
                batch.parked.put(call, () -> {});
                byte[] message = call.message; // a cancel clears the field
                batch.lock.unlock();
                try {
                    send(call, message);
                } finally {
                    batch.lock.lock();
                }
            }
            sending = false;
        });
    }

    private void send(Call<I, O, R> call, byte[] message) {
        long from = plan.clock().nanos();
        CompletableFuture<Answer> pending = started(message);
        if (batch.locked(() -> batch.parked.replace(call, () -> pending.cancel(true))) == null) {
            pending.cancel(true); // the batch was cancelled meanwhile
        }
        pending.whenComplete((answer, failure) -> answered(call, from, pending));
    }

    private CompletableFuture<Answer> started(byte[] message) {
        try {
            return requireNonNull(batch.job.exchange().start(message, batch.limits), "an answer to come");
        } catch (Throwable wrong) {
            return CompletableFuture.failedFuture(wrong);
        }
    }

    /** On a thread of the exchange: nothing here blocks, and a thread of the batch makes the outcome of a failure. */
    private void answered(Call<I, O, R> call, long from, CompletableFuture<Answer> ended) {
        batch.locking(() -> {
            if (batch.parked.remove(call) != null) { // else it was cancelled
                call.wall[Stage.C.ordinal()] += plan.clock().nanos() - from;
                batch.leave(call);
                call.receive(ended); // which does not wait
                buffers.add(Stage.D, call);
            }
        });
        sendAll();
    }

    /** Schedules another attempt of a failed call after {@code waitNanos}. Called with the lock. */
    void sendAgain(Call<I, O, R> call, long waitNanos) {
        Runnable off = plan.clock().after(waitNanos, () -> {
            batch.locking(() -> {
                if (batch.parked.remove(call) != null) {
                    buffers.add(Stage.C, call);
                }
            });
            sendAll();
        });
        batch.parked.put(call, off);
    }

    /** Lets the window grow where service and cores can do more, now and periodically until the batch ends. */
    void widen() {
        batch.locking(() -> {
            int forCpu = buffers.size(Stage.D) + buffers.size(Stage.P);
            batch.window.widen(batch.holds(Stage.C), buffers.size(Stage.C), forCpu);
            if (!batch.isSettled()) {
                plan.clock().after(Window.TICK_NANOS, this::widen);
            }
        });
        sendAll();
    }
}
