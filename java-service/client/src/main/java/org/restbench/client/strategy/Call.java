package org.restbench.client.strategy;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.Callable;
import org.restbench.client.Answer;
import org.restbench.client.Exchange;
import org.restbench.client.ExchangeFailure;
import org.restbench.client.Kind;
import org.restbench.client.MalformedAnswer;
import org.restbench.client.Outcome;
import org.restbench.client.ServiceRefused;
import org.restbench.client.Stage;
import org.restbench.client.StageTimes;
import org.restbench.client.strategy.Plan.Way;

/** One call on its way: one thread at a time has it, and hands it on under the batch's lock. */
final class Call<I, O, R> {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final int STAGES = Stage.values().length;

    final long index;
    final I input;
    /** The one that it is in, or was in last. */
    Stage stage;

    byte[] message;
    Answer answer;
    O output;
    R result;
    int attempts;
    Exchange.Pending pending;

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
    <T> T run(Stage which, Plan plan, Callable<T> work) {
        boolean isVirtual = plan.way() == Way.VIRTUAL;
        long wallFrom = plan.clock().nanos();
        long cpuFrom = isVirtual ? 0 : THREADS.getCurrentThreadCpuTime();
        try {
            return work.call();
        } catch (Throwable wrong) {
            fail(which, wrong);
            return null;
        } finally {
            cpu[which.ordinal()] += isVirtual ? 0 : THREADS.getCurrentThreadCpuTime() - cpuFrom;
            wall[which.ordinal()] += plan.clock().nanos() - wallFrom;
        }
    }

    void fail(Stage where, Throwable wrong) {
        failedIn = where;
        failure = wrong;
    }

    /** An attempt begins. */
    void sentAt(long nanos) {
        sent = nanos;
        attempts++;
        failure = null;
        answer = null;
        pending = null;
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

    private static long since(long began, long moment) {
        return moment == -1 ? -1 : moment - began;
    }

    /** @param isCut whether the batch's end kept it from going on */
    Outcome<R> outcome(boolean isCut, long began, long now) {
        StageTimes times = new StageTimes(
                begun - began,
                since(began, sent),
                since(began, answered),
                now - began,
                wall[0],
                wall[1],
                wall[2],
                wall[3]);
        if (isCut) {
            return new Outcome.Cancelled<>(index, attempts, times);
        }
        return failure == null
                ? new Outcome.Done<>(index, attempts, times, result)
                : new Outcome.Failed<>(index, attempts, times, failedIn, kind(), failure);
    }
}
