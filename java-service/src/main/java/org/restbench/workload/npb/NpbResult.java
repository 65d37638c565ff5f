package org.restbench.workload.npb;

import java.nio.charset.StandardCharsets;
import org.restbench.workload.RequestId;

/**
 * What a client gets.
 *
 * @param kernel NPB's name
 * @param npbClass the class
 * @param totalNanos of the whole stage, input and verification included
 */
record NpbResult(RequestId id, String kernel, String npbClass, Outcome outcome, long totalNanos) {
    /** The contract's members in its order. */
    byte[] json() {
        String json = "{\"requestId\":" + id.asString()
                + ",\"kernel\":\"" + kernel
                + "\",\"class\":\"" + npbClass
                + "\",\"verified\":" + outcome.verified()
                + ",\"value\":" + outcome.value().json()
                + ",\"reference\":" + outcome.reference().json()
                + ",\"iterations\":" + outcome.iterations()
                + ",\"kernelSeconds\":" + outcome.kernelNanos() / 1e9
                + ",\"totalSeconds\":" + totalNanos / 1e9
                + ",\"mops\":" + outcome.mops() + "}";
        return json.getBytes(StandardCharsets.UTF_8);
    }
}
