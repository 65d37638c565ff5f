package org.restbench.execution;

import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.restbench.codec.Codec;
import org.restbench.codec.Query;
import org.restbench.codec.Workloads.CodedWorkload;
import org.restbench.execution.ExecutionStrategy.AbandonedException;
import org.restbench.memory.MemoryBudget;
import org.restbench.memory.MemoryBudget.MemoryRefused;
import org.restbench.workload.InvalidRequest;
import org.restbench.workload.RequestId;
import org.restbench.workload.Workload;
import org.restbench.workload.Workload.Bound;

/**
 * One request's work as a strategy sees it. The stages are called once each, in order, perhaps on different threads.
 * The means by which a thread hands the job on (a queue, a future) makes visible what the thread has written.
 *
 * @param <I> the workload's input
 * @param <O> the workload's output
 */
public final class Job<I, O> {
    private final CodedWorkload<I, O> asked;
    private final byte[] body;
    private final Query query;
    private final MemoryBudget.Hold memory;
    private final WorkLimits limits;
    private final BooleanSupplier isWanted;
    private final StageClock clock = new StageClock();
    private Codec.Notes notes = Codec.Notes.NONE;
    private volatile boolean isBegun; // volatile, as is the next one: also read by the thread that stops the service
    private volatile boolean isComputed;

    /** Starts the job's clock; the memory of the request covers the body already. */
    public Job(
            CodedWorkload<I, O> asked,
            byte[] body,
            Query query,
            MemoryBudget.Hold memory,
            WorkLimits limits,
            BooleanSupplier isWanted) {
        this.asked = asked;
        this.body = body;
        this.query = query;
        this.memory = memory;
        this.limits = limits;
        this.isWanted = isWanted;
    }

    Workload<I, O> workload() {
        return asked.workload();
    }

    int bodyBytes() {
        return body.length;
    }

    /** What the answer contains in addition to its body; available once the answer is encoded. */
    public Codec.Notes notes() {
        return notes;
    }

    public StageClock clock() {
        return clock;
    }

    /**
     * Whether the work of a failed request may have taken effect in a database; then the failure must not be reported
     * as work that was not done. After compute, the work has taken effect. In compute, a committed transaction may be
     * followed by want of memory or by the stop of the service; but a failure that the workload itself reports is
     * passed on as it is.
     */
    public boolean mayHaveTakenEffect(Throwable failure) {
        boolean isSaidByWorkload = failure instanceof InvalidRequest || failure instanceof MemoryRefused;
        return workload().isBlocking() && (isComputed || isBegun && !isSaidByWorkload);
    }

    /** @throws AbandonedException where the client does not wait any more */
    void requireWanted() {
        if (!isWanted.getAsBoolean()) {
            throw new AbandonedException();
        }
    }

    /**
     * The first stage. It also reserves the memory that computing and encoding will need.
     *
     * @param loops that compute will use
     * @throws AbandonedException where the client does not wait any more
     * @throws MemoryRefused 010 where even an idle service has too little memory to compute; 008, after 011, where the
     *     memory is not free now
     * @throws InvalidRequest with the contract's code; 011 comes last
     */
    I decode(Loops loops) {
        requireWanted();
        return clock.parse(() -> {
            I input = asked.codec().decode(body, query, memory);
            long neededBytes = workload().workingBytes(input);
            memory.requirePossible(workload().subject(input), neededBytes);
            limits.require(workload(), input, loops, () -> asked.codec().identify(body));
            memory.grow(neededBytes);
            return input;
        });
    }

    /**
     * The second stage.
     *
     * @throws AbandonedException where a loop had to wait for threads, and the client does not wait any more
     */
    O compute(I input, Loops loops) {
        return clock.compute(() -> {
            try (Loops.RequestLoop loop = loops.open(this::waited)) {
                isBegun = true;
                O output = workload().compute(input, loop);
                isComputed = true;
                return output;
            }
        });
    }

    private void waited(long nanos) {
        clock.waited(nanos);
        requireWanted();
    }

    byte[] encode(O output) {
        notes = asked.codec().notes(output);
        return clock.serialize(() -> asked.codec().encode(output));
    }

    /** The stages after decoding. */
    byte[] finish(I input, Loops loops) {
        return encode(compute(input, loops));
    }

    /** The three stages on the current thread. */
    byte[] run(Loops loops) {
        return finish(decode(loops), loops);
    }

    /** How much work one request may ask for: operations in plain loops and in others, threads made for it. */
    public record WorkLimits(long maxLoopOperations, long maxOperations, long maxRequestThreads) {
        /** No limits, for work that no client asks for. */
        public static final WorkLimits NONE = new WorkLimits(Long.MAX_VALUE, Long.MAX_VALUE, Long.MAX_VALUE);

        /**
         * @throws InvalidRequest 011 where the request has more operations, or its loops more threads, than the limit
         */
        <I> void require(Workload<I, ?> workload, I input, Loops loops, Supplier<RequestId> id) {
            Bound bound = workload.bound(input);
            if (bound != Bound.MEMORY) {
                long limit = bound == Bound.OPERATIONS ? maxOperations : maxLoopOperations;
                require("operations", workload.operations(input), limit, id);
                require("threads", loops.threads(workload.loops(input)), maxRequestThreads, id);
            }
        }

        private static void require(String what, long number, long limit, Supplier<RequestId> id) {
            if (number > limit) {
                throw new InvalidRequest("011", what + ": " + number + ", the limit is " + limit, id.get());
            }
        }
    }
}
