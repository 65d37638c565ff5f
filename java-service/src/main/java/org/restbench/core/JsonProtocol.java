package org.restbench.core;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.restbench.codec.Codec;
import org.restbench.codec.Workloads;
import org.restbench.codec.Workloads.CodedWorkload;
import org.restbench.execution.Job;
import org.restbench.execution.Strategies.Technique;
import org.restbench.workload.RequestId;

/** One operation of a workload in JSON: the workload's codec reads the body and writes the answer. */
public record JsonProtocol<I, O>(CodedWorkload<I, O> workload) implements Protocol {
    /** The body, and twice its size while it is received or read: arrays that grow, names, unescaped strings. */
    private static final long BYTES_PER_BYTE = 3;

    public static List<Protocol> of(Workloads workloads) {
        return workloads.operations().stream().<Protocol>map(JsonProtocol::new).toList();
    }

    @Override
    public String name() {
        return workload.name();
    }

    @Override
    public String method() {
        return workload.method();
    }

    @Override
    public String template() {
        return workload.template();
    }

    @Override
    public boolean isTakenBy(Technique technique) {
        return technique.takes(workload.workload());
    }

    /** Ignores case and parameters of the media type. Methods other than POST have no body. */
    @Override
    public String mediaTypeFault(String contentType) {
        if (!method().equals("POST")) {
            return null;
        }
        boolean isJson =
                contentType != null && contentType.split(";", 2)[0].strip().equalsIgnoreCase(Reply.JSON);
        return isJson ? null : "Content-Type must be application/json";
    }

    @Override
    public long bytesPerByte() {
        return BYTES_PER_BYTE;
    }

    @Override
    public CompletionStage<Reply> run(Call call) {
        Job<I, O> job = call.job(workload);
        try {
            return call.strategy().execute(job).handle((product, thrown) -> answer(call, job, product, thrown));
        } catch (Throwable failed) { // e.g. for want of memory to make the future
            return CompletableFuture.completedFuture(refused(job, failed, () -> null));
        }
    }

    private Reply answer(Call call, Job<I, O> job, byte[] product, Throwable thrown) {
        try {
            return thrown == null
                    ? answer(job, product, call.delayTiming())
                    : refused(job, thrown, () -> workload.codec().identify(call.body()));
        } catch (Throwable failed) { // otherwise the request would get no reply
            return refused(job, failed, () -> null);
        }
    }

    private Reply refused(Job<I, O> job, Throwable thrown, Supplier<RequestId> requestId) {
        return refusal(
                job.mayHaveTakenEffect(thrown) ? Refusal.afterwards(thrown, requestId) : Refusal.of(thrown, requestId));
    }

    private Reply answer(Job<I, O> job, byte[] product, String delayTiming) {
        Codec.Notes notes = job.notes();
        String timing = delayTiming + job.clock().serverTiming(notes.partNanos());
        return Reply.answer(product, timing, notes.headers());
    }

    @Override
    public Reply refusal(Refusal refusal) {
        return Reply.error(refusal);
    }
}
