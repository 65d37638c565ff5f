package org.restbench.codec;

import java.nio.charset.StandardCharsets;
import java.util.stream.Collectors;
import org.restbench.json.JsonCursor;
import org.restbench.memory.MemoryBudget;
import org.restbench.workload.InvalidRequest;
import org.restbench.workload.RequestId;
import org.restbench.workload.npb.Kernel;
import org.restbench.workload.npb.NpbRequest;
import org.restbench.workload.npb.NpbResult;
import org.restbench.workload.npb.Outcome;
import org.restbench.workload.npb.Problem;
import org.restbench.workload.npb.Value;

/** The JSON of a kernel of the NAS Parallel Benchmarks. */
public final class NpbJson implements Codec<NpbRequest, NpbResult> {
    private final Kernel kernel;
    private final long limitBytes;

    /** @param limitBytes of memory that the service has: a class that needs more is refused with 010 */
    public NpbJson(Kernel kernel, long limitBytes) {
        this.kernel = kernel;
        this.limitBytes = limitBytes;
    }

    /** @throws InvalidRequest 002, 003 at the first wrong member in the order requestId, class, generate, or 010 */
    @Override
    public NpbRequest decode(byte[] body, Query query, MemoryBudget.Hold memory) {
        RequestBody.requireOneObject(body);
        RequestId id = RequestBody.requestIdOf(body);
        if (id == null) {
            throw new InvalidRequest("003", RequestIds.RULE, null);
        }
        NpbRequest request = new NpbRequest(id, problem(body, id), generate(body, id));
        request.requireFits(limitBytes);
        return request;
    }

    private Problem<?> problem(byte[] body, RequestId id) {
        int offset = RequestBody.memberOf(body, 0, "class");
        String name =
                offset != RequestBody.NOT_THERE && body[offset] == '"' ? new JsonCursor(body, offset).readString() : "";
        return kernel.problems().stream()
                .filter(problem -> problem.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new InvalidRequest("003", "class: must be one of " + names(), id));
    }

    private String names() {
        return kernel.problems().stream().map(Problem::name).collect(Collectors.joining(", "));
    }

    private static boolean generate(byte[] body, RequestId id) {
        int offset = RequestBody.memberOf(body, 0, "generate");
        if (offset == RequestBody.NOT_THERE || body[offset] == 't') {
            return true;
        }
        if (body[offset] != 'f') {
            throw new InvalidRequest("003", "generate: must be true or false", id);
        }
        return false;
    }

    /** The contract's members in its order. */
    @Override
    public byte[] encode(NpbResult result) {
        Outcome outcome = result.outcome();
        String json = "{\"requestId\":" + RequestIds.asString(result.id())
                + ",\"kernel\":\"" + result.kernel()
                + "\",\"class\":\"" + result.npbClass()
                + "\",\"verified\":" + outcome.verified()
                + ",\"value\":" + json(outcome.value())
                + ",\"reference\":" + json(outcome.reference())
                + ",\"iterations\":" + outcome.iterations()
                + ",\"kernelSeconds\":" + outcome.kernelNanos() / 1e9
                + ",\"totalSeconds\":" + result.totalNanos() / 1e9
                + ",\"mops\":" + outcome.mops() + "}";
        return json.getBytes(StandardCharsets.UTF_8);
    }

    static String json(Value value) {
        if (value instanceof Value.Count count) {
            return Integer.toString(count.passed());
        }
        if (value instanceof Value.Real real) {
            return number(real.number());
        }
        double[] reIm = ((Value.Checksums) value).reIm();
        StringBuilder pairs = new StringBuilder("[");
        for (int i = 0; i < reIm.length; i += 2) {
            pairs.append(i == 0 ? "[" : ",[").append(number(reIm[i]));
            pairs.append(',').append(number(reIm[i + 1])).append(']');
        }
        return pairs.append(']').toString();
    }

    /** @throws ArithmeticException where JSON has no such number: a fault of the kernel */
    private static String number(double number) {
        if (!Double.isFinite(number)) {
            throw new ArithmeticException("a kernel's result is " + number);
        }
        return Double.toString(number);
    }

    @Override
    public RequestId identify(byte[] body) {
        return RequestBody.identify(body);
    }
}
