package org.restbench.workload.npb.cg;

import org.restbench.workload.npb.Blocks;

/**
 * A square matrix in compressed rows. Row i has the {@code values} from index {@code rowFrom[i]} (inclusive) to
 * {@code rowFrom[i + 1]} (exclusive); {@code columns} has their columns at the same indices, ascending. The matrix does
 * not change once it is built.
 */
record SparseMatrix(int[] rowFrom, int[] columns, double[] values) {
    int order() {
        return rowFrom.length - 1;
    }

    int entries() {
        return rowFrom[order()];
    }

    Blocks rowBlocks() {
        return Blocks.of(order(), entries() / order());
    }

    /** Computes {@code result = this x} in some rows. Returns what these rows add to {@code x · result}. */
    double multiply(double[] x, double[] result, int fromRow, int toRow) {
        double dot = 0;
        for (int row = fromRow; row < toRow; row++) {
            double product = row(x, rowFrom[row], rowFrom[row + 1]);
            result[row] = product;
            dot += x[row] * product;
        }
        return dot;
    }

    /** Uses four independent sums: with a single one, each addition would wait for the previous one. */
    private double row(double[] x, int from, int to) {
        double sum0 = 0;
        double sum1 = 0;
        double sum2 = 0;
        double sum3 = 0;
        int k = from;
        for (; k < to - 3; k += 4) {
            sum0 += values[k] * x[columns[k]];
            sum1 += values[k + 1] * x[columns[k + 1]];
            sum2 += values[k + 2] * x[columns[k + 2]];
            sum3 += values[k + 3] * x[columns[k + 3]];
        }
        for (; k < to; k++) {
            sum0 += values[k] * x[columns[k]];
        }
        return sum0 + sum1 + (sum2 + sum3);
    }
}
