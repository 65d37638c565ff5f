package org.restbench.codec;

import java.util.Map;
import org.restbench.memory.MemoryBudget;
import org.restbench.workload.InvalidRequest;
import org.restbench.workload.RequestId;

/**
 * Between the bytes of a request and a workload's input, and between its output and the bytes of the response. One for
 * the life of the service, used by many threads at once.
 *
 * @param <I> a workload's input
 * @param <O> its output
 */
public interface Codec<I, O> {
    /**
     * What an answer says beside its body.
     *
     * @param headers of HTTP
     * @param partNanos of compute's time, how much its parts took, in order
     */
    record Notes(Map<String, String> headers, Map<String, Long> partNanos) {
        public static final Notes NONE = new Notes(Map.of(), Map.of());
    }

    /**
     * @param memory of the request, has room for the body; what decoding keeps in addition is taken from here
     * @throws InvalidRequest with the contract's code
     */
    I decode(byte[] body, Query query, MemoryBudget.Hold memory);

    byte[] encode(O output);

    default Notes notes(O output) {
        return Notes.NONE;
    }

    /**
     * The request's id, for an error that is not the request's fault; null where it cannot be read. Never throws. Of a
     * body in JSON unless a codec says otherwise.
     */
    default RequestId identify(byte[] body) {
        return RequestIds.identify(body);
    }
}
