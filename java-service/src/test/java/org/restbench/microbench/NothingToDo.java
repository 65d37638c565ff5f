package org.restbench.microbench;

import java.util.Locale;
import org.restbench.workload.ParallelLoop;
import org.restbench.workload.RequestId;
import org.restbench.workload.Workload;
import org.restbench.workload.matrix.Matrix;
import org.restbench.workload.matrix.MatrixWorkload;
import org.restbench.workload.matrix.MatrixWorkload.Kernel;
import org.restbench.workload.matrix.MatrixWorkload.MatrixRequest;

/** The loops of a product, cut into tasks as its kernel has them, in which nothing is done. */
record NothingToDo() implements Workload<MatrixRequest, MatrixRequest> {
    private static final MatrixWorkload MATRIX = new MatrixWorkload();

    /** Of the study's rows sweep and its larger levels. */
    private static final int INNER = 50;

    private static final int COLUMNS = 20;

    /**
     * The input: a product of so many rows.
     *
     * @param kernel as a query names it
     */
    static MatrixRequest product(String kernel, int rows) {
        return new MatrixRequest(
                new RequestId("0", true),
                Kernel.valueOf(kernel.toUpperCase(Locale.ROOT)),
                new Matrix(rows, INNER, new long[rows * INNER]),
                new Matrix(INNER, COLUMNS, new long[INNER * COLUMNS]));
    }

    @Override
    public String name() {
        return "nothing";
    }

    /** Those of the product, so that a strategy that chooses takes it for one. */
    @Override
    public long operations(MatrixRequest product) {
        return MATRIX.operations(product);
    }

    @Override
    public long workingBytes(MatrixRequest product) {
        return 0;
    }

    @Override
    public MatrixRequest compute(MatrixRequest product, ParallelLoop loop) {
        for (ParallelLoop.Size size : MATRIX.loops(product)) {
            loop.forEach(size.units(), size.unitsPerTask(), (from, to) -> {});
        }
        return product;
    }
}
