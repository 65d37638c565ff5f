package org.restbench.soap;

import java.util.Locale;
import java.util.stream.Stream;
import org.restbench.codec.NpbJson;
import org.restbench.codec.Query;
import org.restbench.codec.RequestIds;
import org.restbench.codec.Workloads;
import org.restbench.codec.Workloads.CodedWorkload;
import org.restbench.memory.MemoryBudget;
import org.restbench.soap.npb.KernelName;
import org.restbench.soap.npb.NpbPort;
import org.restbench.soap.npb.Result;
import org.restbench.soap.npb.Run;
import org.restbench.soap.npb.RunResponse;
import org.restbench.workload.RequestId;
import org.restbench.workload.npb.NpbWorkload.NpbRequest;
import org.restbench.workload.npb.NpbWorkload.NpbResult;
import org.restbench.workload.npb.Problem.Outcome;

/** Runs the kernel of the NAS Parallel Benchmarks that the message names. */
final class KernelRun extends Operation<NpbRequest, NpbResult> {
    private final NpbJson json;
    private final Run message;

    private KernelRun(CodedWorkload<NpbRequest, NpbResult> kernel, Run message) {
        super(kernel.workload());
        this.json = (NpbJson) kernel.codec();
        this.message = message;
    }

    static Service service(Workloads workloads) {
        return new Service(
                "npb",
                "NpbService",
                NpbPort.class,
                it -> Stream.of(KernelName.values())
                        .allMatch(each -> it.takes(named(each, workloads).workload())),
                message -> new KernelRun(named(((Run) message).getKernel(), workloads), (Run) message));
    }

    private static CodedWorkload<NpbRequest, NpbResult> named(KernelName kernel, Workloads workloads) {
        return SoapProtocol.named("npb-" + kernel.value().toLowerCase(Locale.ROOT), workloads);
    }

    @Override
    RequestId id() {
        return RequestIds.of(message.getRequestId());
    }

    @Override
    public NpbRequest decode(byte[] body, Query query, MemoryBudget.Hold memory) {
        boolean generate = message.isGenerate() == null || message.isGenerate();
        return json.request(id(), message.getClazz(), generate, query);
    }

    @Override
    Object message(NpbResult output) {
        Outcome outcome = output.outcome();
        Result result = new Result();
        result.setRequestId(output.id().text());
        result.setKernel(KernelName.fromValue(output.kernel()));
        result.setClazz(output.npbClass());
        result.setVerified(outcome.verified());
        result.getValue().addAll(outcome.value());
        result.getReference().addAll(outcome.reference());
        result.setIterations(outcome.iterations());
        result.setKernelSeconds(outcome.kernelNanos() / 1e9);
        result.setTotalSeconds(output.totalNanos() / 1e9);
        result.setMops(outcome.mops());
        RunResponse response = new RunResponse();
        response.setResult(result);
        return response;
    }
}
