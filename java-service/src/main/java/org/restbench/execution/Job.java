package org.restbench.execution;

import java.util.function.BooleanSupplier;
import org.restbench.codec.Codec;
import org.restbench.codec.CodedWorkload;
import org.restbench.codec.Query;
import org.restbench.execution.ExecutionStrategy.AbandonedException;
import org.restbench.memory.MemoryBudget;
import org.restbench.memory.MemoryRefused;
import org.restbench.workload.InvalidRequest;
import org.restbench.workload.Workload;

/**
 * One request's work as a strategy sees it. The stages are called once each, in order, perhaps on different threads:
 * the thread that hands the job on makes what it wrote visible.
 *
 * @param <I> the workload's input
 * @param <O> its output
 */
public final class Job<I, O> {
    private final Workload<I, O> workload;
    private final Codec<I, O> codec;
    private final byte[] body;
    private final Query query;
    private final MemoryBudget.Hold memory;
    private final WorkLimits limits;
    private final BooleanSupplier isWanted;
    private final StageClock clock = new StageClock();
    private Codec.Notes notes = Codec.Notes.NONE;
    private volatile boolean isBegun; // these also asked by who stops the service
    private volatile boolean isComputed;

    /**
     * Starts its clock.
     *
     * @param memory the request's, has room for the body
     * @param isWanted whether the client still waits for the answer
     */
    public Job(
            CodedWorkload<I, O> asked,
            byte[] body,
            Query query,
            MemoryBudget.Hold memory,
            WorkLimits limits,
            BooleanSupplier isWanted) {
        this.workload = asked.workload();
        this.codec = asked.codec();
        this.body = body;
        this.query = query;
        this.memory = memory;
        this.limits = limits;
        this.isWanted = isWanted;
    }

    Workload<I, O> workload() {
        return workload;
    }

    int bodyBytes() {
        return body.length;
    }

    /** What the answer says beside its body, once it is encoded. */
    public Codec.Notes notes() {
        return notes;
    }

    public StageClock clock() {
        return clock;
    }

    /**
     * Whether others may see its work, in a database, though it has failed: it must not be told as not done then.
     * Behind compute they do. In compute, a transaction that is committed may be followed by want of memory, or by the
     * stop; what the workload itself says of its work stands.
     */
    public boolean mayHaveTakenEffect(Throwable failure) {
        boolean isSaidByWorkload = failure instanceof InvalidRequest || failure instanceof MemoryRefused;
        return workload.isBlocking() && (isComputed || isBegun && !isSaidByWorkload);
    }

    /** @throws AbandonedException where the client does not wait any more */
    void requireWanted() {
        if (!isWanted.getAsBoolean()) {
            throw new AbandonedException();
        }
    }

    /**
     * The first stage. What computing and encoding will hold is reserved in it.
     *
     * @param loops that it will compute with
     * @throws AbandonedException where the client does not wait any more
     * @throws MemoryRefused 010 where there never is the memory to compute in; 008, after 011, where it is not there
     *     now
     * @throws InvalidRequest with the contract's code, at last 011
     */
    I decode(Loops loops) {
        requireWanted();
        return clock.parse(() -> {
            I input = codec.decode(body, query, memory);
            long neededBytes = workload.workingBytes(input);
            memory.requirePossible(workload.subject(input), neededBytes);
            limits.require(workload, input, loops, () -> codec.identify(body));
            memory.grow(neededBytes);
            return input;
        });
    }

    /** The second stage, in a loop that is opened for it and closed with it. */
    O compute(I input, Loops loops) {
        return clock.compute(() -> {
            try (Loops.RequestLoop loop = loops.open()) {
                isBegun = true;
                O output = workload.compute(input, loop);
                isComputed = true;
                return output;
            }
        });
    }

    /** The third stage: the response's bytes. */
    byte[] encode(O output) {
        notes = codec.notes(output);
        return clock.serialize(() -> codec.encode(output));
    }

    /** The stages after decoding. */
    byte[] finish(I input, Loops loops) {
        return encode(compute(input, loops));
    }

    /** The three stages on the current thread. */
    byte[] run(Loops loops) {
        return finish(decode(loops), loops);
    }
}
