package org.restbench.workload.npb.cg;

import java.util.Arrays;
import org.restbench.workload.ParallelLoop;
import org.restbench.workload.npb.Blocks;
import org.restbench.workload.npb.cg.ConjugateGradient.GradientClass;

/**
 * Builds {@code A = sum w_i v_i v_i^T + (0.1 - shift) I} with weights that fall geometrically from 1 to 0.1, row by
 * row: each row is gathered from the vectors that have an entry at its place. Rows are gathered twice, once to count
 * their entries and once to write them, so that no memory is reserved for several entries at the same place.
 */
final class MatrixBuilder {
    /** Bytes per column of a row that is being gathered: a sum, a flag and an element of the list of columns. */
    static final long BYTES_PER_COLUMN = Double.BYTES + 1 + Integer.BYTES;

    private static final double CONDITION = 0.1;

    private final SparseVectors vectors;
    private final double[] weights;
    private final double onDiagonal;
    private final Blocks blocks;

    private MatrixBuilder(SparseVectors vectors, double shift) {
        this.vectors = vectors;
        this.weights = weights(vectors.order);
        this.onDiagonal = CONDITION - shift;
        this.blocks = Blocks.of(vectors.order, (long) vectors.stride * vectors.stride);
    }

    static SparseMatrix build(GradientClass sizes, long seed, ParallelLoop loop) {
        SparseVectors vectors = SparseVectors.draw(sizes.order(), sizes.nonzeros(), seed);
        return new MatrixBuilder(vectors, sizes.shift()).build(loop);
    }

    private static double[] weights(int order) {
        double ratio = Math.pow(CONDITION, 1.0 / order);
        double[] weights = new double[order];
        double weight = 1;
        for (int i = 0; i < order; i++) {
            weights[i] = weight;
            weight *= ratio;
        }
        return weights;
    }

    private SparseMatrix build(ParallelLoop loop) {
        int[] rowFrom = loop.ints(vectors.order + 1);
        blocks.forEach(loop, (from, to) -> {
            Row row = new Row();
            for (int i = from; i < to; i++) {
                rowFrom[i + 1] = row.gather(i);
            }
        });
        for (int i = 0; i < vectors.order; i++) {
            rowFrom[i + 1] += rowFrom[i];
        }
        int[] columns = loop.ints(rowFrom[vectors.order]);
        double[] values = loop.doubles(rowFrom[vectors.order]);
        blocks.forEach(loop, (from, to) -> {
            Row row = new Row();
            for (int i = from; i < to; i++) {
                row.gather(i);
                row.write(columns, values, rowFrom[i]);
            }
        });
        return new SparseMatrix(rowFrom, columns, values);
    }

    /** A row that is being gathered: the sums by column, and the columns that have an entry. */
    private final class Row {
        private final double[] sums = new double[vectors.order];
        private final boolean[] has = new boolean[vectors.order];
        private final int[] columns = new int[vectors.order];
        private int count;

        /** @return the number of the row's entries */
        int gather(int place) {
            clear();
            for (int k = vectors.ownersFrom[place]; k < vectors.ownersFrom[place + 1]; k++) {
                int entry = vectors.owners[k];
                int vector = entry / vectors.stride;
                addVector(vector, weights[vector] * vectors.values[entry]);
            }
            sums[place] += onDiagonal; // each vector has an entry at its own place, so the diagonal is there
            return count;
        }

        private void clear() {
            for (int k = 0; k < count; k++) {
                sums[columns[k]] = 0;
                has[columns[k]] = false;
            }
            count = 0;
        }

        private void addVector(int vector, double factor) {
            int from = vector * vectors.stride;
            for (int at = from; at < from + vectors.length[vector]; at++) {
                int column = vectors.places[at];
                if (!has[column]) {
                    has[column] = true;
                    columns[count++] = column;
                }
                sums[column] += factor * vectors.values[at];
            }
        }

        void write(int[] toColumns, double[] toValues, int offset) {
            Arrays.sort(columns, 0, count);
            for (int k = 0; k < count; k++) {
                toColumns[offset + k] = columns[k];
                toValues[offset + k] = sums[columns[k]];
            }
        }
    }
}
