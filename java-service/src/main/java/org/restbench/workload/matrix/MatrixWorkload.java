package org.restbench.workload.matrix;

import java.util.List;
import org.restbench.workload.ParallelLoop;
import org.restbench.workload.Workload;

/** Multiplies two matrices of 64-bit integers, exactly. */
public final class MatrixWorkload implements Workload<MatrixRequest, MatrixProduct> {
    @Override
    public String name() {
        return "matrix";
    }

    @Override
    public String kind(MatrixRequest request) {
        return request.kernel() == Kernel.NATIVE ? "matrix native" : "matrix loops";
    }

    /** The number of multiplications, each with its addition. */
    @Override
    public long operations(MatrixRequest request) {
        return request.elements() * request.one().columns();
    }

    /** Where sums may not fit 64 bits, each element is computed once more, exactly: as slow as plain loops. */
    @Override
    public Bound bound(MatrixRequest request) {
        return request.kernel() == Kernel.NATIVE && request.sumsSurelyFit() ? Bound.OPERATIONS : Bound.LOOP_OPERATIONS;
    }

    @Override
    public List<ParallelLoop.Size> loops(MatrixRequest request) {
        return new Multiplication(request).loops();
    }

    /**
     * The product, the tiles of the native kernel, and twice the product's text with numbers of the largest length: as
     * it is written, and as it is sent.
     */
    @Override
    public long workingBytes(MatrixRequest request) {
        int separator = 1;
        long text = request.elements() * (Matrix.characters(Math.min(Long.SIZE, request.bitsOfSums())) + separator)
                + 2L * request.one().rows();
        long tiles = request.kernel() == Kernel.NATIVE ? Tiles.mostBytes(request.one()) : 0;
        return request.elements() * Long.BYTES + tiles + 2 * text;
    }

    @Override
    public MatrixProduct compute(MatrixRequest request, ParallelLoop loop) {
        return new MatrixProduct(request.id(), new Multiplication(request).run(loop));
    }
}
