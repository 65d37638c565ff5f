package org.restbench.workload.npb.cg;

import java.util.List;
import org.restbench.workload.LinearCongruential;
import org.restbench.workload.ParallelLoop;
import org.restbench.workload.npb.Blocks;
import org.restbench.workload.npb.Problem;
import org.restbench.workload.npb.cg.SparseMatrix.MatrixBuilder;

/**
 * CG: estimates an eigenvalue of a sparse matrix by the inverse power method.
 *
 * @param sizes the class
 * @param steps conjugate gradient steps in each iteration: {@link #STEPS}, except in tests
 * @param seed of the random numbers: NPB's, except in tests
 */
public record ConjugateGradient(GradientClass sizes, int steps, long seed) implements Problem<SparseMatrix> {
    static final int STEPS = 25;
    private static final double EPSILON = 1e-10;

    public static Kernel kernel() {
        return Kernel.of(
                "CG", GradientClass.ALL, sizes -> new ConjugateGradient(sizes, STEPS, LinearCongruential.SEED));
    }

    @Override
    public String name() {
        return sizes.name();
    }

    @Override
    public SparseMatrix input(boolean kept, ParallelLoop loop) {
        return MatrixBuilder.build(sizes, seed, loop);
    }

    @Override
    public Outcome run(SparseMatrix matrix, ParallelLoop loop) {
        Solver solver = new Solver(matrix, steps, loop);
        solver.reset();
        solver.iterate(sizes.shift());
        solver.reset();
        double zeta = 0;
        long start = System.nanoTime();
        for (int iteration = 0; iteration < sizes.iterations(); iteration++) {
            zeta = solver.iterate(sizes.shift());
        }
        long nanos = System.nanoTime() - start;
        return outcome(zeta, solver.products(), nanos);
    }

    private Outcome outcome(double zeta, int products, long nanos) {
        return new Outcome(
                verifies(zeta, products),
                List.of(zeta),
                List.of(sizes.zeta()),
                sizes.iterations(),
                nanos,
                millionOperations());
    }

    /** Checks zeta and the number of products: zeta alone would also be right with a fifth of the steps. */
    boolean verifies(double zeta, int products) {
        boolean right = Math.abs(zeta - sizes.zeta()) <= EPSILON * sizes.zeta();
        return right && products == sizes.iterations() * (STEPS + 1);
    }

    @Override
    public double millionOperations() {
        double perVector = sizes.nonzeros() * (sizes.nonzeros() + 1.0);
        return 2e-6 * sizes.iterations() * sizes.order() * (3 + perVector + STEPS * (5 + perVector) + 3);
    }

    /** The matrix, the sparse vectors from which it is built, the rows under construction, and a few vectors. */
    @Override
    public long workingBytes() {
        long order = sizes.order();
        long vectorEntries = order * (sizes.nonzeros() + 1);
        return keptBytes()
                + vectorEntries * (2L * Integer.BYTES + Double.BYTES)
                + 10 * order * Double.BYTES
                + Blocks.MOST_AT_ONCE * order * MatrixBuilder.BYTES_PER_COLUMN;
    }

    @Override
    public long keptBytes() {
        return sizes.mostEntries() * (Integer.BYTES + Double.BYTES);
    }

    /**
     * The constants of one class of CG.
     *
     * @param order rows of the matrix
     * @param nonzeros entries drawn for each of the sparse vectors whose outer products make the matrix
     * @param iterations of the power method
     * @param shift subtracted from the diagonal
     * @param zeta the eigenvalue that the last iteration must estimate
     */
    record GradientClass(String name, int order, int nonzeros, int iterations, double shift, double zeta) {
        static final GradientClass S = new GradientClass("S", 1400, 7, 15, 10, 8.5971775078648);
        static final GradientClass W = new GradientClass("W", 7000, 8, 15, 12, 10.362595087124);
        static final GradientClass A = new GradientClass("A", 14000, 11, 15, 20, 17.130235054029);
        static final GradientClass B = new GradientClass("B", 75000, 13, 75, 60, 22.712745482631);
        static final GradientClass C = new GradientClass("C", 150000, 15, 75, 110, 28.973605592845);

        static final List<GradientClass> ALL = List.of(S, W, A, B, C);

        /** Entries of the outer products, before those at the same place are added up. */
        long mostEntries() {
            return (long) order * (nonzeros + 1) * (nonzeros + 1);
        }
    }
}
