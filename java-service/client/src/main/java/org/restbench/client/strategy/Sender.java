package org.restbench.client.strategy;

import static java.util.Objects.requireNonNull;

import java.util.concurrent.CompletableFuture;
import org.restbench.client.Answer;
import org.restbench.client.Stage;
import org.restbench.client.strategy.Plan.ThreadModel;

/** Runs stage C without holding a thread: sends requests, takes their answers in callbacks, and schedules retries. */
final class Sender<I, O, R> {
    private final Batch<I, O, R> batch;
    private final Plan plan;
    private final Buffers<I, O, R> buffers;
    private boolean sending;

    Sender(Batch<I, O, R> batch) {
        this.batch = batch;
        plan = batch.plan;
        buffers = batch.buffers;
    }

    /**
     * Sends all calls that may enter C. One thread at a time does so, also for calls that become ready meanwhile: an
     * answer may arrive within {@link #start}, which would call this method again.
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
            while (!batch.cancelled && !buffers.isEmpty(Stage.C) && batch.mayEnter(Stage.C)) {
                Call<I, O, R> call = buffers.poll(Stage.C);
                buffers.signal(Stage.S);
                batch.enter(Stage.C, call);
                batch.parked.add(call);
                byte[] message = call.message; // a cancel clears the field
                batch.lock.unlock();
                try {
                    start(call, message);
                } finally {
                    batch.lock.lock();
                }
            }
            sending = false;
        });
    }

    private void start(Call<I, O, R> call, byte[] message) {
        long from = plan.clock().nanos();
        CompletableFuture<Answer> pending;
        try {
            pending = requireNonNull(batch.job.exchange().start(message, batch.limits), "an answer to come");
        } catch (Throwable wrong) {
            answered(call, from, null, wrong);
            return;
        }
        boolean isLate = batch.locked(() -> {
            call.pending = pending;
            return batch.cancelled;
        });
        if (isLate) {
            pending.cancel(true);
        }
        pending.whenComplete((answer, failure) -> answered(call, from, answer, failure));
    }

    /**
     * Called on a thread of the exchange: nothing here blocks. A thread of the batch makes the outcome of a failure.
     */
    private void answered(Call<I, O, R> call, long from, Answer answer, Throwable failure) {
        batch.locking(() -> {
            if (batch.parked.remove(call)) { // else it was cancelled
                call.wall[Stage.C.ordinal()] += plan.clock().nanos() - from;
                batch.leave(call);
                call.answer = answer;
                if (answer == null) {
                    call.fail(Stage.C, failure == null ? new NullPointerException("an answer") : failure);
                }
                buffers.add(Stage.D, call);
            }
        });
        sendAll();
    }

    /** Schedules another attempt of a failed call after {@code waitNanos}. Called with the lock. */
    void sendAgain(Call<I, O, R> call, long waitNanos) {
        batch.parked.add(call);
        plan.clock().after(waitNanos, () -> {
            batch.locking(() -> {
                if (batch.parked.remove(call)) {
                    buffers.add(Stage.C, call);
                }
            });
            sendAll();
        });
    }

    /**
     * Lets the window grow where the service and the cores can do more: now, and then periodically until the batch
     * ends.
     */
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
