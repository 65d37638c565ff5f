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
    /** What an answer has beside its body: headers, and nanoseconds of parts of compute, by name, in order. */
    record Notes(Map<String, String> headers, Map<String, Long> partNanos) {
        public static final Notes NONE = new Notes(Map.of(), Map.of());
    }

    /**
     * @param memory covers the body; decoding takes from it what it keeps in addition
     * @throws InvalidRequest with the contract's code
     */
    I decode(byte[] body, Query query, MemoryBudget.Hold memory);

    byte[] encode(O output);

    default Notes notes(O output) {
        return Notes.NONE;
    }

    /** The id, for an error that is not the request's fault; null where it cannot be read. Never throws. */
    default RequestId identify(byte[] body) {
        return RequestIds.identify(body);
    }
}
