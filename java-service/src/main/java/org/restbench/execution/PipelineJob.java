package org.restbench.execution;

import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.restbench.workload.ParallelLoop;
import org.restbench.workload.Workload;

/**
 * One request on its way through the pipeline. One thread at a time has it; the queues between hand its fields over.
 */
final class PipelineJob<I, O> {
    private final Workload<I, O> workload;
    private final StageClock clock;
    private final CompletableFuture<byte[]> response = new CompletableFuture<>();
    private byte[] body;
    private I input;
    private O output;

    PipelineJob(Workload<I, O> workload, byte[] body, StageClock clock) {
        this.workload = workload;
        this.body = body;
        this.clock = clock;
    }

    /** Takes the step; false where it failed, which whoever waits for the response is then told. */
    boolean advance(Consumer<PipelineJob<?, ?>> step) {
        try {
            step.accept(this);
            return true;
        } catch (Throwable thrown) { // also an Error: the stage's thread must outlive any request
            response.completeExceptionally(thrown);
            return false;
        }
    }

    void parse() {
        input = clock.parse(() -> workload.parse(body));
        body = null;
    }

    void compute(ParallelLoop loop) {
        output = clock.compute(() -> workload.compute(input, loop));
        input = null;
    }

    void serialize() {
        response.complete(clock.serialize(() -> workload.serialize(output)));
    }

    void abandon() {
        response.completeExceptionally(new IllegalStateException("the pipeline was closed with requests in it"));
    }

    /**
     * By the thread that has it. Lets go of its data first: to tell the failure takes memory, of which there may be
     * none.
     */
    void fail(Throwable thrown) {
        body = null;
        input = null;
        output = null;
        response.completeExceptionally(thrown);
    }

    /** Waits for the last stage; throws what a stage threw. */
    byte[] response() {
        return Tasks.resultOf(response);
    }
}
