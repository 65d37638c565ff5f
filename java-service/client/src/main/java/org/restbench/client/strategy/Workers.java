package org.restbench.client.strategy;

import static java.util.Objects.requireNonNull;

import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.restbench.client.Answer;
import org.restbench.client.Job;
import org.restbench.client.Outcome.Kind;
import org.restbench.client.ServiceRefused;
import org.restbench.client.Stage;
import org.restbench.client.strategy.Plan.Team;
import org.restbench.client.strategy.Plan.ThreadModel;

/** Runs the stages of a batch's calls on the threads that its plan names. */
final class Workers<I, O, R> {
    private final Batch<I, O, R> batch;
    private final Plan plan;
    private final Buffers<I, O, R> buffers;
    private final Sender<I, O, R> sender;
    private final Random jitter;
    long retries;
    /** Retries after which the service may do the work twice: at most calls / 10 + 10. */
    private long repeats;

    Workers(Batch<I, O, R> batch) {
        this.batch = batch;
        plan = batch.plan;
        buffers = batch.buffers;
        sender = new Sender<>(batch);
        jitter = new Random(batch.limits.retries().seed());
    }

    void begin() {
        switch (plan.threadModel()) {
            case CALLER -> {}
            case VIRTUAL -> Threads.startVirtual(this::callOnVirtualThread);
            default -> plan.teams().forEach(this::begin);
        }
        if (plan.adapts()) {
            sender.widen();
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

    /**
     * Makes a call on this thread; null where no input is left.
     *
     * @param atInput run once the call has its input
     */
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
            if (batch.mayEnter(stage) && (stage == Stage.S || !buffers.isEmpty(stage))) {
                return stage;
            }
        }
        return null;
    }

    /** Runs the stage that a call is in, and those that follow on the same thread. */
    private void run(Call<I, O, R> call, Team team) {
        do {
            if (call.stage == Stage.D) {
                sender.sendAll(); // the answer may have overflowed its buffer, and so kept a place in flight
            }
            if (call.failure == null) { // else it has failed in the exchange, or for want of a thread
                runStage(call);
            }
        } while (batch.locked(() -> goesOn(call, team)));
        sender.sendAll();
    }

    private void runStage(Call<I, O, R> call) {
        Job<I, O, R> job = batch.job;
        call.run(plan, () -> {
            switch (call.stage) {
                case S -> call.message = requireNonNull(job.codec().encode(call.input, plan.loop()), "a message");
                case C -> call.answer = exchanged(call.message);
                case D -> {
                    call.output = job.codec().decode(call.answer, plan.loop());
                    call.message = null;
                    call.answer = null;
                    call.pending = null; // it refers to the answer as well
                }
                case P -> call.result = job.process().process(call.index, call.input, call.output);
            }
        });
    }

    /** Sends a message and holds the thread until the answer is there; an interrupt closes the connection. */
    private Answer exchanged(byte[] message) throws Throwable {
        CompletableFuture<Answer> answer = batch.job.exchange().start(message, batch.limits);
        try {
            return requireNonNull(answer.get(), "an answer");
        } catch (ExecutionException failed) {
            throw failed.getCause();
        } finally {
            answer.cancel(true); // closes the connection where there is no answer yet
        }
    }

    /**
     * Decides what follows a stage. Returns true where the call has entered its next stage on this thread. Called with
     * the lock.
     */
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
        boolean isOwnWork = team.stages().contains(next) && buffers.isEmpty(next) && batch.mayEnter(next);
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
            sender.sendAgain(call, wait.getAsLong());
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
}
