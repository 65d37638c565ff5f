package org.restbench.workload.npb.cg;

import java.util.Arrays;
import java.util.function.IntConsumer;
import org.restbench.workload.LinearCongruential;
import org.restbench.workload.ParallelLoop;
import org.restbench.workload.npb.Blocks;
import org.restbench.workload.npb.cg.ConjugateGradient.GradientClass;

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

    /**
     * As many sparse vectors as the matrix has rows; vector i has 0.5 at place i and a few random entries. They are
     * stored row-major, {@code stride} elements each. An index lists the entries at each place.
     */
    static final class SparseVectors {
        private static final double AT_OWN_PLACE = 0.5;

        final int order;
        final int stride;
        /** Places and values of vector i's entries: {@code length[i]} of them from {@code i * stride}. */
        final int[] places;

        final double[] values;
        final int[] length;
        /** The indices of place j's entries: {@code owners} from {@code ownersFrom[j]} to the next (exclusive). */
        final int[] ownersFrom;

        final int[] owners;

        private SparseVectors(int order, int nonzeros) {
            this.order = order;
            this.stride = nonzeros + 1;
            this.places = new int[order * stride];
            this.values = new double[order * stride];
            this.length = new int[order];
            this.ownersFrom = new int[order + 1];
            this.owners = new int[order * stride];
        }

        /** Draws all vectors from one stream: the values drawn decide how many numbers a vector needs. */
        static SparseVectors draw(int order, int nonzeros, long seed) {
            SparseVectors vectors = new SparseVectors(order, nonzeros);
            LinearCongruential random = new LinearCongruential(seed);
            random.nextBits(); // NPB does not use its first number
            for (int i = 0; i < order; i++) {
                vectors.draw(i, nonzeros, random);
                vectors.set(i, i, AT_OWN_PLACE);
            }
            vectors.indexByPlace();
            return vectors;
        }

        private void draw(int vector, int nonzeros, LinearCongruential random) {
            int placeBits = Integer.SIZE - Integer.numberOfLeadingZeros(order - 1);
            while (length[vector] < nonzeros) {
                double value = random.next();
                int place = (int) (random.nextBits() >> LinearCongruential.BITS - placeBits);
                if (place < order && find(vector, place) < 0) {
                    set(vector, place, value);
                }
            }
        }

        /** The index of a vector's entry at a place; negative where there is none. */
        private int find(int vector, int place) {
            for (int at = vector * stride; at < vector * stride + length[vector]; at++) {
                if (places[at] == place) {
                    return at;
                }
            }
            return -1;
        }

        private void set(int vector, int place, double value) {
            int at = find(vector, place);
            if (at < 0) {
                at = vector * stride + length[vector]++;
            }
            places[at] = place;
            values[at] = value;
        }

        private void indexByPlace() {
            eachEntry(at -> ownersFrom[places[at] + 1]++);
            for (int place = 0; place < order; place++) {
                ownersFrom[place + 1] += ownersFrom[place];
            }
            int[] next = ownersFrom.clone();
            eachEntry(at -> owners[next[places[at]]++] = at);
        }

        private void eachEntry(IntConsumer entry) {
            for (int vector = 0; vector < order; vector++) {
                for (int at = vector * stride; at < vector * stride + length[vector]; at++) {
                    entry.accept(at);
                }
            }
        }
    }

    /**
     * Builds {@code A = sum w_i v_i v_i^T + (0.1 - shift) I} with weights that fall geometrically from 1 to 0.1, row by
     * row: each row is gathered from the vectors that have an entry at its place. Rows are gathered twice, once to
     * count their entries and once to write them, so that no memory is reserved for several entries at the same place.
     */
    static final class MatrixBuilder {
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
            int[] rowFrom = new int[vectors.order + 1];
            blocks.forEach(loop, (from, to) -> {
                Row row = new Row();
                for (int i = from; i < to; i++) {
                    rowFrom[i + 1] = row.gather(i);
                }
            });
            for (int i = 0; i < vectors.order; i++) {
                rowFrom[i + 1] += rowFrom[i];
            }
            int[] columns = new int[rowFrom[vectors.order]];
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
}
