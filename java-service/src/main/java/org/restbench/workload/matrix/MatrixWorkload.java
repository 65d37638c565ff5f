package org.restbench.workload.matrix;

import java.util.List;
import org.restbench.memory.MemoryBudget;
import org.restbench.workload.InvalidRequest;
import org.restbench.workload.Irregular;
import org.restbench.workload.ParallelLoop;
import org.restbench.workload.RequestBody;
import org.restbench.workload.RequestId;
import org.restbench.workload.Workload;
import org.restbench.workload.WorkloadFactory;

/** Multiplies two matrices of 64-bit integers, exactly. */
public final class MatrixWorkload implements Workload<MatrixRequest, MatrixProduct> {
    private static final String SIZES_DIFFER = "Invalid number of columns and rows for multiplication";

    private final Kernel kernel;
    private final int mostElements;
    private final MemoryBudget.Hold memory;

    private MatrixWorkload(Kernel kernel, int mostElements, MemoryBudget.Hold memory) {
        this.kernel = kernel;
        this.mostElements = mostElements;
        this.memory = memory;
    }

    /** @param mostElements of a product; a larger one is refused before it is computed */
    public static WorkloadFactory factory(int mostElements) {
        WorkloadFactory plain =
                (queryValues, memory) -> new MatrixWorkload(kernel(queryValues.apply("kernel")), mostElements, memory);
        return plain.withSamples(MatrixSamples.ofEachKernel());
    }

    /** The kernel asked for; null where it is unknown, which is an error that waits for the body to be well-formed. */
    private static Kernel kernel(List<String> asked) {
        if (asked.isEmpty() || asked.equals(List.of("loops"))) {
            return Kernel.LOOPS;
        }
        return asked.equals(List.of("native")) ? Kernel.NATIVE : null;
    }

    @Override
    public String kind() {
        return kernel == Kernel.NATIVE ? "matrix native" : "matrix loops";
    }

    @Override
    public MatrixRequest parse(byte[] body) {
        MatrixRequest request;
        try {
            request = MatrixReader.read(body, memory);
        } catch (Irregular irregular) {
            throw FaultFinder.find(body, kernel != null);
        }
        if (kernel == null) {
            throw FaultFinder.find(body, false);
        }
        requireMultipliable(request);
        return request;
    }

    private void requireMultipliable(MatrixRequest request) {
        if (request.one().columns() != request.two().rows()) {
            throw new InvalidRequest("001", SIZES_DIFFER, request.id());
        }
        long elements = (long) request.one().rows() * request.two().columns();
        if (elements > mostElements) {
            String message = "The product has " + elements + " elements, the service's limit is " + mostElements;
            throw new InvalidRequest("007", message, request.id());
        }
    }

    /** Multiplications, each with its addition. */
    @Override
    public long operations(MatrixRequest request) {
        return (long) request.one().rows()
                * request.one().columns()
                * request.two().columns();
    }

    @Override
    public MatrixProduct compute(MatrixRequest request, ParallelLoop loop) {
        memory.grow((long) request.one().rows() * request.two().columns() * Long.BYTES);
        if (kernel == Kernel.NATIVE) {
            memory.grow(Tiles.mostBytes(request.one()));
        }
        return new MatrixProduct(
                request.id(), Multiplication.of(request, kernel).run(loop));
    }

    @Override
    public byte[] serialize(MatrixProduct product) {
        return MatrixWriter.write(product, memory);
    }

    @Override
    public RequestId identify(byte[] body) {
        return RequestBody.identify(body);
    }
}
