package org.restbench.client.strategy;

import java.io.IOException;
import org.restbench.client.Answer;
import org.restbench.client.Deadline;
import org.restbench.client.Exchange;
import org.restbench.client.ExchangeFailure;
import org.restbench.client.Kind;
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

    /** That of a call whose C begins now. */
    Deadline deadline() {
        return Deadline.in(batch.limits.perCall(), plan.clock());
    }

    /** Keeps the answer of a call, or why there is none that may be read. */
    void accept(Call<I, O, R> call, Answer answer, Throwable failure) {
        int most = batch.limits.maxAnswerBytes();
        if (failure != null) {
            call.fail(Stage.C, failure);
        } else if (answer == null) {
            call.fail(Stage.C, new IOException("the exchange gave no answer"));
        } else if (answer.body().length > most) {
            call.fail(Stage.C, new ExchangeFailure(Kind.TOO_LARGE, "more than " + most + " bytes", null));
        } else {
            call.answer = answer;
        }
    }

    /** Begins what may be sent. One thread does, whatever becomes free meanwhile: an answer may be there at once. */
    void sendAll() {
        if (plan.way() != Way.STARTED) {
            return;
        }
        batch.lock.lock();
        try {
            if (sending) {
                return;
            }
            sending = true;
            while (!batch.cancelled && !buffers.isEmpty(Stage.C) && batch.mayEnter(Stage.C)) {
                Call<I, O, R> call = buffers.poll(Stage.C);
                buffers.signal(Stage.S);
                batch.enter(Stage.C, call);
                batch.parked.add(call);
                batch.lock.unlock();
                try {
                    start(call);
                } finally {
                    batch.lock.lock();
                }
            }
            sending = false;
        } finally {
            batch.lock.unlock();
        }
    }

    private void start(Call<I, O, R> call) {
        long from = plan.clock().nanos();
        Exchange.Pending pending;
        try {
            pending = batch.job.exchange().start(call.message, deadline());
        } catch (Throwable wrong) {
            answered(call, from, null, wrong);
            return;
        }
        boolean isLate = batch.locked(() -> {
            call.pending = pending;
            return batch.cancelled;
        });
        if (isLate) {
            pending.cancel();
        }
        pending.whenDone((answer, failure) -> answered(call, from, answer, failure));
    }

    /** On a thread of the exchange: nothing here waits, and a failure's outcome is made by a thread of the batch. */
    private void answered(Call<I, O, R> call, long from, Answer answer, Throwable failure) {
        batch.locking(() -> {
            if (batch.parked.remove(call)) { // else it was cancelled
                call.wall[Stage.C.ordinal()] += plan.clock().nanos() - from;
                batch.leave(call);
                accept(call, answer, failure);
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
                    buffers.addAgain(call);
                }
            });
            sendAll();
        });
    }

    /** From now on until the end of the batch: the window grows where service and cores can do more. */
    void widen() {
        batch.locking(() -> {
            int forCpu = buffers.size(Stage.D) + buffers.size(Stage.P);
            batch.window.widen(
                    batch.holds(Stage.C),
                    buffers.size(Stage.C),
                    forCpu,
                    plan.clock().nanos());
            if (!batch.isSettled()) {
                plan.clock().after(Window.TICK_NANOS, this::widen);
            }
        });
        sendAll();
    }
}
