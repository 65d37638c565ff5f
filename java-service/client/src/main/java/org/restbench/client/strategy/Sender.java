package org.restbench.client.strategy;

import static java.util.Objects.requireNonNull;

import java.util.concurrent.CompletableFuture;
import org.restbench.client.Answer;
import org.restbench.client.Stage;
import org.restbench.client.strategy.Plan.Way;

/** C without a thread: begins calls, hears their answers, and waits to send some again. */
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

    /** Begins what may be sent. One thread does, whatever becomes free meanwhile: an answer may be there at once. */
    void sendAll() {
        if (plan.way() != Way.STARTED) {
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
                byte[] message = call.message; // which a cancel takes away
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

    /** On a thread of the exchange: nothing here waits, and a failure's outcome is made by a thread of the batch. */
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

    /** Sends a failed call again in a while; with the lock. */
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

    /** From now on until the end of the batch: the window grows where service and cores can do more. */
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
