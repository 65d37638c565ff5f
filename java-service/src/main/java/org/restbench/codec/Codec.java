package org.restbench.codec;

import java.util.Map;
import org.restbench.memory.MemoryBudget;
import org.restbench.workload.InvalidRequest;
import org.restbench.workload.RequestId;

/**
 * Converts the bytes of a request to a workload's input, and the workload's output to the bytes of the response. There
 * is one codec for the life of the service, used by many threads at once.
 *
 * @param <I> the workload's input
 * @param <O> the workload's output
 */
public interface Codec<I, O> {
    /**
     * What an answer contains in addition to its body.
     *
     * @param headers of HTTP
     * @param partNanos nanoseconds that parts of compute took, by name, in order
     */
    record Notes(Map<String, String> headers, Map<String, Long> partNanos) {
        public static final Notes NONE = new Notes(Map.of(), Map.of());
    }

    /**
     * @param memory of the request; it covers the body already, and decoding takes from it what it keeps in addition
     * @throws InvalidRequest with the contract's code
     */
    I decode(byte[] body, Query query, MemoryBudget.Hold memory);

    byte[] encode(O output);

    default Notes notes(O output) {
        return Notes.NONE;
    }

    /**
     * The request's id, for an error that is not the request's fault; null where it cannot be read. Never throws. The
     * default reads the id from a body in JSON.
     */
    default RequestId identify(byte[] body) {
        return RequestIds.identify(body);
    }
}
