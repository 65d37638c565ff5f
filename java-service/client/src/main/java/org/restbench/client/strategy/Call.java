package org.restbench.client.strategy;

import static java.util.Objects.requireNonNull;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.restbench.client.Answer;
import org.restbench.client.Job;
import org.restbench.client.Limits;
import org.restbench.client.MalformedAnswer;
import org.restbench.client.Outcome;
import org.restbench.client.Outcome.Kind;
import org.restbench.client.Outcome.StageTimes;
import org.restbench.client.ServiceRefused;
import org.restbench.client.Stage;
import org.restbench.client.strategy.Plan.ThreadModel;

/** The state of one call. One thread at a time owns it, and hands it on under the batch's lock. */
final class Call<I, O, R> {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final int STAGES = Stage.values().length;

    final long index;
    I input;
    /** The stage that the call is in, or was in last. */
    Stage stage;

    byte[] message;
    Answer answer;
    O output;
    R result;
    int attempts;
    Outcome<R> outcome;

    Stage failedIn;
    Throwable failure;
    final long[] wall = new long[STAGES];
    final long[] cpu = new long[STAGES];
    /** In nanoseconds since the batch began, as all moments of a call. */
    private final long begun;

    private long sent = -1;
    long answered = -1;

    Call(long index, I input, long begun) {
        this.index = index;
        this.input = input;
        this.begun = begun;
    }

    /** Runs the call's stage on this thread and adds up the stage's times. An exception becomes the call's failure. */
    void run(Job<I, O, R> job, Limits limits, Plan plan) {
        boolean isVirtual = plan.threadModel() == ThreadModel.VIRTUAL;
        long wallFrom = plan.clock().nanos();
        long cpuFrom = isVirtual ? 0 : THREADS.getCurrentThreadCpuTime();
        try {
            switch (stage) {
                case S -> message = requireNonNull(job.codec().encode(input, plan.loop()), "a message");
                case C -> receive(job.exchange().start(message, limits));
                case D -> {
                    output = job.codec().decode(answer, plan.loop());
                    message = null;
                    answer = null;
                }
                case P -> result = job.process().process(index, input, output);
            }
        } catch (Throwable wrong) {
            fail(stage, wrong);
        }
        cpu[stage.ordinal()] += isVirtual ? 0 : THREADS.getCurrentThreadCpuTime() - cpuFrom;
        wall[stage.ordinal()] += plan.clock().nanos() - wallFrom;
    }

    /** Waits for the answer; an interrupt closes the connection. An exception becomes the call's failure in C. */
    void receive(CompletableFuture<Answer> pending) {
        try {
            answer = requireNonNull(pending.get(), "an answer");
        } catch (ExecutionException failed) {
            fail(Stage.C, failed.getCause());
        } catch (Throwable wrong) {
            fail(Stage.C, wrong);
        } finally {
            pending.cancel(true); // closes the connection where there is no answer yet
        }
    }

    void fail(Stage where, Throwable wrong) {
        failedIn = where;
        failure = wrong;
    }

    /** Notes that an attempt begins at this moment. */
    void sentAt(long moment) {
        sent = moment;
        attempts++;
        failure = null;
        answer = null;
    }

    Kind kind() {
        if (failedIn == Stage.S || failedIn == Stage.P) {
            return Kind.USER; // whatever was thrown: there is no answer in these stages
        } else if (failure instanceof ServiceRefused) {
            return Kind.REFUSED;
        } else if (failure instanceof MalformedAnswer) {
            return Kind.MALFORMED;
        }
        return failedIn == Stage.C ? Kind.of(failure) : Kind.USER;
    }

    /** Makes the outcome, drops the other objects. {@code isCut}: whether the end of the batch cut the call short. */
    void end(boolean isCut, long moment) {
        var times = new StageTimes(begun, sent, answered, moment, wall[0], wall[1], wall[2], wall[3]);
        if (isCut) {
            outcome = new Outcome.Cancelled<>(index, attempts, times);
        } else if (failure == null) {
            outcome = new Outcome.Done<>(index, attempts, times, result);
        } else {
            outcome = new Outcome.Failed<>(index, attempts, times, failedIn, kind(), failure);
        }
        input = null;
        message = null;
        answer = null;
        output = null;
    }
}
