package org.restbench.codec;

import org.restbench.workload.InvalidRequest;
import org.restbench.workload.RequestId;

/**
 * Says what is wrong with a request that {@link MatrixReader} turned away. Plain and slow: it reads the body once for
 * each code, in the contract's order (002, 003, 005, 004), and keeps nothing of it in memory, however large it is.
 */
final class FaultFinder {
    private final byte[] body;

    private FaultFinder(byte[] body) {
        this.body = body;
    }

    /**
     * @param kernelKnown whether the query asks for a kernel that there is
     * @return the first fault in the contract's order
     * @throws IllegalStateException where there is none: then the reader was wrong to turn the request away
     */
    static InvalidRequest find(byte[] body, boolean kernelKnown) {
        try {
            RequestBody.requireOneObject(body);
        } catch (InvalidRequest malformed) {
            return malformed;
        }
        FaultFinder finder = new FaultFinder(body);
        RequestId id = RequestBody.requestIdOf(body);
        try {
            finder.requireMembers(id, kernelKnown);
            finder.requireMatrices();
        } catch (MatrixFault fault) {
            return new InvalidRequest(fault.code(), fault.getMessage(), id);
        }
        throw new IllegalStateException("the reader turned a request away in which nothing is wrong");
    }

    private void requireMembers(RequestId id, boolean kernelKnown) {
        if (!kernelKnown) {
            throw new MatrixFault("003", "kernel: must be given at most once, as loops or native");
        }
        if (id == null) {
            throw new MatrixFault("003", RequestIds.RULE);
        }
        matrix("matrixOne").requireShape();
        matrix("matrixTwo").requireShape();
    }

    private void requireMatrices() {
        matrix("matrixOne").requireIntegers();
        matrix("matrixTwo").requireIntegers();
        matrix("matrixOne").requireWidths();
        matrix("matrixTwo").requireWidths();
    }

    private MatrixFaults matrix(String name) {
        return new MatrixFaults(body, name, RequestBody.memberOf(body, 0, name));
    }
}
