package org.restbench.core;

import java.util.concurrent.CompletionStage;
import org.restbench.codec.CodedWorkload;
import org.restbench.codec.Query;
import org.restbench.execution.ExecutionStrategy;
import org.restbench.execution.Job;
import org.restbench.execution.Technique;
import org.restbench.execution.WorkLimits;
import org.restbench.memory.MemoryBudget;

/**
 * How the requests of some routes are written, and their answers. All that comes before a body is whole, and what is
 * counted and given back after the answer, is the core's and the same for all.
 */
public interface Protocol {
    /** In the catalogue, in metrics, and between the slash and the strategy's name in a path. */
    String name();

    /** Of HTTP, of its requests. */
    default String method() {
        return "POST";
    }

    /** What follows the strategy's name in a path; segments in braces are any one. */
    default String template() {
        return "";
    }

    /** Whether it has a route with this strategy. */
    boolean isTakenBy(Technique technique);

    /** The message of 009 where a body of this media type, null for none, is not read; else null. */
    String mediaTypeFault(String contentType);

    /** Bytes of memory for a byte of the body: itself, and what receiving and reading it takes at most. */
    long bytesPerByte();

    /**
     * Works on a request whose body is whole.
     *
     * @return the answer, whatever it is; done already where the strategy works on the calling thread
     */
    CompletionStage<Reply> run(Call call);

    Reply refusal(Refusal refusal);

    /**
     * A request whose body is whole.
     *
     * @param memory the request's, has room for the body as its protocol reads it
     * @param limits of its work
     * @param delayTiming the begin of Server-Timing: the delay and a comma where one was asked for, else empty
     */
    record Call(
            Head head,
            byte[] body,
            Query query,
            MemoryBudget.Hold memory,
            WorkLimits limits,
            ExecutionStrategy strategy,
            String delayTiming) {
        /** Its work, for the strategy. Starts the work's clock. */
        public <I, O> Job<I, O> job(CodedWorkload<I, O> workload) {
            return new Job<>(workload, body, query, memory, limits, head.isWanted());
        }
    }
}
