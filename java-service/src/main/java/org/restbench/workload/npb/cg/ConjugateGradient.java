package org.restbench.workload.npb.cg;

import java.util.Arrays;
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
        return new Outcome(
                verifies(zeta, solver.products),
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

    /** The inverse power method, with a fixed number of conjugate gradient steps a solve. Used by one run. */
    static final class Solver {
        private final SparseMatrix matrix;
        private final int steps;
        private final ParallelLoop loop;
        private final Blocks rows;
        private final Blocks elements;
        private final double[] x;
        private final double[] z;
        private final double[] p;
        private final double[] q;
        private final double[] r;
        /** Matrix-vector products since the reset: they show a step that was left out, as zeta does not. */
        int products;

        /** {@code ||x - A z||} of the last iteration. */
        double residualNorm;

        Solver(SparseMatrix matrix, int steps, ParallelLoop loop) {
            this.matrix = matrix;
            this.steps = steps;
            this.loop = loop;
            this.rows = matrix.rowBlocks();
            this.elements = Blocks.of(matrix.order(), 1);
            this.x = loop.doubles(matrix.order());
            this.z = loop.doubles(matrix.order());
            this.p = loop.doubles(matrix.order());
            this.q = loop.doubles(matrix.order());
            this.r = loop.doubles(matrix.order());
        }

        /** Starts again from a vector of ones. */
        void reset() {
            Arrays.fill(x, 1);
            products = 0;
        }

        /** Solves {@code A z = x}, makes x the unit vector along z, and estimates the eigenvalue. */
        double iterate(double shift) {
            solve();
            double xz = elements.sum(loop, (from, to) -> dot(x, z, from, to));
            double zz = elements.sum(loop, (from, to) -> dot(z, z, from, to));
            double scale = 1 / Math.sqrt(zz);
            elements.forEach(loop, (from, to) -> scale(z, scale, x, from, to));
            return shift + 1 / xz;
        }

        private void solve() {
            Arrays.fill(z, 0);
            System.arraycopy(x, 0, r, 0, x.length);
            System.arraycopy(x, 0, p, 0, x.length);
            double rho = elements.sum(loop, (from, to) -> dot(r, r, from, to));
            for (int step = 0; step < steps; step++) {
                rho = step(rho);
            }
            multiply(z, q);
            double square = elements.sum(loop, (from, to) -> squaredDistance(x, q, from, to));
            residualNorm = Math.sqrt(square);
        }

        /** @return the new rho, which is {@code r · r} */
        private double step(double rho) {
            double alpha = rho / multiply(p, q);
            double newRho = elements.sum(loop, (from, to) -> advance(alpha, p, z, q, r, from, to));
            double beta = newRho / rho;
            elements.forEach(loop, (from, to) -> direction(r, beta, p, from, to));
            return newRho;
        }

        /** {@code result = A vector}; returns {@code vector · result}. */
        private double multiply(double[] vector, double[] result) {
            products++;
            return rows.sum(loop, (from, to) -> matrix.multiply(vector, result, from, to));
        }

        private static double dot(double[] a, double[] b, int from, int to) {
            double sum = 0;
            for (int i = from; i < to; i++) {
                sum += a[i] * b[i];
            }
            return sum;
        }

        private static double squaredDistance(double[] a, double[] b, int from, int to) {
            double sum = 0;
            for (int i = from; i < to; i++) {
                double difference = a[i] - b[i];
                sum += difference * difference;
            }
            return sum;
        }

        private static void scale(double[] vector, double factor, double[] result, int from, int to) {
            for (int i = from; i < to; i++) {
                result[i] = factor * vector[i];
            }
        }

        /** {@code z += alpha p} and {@code r -= alpha q}; returns {@code r · r}. */
        private static double advance(double alpha, double[] p, double[] z, double[] q, double[] r, int from, int to) {
            double sum = 0;
            for (int i = from; i < to; i++) {
                z[i] += alpha * p[i];
                double rest = r[i] - alpha * q[i];
                r[i] = rest;
                sum += rest * rest;
            }
            return sum;
        }

        /** {@code p = r + beta p}. */
        private static void direction(double[] r, double beta, double[] p, int from, int to) {
            for (int i = from; i < to; i++) {
                p[i] = r[i] + beta * p[i];
            }
        }
    }
}
