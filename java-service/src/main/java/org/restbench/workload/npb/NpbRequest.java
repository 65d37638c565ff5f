package org.restbench.workload.npb;

import java.util.List;
import java.util.stream.Collectors;
import org.restbench.json.JsonCursor;
import org.restbench.workload.InvalidRequest;
import org.restbench.workload.RequestBody;
import org.restbench.workload.RequestId;
import org.restbench.workload.RequestIds;

/**
 * What a client asks of a kernel.
 *
 * @param problem the kernel on the class asked for
 * @param generate whether the input is built for this request alone
 */
record NpbRequest(RequestId id, Problem<?> problem, boolean generate) {
    /** @throws InvalidRequest 002, or 003 at the first wrong member in the order requestId, class, generate */
    static NpbRequest read(byte[] body, List<Problem<?>> problems) {
        RequestBody.requireOneObject(body);
        RequestId id = RequestBody.requestIdOf(body);
        if (id == null) {
            throw new InvalidRequest("003", RequestIds.RULE, null);
        }
        return new NpbRequest(id, problem(body, id, problems), generate(body, id));
    }

    private static Problem<?> problem(byte[] body, RequestId id, List<Problem<?>> problems) {
        int offset = RequestBody.memberOf(body, 0, "class");
        String name =
                offset != RequestBody.NOT_THERE && body[offset] == '"' ? new JsonCursor(body, offset).readString() : "";
        return problems.stream()
                .filter(problem -> problem.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new InvalidRequest("003", "class: must be one of " + names(problems), id));
    }

    private static String names(List<Problem<?>> problems) {
        return problems.stream().map(Problem::name).collect(Collectors.joining(", "));
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

    /** Bytes that this request holds at once; an input that others use stands beside what a run makes for itself. */
    long bytes() {
        return problem.workingBytes() + (generate ? 0 : problem.keptBytes());
    }
}
