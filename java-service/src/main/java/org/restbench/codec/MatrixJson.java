package org.restbench.codec;

import java.util.List;
import org.restbench.memory.MemoryBudget;
import org.restbench.workload.RequestId;
import org.restbench.workload.matrix.Kernel;
import org.restbench.workload.matrix.MatrixProduct;
import org.restbench.workload.matrix.MatrixRequest;

/** The matrix workload's JSON. */
public final class MatrixJson implements Codec<MatrixRequest, MatrixProduct> {
    private final int mostElements;

    /** @param mostElements of a product; a larger one is refused before it is computed */
    public MatrixJson(int mostElements) {
        this.mostElements = mostElements;
    }

    @Override
    public MatrixRequest decode(byte[] body, Query query, MemoryBudget.Hold memory) {
        Kernel kernel = kernel(query.values("kernel"));
        MatrixRequest request;
        try {
            request = MatrixReader.read(body, kernel, memory);
        } catch (Irregular irregular) {
            throw FaultFinder.find(body, kernel != null);
        }
        if (kernel == null) {
            throw FaultFinder.find(body, false);
        }
        request.requireMultipliable(mostElements);
        return request;
    }

    /** The kernel asked for; null where it is unknown, which is an error that waits for the body to be well-formed. */
    private static Kernel kernel(List<String> asked) {
        if (asked.isEmpty() || asked.equals(List.of("loops"))) {
            return Kernel.LOOPS;
        }
        return asked.equals(List.of("native")) ? Kernel.NATIVE : null;
    }

    @Override
    public byte[] encode(MatrixProduct product) {
        return MatrixWriter.write(product);
    }

    @Override
    public RequestId identify(byte[] body) {
        return RequestBody.identify(body);
    }
}
