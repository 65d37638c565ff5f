package org.restbench.client.strategy;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.Callable;
import org.restbench.client.Answer;
import org.restbench.client.Clock;
import org.restbench.client.Exchange;
import org.restbench.client.ExchangeFailure;
import org.restbench.client.Kind;
import org.restbench.client.MalformedAnswer;
import org.restbench.client.Outcome;
import org.restbench.client.ServiceRefused;
import org.restbench.client.Stage;
import org.restbench.client.StageTimes;

/** One call on its way: one thread at a time has it, and hands it on under the batch's lock. */
final class Call<I, O, R> {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final int STAGES = Stage.values().length;

    final long index;
    final I input;
    byte[] message;
    Answer answer;
    O output;
    R result;
    int attempts;
    Exchange.Pending pending;
    /** Has its outcome; whatever comes later is not heard. */
    boolean settled;

    Stage failedIn;
    Throwable failure;
    final long[] wall = new long[STAGES];
    final long[] cpu = new long[STAGES];
    private final long begun;
    private long sent = -1;
    private long answered = -1;

    Call(long index, I input, long begun) {
        this.index = index;
        this.input = input;
        this.begun = begun;
    }

    /** Runs a stage and keeps its times; whatever it throws is kept as the call's failure, and the answer is null. */
    <T> T run(Stage stage, Clock clock, boolean onVirtualThread, Callable<T> work) {
        long wallFrom = clock.nanos();
        long cpuFrom = onVirtualThread ? 0 : THREADS.getCurrentThreadCpuTime();
        try {
            return work.call();
        } catch (Throwable wrong) {
            fail(stage, wrong);
            return null;
        } finally {
            cpu[stage.ordinal()] += onVirtualThread ? 0 : THREADS.getCurrentThreadCpuTime() - cpuFrom;
            wall[stage.ordinal()] += clock.nanos() - wallFrom;
        }
    }

    void fail(Stage stage, Throwable wrong) {
        failedIn = stage;
        failure = wrong;
    }

    void sentAt(long nanos) {
        sent = nanos;
        attempts++;
        failure = null;
        answer = null;
    }

    void answeredAt(long nanos) {
        answered = nanos;
    }

    Kind kind() {
        if (failure instanceof ExchangeFailure exchange) {
            return exchange.kind();
        } else if (failure instanceof ServiceRefused) {
            return Kind.REFUSED;
        } else if (failure instanceof MalformedAnswer) {
            return Kind.MALFORMED;
        }
        return failedIn == Stage.C && failure instanceof IOException ? Kind.CUT_OFF : Kind.USER;
    }

    private StageTimes times(long began, long now) {
        long s = wall[0];
        return new StageTimes(
                begun - began, since(began, sent), since(began, answered), now - began, s, wall[1], wall[2], wall[3]);
    }

    private static long since(long began, long moment) {
        return moment == -1 ? -1 : moment - began;
    }

    /** @param cut whether the batch's end kept it from going on */
    Outcome<R> outcome(boolean cut, long began, long now) {
        StageTimes times = times(began, now);
        if (cut) {
            return new Outcome.Cancelled<>(index, attempts, times);
        }
        return failure == null
                ? new Outcome.Done<>(index, attempts, times, result)
                : new Outcome.Failed<>(index, attempts, times, failedIn, kind(), failure);
    }
}
