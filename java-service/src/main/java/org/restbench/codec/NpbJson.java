package org.restbench.codec;

import java.nio.charset.StandardCharsets;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import org.restbench.memory.MemoryBudget;
import org.restbench.workload.InvalidRequest;
import org.restbench.workload.RequestId;
import org.restbench.workload.npb.NpbWorkload.NpbRequest;
import org.restbench.workload.npb.NpbWorkload.NpbResult;
import org.restbench.workload.npb.Problem;
import org.restbench.workload.npb.Problem.Kernel;
import org.restbench.workload.npb.Problem.Outcome;
import tools.jackson.core.JsonToken;

/** The JSON of a kernel of the NAS Parallel Benchmarks. */
public record NpbJson(Kernel kernel) implements Codec<NpbRequest, NpbResult> {
    private static final class Members {
        private static final int LONGEST_CLASS = 100;

        private RequestId id;
        private String npbClass;
        /** Null where it is neither true nor false. */
        private Boolean generate = true;

        Members(JsonReader json) {
            for (String name = json.nextName(); name != null; name = json.nextName()) {
                switch (name) {
                    case "requestId" -> id = RequestIds.read(json);
                    case "class" -> npbClass = json.nextShortText(LONGEST_CLASS);
                    case "generate" -> generate = readBoolean(json);
                    default -> json.skipNext();
                }
            }
        }

        private static Boolean readBoolean(JsonReader json) {
            JsonToken token = json.next();
            json.skip();
            return token == JsonToken.VALUE_TRUE ? Boolean.TRUE : token == JsonToken.VALUE_FALSE ? false : null;
        }
    }

    /** @throws InvalidRequest 002, or 003 at the first wrong member in the order delay, requestId, class, generate */
    @Override
    public NpbRequest decode(byte[] body, Query query, MemoryBudget.Hold memory) {
        Members members = Json.read(body, memory, Members::new);
        return request(members.id, members.npbClass, members.generate, query);
    }

    /**
     * The request that consists of members read in any format.
     *
     * @param id null where there is no valid one
     * @param npbClass null where there is none
     * @param generate null where it is neither true nor false
     * @throws InvalidRequest 003
     */
    public NpbRequest request(RequestId id, String npbClass, Boolean generate, Query query) {
        InvalidRequest.refuse("003", query.delayFault(), id);
        InvalidRequest.refuse("003", id == null ? RequestIds.RULE : null, null);
        Problem<?> problem = kernel.problems().stream()
                .filter(each -> each.name().equals(npbClass))
                .findFirst()
                .orElseThrow(() -> new InvalidRequest("003", "class: must be one of " + names(), id));
        InvalidRequest.refuse("003", generate == null ? "generate: must be true or false" : null, id);
        return new NpbRequest(id, problem, generate);
    }

    /** The names of the problem classes: NPB 3.4's from small to large, and then W30. */
    private String names() {
        return kernel.problems().stream()
                .map(Problem::name)
                .sorted(Comparator.comparing(String::length))
                .collect(Collectors.joining(", "));
    }

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

    static String json(List<Double> value) {
        if (value.size() == 1) {
            return number(value.get(0));
        }
        StringBuilder pairs = new StringBuilder("[");
        for (int i = 0; i < value.size(); i += 2) {
            pairs.append(i == 0 ? "[" : ",[").append(number(value.get(i)));
            pairs.append(',').append(number(value.get(i + 1))).append(']');
        }
        return pairs.append(']').toString();
    }

    /** @throws ArithmeticException where JSON has no such number: a fault of the kernel */
    private static String number(double number) {
        if (!Double.isFinite(number)) {
            throw new ArithmeticException("a kernel's result is " + number);
        }
        boolean isCount = number == (int) number;
        return isCount ? Integer.toString((int) number) : Double.toString(number);
    }
}
