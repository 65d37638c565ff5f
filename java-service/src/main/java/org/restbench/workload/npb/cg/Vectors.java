package org.restbench.workload.npb.cg;

/** CG's operations on a range of vectors, {@code from} inclusive to {@code to} exclusive. */
final class Vectors {
    private Vectors() {}

    static double dot(double[] a, double[] b, int from, int to) {
        double sum = 0;
        for (int i = from; i < to; i++) {
            sum += a[i] * b[i];
        }
        return sum;
    }

    static double squaredDistance(double[] a, double[] b, int from, int to) {
        double sum = 0;
        for (int i = from; i < to; i++) {
            double difference = a[i] - b[i];
            sum += difference * difference;
        }
        return sum;
    }

    static void scale(double[] vector, double factor, double[] result, int from, int to) {
        for (int i = from; i < to; i++) {
            result[i] = factor * vector[i];
        }
    }

    /** {@code z += alpha p} and {@code r -= alpha q}; returns {@code r · r}. */
    static double advance(double alpha, double[] p, double[] z, double[] q, double[] r, int from, int to) {
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
    static void direction(double[] r, double beta, double[] p, int from, int to) {
        for (int i = from; i < to; i++) {
            p[i] = r[i] + beta * p[i];
        }
    }
}
