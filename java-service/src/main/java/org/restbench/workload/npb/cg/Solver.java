package org.restbench.workload.npb.cg;

import java.util.Arrays;
import org.restbench.workload.ParallelLoop;
import org.restbench.workload.npb.Blocks;

/**
 * The inverse power method on one matrix, with a fixed number of conjugate gradient steps per solve. Used by one run.
 */
final class Solver {
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
    private int products;
    private double residualNorm;

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

    /** The number of matrix-vector products since the reset. It shows whether a step was left out; zeta does not. */
    int products() {
        return products;
    }

    /** {@code ||x - A z||} of the last iteration. */
    double residualNorm() {
        return residualNorm;
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
