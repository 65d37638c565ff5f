package org.restbench.core;

import java.util.concurrent.CompletionStage;
import org.restbench.codec.Query;
import org.restbench.codec.Workloads.CodedWorkload;
import org.restbench.execution.ExecutionStrategy;
import org.restbench.execution.Job;
import org.restbench.execution.Job.WorkLimits;
import org.restbench.execution.Strategies.Technique;
import org.restbench.memory.MemoryBudget;

/**
 * The format of the requests and replies of some routes, such as JSON or SOAP. The core does the rest in the same way
 * for all protocols: what comes before the body is complete, and counting and releasing after the reply.
 */
public interface Protocol {
    /** The name in the catalogue and in metrics. In a path it is the part before the strategy's name. */
    String name();

    default String method() {
        return "POST";
    }

    /** The part of a path after the strategy's name; a segment in braces stands for any one segment. */
    default String template() {
        return "";
    }

    boolean isTakenBy(Technique technique);

    /** The message of 009 where a body of this media type (null for none) is not accepted; else null. */
    String mediaTypeFault(String contentType);

    /** Bytes of memory per byte of the body: the byte itself, and what receiving and reading it takes at most. */
    long bytesPerByte();

    /** Runs a request whose body is complete. The reply, maybe a refusal, may be there already. */
    CompletionStage<Reply> run(Call call);

    Reply refusal(Refusal refusal);

    /**
     * A request whose body is complete.
     *
     * @param memory of the request; it covers the body already, as the protocol reads it
     * @param limits of the request's work
     * @param delayTiming the beginning of Server-Timing: the delay and a comma where one was asked for, else empty
     */
    record Call(
            Head head,
            byte[] body,
            Query query,
            MemoryBudget.Hold memory,
            WorkLimits limits,
            ExecutionStrategy strategy,
            String delayTiming) {
        /** The request's work, as a strategy runs it. Starts the work's clock. */
        public <I, O> Job<I, O> job(CodedWorkload<I, O> workload) {
            return new Job<>(workload, body, query, memory, limits, head.isWanted());
        }
    }
}
