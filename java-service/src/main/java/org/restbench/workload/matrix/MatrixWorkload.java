package org.restbench.workload.matrix;

import java.util.List;
import org.restbench.workload.ParallelLoop;
import org.restbench.workload.Workload;

/** Multiplies two matrices of 64-bit integers, exactly. */
public final class MatrixWorkload implements Workload<MatrixRequest, MatrixProduct> {
    /** 1233 / 2^12 is log10(2), closely enough for 64 bits. */
    private static final int LOG_10_OF_2 = 1233;

    private static final int LOG_BITS = 12;

    /**
     * Characters of a number in addition to its digits: a sign, a digit that the logarithm rounds away, a separator.
     */
    private static final int BESIDE_DIGITS = 3;

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

    @Override
    public Bound bound(MatrixRequest request) {
        return request.kernel() == Kernel.NATIVE ? Bound.OPERATIONS : Bound.LOOP_OPERATIONS;
    }

    @Override
    public List<ParallelLoop.Size> loops(MatrixRequest request) {
        return new Multiplication(request).loops();
    }

    /**
     * The product, the tiles of the native kernel, and twice the product's text with numbers of the largest length:
     * once in pieces, and once as a whole.
     */
    @Override
    public long workingBytes(MatrixRequest request) {
        int digits = Math.min(Long.SIZE, request.bitsOfSums()) * LOG_10_OF_2 >> LOG_BITS;
        long text = request.elements() * (digits + BESIDE_DIGITS)
                + 2L * request.one().rows();
        long tiles = request.kernel() == Kernel.NATIVE ? Tiles.mostBytes(request.one()) : 0;
        return request.elements() * Long.BYTES + tiles + 2 * text;
    }

    @Override
    public MatrixProduct compute(MatrixRequest request, ParallelLoop loop) {
        return new MatrixProduct(request.id(), new Multiplication(request).run(loop));
    }
}
