package org.restbench.workload.npb;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.restbench.memory.MemoryBudget;
import org.restbench.memory.MemoryRefused;
import org.restbench.workload.InvalidRequest;
import org.restbench.workload.ParallelLoop;
import org.restbench.workload.RequestBody;
import org.restbench.workload.RequestId;
import org.restbench.workload.Workload;
import org.restbench.workload.WorkloadFactory;
import org.restbench.workload.WorkloadFactory.Sample;

/** Runs one kernel of the NAS Parallel Benchmarks on the class of input that a request names. */
public final class NpbWorkload implements Workload<NpbRequest, NpbResult> {
    private static final long MEBIBYTE = 1 << 20;
    private static final double MILLION = 1e6;

    /** Class S of whichever kernel. */
    private static final Sample SMALLEST =
            new Sample(Map.of(), "{\"requestId\":0,\"class\":\"S\"}".getBytes(StandardCharsets.UTF_8));

    private final Kernel kernel;
    private final InputCache inputs;
    private final long limitBytes;
    private final MemoryBudget.Hold memory;

    private NpbWorkload(Kernel kernel, InputCache inputs, long limitBytes, MemoryBudget.Hold memory) {
        this.kernel = kernel;
        this.inputs = inputs;
        this.limitBytes = limitBytes;
        this.memory = memory;
    }

    /**
     * @param inputs kept for requests that do not want their own
     * @param limitBytes that all requests together may hold
     */
    public static WorkloadFactory factory(Kernel kernel, InputCache inputs, long limitBytes) {
        return WorkloadFactory.ofWholeTasks(
                        (queryValues, memory) -> new NpbWorkload(kernel, inputs, limitBytes, memory))
                .withSamples(List.of(SMALLEST));
    }

    @Override
    public String kind() {
        return "npb " + kernel.name();
    }

    @Override
    public NpbRequest parse(byte[] body) {
        NpbRequest request = NpbRequest.read(body, kernel.problems());
        reserve(request);
        return request;
    }

    /** Kept inputs go before a request is refused. */
    private void reserve(NpbRequest request) {
        try {
            memory.grow(request.bytes());
        } catch (MemoryRefused refused) {
            if (refused.never()) {
                throw tooLarge(request);
            }
            inputs.clear();
            memory.grow(request.bytes());
        }
    }

    private InvalidRequest tooLarge(NpbRequest request) {
        long needed = (request.bytes() + MEBIBYTE - 1) / MEBIBYTE;
        String message = "class: " + request.problem().name() + " needs " + needed + " MiB of memory, the limit is "
                + limitBytes / MEBIBYTE + " MiB";
        return new InvalidRequest("010", message, request.id());
    }

    /** NPB's count, for the whole of compute: what else it does grows alike. */
    @Override
    public long operations(NpbRequest request) {
        return (long) (MILLION * request.problem().millionOperations());
    }

    @Override
    public NpbResult compute(NpbRequest request, ParallelLoop loop) {
        long start = System.nanoTime();
        Outcome outcome = run(request.problem(), request.generate(), loop);
        String npbClass = request.problem().name();
        return new NpbResult(request.id(), kernel.name(), npbClass, outcome, System.nanoTime() - start);
    }

    private <T> Outcome run(Problem<T> problem, boolean generate, ParallelLoop loop) {
        T input = generate ? problem.input(false, loop) : inputs.get(problem, loop);
        return problem.run(input, loop);
    }

    @Override
    public byte[] serialize(NpbResult result) {
        return result.json();
    }

    @Override
    public RequestId identify(byte[] body) {
        return RequestBody.identify(body);
    }
}
